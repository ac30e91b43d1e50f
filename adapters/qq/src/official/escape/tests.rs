//! What people read is what was written.

use proptest::prelude::*;

use super::*;

fn paragraph(text: &str) -> Vec<Block> {
    vec![Block::Paragraph(vec![Inline::Text(text.to_owned())])]
}

#[test]
fn nothing_in_a_text_becomes_a_mention() {
    let form = Form::new(1_800, false);
    let text = r#"<@123> <@!1> <qqbot-at-user id="A" /> <QQBOT-at-everyone /> <#5> <emoji:4> @everyone @All a@b.c 1<2"#;
    let shown = form.render(&paragraph(text)).text;
    for opener in OPENERS {
        assert!(
            !shown.to_ascii_lowercase().contains(opener),
            "{opener}: {shown}"
        );
    }
    assert_eq!(shown.replace(BREAK, ""), text);
    assert!(shown.ends_with("a@b.c 1<2"));
}

#[test]
fn markdown_keeps_marks_for_what_was_marked() {
    let form = Form::new(1_800, true);
    let blocks = [
        Block::Heading {
            level: 3,
            content: vec![Inline::Text("a*b".into())],
        },
        Block::Paragraph(vec![
            Inline::Strong(vec![Inline::Text("bold ".into())]),
            Inline::Text("1. no_list\n- x\n2) y".into()),
            Inline::Code("a`b".into()),
        ]),
        Block::List {
            start: Some(2),
            items: vec![vec![Block::Paragraph(vec![Inline::Text(
                "one\ntwo".into(),
            )])]],
        },
        Block::Code {
            language: Some("rust".into()),
            text: "```\n*x*".into(),
        },
        Block::Quote(paragraph("https://example.com/a_b")),
    ];
    let text = form.render(&blocks).text;
    assert_eq!(
        text,
        "## a\\*b\n\n**bold** 1. no\\_list\n\\- x\n2\\) ya\\`b\n\n2. one\n   two\n\n````rust\n```\n*x*\n````\n\n> https://example.com/a_b"
    );
    assert_eq!(unescaped("a\\*b \\\\ \\x c\\"), "a*b \\ \\x c\\");
}

#[test]
fn addresses_can_be_written_so_that_they_are_none() {
    for (text, expected) in [
        (
            "see https://example.com/a.html?x=1.5 now",
            "see example．com/a．html?x=1.5 now",
        ),
        ("v1.2.3 and 3.14. End", "v1.2.3 and 3.14. End"),
        ("HTTP://A.example", "A．example"),
        ("no link", "no link"),
        ("a1.example.com", "a1．example．com"),
    ] {
        assert_eq!(without_links(text), expected);
    }
}

proptest! {
    #[test]
    fn words_survive(text in "[a-z<>@#*_`\\\\~\\[\\]. \n0-9-]{0,80}") {
        let plain = Form::new(10_000, false).render(&paragraph(&text)).text;
        prop_assert!(disarm(&plain) == plain);
        let marked = Form::new(10_000, true).render(&paragraph(&text)).text;
        prop_assert_eq!(unescaped(&marked.replace(BREAK, "")), text.clone());
        prop_assert!(without_links(&text).chars().count() <= text.chars().count());
    }
}
