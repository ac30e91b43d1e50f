//! Texts in pieces: for every way of cutting the result is that of the whole, and nothing that
//! could become a secret goes out early.

#![expect(
    clippy::string_slice,
    reason = "the tests cut at known character boundaries"
)]

use super::super::Redactor;
use super::super::forms;
use super::super::tests::secrets_and_pieces;
use proptest::prelude::*;

const SECRET_KEY: &str = "sk-TESTabcdefghijklmnop1234";

/// Sends the pieces and checks after each that the text so far is a beginning of the final one.
fn send(redactor: &Redactor, pieces: &[&str]) -> String {
    let mut filter = redactor.filter();
    let (mut out, mut marks) = (String::new(), Vec::new());
    for piece in pieces {
        filter.push(piece, &mut out);
        marks.push(out.len());
    }
    filter.finish(&mut out);
    assert_eq!(filter.held_back(), 0);
    assert!(marks.iter().all(|&mark| out.is_char_boundary(mark)));
    out
}

#[test]
fn a_secret_cut_anywhere_into_two_or_three_pieces_is_replaced() {
    let (redactor, _) = Redactor::new([SECRET_KEY]);
    for text in [
        "key: sk-TESTabcdefghijklmnop1234 done",
        "key: sk-TESTabcdefghijklmnop1234",
    ] {
        let whole = redactor.redact(text).into_owned();
        assert!(whole.starts_with("key: [REDACTED]"));
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                assert_eq!(send(&redactor, &pieces), whole);
            }
        }
    }
}

#[test]
fn nothing_of_a_beginning_goes_out_before_it_is_over() {
    let (redactor, _) = Redactor::new([SECRET_KEY]);
    let mut filter = redactor.filter();
    let mut out = String::new();
    for letter in format!("key: {SECRET_KEY}").chars() {
        filter.push(&letter.to_string(), &mut out);
        assert!(
            "key: ".starts_with(&out) || out == "key: [REDACTED]",
            "{out}"
        );
    }
    assert_eq!(
        out, "key: [REDACTED]",
        "a whole secret does not wait for the next piece"
    );
    filter.push(" sk-TEx", &mut out);
    assert_eq!(
        out, "key: [REDACTED] sk-TEx",
        "a dead beginning goes out at once"
    );
}

#[test]
fn a_stream_that_ends_early_shows_no_greater_part_of_a_secret() {
    let (redactor, _) = Redactor::new([SECRET_KEY]);
    for end in 14..SECRET_KEY.len() {
        let out = send(&redactor, &["key: ", &SECRET_KEY[..end]]);
        assert_eq!(out, "key: [REDACTED]");
    }
    assert_eq!(
        send(&redactor, &["key: ", "sk-TE"]),
        "key: sk-TE",
        "held text is flushed"
    );
}

#[test]
fn without_secrets_all_text_goes_out_at_once() {
    let mut filter = Redactor::default().filter();
    let mut out = String::new();
    filter.push("abc", &mut out);
    assert_eq!(out, "abc");
    filter.finish(&mut out);
    assert_eq!(out, "abc");
}

#[test]
fn a_filter_can_be_used_again_after_finish() {
    let (redactor, _) = Redactor::new([SECRET_KEY]);
    let mut filter = redactor.filter();
    for _ in 0..3 {
        let mut out = String::new();
        filter.push("a sk-TESTabcdefghijk", &mut out);
        filter.push("lmnop1234 b", &mut out);
        filter.finish(&mut out);
        assert_eq!(out, "a [REDACTED] b");
    }
}

#[test]
fn a_restart_forgets_the_text_before() {
    let (redactor, _) = Redactor::new([SECRET_KEY]);
    let mut filter = redactor.filter();
    let mut out = String::new();
    filter.push("a sk-TESTabcdefghijk", &mut out);
    filter.restart();
    assert_eq!(filter.held_back(), 0);
    filter.push("lmnop1234 b", &mut out);
    filter.finish(&mut out);
    assert_eq!(out, "a lmnop1234 b");
}

#[test]
fn long_runs_of_overlapping_secrets_hold_back_no_more_than_one() {
    let (redactor, _) = Redactor::new(["aaaaaaaaaa"]);
    let mut filter = redactor.filter();
    let mut out = String::new();
    for _ in 0..10_000 {
        filter.push("aaa", &mut out);
        assert!(filter.held_back() < 10 && filter.values.held.capacity() < 200);
    }
    filter.finish(&mut out);
    assert_eq!(out, "[REDACTED]");
}

#[test]
fn work_and_memory_do_not_grow_with_the_text_before() {
    // A long beginning that never becomes a secret, one byte at a time.
    let secret = "a".repeat(2000) + "b";
    let (redactor, _) = Redactor::new([secret]);
    let mut filter = redactor.filter();
    let mut out = String::new();
    for _ in 0..50_000 {
        filter.push("a", &mut out);
        assert!(filter.values.held.capacity() < 20_000);
    }
    filter.push("c", &mut out);
    assert_eq!(out.len(), 50_001);
}

proptest! {
    #[test]
    fn every_cut_gives_the_result_of_the_whole(
        (secrets, pieces) in secrets_and_pieces(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let (redactor, _) = Redactor::new(secrets);
        let text = pieces.concat();
        let mut places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        places.push(text.len());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut.get(&places)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let parts: Vec<&str> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        prop_assert_eq!(send(&redactor, &parts), redactor.redact(&text));
    }

    #[test]
    fn single_characters_give_the_result_of_the_whole((secrets, pieces) in secrets_and_pieces()) {
        let (redactor, _) = Redactor::new(secrets);
        let text = pieces.concat();
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let parts: Vec<&str> = letters.iter().map(String::as_str).collect();
        prop_assert_eq!(send(&redactor, &parts), redactor.redact(&text));
    }

    #[test]
    fn what_is_held_back_is_the_longest_open_beginning((secrets, pieces) in secrets_and_pieces()) {
        let (redactor, _) = Redactor::new(secrets.clone());
        let forms: Vec<String> = secrets.iter().flat_map(|secret| forms::of(secret)).collect();
        let mut filter = redactor.filter();
        let (mut out, mut sent) = (String::new(), String::new());
        for piece in &pieces {
            sent.push_str(piece);
            filter.push(piece, &mut out);
            let open = |start: &usize| {
                let end = &sent[*start..];
                forms.iter().any(|form| form.len() > end.len() && form.starts_with(end))
            };
            let first = sent.char_indices().map(|(start, _)| start).find(open);
            let longest = first.map_or(0, |start| sent.len() - start);
            prop_assert!(filter.held_back() <= longest);
            if !out.contains("[REDACTED]") {
                prop_assert_eq!(filter.held_back(), longest);
                prop_assert_eq!(&out, &sent[..sent.len() - longest]);
            }
        }
    }
}
