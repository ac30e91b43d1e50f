use proptest::prelude::*;
use weirgate_sdk::{ConversationKey, answer::Rendered};

use super::*;
use crate::outlet::Items;

fn room() -> Room {
    Room::new("e".into(), "main".into(), 100, Instant::now())
}

fn outgoing(id: i64, part: u32, parts: u32, answers: &[&str]) -> Outgoing {
    Outgoing {
        id,
        part,
        parts,
        conversation: ConversationKey {
            platform: "webchat".into(),
            account: "site".into(),
            conversation: "v".into(),
            thread: Some("main".into()),
        },
        turn: Some(format!("t{id}").into()),
        answers: answers.iter().map(|id| MessageId::from(*id)).collect(),
        rendered: Rendered {
            text: format!("<p>{id}.{part}</p>"),
            marks: vec![],
        },
        reply: None,
        reply_context: None,
        buttons: Vec::new(),
        files: Vec::new(),
        private: false,
    }
}

fn words(html: &str) -> Map<String, Value> {
    object(json!({ "html": html }))
}

fn attach(room: &mut Room, since: u64) -> Option<Items> {
    let (outlet, items) = Outlet::new();
    let since = Since {
        frames: since,
        drafts: since,
    };
    room.attach(since, |_| vec![], &outlet, Instant::now())
        .then_some(items)
}

/// The frames that wait for a socket, each as `type` and what it is about.
fn frames(items: &mut Items) -> Vec<Value> {
    let mut all = vec![];
    while let Some(item) = items.try_recv() {
        if let Item::Frames(frames) = item {
            all.extend(
                frames
                    .iter()
                    .map(|it| serde_json::from_str::<Value>(it.as_str()).unwrap()),
            );
        }
    }
    all
}

fn short(frames: &[Value]) -> Vec<String> {
    let mut all = vec![];
    for frame in frames {
        let about = match frame["type"].as_str().unwrap() {
            "text" => format!("text {}.{}", frame["id"], frame["part"]),
            "end" => format!(
                "end {}{}",
                frame["messageId"].as_str().unwrap_or("-"),
                if frame["batch"] == true { " batch" } else { "" }
            ),
            kind => format!("{kind} {}", frame["messageId"].as_str().unwrap()),
        };
        all.push(about);
    }
    all
}

#[test]
fn every_socket_gets_everything_in_order_and_the_last_part_ends_the_messages() {
    let mut room = room();
    let mut sockets = [
        attach(&mut room, 100).unwrap(),
        attach(&mut room, 100).unwrap(),
    ];
    room.arriving("m1", words("<p>hi</p>"));
    room.arrived("m1", Some(1));
    room.deliver(&outgoing(1, 0, 2, &["m1"]));
    room.deliver(&outgoing(1, 1, 2, &["m1"]));
    for items in &mut sockets {
        let frames = frames(items);
        assert_eq!(
            short(&frames),
            ["user m1", "text 1.0", "text 1.1", "end m1"]
        );
        let numbers: Vec<_> = frames
            .iter()
            .map(|it| it["seq"].as_u64().unwrap())
            .collect();
        assert_eq!(numbers, [101, 102, 103, 104]);
    }
}

#[test]
fn the_same_part_is_shown_once_and_the_same_message_ends_once() {
    let mut room = room();
    let mut items = attach(&mut room, 100).unwrap();
    room.deliver(&outgoing(1, 0, 1, &["m1"]));
    room.deliver(&outgoing(1, 0, 1, &["m1"]));
    room.deliver(&outgoing(2, 0, 1, &["m1"]));
    assert_eq!(
        short(&frames(&mut items)),
        ["text 1.0", "end m1", "text 2.0"]
    );
}

#[test]
fn an_answer_that_is_faster_than_the_receipt_comes_after_its_question() {
    let mut room = room();
    let mut items = attach(&mut room, 100).unwrap();
    room.arriving("m1", words("<p>hi</p>"));
    room.deliver(&outgoing(1, 0, 1, &["m1"]));
    room.arrived("m1", Some(1));
    assert_eq!(
        short(&frames(&mut items)),
        ["user m1", "text 1.0", "end m1"]
    );
}

#[test]
fn the_last_message_of_a_frame_says_so_however_it_ends() {
    let mut room = room();
    let mut items = attach(&mut room, 100).unwrap();
    room.batch(vec!["m1".into(), "m2".into()]);
    room.batch(vec!["m3".into(), "m4".into()]);
    room.deliver(&outgoing(1, 0, 1, &["m2"]));
    room.deliver(&outgoing(2, 0, 1, &["m1", "m3"]));
    room.not_arrived("m4", true);
    assert_eq!(
        short(&frames(&mut items)),
        [
            "text 1.0",
            "end m2",
            "text 2.0",
            "end m1 batch",
            "end m3",
            "end - batch"
        ]
    );
}

#[test]
fn a_repeated_message_is_told_its_end_only_if_it_has_one() {
    let mut room = room();
    assert_eq!(room.arrived_before("m1"), None);
    room.deliver(&outgoing(1, 0, 1, &["m1"]));
    assert!(room.arrived_before("m1").is_some());
}

#[test]
fn what_cannot_be_replayed_is_not_pretended() {
    let mut room = room();
    assert!(attach(&mut room, 99).is_none(), "before the room");
    assert!(attach(&mut room, 101).is_none(), "from the future");
    for id in 0..i64::try_from(RING_FRAMES).unwrap() + 1 {
        room.deliver(&outgoing(id, 0, 1, &[]));
    }
    assert!(attach(&mut room, 100).is_none(), "pushed out by number");
    let mut items = attach(&mut room, 101).unwrap();
    assert_eq!(frames(&mut items).len(), RING_FRAMES);
    let mut large = outgoing(9_999, 0, 1, &[]);
    large.rendered.text = "x".repeat(RING_BYTES);
    room.deliver(&large);
    let newest = room.seq();
    assert!(
        attach(&mut room, newest - 2).is_none(),
        "pushed out by bytes"
    );
    assert!(attach(&mut room, newest - 1).is_some());
}

#[test]
fn a_slow_socket_is_cut_off_and_the_others_do_not_notice() {
    let mut room = room();
    let (slow, _full) = Outlet::new();
    room.join(&slow, Instant::now());
    let mut quick = attach(&mut room, 100).unwrap();
    let mut seen = 0;
    for id in 0..1_000 {
        room.deliver(&outgoing(id, 0, 1, &[]));
        seen += frames(&mut quick).len();
    }
    assert_eq!(seen, 1_000);
    assert_eq!(room.outlets.len(), 1);
    assert!(!slow.frame("x".into()));
}

#[test]
fn a_socket_for_which_too_many_bytes_wait_is_cut_off() {
    let (outlet, _items) = Outlet::new();
    let large = "x".repeat(800 * 1024);
    assert!(outlet.frame(large.as_str().into()));
    assert!(outlet.frame(large.as_str().into()));
    assert!(!outlet.frame("x".into()));
}

proptest! {
    /// Wherever a socket drops out, what it missed is exactly what comes when it resumes.
    #[test]
    fn a_resume_gives_exactly_what_was_missed(
        steps in prop::collection::vec((0..6_i64, 0..2_u32, any::<bool>()), 1..40),
        away in 0..80_u64,
    ) {
        let mut room = room();
        let mut always = attach(&mut room, 100).unwrap();
        for (id, part, arrive) in steps {
            let message = format!("m{id}");
            if arrive {
                room.arriving(&message, words("<p>x</p>"));
                room.arrived(&message, None);
            } else {
                room.deliver(&outgoing(id, part, 2, &[&message]));
            }
        }
        let all = frames(&mut always);
        let since = (100 + away).min(room.seq());
        let mut items = attach(&mut room, since).unwrap();
        let missed: Vec<_> =
            all.into_iter().filter(|it| it["seq"].as_u64().unwrap() > since).collect();
        prop_assert_eq!(frames(&mut items), missed);
    }
}

#[test]
fn a_notice_without_a_turn_ends_the_messages_that_it_names() {
    let mut room = room();
    let mut items = attach(&mut room, 100).unwrap();
    let mut notice = outgoing(1, 0, 1, &["m1", "m2"]);
    notice.turn = None;
    room.batch(vec!["m1".into(), "m2".into()]);
    room.deliver(&notice);
    room.deliver(&notice);
    assert_eq!(
        short(&frames(&mut items)),
        ["text 1.0", "end m1", "end m2 batch"]
    );
    assert!(room.has_ended("m1") && room.has_ended("m2"));
}

#[test]
fn a_slow_socket_is_not_cut_off_while_a_block_grows() {
    let mut room = room();
    let mut items = attach(&mut room, 100).unwrap();
    let now = Instant::now();
    let start = PreviewStart {
        conversation: outgoing(1, 0, 1, &[]).conversation,
        turn: "t1".into(),
        attempt: 1,
        answers: vec!["m1".into()],
        reply_context: None,
    };
    room.open_draft(&start, now).unwrap();
    let mut code = String::new();
    for _ in 0..1_000 {
        code.push_str(&"x".repeat(100));
        let html = vec!["<p>before</p>".to_owned(), code.clone()];
        room.push_draft(&start, 0, html, now).unwrap();
    }
    assert_eq!(room.outlets.len(), 1, "still there");
    let frames = frames(&mut items);
    assert_eq!(frames.len(), 2);
    assert_eq!(frames[1]["html"], code);
    // Whoever comes back after the first of the two gets the rest all the same.
    let mut late = attach(&mut room, frames[0]["seq"].as_u64().unwrap()).unwrap();
    assert_eq!(self::frames(&mut late), frames[1..]);
}
