use proptest::prelude::*;

use super::*;

/// Text and reasoning that come out of the deltas.
fn split<'a>(deltas: impl IntoIterator<Item = &'a str>, truncated: bool) -> (String, String) {
    let mut filter = ThinkFilter::new();
    let (mut text, mut reasoning) = (String::new(), String::new());
    let mut take = |piece: Piece<'_>| match piece {
        Piece::Text(more) => text.push_str(more),
        Piece::Reasoning(more) => reasoning.push_str(more),
    };
    for delta in deltas {
        filter.push(delta, &mut take);
    }
    filter.finish(truncated, &mut take);
    (text, reasoning)
}

fn check(deltas: &[&str], text: &str, reasoning: &str) {
    let expected = (text.to_owned(), reasoning.to_owned());
    assert_eq!(
        split(deltas.iter().copied(), false),
        expected,
        "as given: {deltas:?}"
    );
    let joined = deltas.concat();
    let mut buffer = [0; 4];
    let chars: Vec<String> = joined
        .chars()
        .map(|c| c.encode_utf8(&mut buffer).into())
        .collect();
    let single = split(chars.iter().map(String::as_str), false);
    assert_eq!(single, expected, "character by character: {joined:?}");
}

#[test]
fn a_block_in_front_is_reasoning() {
    check(
        &["<think>first this</think>then that"],
        "then that",
        "first this",
    );
    check(&["\n<think>\nhm\n</think>\n\nYes"], "Yes", "\nhm\n");
    check(&["<thi", "nk>a</th", "ink>\n", "\nb"], "b", "a");
}

#[test]
fn a_closing_tag_alone_makes_all_before_it_reasoning() {
    check(
        &["Let me", " check", "</th", "ink>", "\n\nDone"],
        "Done",
        "Let me check",
    );
    check(&["don`t know</think>Fine"], "Fine", "don`t know");
}

#[test]
fn an_answer_without_tags_is_an_answer() {
    check(
        &["Just ", "an answer, 3 < 4 and <b>"],
        "Just an answer, 3 < 4 and <b>",
        "",
    );
    check(&["cut at <thi"], "cut at <thi", "");
    check(&[], "", "");
}

#[test]
fn tags_in_code_are_text() {
    check(
        &["Use `<think>` and `</think>`."],
        "Use `<think>` and `</think>`.",
        "",
    );
    let block = "Look:\n```\n<think>x</think>\n```\nend";
    check(&[block], block, "");
    let double = "a ``x ` <think> y`` b";
    check(&[double], double, "");
    check(
        &["<think>about `</think>` here</think>ok"],
        "ok",
        "about `</think>` here",
    );
    check(&["<think>r</think>Use `<think>`."], "Use `<think>`.", "r");
}

#[test]
fn a_stray_backtick_hides_no_tag() {
    check(
        &["<think>a</think>tick ` <think>secret</think>end"],
        "tick ` end",
        "asecret",
    );
    check(&["<think>```\ncode</think>end"], "end", "```\ncode");
}

#[test]
fn a_second_block_is_reasoning_too() {
    check(&["<think>a</think>b<think>c</think>d"], "bd", "ac");
    check(&["<think>a</think>b</think>c"], "bc", "a");
}

#[test]
fn unclosed_reasoning_does_not_leak() {
    check(&["<think>never", " ending"], "", "never ending");
    check(&["<think>a</think>b<think>c"], "b", "ac");
}

#[test]
fn a_truncated_answer_without_any_tag_may_be_reasoning_and_is_kept_back() {
    let (text, reasoning) = split(["Okay, the user wants"], true);
    assert_eq!(
        (text.as_str(), reasoning.as_str()),
        ("", "Okay, the user wants")
    );
    let (text, _) = split(["hm</think>The answer is"], true);
    assert_eq!(text, "The answer is");
}

#[test]
fn the_answer_streams_once_the_reasoning_is_over() {
    let mut filter = ThinkFilter::new();
    filter.push("<think>x</think>", |_| {});
    let mut seen = String::new();
    filter.push("One two", |piece| {
        if let Piece::Text(text) = piece {
            seen.push_str(text);
        }
    });
    assert_eq!(seen, "One two");
}

#[test]
fn a_long_line_after_a_stray_backtick_is_not_held_for_ever() {
    let mut filter = ThinkFilter::new();
    let mut seen = 0;
    filter.push("<think></think>`", |_| {});
    for _ in 0..2 * MAX_SPAN_BYTES {
        filter.push("x", |piece| {
            if let Piece::Text(text) = piece {
                seen += text.len();
            }
        });
    }
    assert!(seen > MAX_SPAN_BYTES, "only {seen} bytes came");
}

fn fragments() -> impl Strategy<Value = Vec<&'static str>> {
    let fragment = prop_oneof![
        Just("<think>"),
        Just("</think>"),
        Just("<thi"),
        Just("nk>"),
        Just("`"),
        Just("``"),
        Just("```"),
        Just("\n"),
        Just(" "),
        Just("word"),
        Just("<"),
        Just("好"),
        Just("\n```\n"),
    ];
    proptest::collection::vec(fragment, 0..20)
}

proptest! {
    #[test]
    fn cuts_change_nothing(fragments in fragments(), truncated: bool) {
        let joined = fragments.concat();
        let mut buffer = [0; 4];
        let chars: Vec<String> =
            joined.chars().map(|c| c.encode_utf8(&mut buffer).to_owned()).collect();
        let whole = split([joined.as_str()], truncated);
        prop_assert_eq!(&split(fragments.iter().copied(), truncated), &whole);
        prop_assert_eq!(&split(chars.iter().map(String::as_str), truncated), &whole);
    }

    #[test]
    fn without_tags_nothing_is_lost_or_moved(text in "[a-z` \n<>/好]{0,40}") {
        prop_assume!(!text.contains(OPEN) && !text.contains(CLOSE));
        prop_assert_eq!(split([text.as_str()], false), (text.clone(), String::new()));
    }

    #[test]
    fn plain_reasoning_never_reaches_the_text(
        thought in "[a-z\n .]{1,30}", answer in "[A-Z]{1,20}", closed: bool,
    ) {
        let tail = if closed { format!("</think>{answer}") } else { String::new() };
        let (text, reasoning) = split([format!("<think>{thought}{tail}").as_str()], false);
        prop_assert_eq!(text, if closed { answer } else { String::new() });
        prop_assert_eq!(reasoning, thought);
    }
}
