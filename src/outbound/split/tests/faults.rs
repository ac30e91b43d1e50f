//! Splits that went wrong for users of such gateways, as cases.

use std::cell::Cell;
use std::fmt::Write as _;

use weirgate_sdk::answer::{Block, Format, Inline, plain_text};

use super::super::split;
use super::{bytes, chars, cut, markdown, slice, texts, utf16};
use crate::outbound::markdown::parse;

#[test]
fn wide_characters_are_never_cut_by_bytes() {
    let text = "ab".to_owned() + &"聊".repeat(1_400);
    assert_eq!(cut(&text, Format::Markdown, None, bytes, 4_096).len(), 2);
    for limit in 1..8 {
        cut(&text, Format::Plain, None, bytes, limit);
    }
}

#[test]
fn character_references_stay_whole() {
    for part in ["年 ", "😀"] {
        for back in 0..16 {
            let text = part.repeat(96 - back) + "&amp;" + &part.repeat(20);
            for piece in cut(&text, Format::Html, None, chars, 100) {
                let piece = piece.text(&text);
                assert_eq!(
                    piece.matches('&').count(),
                    piece.matches("&amp;").count(),
                    "{piece}"
                );
            }
        }
    }
}

#[test]
fn the_unit_of_the_limit_is_the_callers() {
    let text = "😀".repeat(2_100);
    let pieces = cut(&text, Format::Markdown, None, utf16, 4_096);
    assert_eq!(
        pieces.iter().map(|piece| piece.source.len()).sum::<usize>(),
        text.len()
    );
    assert_eq!(pieces.len(), 2);
    cut(&"😀".repeat(5_000), Format::Markdown, None, utf16, 3_996);
}

#[test]
fn clusters_stay_whole_until_they_alone_are_too_long() {
    let family = "👩‍👩‍👧‍👦";
    let text = "x".repeat(1_999) + family + &"y".repeat(50);
    let pieces = markdown(&text, 2_000);
    assert_eq!(
        pieces,
        ["x".repeat(1_999), family.to_owned() + &"y".repeat(50)]
    );
    let fenced = format!("```\n{text}\n```");
    assert!(
        markdown(&fenced, 2_000)
            .iter()
            .any(|piece| piece.contains(family))
    );
    assert_eq!(markdown("🇨🇳", 1).len(), 2);
}

fn code_of(text: &str) -> String {
    let blocks = parse(text, Format::Markdown);
    let code = blocks.iter().filter_map(|block| match block {
        Block::Code { text, language } => {
            assert_eq!(language.as_deref(), Some("py"));
            Some(text.as_str())
        }
        _ => None,
    });
    code.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_long_code_block_is_closed_and_reopened() {
    let code: String = (0..300).fold(String::new(), |mut code, i| {
        let _ = writeln!(code, "    v_{i} = f({i})");
        code
    });
    let text = format!("Here it is:\n```py\n{code}```\nDone.");
    let pieces = cut(&text, Format::Markdown, None, chars, 2_000);
    assert!(pieces.len() > 2);
    let shown = texts(&text, &pieces);
    for piece in &shown {
        assert_eq!(piece.matches("```").count() % 2, 0, "{piece}");
    }
    let joined: Vec<String> = shown.iter().map(|piece| code_of(piece)).collect();
    assert_eq!(
        joined
            .into_iter()
            .filter(|code| !code.is_empty())
            .collect::<Vec<_>>()
            .join("\n"),
        code.trim_end_matches('\n')
    );
    let sources: String = pieces
        .iter()
        .map(|piece| slice(&text, piece.source.clone()))
        .collect();
    assert!(sources.contains(&code));
    assert!(shown.last().unwrap().ends_with("```\nDone."));
}

#[test]
fn the_closing_fence_is_paid_for() {
    for fill in 1_966..2_000 {
        let text = format!("```py\n{}\n{}\n```", "x".repeat(fill - 6), "y".repeat(30));
        let pieces = markdown(&text, 2_000);
        assert_eq!(pieces.len(), 2, "{fill}");
        assert!(pieces[0].ends_with("\n```") && pieces[1].starts_with("```py\n"));
    }
}

#[test]
fn fences_inside_lists_and_quotes_keep_their_place() {
    let lines = "let a = 1;\n";
    for (open, rest) in [
        ("- ", "  "),
        ("1. a\n   - b\n\n     ", "     "),
        ("> ", "> "),
        ("> - ", ">   "),
    ] {
        let mut text = format!("{open}```py\n");
        for _ in 0..40 {
            text += &format!("{rest}{lines}");
        }
        text += &format!("{rest}```\n\nafter");
        let pieces = markdown(&text, 200);
        let mut count = 0;
        for piece in &pieces {
            let code = inner_code(&parse(piece, Format::Markdown));
            assert!(
                code.lines().all(|line| line == "let a = 1;"),
                "{open:?}: {piece}"
            );
            count += code.lines().count();
        }
        assert_eq!(count, 40, "{open:?}");
        assert!(pieces.last().unwrap().ends_with("after"));
    }
}

fn inner_code(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        match block {
            Block::Code { text, .. } => out = out + text + "\n",
            Block::Quote(inner) => out += &inner_code(inner),
            Block::List { items, .. } => items.iter().for_each(|item| out += &inner_code(item)),
            _ => {}
        }
    }
    out
}

#[test]
fn a_longer_fence_holds_a_shorter_one() {
    let text = format!("````md\n{}````\n", "```\ncode\n```\n".repeat(30));
    for piece in markdown(&text, 100) {
        assert!(
            piece.starts_with("````md\n") && piece.ends_with("````"),
            "{piece}"
        );
        assert!(matches!(
            parse(&piece, Format::Markdown).as_slice(),
            [Block::Code { .. }]
        ));
    }
}

fn table(rows: usize) -> String {
    let row = |i: usize| {
        format!("| 第{i}行 | `a|b`.replace(\"\\|\") | 值 |\n").replace("`a|b`", "`a\\|b`")
    };
    "| 名称 | 代码 | 值 |\n|---|---|---|\n".to_owned() + &(0..rows).map(row).collect::<String>()
}

#[test]
fn a_table_that_fits_is_never_cut() {
    let table = table(10);
    let text = format!("Intro sentence. Another one.\n\n{table}\nThe end. Really.");
    for limit in chars(table.trim_end())..chars(&text) + 10 {
        let pieces = markdown(&text, limit);
        assert!(
            pieces.iter().any(|piece| piece.contains(table.trim_end())),
            "{limit}: {pieces:?}"
        );
    }
}

#[test]
fn a_table_that_does_not_fit_repeats_its_header() {
    let text = table(40);
    let pieces = markdown(&text, 300);
    let mut rows = 0;
    for piece in &pieces {
        let blocks = parse(piece, Format::Markdown);
        let [
            Block::Table {
                header, rows: body, ..
            },
        ] = blocks.as_slice()
        else {
            panic!("no table: {piece}")
        };
        assert_eq!(plain_text(&header[0]), "名称");
        rows += body.len();
    }
    assert_eq!(rows, 40);
}

/// As long as a platform's HTML would be.
pub(super) fn html_length(blocks: &[Block]) -> usize {
    fn inline(content: &[Inline]) -> usize {
        let length = |inline_: &Inline| match inline_ {
            Inline::Text(text) | Inline::Code(text) => text
                .chars()
                .map(|c| if matches!(c, '&' | '<' | '>') { 5 } else { 1 })
                .sum(),
            Inline::Strong(inner) | Inline::Emphasis(inner) | Inline::Strike(inner) => {
                7 + inline(inner)
            }
            Inline::Link { url, content, .. } => 15 + url.len() + inline(content),
            Inline::Image { url, alt } => url.len() + alt.len(),
            Inline::SoftBreak | Inline::HardBreak => 1,
        };
        content.iter().map(length).sum()
    }
    let length = |block: &Block| match block {
        Block::Paragraph(content) | Block::Heading { content, .. } => inline(content) + 2,
        Block::Quote(inner) => 25 + html_length(inner),
        Block::List { items, .. } => items.iter().map(|item| 4 + html_length(item)).sum(),
        Block::Code { text, .. } => 30 + 5 * text.len(),
        Block::Table { header, rows, .. } => header
            .iter()
            .chain(rows.iter().flatten())
            .map(|cell| 3 + inline(cell))
            .sum(),
        Block::Rule => 3,
    };
    blocks.iter().map(length).sum()
}

#[test]
fn what_counts_is_the_rendered_length() {
    let text = "&".repeat(3_000) + &"**bold** ".repeat(200);
    let fits = |piece: &str| html_length(&parse(piece, Format::Markdown)) <= 4_096;
    let pieces = split(&text, Format::Markdown, None, &fits);
    assert!(pieces.iter().all(|piece| fits(&piece.text(&text))));
    assert!(pieces.len() >= 4 && pieces.len() < 10, "{}", pieces.len());
    let visible = |text: &str| plain(&parse(text, Format::Markdown)).replace(' ', "");
    let shown: String = texts(&text, &pieces)
        .iter()
        .map(|piece| visible(piece))
        .collect();
    assert_eq!(shown, visible(&text));
}

fn plain(blocks: &[Block]) -> String {
    let paragraph = |block: &Block| match block {
        Block::Paragraph(content) => plain_text(content),
        other => panic!("no paragraph: {other:?}"),
    };
    blocks.iter().map(paragraph).collect()
}

#[test]
fn each_piece_of_a_long_span_is_well_formed() {
    let link = format!("[label](https://example.com/{})", "p".repeat(50));
    let text = format!("**{}** {link}", "some words ".repeat(450).trim_end());
    let pieces = markdown(&text, 1_000);
    assert!(pieces.len() > 4);
    for piece in &pieces[..pieces.len() - 1] {
        assert!(piece.starts_with("**") && piece.ends_with("**"), "{piece}");
        assert!(matches!(parse(piece, Format::Markdown).as_slice(),
            [Block::Paragraph(content)] if matches!(content.as_slice(), [Inline::Strong(_)])));
    }
    assert!(pieces.iter().any(|piece| piece.contains(&link)));
    for limit in (64..160).step_by(5) {
        let pieces = markdown(&text, limit);
        let whole = pieces.iter().filter(|piece| piece.contains(&link)).count();
        assert_eq!(whole, usize::from(limit >= link.len()), "{limit}");
    }
}

#[test]
fn html_elements_are_closed_and_reopened() {
    let text = format!(
        "<b>{}</b><a href=\"https://e.com/x y\">label</a>",
        "words in bold ".repeat(20)
    );
    let pieces = texts(&text, &cut(&text, Format::Html, None, chars, 100));
    for piece in &pieces {
        assert_eq!(
            piece.matches("<b>").count(),
            piece.matches("</b>").count(),
            "{piece}"
        );
        assert_eq!(
            piece.matches("<a href=\"https://e.com/x y\">").count(),
            piece.matches("</a>").count()
        );
    }
}

#[test]
fn text_from_the_middle_of_a_paragraph_opens_no_block() {
    let text = "words ".repeat(11) + "- no item";
    let pieces = markdown(&text, 66);
    assert_eq!(pieces[1], "\\- no item");
    assert_eq!(plain(&parse(&pieces[1], Format::Markdown)), "- no item");
}

#[test]
fn nested_lists_keep_their_depth() {
    let mut text = "*   top\n".to_owned();
    for i in 0..20 {
        text += &format!("    *   inner item number {i}\n");
    }
    text += "*   second\n";
    for piece in markdown(&text, 120) {
        let blocks = parse(&piece, Format::Markdown);
        let inner = piece.matches("inner").count();
        let found: usize = blocks.iter().map(count_inner).sum();
        assert_eq!(found, inner, "{piece}");
    }
}

/// Items of lists inside items.
fn count_inner(block: &Block) -> usize {
    let Block::List { items, .. } = block else {
        return 0;
    };
    let lists = items.iter().flatten().filter_map(|block| match block {
        Block::List { items, .. } => Some(items.len()),
        _ => None,
    });
    lists.sum()
}

#[test]
fn an_answer_of_white_space_has_no_pieces() {
    for text in ["", " ", "\n\n\t", "\u{3000}"] {
        assert!(markdown(text, 64).is_empty());
    }
    let code = format!("a\n```\n{}x\n```", "\n".repeat(10_000));
    assert!(markdown(&code, 64).iter().any(|piece| piece.contains('x')));
}

#[test]
fn the_cost_grows_with_the_length() {
    let paragraph = "聊天记录很长。Words and more words, then a stop. ".repeat(40) + "\n\n";
    let long = "word ".repeat(10_000);
    let cases = [
        paragraph.repeat(30),
        long.clone(),
        "x".repeat(50_000),
        format!("```\n{long}\n```"),
        "a b\n".repeat(12_000),
        "[a](https://example.com/b) ".repeat(2_000),
        table(1_000),
        "```\n".to_owned() + &" ".repeat(50_000) + "x",
    ];
    for text in &cases {
        let (calls, asked) = (Cell::new(0_usize), Cell::new(0_usize));
        let pieces = split(text, Format::Markdown, None, &|piece| {
            calls.set(calls.get() + 1);
            asked.set(asked.get() + piece.len());
            chars(piece) <= 1_000
        });
        let start: String = text.chars().take(20).collect();
        assert!(
            calls.get() <= 40 * (pieces.len() + 1),
            "{start}: {} calls",
            calls.get()
        );
        assert!(
            asked.get() <= 60 * text.len(),
            "{start}: {} of {}",
            asked.get(),
            text.len()
        );
    }
}
