#![expect(
    clippy::string_slice,
    reason = "the tests cut at known character boundaries"
)]

use std::sync::Arc;

use proptest::prelude::*;

use super::{Entry, Level, Severity, Stream, Words};

fn compiled(list: &[&str], level: Level) -> Result<Option<Words>, String> {
    let entries: Vec<Entry> = list.iter().map(|entry| Entry::from(*entry)).collect();
    Words::new(&entries, level, "***")
}

fn words(list: &[&str], level: Level) -> Words {
    compiled(list, level).unwrap().unwrap()
}

fn clean(list: &[&str], level: Level, text: &str) -> String {
    words(list, level)
        .replace(text)
        .map_or(text.to_owned(), |(clean, _)| clean)
}

#[track_caller]
fn check(list: &[&str], text: &str, expected: [&str; 3]) {
    let levels = [Level::Minimal, Level::Standard, Level::Strict];
    for (level, expected) in levels.into_iter().zip(expected) {
        assert_eq!(clean(list, level, text), expected, "{level:?}");
    }
}

#[test]
fn each_level_looks_harder() {
    check(&["bad"], "a bad one", ["a *** one"; 3]);
    check(
        &["bad"],
        "a BAD one",
        ["a BAD one", "a *** one", "a *** one"],
    );
    check(
        &["bad"],
        "a ｂａｄ one",
        ["a ｂａｄ one", "a *** one", "a *** one"],
    );
    check(
        &["bad"],
        "a b a d one",
        ["a b a d one", "*** one", "*** one"]
            .map(|s| if s == "*** one" { "a b a d one" } else { s }),
    );
    check(
        &["bad"],
        "so b.a.d it is",
        ["so b.a.d it is", "so *** it is", "so *** it is"],
    );
    check(
        &["bad"],
        "a bаd one",
        ["a bаd one", "a bаd one", "a *** one"],
    );
    check(
        &["bad"],
        "a baaaad one",
        ["a baaaad one", "a baaaad one", "a *** one"],
    );
    check(
        &["违禁"],
        "这是违 禁词",
        ["这是违 禁词", "这是***词", "这是***词"],
    );
    check(
        &["违禁"],
        "这是违-禁词",
        ["这是违-禁词", "这是***词", "这是***词"],
    );
}

#[test]
fn short_words_do_not_match_inside_of_longer_ones() {
    let list = ["毒品", "ass"];
    for text in ["这个消毒品牌不错", "class passport assess", "Massachusetts"] {
        check(&list, text, [text; 3]);
    }
    check(&list, "贩卖毒品", ["贩卖***"; 3]);
    check(&list, "you ass", ["you ***"; 3]);
    check(&list, "吸毒品，消毒品", ["吸***，消毒品"; 3]);
}

#[test]
fn separators_inside_of_ordinary_words_stay() {
    for text in [
        "Is this a blot? b-ad, ba d, it is a d",
        "a, b and d",
        "plan b: add",
    ] {
        check(&["bad"], text, [text; 3]);
    }
}

#[test]
fn exceptions_are_the_operators_too() {
    check(
        &["apple", "!apple pie", "!pineapple"],
        "apple, apple pie",
        ["***, apple pie"; 3],
    );
}

#[test]
fn expressions_follow_the_level() {
    check(
        &["/b[ae]d\\d/"],
        "bad1 BED2",
        ["*** BED2", "*** ***", "*** ***"],
    );
    for wrong in ["/(/", "/x*/", "/(a{1000}){1000}/"] {
        assert!(compiled(&[wrong], Level::Standard).is_err(), "{wrong}");
    }
    assert!(compiled(&[], Level::Standard).unwrap().is_none());
    assert!(
        compiled(&["", "  ", "!only"], Level::Standard)
            .unwrap()
            .is_none()
    );
}

#[test]
fn the_entry_is_named() {
    let found = words(&["Bad", "worse"], Level::Standard).find("WORSE than bad");
    let named: Vec<(&str, usize)> = found
        .iter()
        .map(|hit| (&*hit.entry, hit.span.start))
        .collect();
    assert_eq!(named, [("worse", 0), ("Bad", 11)]);
}

fn in_pieces(words: &Arc<Words>, pieces: &[&str]) -> String {
    let (mut stream, mut out) = (Stream::new(Arc::clone(words)), String::new());
    for piece in pieces {
        stream.push(piece, &mut out);
    }
    stream.finish(&mut out);
    assert_eq!(stream.held_back(), 0);
    out
}

#[test]
fn a_stream_holds_back_little_and_an_endless_expression_everything() {
    let bounded = Arc::new(words(&["bad"], Level::Standard));
    let (mut stream, mut out) = (Stream::new(bounded), String::new());
    for _ in 0..100 {
        stream.push("good ", &mut out);
        assert!(stream.held_back() < 40);
    }
    assert!(out.len() > 450);
    let endless = Arc::new(words(&["/bad.*/"], Level::Standard));
    let (mut stream, mut out) = (Stream::new(endless), String::new());
    stream.push(&"good ".repeat(1_000), &mut out);
    assert_eq!(out, "");
    stream.finish(&mut out);
    assert_eq!(out.len(), 5_000);
}

#[test]
fn thousands_of_words_are_one_pass() {
    let list: Vec<String> = (0..20_000).map(|number| format!("word{number}x")).collect();
    let entries: Vec<Entry> = list.iter().map(|entry| Entry::from(&**entry)).collect();
    let words = Words::new(&entries, Level::Strict, "-").unwrap().unwrap();
    let text = "nothing to see here, word1999x and on ".repeat(1_000);
    let began = std::time::Instant::now();
    assert_eq!(words.find(&text).len(), 1_000);
    assert!(began.elapsed() < std::time::Duration::from_secs(60));
}

proptest! {
    #[test]
    fn every_cut_gives_the_result_of_the_whole(
        pieces in prop::collection::vec("(bad|b a d|BAD|违禁|违 禁|good |[a-d ]{0,5}|消毒品)", 0..40),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let words = Arc::new(words(&["bad", "违禁", "毒品"], Level::Standard));
        let text = pieces.concat();
        let mut places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        places.push(text.len());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut.get(&places)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let parts: Vec<&str> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        let whole = words.replace(&text).map_or(text.clone(), |(clean, _)| clean);
        prop_assert_eq!(in_pieces(&words, &parts), whole);
    }
}

#[test]
fn what_is_only_told_stays_and_hides_nothing_that_is_not() {
    let entry = |text: &str, severity| Entry {
        text: text.to_owned(),
        severity,
    };
    let list = [
        entry("three words here", Severity::Low),
        entry("words", Severity::Medium),
        entry("/w\\w+ here/", Severity::High),
    ];
    let words = Words::new(&list, Level::Standard, "***").unwrap().unwrap();
    let found = |text: &str| -> Vec<(String, Severity)> {
        let hits = words.find(text).into_iter();
        hits.map(|hit| (text[hit.span].to_owned(), hit.severity))
            .collect()
    };
    assert_eq!(
        found("three words here"),
        [("words here".to_owned(), Severity::High)]
    );
    assert_eq!(found("two words"), [("words".to_owned(), Severity::Medium)]);
    let low = [entry("gamble", Severity::Low)];
    let words = Words::new(&low, Level::Standard, "***").unwrap().unwrap();
    let (text, hits) = words.replace("I gamble").unwrap();
    assert_eq!((&*text, hits.len()), ("I gamble", 1));
}
