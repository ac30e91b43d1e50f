use proptest::prelude::*;

use super::*;

const TAGS: &[&str] = &[
    "p",
    "br",
    "hr",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "ul",
    "ol",
    "li",
    "pre",
    "code",
    "blockquote",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "strong",
    "em",
    "del",
    "a",
];

/// Reads markup strictly: only the allowed tags and attributes, every tag closed in order, no stray
/// mark. Returns the text that is seen.
fn parse(markup: &str) -> Result<String, String> {
    let (mut open, mut text, mut rest) = (vec![], String::new(), markup);
    loop {
        let (before, tail) = match rest.split_once('<') {
            Some(parts) => parts,
            None => (rest, ""),
        };
        if before.contains(['>', '"', '\'']) {
            return Err(format!("stray mark in {before:?}"));
        }
        push_unescaped(before, &mut text);
        if tail.is_empty() {
            break;
        }
        let (tag, tail) = tail.split_once('>').ok_or("tag without end")?;
        rest = tail;
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("{name} closed out of order"));
            }
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        if !TAGS.contains(&name) {
            return Err(format!("tag {name}"));
        }
        check_attributes(name, attributes)?;
        if name == "a" && open.contains(&"a") {
            return Err("link in a link".into());
        }
        if !matches!(name, "br" | "hr") {
            open.push(name);
        }
    }
    if open.is_empty() {
        Ok(text)
    } else {
        Err(format!("left open: {open:?}"))
    }
}

fn check_attributes(tag: &str, attributes: &str) -> Result<(), String> {
    let mut rest = attributes;
    while !rest.is_empty() {
        let (name, tail) = rest.split_once("=\"").ok_or("attribute without value")?;
        let (value, tail) = tail.split_once('"').ok_or("value without end")?;
        rest = tail.strip_prefix(' ').unwrap_or(tail);
        let good = match (tag, name) {
            ("a", "href") => {
                let lower = value.to_ascii_lowercase();
                ["http://", "https://", "mailto:"]
                    .iter()
                    .any(|scheme| lower.starts_with(scheme))
            }
            ("a", "target") => value == "_blank",
            ("a", "rel") => value == "noopener noreferrer nofollow",
            ("a", "class") => value == "picture",
            ("ol", "start") => value.parse::<u64>().is_ok(),
            ("code", "class") => value
                .strip_prefix("language-")
                .is_some_and(|it| !it.contains(' ')),
            ("td" | "th", "class") => matches!(value, "left" | "center" | "right"),
            ("li", "class") => value == "continued",
            _ => false,
        };
        if !good || value.contains(['<', '>']) {
            return Err(format!("{tag} {name}={value:?}"));
        }
    }
    Ok(())
}

fn text(text: &str) -> Inline {
    Inline::Text(text.into())
}

fn link(url: &str) -> Inline {
    Inline::Link {
        url: url.into(),
        title: None,
        content: vec![text("a")],
    }
}

#[track_caller]
fn check(blocks: &[Block], expected: &str) {
    let markup = html(blocks);
    assert_eq!(markup, expected);
    parse(&markup).unwrap();
}

#[test]
fn every_block_has_its_tag() {
    check(
        &[
            Block::Heading {
                level: 2,
                content: vec![text("T")],
            },
            Block::Paragraph(vec![
                Inline::Strong(vec![text("b")]),
                Inline::SoftBreak,
                text("c"),
            ]),
            Block::Quote(vec![Block::Paragraph(vec![Inline::Emphasis(vec![text(
                "q",
            )])])]),
            Block::Rule,
            Block::Code {
                language: Some("Rust,no_run".into()),
                text: "a < b\n\tc".into(),
            },
        ],
        "<h2>T</h2><p><strong>b</strong><br>c</p><blockquote><p><em>q</em></p></blockquote><hr>\
         <pre><code class=\"language-rust\">a &lt; b\n\tc</code></pre>",
    );
    check(
        &[Block::List {
            start: Some(3),
            items: vec![
                vec![Block::Paragraph(vec![text("x")])],
                vec![Block::List {
                    start: None,
                    items: vec![vec![]],
                }],
            ],
        }],
        "<ol start=\"3\"><li>x</li><li class=\"continued\"><ul><li></li></ul></li></ol>",
    );
    check(
        &[Block::Table {
            alignments: vec![Alignment::Right],
            header: vec![vec![text("h")], vec![text("i")]],
            rows: vec![vec![vec![Inline::Code("1".into())]]],
        }],
        "<table><thead><tr><th class=\"right\">h</th><th>i</th></tr></thead><tbody><tr>\
         <td class=\"right\"><code>1</code></td></tr></tbody></table>",
    );
}

#[test]
fn markup_in_a_text_stays_text() {
    for hostile in [
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "<b>x",
        "</p><script>alert(1)</script>",
        "\"><form action=//evil.example>",
    ] {
        let paragraph = html(&[Block::Paragraph(vec![
            text(hostile),
            Inline::Code(hostile.into()),
        ])]);
        assert_eq!(parse(&paragraph).unwrap(), format!("{hostile}{hostile}"));
        let fence = html(&[Block::Code {
            language: None,
            text: hostile.into(),
        }]);
        assert_eq!(parse(&fence).unwrap(), hostile);
        assert_eq!(parse(&own_words(hostile)).unwrap(), hostile);
    }
}

#[test]
fn only_links_that_are_safe_to_open_stay_links() {
    for url in [
        "javascript:alert(1)",
        "JaVa\tscript:alert(1)",
        "JaVa&#09;script:alert(1)",
        "\u{1}javascript:alert(1)",
        " java\nscript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example",
        "/chat",
        "https:",
        "http:evil.example",
        "blob:https://a.example/1",
        "mailto:",
        "",
    ] {
        check(&[Block::Paragraph(vec![link(url)])], "<p>a</p>");
    }
    for url in [
        "http://a.example/?a=1&b=2",
        "HTTPS://a.example",
        "mailto:a@b.example",
    ] {
        let markup = html(&[Block::Paragraph(vec![link(url)])]);
        parse(&markup).unwrap();
        assert!(
            markup.contains("rel=\"noopener noreferrer nofollow\""),
            "{markup}"
        );
    }
    check(
        &[Block::Paragraph(vec![link(
            "https://a.example/\" onclick=\"x",
        )])],
        "<p><a href=\"https://a.example/&quot;onclick=&quot;x\" target=\"_blank\" \
         rel=\"noopener noreferrer nofollow\">a</a></p>",
    );
}

#[test]
fn a_picture_is_a_link_and_is_never_fetched() {
    let picture = |url: &str, alt: &str| {
        html(&[Block::Paragraph(vec![Inline::Image {
            url: url.into(),
            alt: alt.into(),
        }])])
    };
    assert_eq!(picture("data:text/html,<b>", "x"), "<p>x</p>");
    assert!(picture("https://a.example/i.png", "").contains(">https://a.example/i.png</a>"));
    assert!(picture("https://a.example/i.png", "cat").contains(" class=\"picture\">cat</a>"));
}

#[test]
fn a_language_is_a_class_name_or_left_out() {
    for (tag, expected) in [
        ("C++", Some("c++")),
        ("rust,ignore", Some("rust")),
        ("a\" onclick=\"x", None),
        ("<form>", None),
        ("", None),
        ("编程", None),
    ] {
        assert_eq!(language_name(tag).as_deref(), expected, "{tag}");
    }
    assert_eq!(language_name(&"x".repeat(33)), None);
}

#[test]
fn length_is_what_is_seen() {
    let blocks = |count: usize| {
        [Block::Paragraph(vec![Inline::Text(
            "<聊".repeat(count / 2),
        )])]
    };
    assert!(Html.fits(&Html.render(&blocks(MAX_VISIBLE))));
    assert!(!Html.fits(&Html.render(&blocks(MAX_VISIBLE + 2))));
}

#[test]
fn programs_get_the_text_with_its_line_breaks() {
    let blocks = [
        Block::Paragraph(vec![text("a<b"), Inline::HardBreak, text("c")]),
        Block::List {
            start: None,
            items: vec![vec![Block::Paragraph(vec![text("&amp;")])]],
        },
    ];
    assert_eq!(visible_text(&html(&blocks)), "a<b\nc\n&amp;");
}

fn any_inline() -> impl Strategy<Value = Inline> {
    let piece = || {
        prop_oneof![
            any::<String>(),
            "[<>\"'&a-z:/ =;#\\t]{0,12}",
            Just("https://a.example/".to_owned()),
        ]
    };
    let leaf = prop_oneof![
        piece().prop_map(Inline::Text),
        piece().prop_map(Inline::Code),
        (piece(), piece()).prop_map(|(url, alt)| Inline::Image { url, alt }),
        Just(Inline::SoftBreak),
    ];
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let content = || prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            content().prop_map(Inline::Strong),
            content().prop_map(Inline::Strike),
            (piece(), content()).prop_map(|(url, content)| Inline::Link {
                url,
                title: None,
                content
            }),
        ]
    })
}

fn any_block() -> impl Strategy<Value = Block> {
    let content = || prop::collection::vec(any_inline(), 0..3);
    let leaf = prop_oneof![
        content().prop_map(Block::Paragraph),
        (any::<u8>(), content()).prop_map(|(level, content)| Block::Heading { level, content }),
        (any::<Option<String>>(), any::<String>())
            .prop_map(|(language, text)| Block::Code { language, text }),
        (content(), content()).prop_map(|(header, row)| Block::Table {
            alignments: vec![Alignment::Center],
            header: vec![header],
            rows: vec![vec![row]],
        }),
        Just(Block::Rule),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| {
        let blocks = prop::collection::vec(inner, 0..3);
        prop_oneof![
            blocks.clone().prop_map(Block::Quote),
            (any::<Option<u64>>(), prop::collection::vec(blocks, 0..3))
                .prop_map(|(start, items)| Block::List { start, items }),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_the_blocks_hold_only_known_markup_comes_out(
        blocks in prop::collection::vec(any_block(), 0..4),
    ) {
        let markup = html(&blocks);
        let text = parse(&markup).map_err(TestCaseError::fail)?;
        prop_assert_eq!(seen(&markup), text.chars().count());
    }

    #[test]
    fn any_text_comes_back_as_it_was(text in "[^\\p{Cc}]{0,40}") {
        let markup = html(&[Block::Code { language: None, text: text.clone() }]);
        prop_assert_eq!(parse(&markup).map_err(TestCaseError::fail)?, text);
    }
}
