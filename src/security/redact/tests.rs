//! Whole texts: what is found, what is left alone, and that a second pass changes nothing.

#![expect(
    clippy::string_slice,
    reason = "the tests cut at known character boundaries"
)]

use super::{PLACEHOLDER, Redactor, Secret, Sought, Warning, forms};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use std::borrow::Cow;

/// Secrets and the pieces of a text. Few letters, some of more than one byte, and pieces cut out of the
/// secrets, so that whole, cut, nested, overlapping and repeating secrets are common.
pub(super) fn secrets_and_pieces() -> impl Strategy<Value = (Vec<String>, Vec<String>)> {
    prop::collection::vec("[aé]{8,12}|[ab字]{8,14}", 1..5).prop_flat_map(|secrets| {
        let known = secrets.clone();
        let cut = (any::<prop::sample::Index>(), 0..6_usize, 0..15_usize);
        let cut = cut.prop_map(move |(index, skip, take)| {
            index
                .get(&known)
                .chars()
                .skip(skip)
                .take(take)
                .collect::<String>()
        });
        let whole = prop::sample::select(secrets.clone());
        let piece = prop_oneof![2 => cut, 1 => whole, 1 => "[abé字]{0,6}"];
        (Just(secrets), prop::collection::vec(piece, 0..10))
    })
}

fn redactor(secrets: &[&str]) -> Redactor {
    Redactor::new(secrets.iter().copied()).0
}

fn check(secrets: &[&str], text: &str, expected: &str) {
    let redactor = redactor(secrets);
    let once = redactor.redact(text).into_owned();
    assert_eq!(once, expected);
    assert_eq!(
        redactor.redact(&once),
        once,
        "a second pass changed the text"
    );
}

/// The rule in its plainest form: mark what any pattern covers, joining what overlaps.
fn model(secrets: &[String], text: &str) -> String {
    let bytes = text.as_bytes();
    let patterns: Vec<String> = secrets
        .iter()
        .flat_map(|secret| forms::of(secret))
        .collect();
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for start in 0..bytes.len() {
        for pattern in &patterns {
            if bytes[start..].starts_with(pattern.as_bytes()) {
                ranges.push((start, start + pattern.len()));
            }
        }
        let tail = &bytes[start..];
        let hidden = |pattern: &String| {
            pattern.as_bytes().starts_with(tail)
                && pattern.len() > tail.len()
                && tail.len() >= pattern.len().div_ceil(2).clamp(8, 10)
        };
        if patterns.iter().any(hidden) {
            ranges.push((start, bytes.len()));
        }
    }
    ranges.sort_unstable();
    let (mut out, mut done, mut at) = (String::new(), 0, 0);
    while at < ranges.len() {
        let (start, mut end) = ranges[at];
        while at < ranges.len() && (ranges[at].0 < end) {
            end = end.max(ranges[at].1);
            at += 1;
        }
        out.push_str(&text[done..start]);
        out.push_str(PLACEHOLDER);
        done = end;
    }
    out + &text[done..]
}

#[test]
fn replaces_a_value_wherever_it_stands() {
    check(&["sk-TEST12345678"], "sk-TEST12345678", "[REDACTED]");
    check(
        &["sk-TEST12345678"],
        "key: sk-TEST12345678 done",
        "key: [REDACTED] done",
    );
    check(&["sk-TEST12345678"], "“sk-TEST12345678”", "“[REDACTED]”");
    check(
        &["密码密码密码密码"],
        "是密码密码密码密码吗",
        "是[REDACTED]吗",
    );
}

#[test]
fn leaves_prose_alone() {
    let prose = "The secret: patience. Token rings, key: C major, password policy: long.";
    check(
        &["123456:TEST-secret_value_abcdef", "sk-TESTabcdef"],
        prose,
        prose,
    );
}

#[test]
fn a_text_without_secrets_is_not_copied() {
    assert!(matches!(
        redactor(&[]).redact("anything"),
        Cow::Borrowed("anything")
    ));
    assert!(matches!(
        redactor(&["sk-TEST12345678"]).redact("anything"),
        Cow::Borrowed(_)
    ));
}

#[test]
fn nested_and_overlapping_secrets_leave_no_rest() {
    let nested = ["abcdefgh", "abcdefgh12345", "fgh12345xyz"];
    check(
        &nested,
        "<abcdefgh> <abcdefgh12345>",
        "<[REDACTED]> <[REDACTED]>",
    );
    check(&nested, "<abcdefgh12345xyz>", "<[REDACTED]>");
    check(&["aaaaaaaa"], "aaaaaaaaaaaaaaaaaaab", "[REDACTED]b");
    check(&["abcdefgh"], "abcdefghabcdefgh", "[REDACTED][REDACTED]");
}

#[test]
fn markers_in_the_text_are_left_as_they_are() {
    check(
        &["abcdefgh"],
        "x [REDACTED:key] [REDACTED] abcdefgh",
        "x [REDACTED:key] [REDACTED] [REDACTED]",
    );
}

#[test]
fn finds_the_encoded_forms() {
    let secret = "12:3/4 5\"é\\&x?%";
    let redactor = redactor(&[secret]);
    let json = serde_json::json!({ "a": secret }).to_string();
    let forms = [
        "12%3A3%2F4%205%22%C3%A9%5C%26x%3F%25".to_owned(),
        "12%3a3%2f4%205%22%c3%a9%5c%26x%3f%25".to_owned(),
        "12%3A3%2F4+5%22%C3%A9%5C%26x%3F%25".to_owned(),
        STANDARD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
        format!("{secret:?}"),
        serde_json::to_string(&json).unwrap_or_default(),
        json,
        "12:3\\/4 5\\\"\\u00e9\\\\&x?%".to_owned(),
        "12:3/4 5&quot;é\\&amp;x?%".to_owned(),
    ];
    for form in forms {
        let out = redactor.redact(&form);
        assert!(out.contains(PLACEHOLDER), "{form} was not found");
        assert!(
            !out.contains("12") && !out.contains("x?"),
            "{form} left {out}"
        );
    }
}

#[test]
fn finds_base64_inside_a_longer_text() {
    let redactor = redactor(&["hunter2-hunter2"]);
    for user in ["", "a", "ab", "abc", "abcd"] {
        let header = STANDARD.encode(format!("{user}:hunter2-hunter2, and more"));
        let out = redactor.redact(&header).into_owned();
        assert!(out.contains(PLACEHOLDER), "not found after user {user:?}");
    }
}

#[test]
fn a_token_in_a_request_address_is_replaced() {
    let token = "123456:TEST-secret_value_abcdef";
    check(
        &[token],
        "error sending request for url (http://h:1/bot123456:TEST-secret_value_abcdef/getMe)",
        "error sending request for url (http://h:1/bot[REDACTED]/getMe)",
    );
    check(
        &[token],
        "/bot123456%3ATEST-secret_value_abcdef/x",
        "/bot[REDACTED]/x",
    );
}

#[test]
fn a_text_cut_inside_a_secret_loses_the_piece() {
    let secret = "sk-TESTabcdefghijklmnop1234";
    check(
        &[secret],
        "key: sk-TESTabcdefghijklmnop123",
        "key: [REDACTED]",
    );
    check(&[secret], "key: sk-TESTabcdefg", "key: [REDACTED]");
    check(&[secret], "key: sk-TESTab", "key: sk-TESTab");
    check(&[secret], "key: sk-TESTabcdefg!", "key: sk-TESTabcdefg!");
    // However long it is, no more of it is shown than a placeholder is long.
    let long = format!("sk-{}", "x".repeat(160));
    let (most, more) = (&long[..9], &long[..10]);
    check(&[&long], most, most);
    check(&[&long], more, "[REDACTED]");
}

#[test]
fn useless_secrets_are_reported_without_their_value() {
    let secrets = [
        ("a.b", ""),
        ("a.c", "  "),
        ("a.d", "1234567"),
        ("a.e", "REDACTED"),
        ("a.f", "k"),
    ];
    let (redactor, warnings) = Redactor::new(secrets);
    assert!(redactor.is_empty());
    let expected = [
        Warning::TooShort {
            name: "a.d".to_owned(),
        },
        Warning::InPlaceholder {
            name: "a.e".to_owned(),
        },
        Warning::TooShort {
            name: "a.f".to_owned(),
        },
    ];
    assert_eq!(warnings, expected);
    assert!(
        warnings
            .iter()
            .all(|warning| !warning.to_string().contains("1234567"))
    );
}

#[test]
fn eight_characters_count_not_bytes_and_blanks_around_do_not() {
    check(&["  abcdefgh\n"], "-abcdefgh-", "-[REDACTED]-");
    check(&["密码密码密码"], "密码密码密码", "密码密码密码");
}

#[test]
fn another_placeholder_is_used_when_the_wished_one_runs_into_a_secret() {
    for secret in ["]bcdefghijk", "bcdefghijk[", "x[REDACTED]y"] {
        let (redactor, warnings) = Redactor::new([secret]);
        assert_eq!(
            warnings,
            [Warning::PlaceholderReplaced {
                used: "*REDACTED*".to_owned()
            }]
        );
        let once = redactor
            .redact(&format!("{secret}{secret} {secret}"))
            .into_owned();
        assert!(!once.contains(secret));
        assert_eq!(redactor.redact(&once), once);
    }
    let all_marks = ["*bcdefgh#", "#bcdefgh|", "|bcdefgh~", "~bcdefgh_"];
    let (redactor, warnings) = Redactor::seeking(all_marks, &Sought::default().placeholder(""));
    assert_eq!(redactor.redact("~bcdefgh_"), "\u{2580}REDACTED\u{2580}");
    assert_eq!(warnings.len(), 1);
}

#[test]
fn debug_shows_no_value() {
    let secret = Secret::from(("the.name", "sk-TEST12345678"));
    let (redactor, _) = Redactor::new([secret.clone()]);
    let mut filter = redactor.filter();
    filter.push("sk-TEST1", &mut String::new());
    let shown = format!("{secret:?} {redactor:?} {filter:?}");
    assert!(
        shown.contains("the.name") && !shown.contains("sk-TEST"),
        "{shown}"
    );
}

#[test]
fn other_secrets_hold_for_every_clone_but_not_for_a_text_that_has_begun() {
    let (redactor, _) = Redactor::new(["the-old-secret"]);
    let clone = redactor.clone();
    let mut filter = clone.filter();
    let (both, _) = Redactor::new(["the-old-secret", "the-new-secret"]);
    assert!(filter.is_of(&redactor));
    redactor.replace(&both);
    assert!(!filter.is_of(&redactor) && clone.filter().is_of(&redactor));
    assert_eq!(
        clone.redact("the-old-secret, the-new-secret"),
        "[REDACTED], [REDACTED]"
    );
    let mut out = String::new();
    filter.push("the-old-secret, the-new-secret", &mut out);
    filter.finish(&mut out);
    assert_eq!(out, "[REDACTED], the-new-secret");
    redactor.replace(&Redactor::default());
    assert!(clone.is_empty());
}

proptest! {
    #[test]
    fn equals_the_plain_rule((secrets, pieces) in secrets_and_pieces()) {
        let (redactor, warnings) = Redactor::new(secrets.clone());
        prop_assert!(warnings.is_empty());
        let text = pieces.concat();
        prop_assert_eq!(redactor.redact(&text), model(&secrets, &text));
    }

    #[test]
    fn a_second_pass_changes_nothing(
        secrets in prop::collection::vec("[\\[\\]RED*a]{8,12}", 1..6),
        pieces in prop::collection::vec((any::<prop::sample::Index>(), "[\\[\\]RED*a]{0,4}"), 0..8),
    ) {
        let (redactor, _) = Redactor::new(secrets.clone());
        let text: String =
            pieces.iter().map(|(index, between)| format!("{}{between}", index.get(&secrets))).collect();
        let once = redactor.redact(&text).into_owned();
        prop_assert_eq!(redactor.redact(&once), once.as_str());
    }

    #[test]
    fn no_secret_survives_any_surroundings(
        secrets in prop::collection::vec("\\PC{8,20}", 1..4),
        before in "\\PC{0,20}",
        after in "\\PC{0,20}",
    ) {
        let (redactor, _) = Redactor::new(secrets.clone());
        let long = |secret: &&String| secret.trim().chars().count() >= 8;
        for secret in secrets.iter().filter(long) {
            let out = redactor.redact(&format!("{before}{secret}{after}")).into_owned();
            prop_assert!(!out.contains(secret.trim()));
        }
    }
}

#[test]
fn what_stands_behind_a_scheme_is_a_secret_by_itself() {
    let (redactor, _) = Redactor::new(["Bearer 0123456789abcdef", "basic short", "two words"]);
    assert_eq!(
        redactor.redact("got 0123456789abcdef, short words"),
        "got [REDACTED], short words"
    );
    assert_eq!(redactor.redact("Bearer 0123456789abcdef"), "[REDACTED]");
}

#[test]
fn a_secret_broken_over_lines_is_found() {
    let secret = "sk-TESTabcdefghijklmnop1234";
    for (text, expected) in [
        (
            "key:\nsk-TESTabcdefgh\nijklmnop1234\ndone",
            "key:\n[REDACTED]\ndone",
        ),
        (
            "sk-TEST\r\n    abcdefghijklmnop\r\n    1234!",
            "[REDACTED]!",
        ),
        ("a\nb\n\n  c\n", "a\nb\n\n  c\n"),
        (
            "- sk-TESTabcdef\n  ghijklmnop12\n\n\t34\n- x",
            "- [REDACTED]\n- x",
        ),
    ] {
        check(&[secret], text, expected);
    }
    // One that has line breaks itself is found on one line, too.
    check(
        &["first line\n  second line"],
        "first linesecond line",
        "[REDACTED]",
    );
}

proptest! {
    #[test]
    fn line_breaks_anywhere_hide_nothing(
        breaks in prop::collection::vec((0..27_usize, "(\n|\r\n|\n  |\n\t)"), 0..6),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let secret = "sk-TESTabcdefghijklmnop1234";
        let mut broken = secret.to_owned();
        let mut breaks = breaks;
        breaks.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        for (at, with) in breaks.iter().filter(|(at, _)| *at > 0) {
            broken.insert_str(*at, with);
        }
        let redactor = redactor(&[secret]);
        let text = format!("key: {broken} done");
        prop_assert_eq!(redactor.redact(&text), "key: [REDACTED] done");
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len())).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let (mut filter, mut out) = (redactor.filter(), String::new());
        for cut in cuts.windows(2) {
            filter.push(&text[cut[0]..cut[1]], &mut out);
        }
        filter.finish(&mut out);
        prop_assert_eq!(out, "key: [REDACTED] done");
    }
}
