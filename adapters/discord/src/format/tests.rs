//! How answers look.

use proptest::prelude::*;

use super::*;

fn text(text: &str) -> Inline {
    Inline::Text(text.to_owned())
}

fn paragraph(content: Vec<Inline>) -> Block {
    Block::Paragraph(content)
}

fn rendered(blocks: &[Block]) -> String {
    Markdown::new(2_000).render(blocks).text
}

fn line(content: Vec<Inline>) -> String {
    rendered(&[paragraph(content)])
}

#[test]
fn text_is_never_a_mark() {
    for (given, expected) in [
        ("2 * 3 * 4_5", r"2 \* 3 \* 4\_5"),
        ("# no heading", r"\# no heading"),
        (
            "- no item\n1. none\n+ none",
            "\\- no item\n1\\. none\n\\+ none",
        ),
        ("  - indented", r"\- indented"),
        ("-# small", r"\-# small"),
        ("> no quote", r"\> no quote"),
        ("a > b - c # d 1. e", r"a \> b - c # d 1. e"),
        ("<@1> <@&2> <:a:3>", r"\<@1\> \<@&2\> \<:a:3\>"),
        (
            "[text](https://example.com)",
            r"\[text\](https://example.com)",
        ),
        (
            "||secret|| ~~no~~ `code`",
            r"\|\|secret\|\| \~\~no\~\~ \`code\`",
        ),
        (r"back\slash", r"back\\slash"),
        (
            "see https://a.example/b_c?d=e_f now",
            "see https://a.example/b_c?d=e_f now",
        ),
        ("https://a.example/**x", r"https://a.example/\*\*x"),
        ("\u{0}a\u{7}\u{1b}[31m", r"a\[31m"),
    ] {
        assert_eq!(line(vec![text(given)]), expected, "{given}");
    }
}

#[test]
fn emphasis_hugs_its_words_and_is_kept_apart() {
    let strong = |inner: Vec<Inline>| Inline::Strong(inner);
    let emphasis = |inner: Vec<Inline>| Inline::Emphasis(inner);
    assert_eq!(
        line(vec![text("a"), strong(vec![text(" b ")]), text("c")]),
        "a **b** c"
    );
    assert_eq!(
        line(vec![strong(vec![emphasis(vec![text("x")])])]),
        "**\u{200B}*x***"
    );
    assert_eq!(line(vec![strong(vec![strong(vec![text("x")])])]), "**x**");
    assert_eq!(
        line(vec![strong(vec![text("a")]), strong(vec![text("b")])]),
        "**a**\u{200B}**b**"
    );
    assert_eq!(line(vec![strong(vec![text(" ")]), text("b")]), "b");
    assert_eq!(line(vec![Inline::Strike(vec![text("x")])]), "~~x~~");
}

#[test]
fn code_is_shown_as_it_is() {
    let code = |text: &str| line(vec![Inline::Code(text.to_owned())]);
    assert_eq!(code("a*b"), "`a*b`");
    assert_eq!(code("a`b"), "``a`b``");
    assert_eq!(code("`x`"), "`` `x` ``");
    assert_eq!(code("a```b"), "`a'''b`");
    let two = vec![Inline::Code("a".into()), Inline::Code("b".into())];
    assert_eq!(line(two), "`a`\u{200B}`b`");
    let block = |language: Option<&str>, text: &str| {
        let language = language.map(str::to_owned);
        rendered(&[Block::Code {
            language,
            text: text.to_owned(),
        }])
    };
    assert_eq!(block(Some("rust"), "fn f() {}"), "```rust\nfn f() {}\n```");
    assert_eq!(block(Some("</code><b>"), "x"), "```\nx\n```");
    assert_eq!(block(None, "a\n```\nb"), "```\na\n``\u{200B}`\nb\n```");
}

#[test]
fn links_lead_to_the_web_alone() {
    let link = |url: &str, shown: &str| {
        let content = vec![text(shown)];
        line(vec![Inline::Link {
            url: url.into(),
            title: None,
            content,
        }])
    };
    assert_eq!(
        link("https://example.com/a_(b)", "here"),
        "[here](https://example.com/a_%28b%29)"
    );
    assert_eq!(
        link("https://example.com/", "https://example.com/"),
        "https://example.com/"
    );
    assert_eq!(
        link("https://evil.example/", "https://bank.example"),
        "https://bank.example ( https://evil.example/ )"
    );
    assert_eq!(
        link("javascript:alert(1)", "here"),
        r"here ( javascript:alert(1) )"
    );
    assert_eq!(
        link("https://example.com/", "a]b"),
        r"[a\]b](https://example.com/)"
    );
    let image = Inline::Image {
        url: "https://example.com/p.png".into(),
        alt: "plan".into(),
    };
    assert_eq!(line(vec![image]), "[plan](https://example.com/p.png)");
}

#[test]
fn blocks_have_their_marks() {
    let item = |words: &str| vec![paragraph(vec![text(words)])];
    let heading = |level| Block::Heading {
        level,
        content: vec![text("Title")],
    };
    assert_eq!(
        rendered(&[heading(2), paragraph(vec![text("x")])]),
        "## Title\n\nx"
    );
    assert_eq!(rendered(&[heading(4)]), "**Title**");
    let inner = Block::List {
        start: Some(3),
        items: vec![item("three"), item("four")],
    };
    let mut outer = item("one");
    outer.push(inner.clone());
    let list = Block::List {
        start: None,
        items: vec![outer, item("two")],
    };
    assert_eq!(rendered(&[list]), "- one\n  3. three\n  4. four\n- two");
    let continued = Block::List {
        start: None,
        items: vec![vec![inner]],
    };
    assert_eq!(
        rendered(&[paragraph(vec![text("x")]), continued]),
        "x\n\n  3. three\n  4. four"
    );
    let quote = Block::Quote(vec![
        paragraph(vec![text("a\nb")]),
        Block::Quote(vec![paragraph(vec![text("c")])]),
        Block::Code {
            language: None,
            text: "d".into(),
        },
    ]);
    assert_eq!(
        rendered(&[quote]),
        "> a\n> b\n> \n> \\> c\n> \n> ```\n> d\n> ```"
    );
    let code = vec![
        paragraph(vec![text("run")]),
        Block::Code {
            language: None,
            text: "x".into(),
        },
    ];
    assert_eq!(
        rendered(&[Block::List {
            start: None,
            items: vec![code]
        }]),
        "- run\n```\nx\n```"
    );
}

#[test]
fn tables_are_drawn_in_fixed_width() {
    let cell = |words: &str| vec![text(words)];
    let table = Block::Table {
        alignments: vec![],
        header: vec![cell("a"), cell("b")],
        rows: vec![vec![cell("one"), cell("2")]],
    };
    let drawn = rendered(&[table]);
    assert!(
        drawn.starts_with("```\n") && drawn.ends_with("\n```"),
        "{drawn}"
    );
    assert!(drawn.contains("one"), "{drawn}");
}

#[test]
fn the_length_is_that_of_code_points() {
    let markdown = Markdown::new(3);
    let fits = |text: &str| {
        markdown.fits(&Rendered {
            text: text.into(),
            marks: vec![],
        })
    };
    assert!(fits("𝔘𝔘𝔘") && !fits("𝔘𝔘𝔘𝔘"));
}

proptest! {
    /// What a reader sees of escaped text is the text.
    #[test]
    fn escaped_text_reads_back(words in "[ -~]{0,60}") {
        let shown = line(vec![text(&words)]);
        let mut seen = String::new();
        let mut rest = shown.chars().peekable();
        while let Some(character) = rest.next() {
            match rest.peek() {
                Some(next) if character == '\\' && next.is_ascii_punctuation() => {
                    seen.extend(rest.next());
                }
                _ => {
                    prop_assert!(!"*`|[]".contains(character) , "{shown}");
                    seen.push(character);
                }
            }
        }
        prop_assert_eq!(seen, words.trim());
    }
}
