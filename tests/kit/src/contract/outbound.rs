//! Checks of what an adapter delivers.
//!
//! Owns text, length, order, repetition, previews and the classes of errors.

use std::time::Duration;

use weirgate_sdk::{
    LengthUnit, PreviewStart, SendError, Streaming,
    answer::{Alignment, Block, Inline, Rendered},
};

use super::{
    LIMIT, Platform, capabilities, connected, end, hear, hostile_texts, must_see, of_length,
    paragraph, part, whole,
};

/// A while in which nothing may be seen.
const QUIET: Duration = Duration::from_millis(100);

/// Each text arrives as it was rendered, and people read the words, not their effect.
pub async fn people_see_exactly_what_was_rendered<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    for (id, text) in (1..).zip(hostile_texts()) {
        let outgoing = whole(&*adapter, &message, id, text);
        let form = outgoing.rendered.text.clone();
        adapter
            .send(outgoing)
            .await
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        let seen = must_see(&mut platform, 0).await;
        assert_eq!(seen.form, form);
        assert_eq!(seen.visible, text);
    }
    end(platform).await;
}

/// The longest text that fits arrives whole, in narrow, wide and astral characters.
pub async fn the_longest_texts_arrive_whole<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    let length = capabilities(&*adapter, &message.conversation).max_length;
    for (id, character) in (1..).zip(['x', '<', '字', '𝔘']) {
        let mut units = length.limit;
        let rendered = loop {
            let text = of_length(length.unit, units, character);
            let rendered = adapter.render().render(&paragraph(&text));
            if adapter.render().fits(&rendered) {
                break rendered;
            }
            units = units * 9 / 10;
            assert!(units > 0, "nothing fits");
        };
        let sent = adapter
            .send(part(&message, id, rendered.clone(), (0, 1)))
            .await;
        assert!(sent.is_ok(), "{character}: {sent:?}");
        let seen = must_see(&mut platform, 0).await;
        assert!(
            seen.form == rendered.text,
            "{character}: {} bytes",
            seen.form.len()
        );
    }
    end(platform).await;
}

/// `fits` takes the longest text of the capabilities and nothing longer.
pub async fn fits_agrees_with_the_capabilities<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    let length = capabilities(&*adapter, &message.conversation).max_length;
    assert!(
        length.limit >= 100,
        "an answer of {} units is none",
        length.limit
    );
    let fits = |text: &str| {
        adapter
            .render()
            .fits(&adapter.render().render(&paragraph(text)))
    };
    assert!(fits("x"));
    assert!(
        fits(&of_length(length.unit, length.limit, 'x')),
        "the limit does not fit"
    );
    for character in ['x', 'é', '字', '𝔘', '&'] {
        // One character more than the limit, in any unit.
        let over = of_length(length.unit, length.limit, character) + "xx";
        assert!(length.unit.measure(&over) > length.limit);
        assert!(!fits(&over), "more than the limit fits: {character}");
    }
    end(platform).await;
}

/// The same blocks give the same text, whatever was rendered before, and no block is a panic.
pub async fn rendering_is_pure<P: Platform>() {
    let platform = P::start().await;
    let adapter = platform.adapter();
    let render = adapter.render();
    let first: Vec<Rendered> = samples()
        .iter()
        .map(|blocks| render.render(blocks))
        .collect();
    for (blocks, rendered) in samples().iter().zip(&first).rev() {
        assert_eq!(&render.render(blocks), rendered);
        assert_eq!(render.fits(rendered), render.fits(rendered));
        for mark in &rendered.marks {
            let end = mark.offset + mark.length;
            assert!(
                mark.length > 0 && rendered.text.get(mark.offset..end).is_some(),
                "{mark:?}"
            );
        }
        let inside = mark_order(rendered);
        assert!(inside, "marks out of order");
    }
    end(platform).await;
}

/// The parts of an answer are seen in the order in which they are sent.
pub async fn parts_keep_their_order<P: Platform>() {
    const PARTS: u32 = 30;
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    for index in 0..PARTS {
        let rendered = adapter
            .render()
            .render(&paragraph(&format!("part {index}")));
        adapter
            .send(part(&message, 1, rendered, (index, PARTS)))
            .await
            .expect("sent");
    }
    for index in 0..PARTS {
        assert_eq!(
            must_see(&mut platform, 0).await.visible,
            format!("part {index}")
        );
    }
    end(platform).await;
}

/// Sends to two conversations run side by side, each into its own.
pub async fn conversations_do_not_mix<P: Platform>() {
    let mut platform = connected::<P>().await;
    let messages = [
        hear(&mut platform, 0, "a").await,
        hear(&mut platform, 1, "b").await,
    ];
    let adapter = platform.adapter();
    for id in 0..20 {
        let [one, two] = &messages;
        let (left, right) = tokio::join!(
            adapter.send(whole(&*adapter, one, 2 * id + 1, &format!("one {id}"))),
            adapter.send(whole(&*adapter, two, 2 * id + 2, &format!("two {id}"))),
        );
        assert!(left.is_ok() && right.is_ok(), "{left:?} {right:?}");
    }
    for (person, name) in ["one", "two"].into_iter().enumerate() {
        for id in 0..20 {
            assert_eq!(
                must_see(&mut platform, person).await.visible,
                format!("{name} {id}")
            );
        }
    }
    end(platform).await;
}

/// Where the capabilities promise it, a part that is sent again is seen once.
pub async fn a_second_send_of_a_part_is_seen_as_promised<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    let idempotent = capabilities(&*adapter, &message.conversation).idempotent;
    for (id, text) in [(1, "first"), (1, "first"), (2, "second")] {
        adapter
            .send(whole(&*adapter, &message, id, text))
            .await
            .expect("sent");
    }
    assert_eq!(must_see(&mut platform, 0).await.visible, "first");
    if !idempotent {
        assert_eq!(must_see(&mut platform, 0).await.visible, "first");
    }
    assert_eq!(must_see(&mut platform, 0).await.visible, "second");
    assert_eq!(platform.seen(0, QUIET).await, None);
    end(platform).await;
}

/// Without a peer a send certainly did not arrive, or waits in the transcript.
pub async fn nobody_connected_is_classified<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    platform.disconnect().await;
    let sent = adapter
        .send(whole(&*adapter, &message, 1, "anybody?"))
        .await;
    if capabilities(&*adapter, &message.conversation).transcript {
        assert!(sent.is_ok(), "who comes later reads it: {sent:?}");
    } else {
        assert!(matches!(sent, Err(SendError::Unavailable(_))), "{sent:?}");
    }
    platform.connect().await;
    super::is_up(&platform).await;
    adapter
        .send(whole(&*adapter, &message, 2, "welcome back"))
        .await
        .expect("sent");
    while must_see(&mut platform, 0).await.visible != "welcome back" {}
    end(platform).await;
}

/// A conversation that is not one of the platform's is an error, or nobody's; never an end.
pub async fn an_unknown_place_is_no_disaster<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    for place in [
        "",
        "nowhere",
        "g",
        "../..",
        "99999999999999999999999",
        "\u{0}",
        "𝔘",
    ] {
        let mut outgoing = whole(&*adapter, &message, 1, "lost");
        outgoing.conversation.conversation = place.into();
        outgoing.conversation.thread = None;
        let sent = tokio::time::timeout(LIMIT, adapter.send(outgoing)).await;
        assert!(sent.is_ok(), "a send to {place:?} never ended");
    }
    adapter
        .send(whole(&*adapter, &message, 2, "here"))
        .await
        .expect("sent");
    assert_eq!(must_see(&mut platform, 0).await.visible, "here");
    end(platform).await;
}

/// Previews exist exactly where the capabilities say so, and the final text does not depend on them.
pub async fn previews_are_offered_as_promised<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    let promised = capabilities(&*adapter, &message.conversation).streaming != Streaming::None;
    assert_eq!(adapter.streams().is_some(), promised);
    for (id, finished) in [(1, true), (2, false)] {
        if let Some(streams) = adapter.streams() {
            let start = PreviewStart {
                conversation: message.conversation.clone(),
                turn: format!("t{id}").into(),
                attempt: 1,
                answers: vec![message.id.clone()],
                reply_context: None,
            };
            let mut preview = streams.open(start).await.expect("a preview");
            for text in ["a", "an ans", "an answer <b>"] {
                let pushed = preview.push(&paragraph(text)).await;
                assert!(
                    matches!(pushed, Ok(()) | Err(SendError::RateLimited { .. })),
                    "{pushed:?}"
                );
            }
            if finished {
                preview.finish().await;
            }
        }
        let text = format!("final {id}");
        adapter
            .send(whole(&*adapter, &message, id, &text))
            .await
            .expect("sent");
        assert_eq!(must_see(&mut platform, 0).await.visible, text);
    }
    end(platform).await;
}

fn mark_order(rendered: &Rendered) -> bool {
    let offsets = rendered.marks.iter().map(|mark| mark.offset);
    offsets
        .clone()
        .zip(offsets.skip(1))
        .all(|(one, next)| one <= next)
}

/// Blocks of every kind, empty and odd ones among them.
fn samples() -> Vec<Vec<Block>> {
    let text = |text: &str| Inline::Text(text.to_owned());
    let mut samples: Vec<Vec<Block>> = hostile_texts().iter().map(|text| paragraph(text)).collect();
    let link = Inline::Link {
        url: "javascript:alert(1)".into(),
        title: Some("\" onclick=x".into()),
        content: vec![text("here"), Inline::Strong(vec![text("bold")])],
    };
    let item = vec![Block::Paragraph(vec![text("item")])];
    samples.extend([
        vec![],
        vec![Block::Paragraph(vec![])],
        vec![
            Block::Rule,
            Block::Heading {
                level: 9,
                content: vec![Inline::Code("`x`".into())],
            },
        ],
        vec![Block::Paragraph(vec![
            link,
            Inline::HardBreak,
            Inline::SoftBreak,
        ])],
        vec![Block::Paragraph(vec![Inline::Image {
            url: "x:y".into(),
            alt: String::new(),
        }])],
        vec![Block::Code {
            language: Some("</code><b>".into()),
            text: "a\n\n  b".into(),
        }],
        vec![Block::Quote(vec![Block::List {
            start: Some(u64::MAX),
            items: vec![item, vec![]],
        }])],
        vec![Block::Table {
            alignments: vec![Alignment::Right],
            header: vec![vec![text("a")], vec![text("b|c")]],
            rows: vec![vec![], vec![vec![text("𝔘")], vec![], vec![text("more")]]],
        }],
        paragraph("\u{0}\u{7}\u{1b}[31m \u{feff} \u{ffff}"),
    ]);
    for unit in [LengthUnit::Bytes, LengthUnit::Utf16, LengthUnit::Characters] {
        samples.push(paragraph(&of_length(unit, 100_000, '𝔘')));
    }
    samples
}
