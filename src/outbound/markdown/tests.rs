use proptest::prelude::*;
use weirgate_sdk::answer::{Block, Format, Inline, plain_text};

use super::parse;

fn text(text: &str) -> Inline {
    Inline::Text(text.to_owned())
}

fn paragraph(content: Vec<Inline>) -> Block {
    Block::Paragraph(content)
}

/// All text of the blocks, a line for each run.
fn visible(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Paragraph(content) | Block::Heading { content, .. } => {
                out.push_str(&plain_text(content));
            }
            Block::List { items, .. } => {
                items.iter().for_each(|item| out.push_str(&visible(item)));
            }
            Block::Code { text, .. } => out.push_str(text),
            Block::Quote(inner) => out.push_str(&visible(inner)),
            Block::Table { header, rows, .. } => {
                for cell in header.iter().chain(rows.iter().flatten()) {
                    out.push_str(&plain_text(cell));
                }
            }
            Block::Rule => {}
        }
        out.push('\n');
    }
    out
}

fn depth(blocks: &[Block]) -> usize {
    let inner = |block: &Block| match block {
        Block::List { items, .. } => items.iter().map(|item| depth(item)).max().unwrap_or(0),
        Block::Quote(inner) => depth(inner),
        _ => 0,
    };
    blocks
        .iter()
        .map(|block| 1 + inner(block))
        .max()
        .unwrap_or(0)
}

fn check(source: &str, format: Format, want: &[Block]) {
    assert_eq!(parse(source, format), want, "{source:?}");
}

#[test]
fn line_breaks_of_the_model_are_kept() {
    let lines = parse("one\ntwo\n\n- a\n- b\n1. x\n2. y", Format::Markdown);
    let item = |name: &str| vec![paragraph(vec![text(name)])];
    let want = [
        paragraph(vec![text("one"), Inline::SoftBreak, text("two")]),
        Block::List {
            start: None,
            items: vec![item("a"), item("b")],
        },
        Block::List {
            start: Some(1),
            items: vec![item("x"), item("y")],
        },
    ];
    assert_eq!(lines, want);
}

#[test]
fn names_with_reserved_characters_are_shown_as_written() {
    let source = "sensor.desk_temp → 21.5 °C (ok) - ask @some_user!";
    check(source, Format::Markdown, &[paragraph(vec![text(source)])]);
}

#[test]
fn unmatched_markers_stay_literal_and_strip_nothing() {
    let source = "Docs: https://example.com/my_lib_x and run `cmd:go then a*b";
    check(source, Format::Markdown, &[paragraph(vec![text(source)])]);
    let bold = Inline::Strong(vec![text("kept")]);
    check(
        "a*b **kept** `",
        Format::Markdown,
        &[paragraph(vec![text("a*b "), bold, text(" `")])],
    );
}

#[test]
fn addresses_keep_their_markers() {
    for address in [
        "https://example.com/_foo_",
        "https://example.com/a*b*c?x=~1~",
        "http://h/wiki/A_(b_c)",
    ] {
        let source = format!("see {address} now");
        check(&source, Format::Markdown, &[paragraph(vec![text(&source)])]);
    }
    let bold = Inline::Strong(vec![text("https://example.com/a_b")]);
    check(
        "**https://example.com/a_b**",
        Format::Markdown,
        &[paragraph(vec![bold])],
    );
    let link = Inline::Link {
        url: "https://example.com/_x_".to_owned(),
        title: None,
        content: vec![text("l")],
    };
    check(
        "[l](https://example.com/_x_)",
        Format::Markdown,
        &[paragraph(vec![link])],
    );
}

#[test]
fn control_characters_never_turn_into_markers() {
    let blocks = parse("a \u{1}b\u{2} https://example.com/_x_", Format::Markdown);
    assert_eq!(
        visible(&blocks),
        "a \u{1a}b\u{1a} https://example.com/_x_\n"
    );
}

#[test]
fn emphasis_needs_no_spaces_in_chinese() {
    let strong = |inner: &str| Inline::Strong(vec![text(inner)]);
    let want = |content: Vec<Inline>| [paragraph(content)];
    check(
        "**注意：**请看",
        Format::Markdown,
        &want(vec![strong("注意："), text("请看")]),
    );
    check(
        "**注意:**请看",
        Format::Markdown,
        &want(vec![strong("注意:"), text("请看")]),
    );
    check(
        "是**（重要）**的",
        Format::Markdown,
        &want(vec![text("是"), strong("（重要）"), text("的")]),
    );
    let both = vec![strong("甲"), text("，"), strong("乙。"), text("丙")];
    check("**甲**，**乙。**丙", Format::Markdown, &want(both));
    let private = vec![text("\u{fffd}"), strong("a"), text("\u{e800}")];
    check("\u{e000}**a**\u{e800}", Format::Markdown, &want(private));
}

#[test]
fn html_in_markdown_is_literal_text() {
    let source = "a <b onclick=x>bold</b> &nbsp;";
    let shown = visible(&parse(source, Format::Markdown));
    assert_eq!(shown, "a <b onclick=x>bold</b> \u{a0}\n");
    let block = visible(&parse(
        "<div>\n<script>x</script>\n</div>",
        Format::Markdown,
    ));
    assert_eq!(block, "<div>\n<script>x</script>\n</div>\n");
}

#[test]
fn html_inside_code_is_untouched() {
    let code = "<!DOCTYPE html><p class=\"x\">&nbsp;</p>";
    let blocks = parse(&format!("```html\n{code}\n```\n`<?php`"), Format::Markdown);
    let want = [
        Block::Code {
            language: Some("html".to_owned()),
            text: code.to_owned(),
        },
        paragraph(vec![Inline::Code("<?php".to_owned())]),
    ];
    assert_eq!(blocks, want);
}

#[test]
fn a_single_tilde_is_no_marker() {
    check(
        "3~5天，7~10天",
        Format::Markdown,
        &[paragraph(vec![text("3~5天，7~10天")])],
    );
    let strike = Inline::Strike(vec![text("gone")]);
    check("~~gone~~", Format::Markdown, &[paragraph(vec![strike])]);
}

#[test]
fn sources_at_the_end_are_not_swallowed() {
    let blocks = parse(
        "Text [1].\n\n[1]: https://example.com/a_b\n[2]: https://example.com",
        Format::Markdown,
    );
    let shown = visible(&blocks);
    assert!(
        !shown.contains("[1]:") && shown.contains("[2]: https://example.com"),
        "{shown}"
    );
}

#[test]
fn tables_have_header_rows_and_alignments() {
    let blocks = parse("| a | b |\n|:-:|--:|\n| `x\\|y` | 2 |", Format::Markdown);
    let Some(Block::Table {
        alignments,
        header,
        rows,
    }) = blocks.first()
    else {
        panic!("no table: {blocks:?}")
    };
    assert_eq!(format!("{alignments:?}"), "[Center, Right]");
    assert_eq!(header.len(), 2);
    assert_eq!(rows[0][0], vec![Inline::Code("x|y".to_owned())]);
}

#[test]
fn plain_text_is_literal_with_its_lines() {
    let want = [
        paragraph(vec![text("*a*"), Inline::SoftBreak, text("  <b>")]),
        paragraph(vec![text("c")]),
    ];
    check("*a*\n  <b>\n\n\nc\n", Format::Plain, &want);
}

#[test]
fn hostile_nesting_is_bounded_and_keeps_the_text() {
    for marker in ["> ", "- ", "1. ", "**", "[", "*a **b ", "> - "] {
        let source = marker.repeat(3_000) + "deep";
        let blocks = parse(&source, Format::Markdown);
        assert!(depth(&blocks) <= 30, "{marker}");
        assert!(visible(&blocks).contains("deep"), "{marker}");
    }
    let html = "<ul><li><b>".repeat(3_000) + "deep";
    let blocks = parse(&html, Format::Html);
    assert!(depth(&blocks) <= 30 && visible(&blocks).contains("deep"));
}

#[test]
fn bare_markers_still_show_something() {
    for source in ["#", ">", "> >", "[a]: b"] {
        assert!(
            !visible(&parse(source, Format::Markdown)).trim().is_empty(),
            "{source}"
        );
    }
    assert!(parse(" \n\t\n", Format::Markdown).is_empty());
}

#[test]
fn html_becomes_blocks() {
    let source = "<h2>T</h2><p>a <b>b</b>&amp;<br>c</p><ul><li>x<li>y</ul>\
        <pre><code>1 &lt; 2\n  z\n</code></pre><script>alert(1)</script><a href='https://e.com'>l</a>";
    let item = |name: &str| vec![paragraph(vec![text(name)])];
    let strong = Inline::Strong(vec![text("b")]);
    let link = Inline::Link {
        url: "https://e.com".to_owned(),
        title: None,
        content: vec![text("l")],
    };
    let want = [
        Block::Heading {
            level: 2,
            content: vec![text("T")],
        },
        paragraph(vec![
            text("a "),
            strong,
            text("&"),
            Inline::HardBreak,
            text("c"),
        ]),
        Block::List {
            start: None,
            items: vec![item("x"), item("y")],
        },
        Block::Code {
            language: None,
            text: "1 < 2\n  z".to_owned(),
        },
        paragraph(vec![link]),
    ];
    check(source, Format::Html, &want);
}

#[test]
fn hostile_html_takes_linear_time() {
    for part in ["<", "<!--", "<!", "<a ", "</", "&#"] {
        let source = part.repeat(100_000) + " >";
        assert!(!parse(&source, Format::Html).is_empty(), "{part}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_text_panics_or_vanishes(source in "[a*_~`#>\\-<&\\[\\]()!|:/\\\\ \n1.é聊\u{1}]{0,80}") {
        for format in [Format::Plain, Format::Markdown, Format::Html] {
            let blocks = parse(&source, format);
            prop_assert!(format == Format::Html || blocks.is_empty() == source.trim().is_empty());
        }
        let plain: String = visible(&parse(&source, Format::Plain)).split_whitespace().collect();
        let want: String = source.split_whitespace().collect();
        prop_assert_eq!(plain, want);
    }
}
