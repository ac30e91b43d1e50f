use proptest::prelude::*;
use weirgate_sdk::answer::{Alignment, Block, Inline, Render};

use super::PlainText;

fn text(text: &str) -> Inline {
    Inline::Text(text.to_owned())
}

fn paragraph(line: &str) -> Block {
    Block::Paragraph(vec![text(line)])
}

fn link(label: &str, url: &str) -> Inline {
    Inline::Link {
        url: url.to_owned(),
        title: None,
        content: vec![text(label)],
    }
}

fn check(blocks: &[Block], want: &str) {
    assert_eq!(PlainText::default().render(blocks).text, want);
}

#[test]
fn paragraphs_lists_and_headings_keep_their_lines() {
    let item = |name: &str| vec![paragraph(name)];
    let blocks = [
        Block::Heading {
            level: 2,
            content: vec![text("Title")],
        },
        Block::Paragraph(vec![text("one"), Inline::SoftBreak, text("two")]),
        Block::List {
            start: None,
            items: vec![item("a"), item("b")],
        },
        Block::List {
            start: Some(9),
            items: vec![item("x"), item("y")],
        },
        Block::Rule,
    ];
    check(
        &blocks,
        "Title\n\none\ntwo\n\n• a\n• b\n\n9. x\n10. y\n\n────────",
    );
}

#[test]
fn nested_blocks_are_indented_and_quoted() {
    let inner = Block::List {
        start: Some(1),
        items: vec![vec![paragraph("in")], vec![]],
    };
    let two = Block::Paragraph(vec![text("out"), Inline::HardBreak, text("next")]);
    let list = Block::List {
        start: None,
        items: vec![vec![two, inner.clone()]],
    };
    check(std::slice::from_ref(&list), "• out\n  next\n  1. in\n  2.");
    let quote = Block::Quote(vec![paragraph("said"), list]);
    check(&[quote], "> said\n>\n> • out\n>   next\n>   1. in\n>   2.");
    check(
        &[Block::List {
            start: None,
            items: vec![vec![inner]],
        }],
        "  1. in\n  2.",
    );
}

#[test]
fn markup_is_left_out_and_addresses_are_bare() {
    let content = vec![
        Inline::Strong(vec![text("bold "), Inline::Emphasis(vec![text("both")])]),
        Inline::Strike(vec![text(" gone")]),
        Inline::Code(" `x`".to_owned()),
    ];
    check(&[Block::Paragraph(content)], "bold both gone `x`");
    let line = |inline| Block::Paragraph(vec![inline]);
    check(
        &[line(link("docs", "https://e.com/a_b"))],
        "docs ( https://e.com/a_b )",
    );
    for label in ["https://e.com/", "e.com", ""] {
        let shown = if label.is_empty() {
            "https://e.com/"
        } else {
            label
        };
        check(&[line(link(label, "https://e.com/"))], shown);
    }
    check(&[line(link("me@e.com", "mailto:me@e.com"))], "me@e.com");
    let image = Inline::Image {
        url: "https://e.com/x.png".to_owned(),
        alt: "a cat".to_owned(),
    };
    check(&[line(image)], "a cat ( https://e.com/x.png )");
}

#[test]
fn code_is_shown_as_it_is() {
    let code = Block::Code {
        language: Some("html".to_owned()),
        text: "<p>&nbsp;\n\n\tx".to_owned(),
    };
    check(&[code], "<p>&nbsp;\n\n\tx");
}

#[test]
fn platform_codes_and_control_characters_are_text() {
    let codes = "[CQ:at,qq=all] 注意 [CQ:image,file=file:///etc/hostname]";
    check(&[paragraph(codes)], codes);
    check(&[paragraph("a\u{0}b\u{7}\tc\r")], "ab\tc");
}

fn table(rows: &[[&str; 3]]) -> Block {
    let cells = |row: &[&str; 3]| row.iter().map(|cell| vec![text(cell)]).collect();
    Block::Table {
        alignments: vec![Alignment::Left, Alignment::Right, Alignment::Center],
        header: cells(&["名称", "n", "mid"]),
        rows: rows.iter().map(cells).collect(),
    }
}

#[test]
fn narrow_tables_are_aligned_with_wide_characters_as_two() {
    let want = "名称   |   n | mid\n-------+-----+----\n甲     | 1.5 |  x\nlonger |  22 | yes";
    check(
        &[table(&[["甲", "1.5", "x"], ["longer", "22", "yes"]])],
        want,
    );
}

#[test]
fn wide_tables_become_named_values() {
    let long = "a cell that is far too long for a phone";
    check(
        &[table(&[[long, "1", ""], ["b", "2", "c"]])],
        &format!("名称: {long}\nn: 1\n\n名称: b\nn: 2\nmid: c"),
    );
}

#[test]
fn characters_and_bytes_are_both_limited() {
    let fits = |text: &str| {
        let renderer = PlainText::new(10, 20);
        renderer.fits(&renderer.render(&[paragraph(text)]))
    };
    assert!(fits(&"a".repeat(10)) && !fits(&"a".repeat(11)));
    assert!(fits(&"聊".repeat(6)) && !fits(&"聊".repeat(7)));
}

fn blocks() -> impl Strategy<Value = Vec<Block>> {
    let line = "[a-z聊👩 \\n\\[\\]&]{0,20}";
    let inline = prop_oneof![
        line.prop_map(Inline::Text),
        line.prop_map(Inline::Code),
        (line, line).prop_map(|(label, url)| link(&label, &url)),
        Just(Inline::HardBreak),
    ];
    let leaf = prop_oneof![
        proptest::collection::vec(inline, 0..4).prop_map(Block::Paragraph),
        line.prop_map(|text| Block::Code {
            language: None,
            text
        }),
        [line, line, line].prop_map(|cells| table(&[[&cells[0], &cells[1], &cells[2]]])),
    ];
    let block = leaf.prop_recursive(4, 30, 4, |inner| {
        let inner = proptest::collection::vec(inner, 0..4);
        prop_oneof![
            inner.clone().prop_map(Block::Quote),
            proptest::collection::vec(inner, 0..4).prop_map(|items| Block::List {
                start: Some(u64::MAX),
                items
            }),
        ]
    });
    proptest::collection::vec(block, 0..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_blocks_render_without_control_characters(blocks in blocks()) {
        let text = PlainText::default().render(&blocks).text;
        prop_assert!(text.chars().all(|c| matches!(c, '\n' | '\t') || !c.is_control()));
    }
}
