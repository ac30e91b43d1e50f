#![expect(
    clippy::string_slice,
    reason = "the tests cut at known character boundaries"
)]

use std::sync::Arc;

use proptest::prelude::*;

use super::super::{Redactor, Sought};

fn known() -> Redactor {
    Redactor::seeking([""; 0], &Sought::default().known_formats()).0
}

fn written(expressions: &[&str]) -> Redactor {
    let expressions: Vec<String> = expressions.iter().map(|one| (*one).to_owned()).collect();
    let sought = Sought::default().expressions(&expressions).unwrap();
    Redactor::seeking([""; 0], &sought).0
}

fn in_pieces(redactor: &Redactor, pieces: &[&str]) -> String {
    let (mut filter, mut out) = (redactor.filter(), String::new());
    for piece in pieces {
        filter.push(piece, &mut out);
    }
    filter.finish(&mut out);
    assert_eq!(filter.held_back(), 0);
    out
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let redactor = known();
    let once = redactor.redact(text).into_owned();
    assert_eq!(once, expected, "{text}");
    assert_eq!(
        redactor.redact(&once),
        once,
        "a second pass changed the text"
    );
}

/// Made-up keys in the formats of their providers.
fn keys() -> Vec<String> {
    let letters = "aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW3xY5zA7bC9dE2fG4hJ6kL8";
    let hex = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0";
    vec![
        format!("ghp_{}", &letters[..36]),
        format!("github_pat_{}", &letters[..40]),
        format!("glpat-{}", &letters[..20]),
        format!("sk-{}", &letters[..40]),
        format!("sk-proj-{}", &letters[..40]),
        format!("xoxb-{}", &letters[..30]),
        format!("AKIA{}", "ABCDEFGH23456789"),
        format!("AIza{}", &letters[..35]),
        format!("hf_{}", &letters[..34]),
        format!("gsk_{}", &letters[..50]),
        format!("npm_{}", &letters[..36]),
        format!("SG.{}.{}", &letters[..22], &letters[..43]),
        format!("dop_v1_{hex}"),
        format!("sk_live_{}", &letters[..24]),
        format!("123456789:A{}", &letters[..34]),
        format!("eyJhbGciOiJIUzI1NiJ9.{}.{}", &letters[..30], &letters[..43]),
        format!("key-{}", &hex[..32]),
        format!("squ_{}", &hex[..40]),
    ]
}

#[test]
fn keys_are_replaced_wherever_they_stand() {
    for key in keys() {
        for (before, after) in [
            ("", ""),
            ("key: ", " done"),
            ("https://h/x/", "/y"),
            ("（", "）"),
            ("a=\"", "\""),
        ] {
            let text = format!("{before}{key}{after}");
            let clean = known().redact(&text).into_owned();
            assert!(clean.contains("[REDACTED]"), "{text} -> {clean}");
            assert!(!clean.contains(&key[8..16]), "{text} -> {clean}");
            assert!(clean.ends_with(after), "{text} -> {clean}");
        }
    }
}

#[test]
fn keys_in_pieces_are_those_of_the_whole() {
    let redactor = known();
    for key in keys() {
        let text = format!("key: {key} done");
        let whole = redactor.redact(&text).into_owned();
        for first in 0..=text.len() {
            for second in [
                first,
                (first + 3).min(text.len()),
                (first + 20).min(text.len()),
            ] {
                let pieces = [&text[..first], &text[first..second], &text[second..]];
                assert_eq!(in_pieces(&redactor, &pieces), whole);
            }
        }
    }
}

#[test]
fn nothing_behind_a_marker_goes_out_early_or_at_an_early_end() {
    let redactor = known();
    let text = "key: sk-TESTabcdefghijklmnop1234 done";
    let (start, end) = (text.find("sk-").unwrap(), text.find(" done").unwrap());
    for cut in start + 4..end {
        let (mut filter, mut out) = (redactor.filter(), String::new());
        for letter in text[..cut].chars() {
            filter.push(letter.encode_utf8(&mut [0; 4]), &mut out);
            assert!(!out.contains("sk-T"), "{out}");
        }
        filter.finish(&mut out);
        assert_eq!(out, "key: [REDACTED]", "{cut}");
    }
    check("I like sk-learn", "I like sk-learn");
    check("the-new-key-of-all-222", "the-new-key-of-all-222");
}

#[test]
fn a_private_key_is_swallowed_to_its_end() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n";
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}-----END RSA PRIVATE KEY-----",
        body.repeat(20)
    );
    check(
        &format!("Here:\n{key}\nThat is all."),
        "Here:\n[REDACTED]\nThat is all.",
    );
    // Without an end it goes to the end of the answer.
    check(&format!("Here:\n{}", &key[..600]), "Here:\n[REDACTED]");
    let redactor = known();
    let pieces: Vec<&str> = (0..key.len())
        .step_by(7)
        .map(|at| &key[at..(at + 7).min(key.len())])
        .collect();
    assert_eq!(in_pieces(&redactor, &pieces), "[REDACTED]");
    let mut filter = redactor.filter();
    let mut out = String::new();
    for _ in 0..1_000 {
        filter.push("-----BEGIN PRIVATE KEY-----\nabcdefgh\n", &mut out);
        assert!(filter.held_back() < 100);
    }
}

#[test]
fn passwords_are_replaced_where_they_are_written_down() {
    for (text, expected) in [
        ("password: hunter2Two", "password: [REDACTED]"),
        ("DB_PASSWORD=\"s3cr3t!pass\"", "DB_PASSWORD=\"[REDACTED]\""),
        ("dbPassword => 'aB3$efgh'", "dbPassword => '[REDACTED]'"),
        (
            "postgres://bot:Xy7pw9@db:5432/x",
            "postgres://bot:[REDACTED]@db:5432/x",
        ),
        (
            "curl -u admin:aB3defgh https://h",
            "curl -u admin:[REDACTED] https://h",
        ),
        (
            "Authorization: Bearer aB3defgh1jkLmn0p",
            "Authorization: Bearer [REDACTED]",
        ),
        (
            "CREATE USER x IDENTIFIED BY 'aB3defgh';",
            "CREATE USER x IDENTIFIED BY '[REDACTED]';",
        ),
        ("--api-key=aB3defgh12xy9", "--api-key=[REDACTED]"),
        ("密码是 aB3defgh9x", "密码是 [REDACTED]"),
        ("密码：aB3defgh9x，请保存", "密码：[REDACTED]，请保存"),
        (
            "https://h/?token=aB3defgh12xy9z&x=1",
            "https://h/?token=[REDACTED]&x=1",
        ),
    ] {
        check(text, expected);
    }
}

#[test]
fn passwords_end_where_letters_beyond_ascii_end_them() {
    // Read by bytes, what follows would belong to the value: wide white space, and letters up to its longest.
    let prose = "之后的话".repeat(12);
    check(
        &format!("password: pa55word!x\u{3000}{prose}"),
        &format!("password: [REDACTED]\u{3000}{prose}"),
    );
    check(
        &format!("password = 'pä55wörd!ü'\u{a0}{prose}"),
        &format!("password = '[REDACTED]'\u{a0}{prose}"),
    );
    for letters in ["é", "密", "🔑"] {
        // Longer than any value in bytes, at every place within a letter.
        for before in 0..4 {
            let value = format!("{}9!{}", "a".repeat(before + 3), letters.repeat(40));
            let text = format!("password: {value}");
            let shown = known().redact(&text).into_owned();
            assert!(shown.starts_with("password: [REDACTED]"), "{shown}");
        }
    }
}

#[test]
fn prose_and_code_stay() {
    for text in [
        "The secret: patience. Token rings, key: C major, password policy: long.",
        "let token = self.next_token2();",
        "password = get_password(user)",
        "let password: String = config.password.clone();",
        "token: Option<String>, key: u64,",
        "The api key: see section 4.2 of the manual.",
        "if (token == TOKEN_TYPE_2) { return; }",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "task-force, risk-based, disk-usage, ask-me-anything-about-this",
        "http://localhost:8080/path?x=1 and user@host:22",
        "我忘了 password 怎么办？密码是什么？",
        "internationalization_of_a_very_long_identifier_that_goes_on_and_on_for_ever_1",
        "ThisIsOneOfThoseVeryLongNamesThatPeopleGiveToTestsWhichExplainEverything",
        "-----BEGIN CERTIFICATE-----",
        "你好，世界。密码学很有意思。",
    ] {
        check(text, text);
    }
}

#[test]
fn patterns_are_replaced_as_they_are_written() {
    let redactor = written(&["(?i)api[_-]?key", "\\bcode \\d{4}\\b", "项目[甲乙]"]);
    assert_eq!(
        redactor.redact("An API-Key, code 1234, code 12345, 项目甲, 项目丙"),
        "An [REDACTED], [REDACTED], code 12345, [REDACTED], 项目丙"
    );
    assert!(Sought::default().expressions(&["(".to_owned()]).is_err());
}

#[test]
fn an_endless_pattern_makes_the_text_go_out_whole() {
    let redactor = written(&["secret=.*;"]);
    let (mut filter, mut out) = (redactor.filter(), String::new());
    filter.push("a secret=", &mut out);
    filter.push("x; b", &mut out);
    assert_eq!(out, "");
    filter.finish(&mut out);
    assert_eq!(out, "a [REDACTED] b");
    assert_eq!(redactor.redact("a secret=x; b"), out);
}

#[test]
fn values_formats_and_patterns_work_together() {
    let sought = Sought::default()
        .known_formats()
        .expressions(&["x{3}".to_owned()])
        .unwrap();
    let (redactor, _) = Redactor::seeking(["my-own-secret"], &sought.placeholder("<gone>"));
    assert_eq!(
        redactor.redact("my-own-secret xxx AKIAABCDEFGHIJKLMNOP"),
        "<gone> <gone> <gone>"
    );
}

#[test]
fn no_byte_is_read_more_often_than_the_longest_format_is_long() {
    let shapes = Arc::new(crate::security::redact::Shapes::known().unwrap());
    for unit in [
        "sk-",
        "password=",
        "eyJ",
        "AKIA",
        "a1B2",
        "-----BEGIN ",
        "http://a:",
        "密码",
    ] {
        let steps = |length: usize| {
            let text = unit.repeat(length / unit.len());
            let mut stream = super::Stream::new(Arc::clone(&shapes));
            let mut out = String::new();
            for piece in text.as_bytes().chunks(60) {
                // Cut between letters: each unit is a part of a piece, or whole.
                stream.push(&String::from_utf8_lossy(piece), "x", &mut out);
            }
            stream.finish("x", &mut out);
            stream.steps
        };
        let (short, long) = (steps(6_000), steps(24_000));
        // Twice as much room as four times the length needs: quadratic work would be sixteen times.
        assert!(
            long <= 8 * short.max(6_000),
            "{unit}: {short} and {long} steps"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_cut_gives_the_result_of_the_whole(
        pieces in prop::collection::vec(prop_oneof![
            3 => prop::sample::select(keys()),
            2 => "[a-zA-Z0-9=: \"'密码_/.-]{0,12}",
            1 => prop::sample::select(vec!["password=", "token: ", "-----BEGIN PRIVATE KEY-----", "-----END", "sk-", "\n"]).prop_map(str::to_owned),
        ], 0..8),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let redactor = known();
        let text = pieces.concat();
        let mut places: Vec<usize> = text.char_indices().map(|(place, _)| place).collect();
        places.push(text.len());
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| *cut.get(&places)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let parts: Vec<&str> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        let whole = redactor.redact(&text).into_owned();
        prop_assert_eq!(in_pieces(&redactor, &parts), whole.as_str());
        prop_assert_eq!(redactor.redact(&whole), whole.as_str());
    }
}

#[test]
fn of_a_value_longer_than_its_format_nothing_is_left() {
    let redactor = known();
    let value = "aB3!dE5xfG7#hJ9".repeat(20);
    for before in [
        "password=",
        "passwd: ",
        "--password ",
        "IDENTIFIED BY ",
        "ConvertTo-SecureString ",
        "curl -u ann:",
        "user/password: ann/",
        "密码：",
        "secret=",
        "api_key = ",
        "curl --oauth2-bearer ",
    ] {
        let text = format!("{before}{value} and on");
        let clean = redactor.redact(&text);
        assert!(!clean.contains("hJ9"), "{before}: {clean}");
        assert!(clean.ends_with(" and on"), "{before}: {clean}");
    }
    let together = "password=sk-aB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW3xY5zA7bC9dAKIAABCDEFGH23456789123456789:AaB3dE5fG7hJ9kL2mN4pQ6rS8tU1vW3xY5z";
    assert_eq!(redactor.redact(together), "password=[REDACTED]");
}

#[test]
fn every_part_of_a_format_can_be_compiled() {
    let known = crate::security::redact::Shapes::known().unwrap();
    for format in &known.formats {
        assert!(format.compiles(), "{}", format.regex);
    }
}
