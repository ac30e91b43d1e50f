//! What people see, and that the platform takes it.

use proptest::prelude::*;
use weirgate_sdk::answer::Alignment;

use super::*;

fn text(text: &str) -> Inline {
    Inline::Text(text.to_owned())
}

fn paragraph(content: &str) -> Block {
    Block::Paragraph(vec![text(content)])
}

/// The text with its marks written into it: `b[…]`, `i[…]`, `s[…]`, `c[…]`, `pre[…]`, `a[…]`, `q[…]`.
fn shown(blocks: &[Block]) -> String {
    let rendered = Entities::new(MAX_LENGTH).render(blocks);
    let mut cuts: Vec<(usize, usize, String)> = Vec::new();
    for (index, mark) in rendered.marks.iter().enumerate() {
        let name = match &mark.kind {
            MarkKind::Bold => "b",
            MarkKind::Italic => "i",
            MarkKind::Strike => "s",
            MarkKind::Code => "c",
            MarkKind::Pre { .. } => "pre",
            MarkKind::Link { .. } => "a",
            MarkKind::Quote => "q",
        };
        cuts.push((mark.offset, 1_000 + index, format!("{name}[")));
        cuts.push((mark.offset + mark.length, 1_000 - index, "]".to_owned()));
    }
    cuts.sort();
    let mut out = rendered.text;
    for (at, _, cut) in cuts.into_iter().rev() {
        out.insert_str(at, &cut);
    }
    out
}

const MAX_LENGTH: usize = 4_096;

#[test]
fn emphasis_nests_and_leaves_code_alone() {
    let code = Inline::Code("x = 1".into());
    let blocks = [Block::Paragraph(vec![
        text("a "),
        Inline::Strong(vec![
            text("bold "),
            code,
            text(" more "),
            Inline::Emphasis(vec![text("both")]),
        ]),
        Inline::Strike(vec![text(" gone ")]),
    ])];
    assert_eq!(shown(&blocks), "a b[bold] c[x = 1] b[more i[both]] s[gone]");
}

#[test]
fn emphasis_around_a_link_with_code_ends_where_the_link_does() {
    let link = Inline::Link {
        url: "https://example.com/".into(),
        title: None,
        content: vec![Inline::Code("x".into()), text("y")],
    };
    let blocks = [Block::Paragraph(vec![Inline::Strong(vec![
        link,
        text("z"),
    ])])];
    assert_eq!(shown(&blocks), "a[c[x]b[y]]b[z]");
}

#[test]
fn one_style_inside_of_itself_counts_once() {
    let blocks = [Block::Heading {
        level: 1,
        content: vec![text("A "), Inline::Strong(vec![text("B")])],
    }];
    assert_eq!(shown(&blocks), "b[A B]");
}

#[test]
fn lines_of_each_kind_of_block_are_kept() {
    let item = |word: &str| vec![paragraph(word)];
    let inner = Block::List {
        start: None,
        items: vec![item("deep")],
    };
    let blocks = [
        Block::Paragraph(vec![text("one"), Inline::SoftBreak, text("two")]),
        Block::List {
            start: None,
            items: vec![vec![paragraph("a"), inner], item("b"), vec![]],
        },
        Block::List {
            start: Some(9),
            items: vec![item("x\ny"), item("z")],
        },
        Block::Quote(vec![
            paragraph("said"),
            Block::Quote(vec![paragraph("before")]),
        ]),
        Block::Rule,
    ];
    let expected =
        "one\ntwo\n\n• a\n  • deep\n• b\n•\n\n9. x\n   y\n10. z\n\nq[said\n\n> before]\n\n────────";
    assert_eq!(shown(&blocks), expected);
}

#[test]
fn code_is_literal_and_on_lines_of_its_own() {
    let markup = "<!DOCTYPE html><p class=\"x\">&nbsp;</p>\n\tend";
    let code = |language: &str| Block::Code {
        language: Some(language.into()),
        text: markup.into(),
    };
    assert_eq!(shown(&[code("html")]), format!("pre[{markup}]"));
    let in_list = Block::List {
        start: Some(1),
        items: vec![vec![code("html")], vec![paragraph("see"), code("x")]],
    };
    let expected = format!("1. \npre[{markup}]\n2. see\npre[{markup}]");
    assert_eq!(shown(&[in_list]), expected);
    for (language, kept) in [
        ("rust", Some("rust")),
        ("c++ linenos", Some("c++")),
        ("</code><b>", None),
    ] {
        let rendered = Entities::new(MAX_LENGTH).render(&[code(language)]);
        let expected = MarkKind::Pre {
            language: kept.map(str::to_owned),
        };
        assert_eq!(rendered.marks[0].kind, expected);
    }
}

#[test]
fn only_addresses_of_the_web_become_links() {
    let link = |url: &str, words: &str| {
        shown(&[Block::Paragraph(vec![Inline::Link {
            url: url.into(),
            title: None,
            content: vec![text(words)],
        }])])
    };
    assert_eq!(link("https://example.com/my_lib_x", "docs"), "a[docs]");
    assert_eq!(link("https://example.com/a", ""), "https://example.com/a");
    assert_eq!(link("tg://user?id=5", "you"), "you ( tg://user?id=5 )");
    assert_eq!(
        link("javascript:alert(1)", "here"),
        "here ( javascript:alert(1) )"
    );
    assert_eq!(
        link("mailto:a@example.com", "a@example.com"),
        "a@example.com"
    );
    let long = format!("https://example.com/{}", "p".repeat(MAX_URL));
    assert!(!link(&long, "x").contains("a["));
    let picture = [Block::Paragraph(vec![Inline::Image {
        url: "https://example.com/p.png".into(),
        alt: "a cat".into(),
    }])];
    assert_eq!(shown(&picture), "a[a cat]");
}

#[test]
fn tables_are_drawn_in_fixed_width() {
    let cell = |words: &str| vec![text(words)];
    let table = Block::Table {
        alignments: vec![Alignment::Left, Alignment::Right],
        header: vec![cell("a"), cell("n")],
        rows: vec![vec![cell("甲"), cell("10")], vec![cell("b")]],
    };
    assert_eq!(shown(&[table]), "pre[a  |  n\n---+---\n甲 | 10\nb  |]");
}

#[test]
fn white_space_at_the_ends_moves_no_mark() {
    let blocks = [Block::Paragraph(vec![
        text(" \n "),
        Inline::Strong(vec![text(" 𝔘 b ")]),
        text("  \n"),
    ])];
    assert_eq!(shown(&blocks), "b[𝔘 b]");
    let code = Block::Code {
        language: None,
        text: "    indented\n".into(),
    };
    assert_eq!(shown(&[code]), "pre[indented]");
    assert_eq!(shown(&[paragraph(" \n\t ")]), "");
}

#[test]
fn offsets_are_units_of_utf_16() {
    let blocks = [Block::Paragraph(vec![
        text("👨‍👩‍👧 "),
        Inline::Strong(vec![text("字𝔘")]),
        Inline::Code("é".into()),
    ])];
    let rendered = Entities::new(MAX_LENGTH).render(&blocks);
    let found: Vec<_> = entities(&rendered)
        .iter()
        .map(|one| (one.offset, one.length))
        .collect();
    assert_eq!(found, [(9, 3), (12, 1)]);
}

#[test]
fn length_number_and_bytes_of_entities_are_limits() {
    let format = Entities::new(100);
    let fits = |blocks: &[Block]| format.fits(&format.render(blocks));
    assert!(fits(&[paragraph(&"x".repeat(100))]));
    assert!(!fits(&[paragraph(&"x".repeat(101))]));
    assert!(!fits(&[paragraph(&"😀".repeat(51))]), "two units each");
    let bold = |count| {
        let words = std::iter::repeat_n([Inline::Strong(vec![text("b")]), text(" ")], count);
        let format = Entities::new(MAX_LENGTH);
        format.fits(&format.render(&[Block::Paragraph(words.flatten().collect())]))
    };
    assert!(bold(100) && !bold(101));
    let links = |count: usize| {
        let link = Inline::Link {
            url: format!("https://example.com/{}", "p".repeat(1_000)),
            title: None,
            content: vec![text("x")],
        };
        let format = Entities::new(MAX_LENGTH);
        format.fits(&format.render(&[Block::Paragraph(vec![link; count])]))
    };
    assert!(links(8) && !links(9));
}

fn inlines() -> impl Strategy<Value = Vec<Inline>> {
    let leaf = prop_oneof![
        "[ a-z𝔘字\\n]{0,6}".prop_map(Inline::Text),
        "[ a-z]{0,4}".prop_map(Inline::Code),
        Just(Inline::SoftBreak),
    ];
    let tree = leaf.prop_recursive(4, 24, 4, |inner| {
        let inner = prop::collection::vec(inner, 0..4);
        prop_oneof![
            inner.clone().prop_map(Inline::Strong),
            inner.clone().prop_map(Inline::Emphasis),
            inner.clone().prop_map(Inline::Strike),
            inner.prop_map(|content| Inline::Link {
                url: "https://example.com/".into(),
                title: None,
                content,
            }),
        ]
    });
    prop::collection::vec(tree, 0..5)
}

fn blocks() -> impl Strategy<Value = Vec<Block>> {
    let leaf = prop_oneof![
        inlines().prop_map(Block::Paragraph),
        inlines().prop_map(|content| Block::Heading { level: 2, content }),
        "[ a-z\\n]{0,12}".prop_map(|text| Block::Code {
            language: None,
            text
        }),
        Just(Block::Rule),
    ];
    let tree = leaf.prop_recursive(3, 16, 3, |inner| {
        let inner = prop::collection::vec(inner, 0..3);
        prop_oneof![
            inner.clone().prop_map(Block::Quote),
            prop::collection::vec(inner, 0..3).prop_map(|items| Block::List {
                start: Some(1),
                items
            }),
        ]
    });
    prop::collection::vec(tree, 0..4)
}

proptest! {
    #[test]
    fn entities_are_nested_and_lie_in_the_text(blocks in blocks()) {
        let rendered = Entities::new(MAX_LENGTH).render(&blocks);
        prop_assert_eq!(rendered.text.trim(), &rendered.text);
        let mut open: Vec<&Mark> = Vec::new();
        for mark in &rendered.marks {
            let inner = rendered.text.get(mark.offset..mark.offset + mark.length);
            prop_assert!(inner.is_some_and(|inner| !inner.trim().is_empty()), "{:?} {:?}", mark, rendered);
            open.retain(|outer| outer.offset + outer.length > mark.offset);
            for outer in &open {
                prop_assert!(outer.offset + outer.length >= mark.offset + mark.length, "{:?}", rendered);
                let around_code = matches!(mark.kind, MarkKind::Code | MarkKind::Pre { .. })
                    && !matches!(outer.kind, MarkKind::Link { .. } | MarkKind::Quote);
                prop_assert!(!around_code, "{:?}", rendered);
                prop_assert!(!matches!(outer.kind, MarkKind::Code | MarkKind::Pre { .. }), "{:?}", rendered);
            }
            open.push(mark);
        }
        prop_assert_eq!(entities(&rendered).len(), rendered.marks.len());
    }
}
