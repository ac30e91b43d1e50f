//! Tests of the toolkit, on trees made by hand.

use std::time::Duration;

use super::*;

/// A scalar in quotes.
fn quoted(text: &str) -> Node {
    scalar(text, true, None)
}

/// A scalar that came out of a variable.
fn expanded(text: &str, variable: &str) -> Node {
    scalar(text, false, Some(variable.to_owned()))
}

fn scalar(text: &str, quoted: bool, variable: Option<String>) -> Node {
    Node::new(Value::Scalar(Scalar {
        text: text.to_owned(),
        quoted,
        variable,
    }))
}

/// What `read` reports on a map with one key `k`.
fn report<T>(node: Node, read: impl Fn(&mut Fields<'_>) -> T) -> (T, Vec<String>) {
    let (map, problems) = (Node::map([("k", node)]), Problems::new());
    let mut fields = Fields::new(&map, "top", &problems);
    let value = read(&mut fields);
    fields.finish();
    (value, texts(&problems))
}

fn texts(problems: &Problems) -> Vec<String> {
    let show = |p: Problem| match p.hint {
        Some(hint) => format!("{}: {} ({hint})", p.path, p.kind),
        None => format!("{}: {}", p.path, p.kind),
    };
    problems.take().into_iter().map(show).collect()
}

#[test]
fn a_number_is_read_from_plain_and_from_quoted_text() {
    for node in [Node::text("42"), quoted("42"), expanded("42", "N")] {
        assert_eq!(report(node, |f| f.u64("k", 7, 1..=100)), (42, vec![]));
    }
}

#[test]
fn number_forms_that_dialects_read_differently_are_refused() {
    let cases = [
        ("0123", "write it without leading zeros"),
        ("1_000", "write the digits without separators"),
        ("1,000", "write the digits without separators"),
        ("1e5", "write it in plain decimal digits"),
        ("0o17", "write it in plain decimal digits"),
        ("10s", "write the bare number; the unit is fixed"),
        ("+5", "write it as digits, such as 0.5"),
        ("99999999999999999999", "it is too large"),
    ];
    for (text, hint) in cases {
        let (value, problems) = report(Node::text(text), |f| f.u64("k", 7, 0..=u64::MAX));
        assert_eq!(value, 7, "{text}");
        let expected = format!("top.k: expected a whole number, found \"{text}\" ({hint})");
        assert_eq!(problems, [expected]);
    }
    let (_, problems) = report(Node::text("-3"), |f| f.u64("k", 7, 0..=9));
    assert_eq!(
        problems,
        ["top.k: expected a whole number that is not negative, found \"-3\""]
    );
}

#[test]
fn a_range_is_told_with_its_unit() {
    let (value, problems) = report(Node::text("61"), |f| {
        f.seconds("k", Duration::from_secs(5), 0.5..=60.0)
    });
    assert_eq!(value, Duration::from_secs(5));
    assert_eq!(
        problems,
        ["top.k: \"61\" is not between 0.5 and 60 seconds"]
    );
}

#[test]
fn seconds_and_days_become_exact_durations() {
    let read = |f: &mut Fields<'_>| f.seconds("k", Duration::ZERO, 0.0..=60.0);
    assert_eq!(
        report(Node::text("0.05"), read).0,
        Duration::from_millis(50)
    );
    let read = |f: &mut Fields<'_>| f.days("k", Duration::ZERO, 0.0..=60.0);
    assert_eq!(
        report(Node::text("1.5"), read).0,
        Duration::from_secs(129_600)
    );
    for text in ["inf", "nan", "1e3", ".5", "5."] {
        assert_eq!(report(Node::text(text), read).1.len(), 1, "{text}");
    }
}

#[test]
fn only_true_and_false_are_truth_values() {
    assert!(report(Node::text("true"), |f| f.bool("k", false)).0);
    for text in ["yes", "on", "1", ""] {
        assert_eq!(
            report(Node::text(text), |f| f.bool("k", false)).1.len(),
            1,
            "{text}"
        );
    }
}

#[test]
fn a_text_is_what_was_written_whatever_it_looks_like() {
    for text in [
        "007",
        "yes",
        "!abc: \"x\" #y",
        "]x[",
        "- a",
        "two\nlines",
        "1e5",
    ] {
        assert_eq!(
            report(expanded(text, "T"), |f| f.text("k", "")),
            (text.to_owned(), vec![])
        );
    }
}

#[test]
fn a_value_of_the_wrong_shape_is_one_problem() {
    let list = || Node::list([Node::text("1")]);
    let (_, problems) = report(list(), |f| f.u64("k", 7, 0..=9));
    assert_eq!(problems, ["top.k: expected a whole number, found a list"]);
    let (_, problems) = report(list(), |f| f.section("k").finish());
    assert_eq!(problems, ["top.k: expected a map, found a list"]);
    let (_, problems) = report(Node::text("x"), |f| f.list("k").len());
    assert_eq!(problems, ["top.k: expected a list, found \"x\""]);
    let (_, problems) = report(Node::new(Value::Null), |f| f.u64("k", 7, 0..=9));
    assert_eq!(
        problems,
        ["top.k: a value is missing (write a value or remove the key)"]
    );
    let (_, problems) = report(Node::new(Value::Failed), |f| f.u64("k", 7, 0..=9));
    assert_eq!(problems, [""; 0]);
}

#[test]
fn a_list_of_texts_has_a_most_and_no_empty_ones() {
    let items = |texts: &[&str]| Node::list(texts.iter().map(|text| quoted(text)));
    let (value, problems) = report(items(&["a", "b"]), |f| f.texts("k", 2));
    assert_eq!(
        (value, problems),
        (vec!["a".to_owned(), "b".to_owned()], vec![])
    );
    let (value, problems) = report(items(&["a", "b", "c"]), |f| f.texts("k", 2));
    assert_eq!(
        (value.len(), problems),
        (0, vec!["top.k: the list has more than 2 items".into()])
    );
    let (value, problems) = report(items(&["a", " "]), |f| f.texts("k", 2));
    assert_eq!((value.len(), problems.len()), (1, 1));
}

#[test]
fn an_empty_section_gives_the_defaults() {
    let (value, problems) = report(Node::new(Value::Null), |f| {
        let mut section = f.section("k");
        let value = section.u64("x", 3, 0..=9);
        section.finish();
        value
    });
    assert_eq!((value, problems), (3, vec![]));
}

#[test]
fn a_misspelt_key_and_a_misspelt_word_name_the_nearest() {
    let (_, problems) = report(Node::text("1"), |f| f.u64("key", 7, 0..=9));
    assert_eq!(problems, ["top.k: unknown key (known here: key)"]);
    let options = [("drop_oldest", 1), ("drop_newest", 2), ("block", 3)];
    let (value, problems) = report(Node::text("drop-oldst"), |f| f.choice("k", 3, &options));
    assert_eq!(value, 3);
    assert_eq!(
        problems,
        [
            "top.k: \"drop-oldst\" is none of drop_oldest, drop_newest, block \
          (did you mean drop_oldest?)"
        ]
    );
}

#[test]
fn ids_lose_nothing_and_odd_number_forms_are_refused() {
    let good = [
        (Node::text("1100000000000000123"), "1100000000000000123"),
        (quoted("1100000000000000124"), "1100000000000000124"),
        (Node::text("18446744073709551615"), "18446744073709551615"),
        (Node::text("-1001234567890"), "-1001234567890"),
        (quoted("0123"), "0123"),
        (Node::text("alice"), "alice"),
        (expanded("007", "ID"), "007"),
    ];
    for (node, id) in good {
        assert_eq!(report(node, |f| f.id("k")), (Some(id.to_owned()), vec![]));
    }
    for text in [
        "0123",
        "1e5",
        "12_345",
        "0x1F",
        "0o17",
        "1.5",
        "18446744073709551616",
        "+5",
        "-0",
    ] {
        let (id, problems) = report(Node::text(text), |f| f.id("k"));
        assert_eq!((id, problems.len()), (None, 1), "{text}");
    }
    for text in ["", " 5", "a\nb"] {
        assert_eq!(report(quoted(text), |f| f.id("k")).0, None, "{text:?}");
    }
}

#[test]
fn a_secret_is_taken_from_the_key_or_from_its_file_but_not_from_both() {
    let read = |entries: Vec<(&'static str, Node)>| {
        let node = Node::map(entries);
        let problems = Problems::with_files(|file| match file {
            "key.txt" => Ok("file-secret-1\n".to_owned()),
            "crlf.txt" => Ok("file-secret-2\r\n".to_owned()),
            "empty.txt" => Ok("\n".to_owned()),
            _ => Err("no such file".to_owned()),
        });
        let mut fields = Fields::new(&node, "", &problems);
        let secret = fields.secret("token").map(|s| s.expose().to_owned());
        fields.finish();
        (secret, texts(&problems))
    };
    let text = |s: &str| Some(s.to_owned());
    assert_eq!(
        read(vec![("token", quoted("a secret!"))]),
        (text("a secret!"), vec![])
    );
    assert_eq!(
        read(vec![("token_file", Node::text("key.txt"))]),
        (text("file-secret-1"), vec![])
    );
    assert_eq!(
        read(vec![("token_file", Node::text("crlf.txt"))]),
        (text("file-secret-2"), vec![])
    );
    let (none, problems) = read(vec![
        ("token", quoted("a secret!")),
        ("token_file", Node::text("key.txt")),
    ]);
    assert_eq!(none, None);
    assert_eq!(
        problems,
        ["token_file: token and token_file are both set (keep one of them)"]
    );
    let (_, problems) = read(vec![("token_file", Node::text("empty.txt"))]);
    assert_eq!(
        problems,
        ["token_file: the file is empty (put the secret into it)"]
    );
    let (_, problems) = read(vec![("token_file", Node::text("gone.txt"))]);
    assert_eq!(
        problems,
        ["token_file: the file cannot be read: no such file"]
    );
    let (_, problems) = read(vec![("token", expanded("", "WEB_TOKEN"))]);
    assert_eq!(
        problems,
        ["token: the value is empty because the variable WEB_TOKEN is (set WEB_TOKEN)"]
    );
    assert_eq!(read(vec![("token", quoted("  "))]).0, None);
}

#[test]
fn no_message_and_no_debug_output_shows_a_secret() {
    const TEXT: &str = "hunter2-hunter2";
    let node = Node::map([("token", quoted(TEXT)), ("rate", expanded(TEXT, "RATE"))]);
    let problems = Problems::new();
    let mut fields = Fields::new(&node, "", &problems);
    let secret = fields.secret("token");
    assert_eq!(
        problems.secrets(),
        [("token".to_owned(), Secret::new(TEXT))]
    );
    let _ = fields.u64("rate", 1, 0..=9);
    let shown = format!("{secret:?} {node:?} {fields:?} {:?}", texts(&problems));
    fields.finish();
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("found the value of ${RATE}"), "{shown}");
}

#[test]
fn a_short_secret_is_a_warning() {
    let node = Node::map([("token", quoted("abc"))]);
    let problems = Problems::new();
    let mut fields = Fields::new(&node, "", &problems);
    assert!(fields.secret("token").is_some());
    fields.finish();
    assert!(!problems.has_errors());
    assert_eq!(problems.take().len(), 1);
}

#[test]
fn a_wrong_value_is_shown_short_and_without_control_characters() {
    let long = format!("\u{1b}[31m{}", "长".repeat(100));
    let (_, problems) = report(quoted(&long), |f| f.bool("k", true));
    let shown = problems.concat();
    assert!(!shown.contains('\u{1b}') && shown.contains('…'), "{shown}");
    assert!(shown.chars().count() < 90, "{shown}");
}

#[test]
fn keys_without_effect_warn_and_keys_of_absent_parts_are_refused() {
    let node = Node::map([
        ("threshold", Node::text("0.85")),
        ("roles", Node::text("x")),
    ]);
    let problems = Problems::new();
    let mut fields = Fields::new(&node, "context", &problems);
    fields.absent("threshold", "has no effect yet");
    fields.refused("roles", "not available in this version");
    fields.finish();
    let all = problems.take();
    assert_eq!(
        all.iter().map(|p| p.severity).collect::<Vec<_>>(),
        [Severity::Warning, Severity::Error]
    );
}

#[test]
fn paths_quote_odd_keys_and_number_list_items() {
    let node = Node::map([("a b", Node::list([Node::text("x"), Node::text("y")]))]);
    let problems = Problems::new();
    let setting = Setting::new(&node, "top".to_owned(), &problems);
    for (_, list) in setting.map().unwrap_or_default() {
        for item in list.list().unwrap_or_default() {
            assert_eq!(item.u64(0..=9), None);
        }
    }
    let paths: Vec<String> = problems.take().into_iter().map(|p| p.path).collect();
    assert_eq!(paths, ["top.\"a b\"[0]", "top.\"a b\"[1]"]);
}

#[test]
fn the_nearest_word_is_near() {
    let known = ["max_queue_size", "max_message_age", "mode"];
    assert_eq!(nearest("max_queue_szie", known), Some("max_queue_size"));
    assert_eq!(nearest("max-queue-size", known), Some("max_queue_size"));
    assert_eq!(nearest("MODE", known), Some("mode"));
    assert_eq!(nearest("temperature", known), None);
    assert_eq!(nearest("", known), None);
    assert_eq!(nearest(&"m".repeat(10_000), known), None);
}

#[test]
fn readers_describe_what_they_would_take() {
    let problems = Problems::describing();
    let empty = Node::map([]);
    let mut fields = Fields::new(&empty, "", &problems);
    assert_eq!(fields.u32("count", 3, 1..=9), 3);
    assert_eq!(fields.choice("mode", 1, &[("slow", 0), ("fast", 1)]), 1);
    assert_eq!(fields.secret("token"), None);
    for (name, one) in fields.map("accounts") {
        assert_eq!(name, "*");
        let mut one = one.fields();
        assert_eq!(one.required_text("url"), None);
        for item in one.list("ids") {
            assert_eq!(item.id(), None);
        }
        one.absent("old", "has no effect");
        one.refused("later", "is not there");
        one.finish();
    }
    let of = fields.get("owners").and_then(|of| of.map_of(&["a", "b"]));
    assert_eq!(of.unwrap_or_default().len(), 2);
    fields.finish();
    let text = |described: Described| {
        let Described {
            path,
            shapes,
            default,
            required,
        } = described;
        format!("{path} {shapes:?} {default:?} {required}")
    };
    let described: Vec<String> = problems.described().into_iter().map(text).collect();
    assert_eq!(
        described,
        [
            "count [Whole { least: 1, most: 9 }] Some(\"3\") false",
            "mode [Choice([\"slow\", \"fast\"])] Some(\"fast\") false",
            "token [Secret] None false",
            "token_file [SecretFile] None false",
            "accounts [Map] None false",
            "accounts.* [Section] None false",
            "accounts.*.url [Text { empty: false }] None true",
            "accounts.*.ids [List] None false",
            "accounts.*.ids[] [Id] None false",
            "accounts.*.old [Ignored] None false",
            "owners [Section] None false",
        ]
    );
    assert!(Problems::new().described().is_empty());
}
