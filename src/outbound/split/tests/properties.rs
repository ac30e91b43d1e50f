//! Any text under any limit: pieces cover it in order, fit, and are never empty.

use proptest::prelude::*;
use regex::Regex;
use weirgate_sdk::answer::Format;

use super::super::{Mode, Pace, split};
use super::faults::html_length;
use super::{Unit, bytes, chars, check, cut, slice, utf16};
use crate::outbound::markdown::parse;

fn format() -> impl Strategy<Value = Format> {
    prop_oneof![
        Just(Format::Markdown),
        Just(Format::Plain),
        Just(Format::Html)
    ]
}

fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![
        Just(bytes as Unit),
        Just(chars as Unit),
        Just(utf16 as Unit)
    ]
}

fn pace() -> impl Strategy<Value = Option<Pace>> {
    let regex = Regex::new("[。！？；\n]+|x").expect("a valid expression");
    let mode = prop_oneof![
        Just(Mode::Sentence),
        Just(Mode::WordCount),
        Just(Mode::Regex(regex))
    ];
    let pace = (1_usize..80, mode, 0_usize..30, any::<bool>());
    proptest::option::of(
        pace.prop_map(|(threshold, mode, min_segment_length, add_ellipsis)| Pace {
            threshold,
            mode,
            min_segment_length,
            add_ellipsis,
        }),
    )
}

/// Text out of what makes splitting hard.
fn tricky() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("\n"),
        Just("\n\n"),
        Just("```py\n"),
        Just("\n```\n"),
        Just("~~~\n"),
        Just("````"),
        Just("> "),
        Just("- "),
        Just("    - "),
        Just("1. "),
        Just("## "),
        Just("\n    code"),
        Just("| a | b |\n|---|---|\n"),
        Just("| `x` | 值 |\n"),
        Just("**"),
        Just("*"),
        Just("_"),
        Just("~~"),
        Just("`"),
        Just("[l](https://example.com/a_b?c=1.2)"),
        Just("https://e.com/x_y. "),
        Just("&amp;"),
        Just("\\*"),
        Just("<b>"),
        Just("</b>"),
        Just("<a href=\"x\">"),
        Just("</a>"),
        Just("<ul><li>"),
        Just("词语很多。"),
        Just("Words here. "),
        Just("longword"),
        Just("3.14 "),
        Just("👩‍👩‍👧‍👦"),
        Just("e\u{301}\u{301}"),
        Just("\u{200b}"),
        Just("\u{3000}"),
        Just("\r\n"),
        Just("a@b.example"),
        Just("……"),
        Just("---\n"),
        Just("\t- "),
        Just("\u{1}"),
    ];
    proptest::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_at_any_limit(
        text in "(?s).{0,250}", format in format(), unit in unit(), pace in pace(), limit in 1_usize..200,
    ) {
        cut(&text, format, pace.as_ref(), unit, limit);
    }

    #[test]
    fn tricky_text_at_any_limit(
        text in tricky(), format in format(), unit in unit(), pace in pace(), limit in 1_usize..200,
    ) {
        cut(&text, format, pace.as_ref(), unit, limit);
    }

    #[test]
    fn what_fits_is_one_piece(text in tricky(), format in format()) {
        let pieces = cut(&text, format, None, chars, 10_000);
        prop_assert_eq!(pieces.len(), usize::from(!text.trim().is_empty()));
    }

    #[test]
    fn nothing_fits_and_nothing_is_lost(text in tricky(), format in format()) {
        let text: String = text.chars().take(30).collect();
        let pieces = split(&text, format, None, &|_| false);
        check(&text, &pieces, chars, 0);
    }

    #[test]
    fn what_is_rendered_fits(text in tricky(), format in format(), pace in pace(), limit in 64_usize..200) {
        let fits = |piece: &str| html_length(&parse(piece, format)) <= limit;
        for piece in split(&text, format, pace.as_ref(), &fits) {
            prop_assert!(fits(&piece.text(&text)), "{piece:?}");
        }
    }

    #[test]
    fn pieces_show_something(text in tricky(), limit in 64_usize..200) {
        for piece in cut(&text, Format::Markdown, None, chars, limit) {
            prop_assert!(!parse(&piece.text(&text), Format::Markdown).is_empty());
        }
    }

    #[test]
    fn code_is_restored_by_leaving_out_the_marks(
        lines in proptest::collection::vec("[ a-z`~#]{0,30}", 1..40), limit in 64_usize..200,
    ) {
        let code = lines.join("\n").replace("```", "'''");
        prop_assume!(!code.trim().is_empty());
        let text = format!("```py\nx\n{code}\nx\n```");
        let pieces = cut(&text, Format::Markdown, None, chars, limit);
        let sources: String = pieces.iter().map(|piece| slice(&text, piece.source.clone())).collect();
        if code.split("\n").all(|line| !line.trim().is_empty()) {
            prop_assert_eq!(&sources, &text);
        }
        for piece in pieces {
            let blocks = parse(&piece.text(&text), Format::Markdown);
            let code = matches!(
                blocks.as_slice(),
                [weirgate_sdk::answer::Block::Code { language: Some(language), .. }] if language == "py"
            );
            prop_assert!(code, "{:?}", piece.text(&text));
        }
    }
}
