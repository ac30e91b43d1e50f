//! Tests of the expansion of variables.

use proptest::prelude::*;
use weirgate_sdk::settings::{Node, Problems, Value};

use super::{Fault, expand, expand_text};
use crate::config::parse::parse;

fn env(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/bot/".to_owned()),
        "HOMEkey" => Some("wrong".to_owned()),
        "T" => Some("value".to_owned()),
        "LITERAL" => Some("wrong".to_owned()),
        "EMPTY" => Some(String::new()),
        "NESTED" => Some("${T} $$".to_owned()),
        _ => None,
    }
}

fn expanded(text: &str) -> Result<String, Fault> {
    expand_text(text, &env).map(|(text, _)| text)
}

#[test]
fn only_the_documented_forms_expand() {
    let cases = [
        ("my$HOMEkey$9", "my$HOMEkey$9"),
        ("a$$b", "a$b"),
        ("$$$$", "$$"),
        ("${X:-def}", "def"),
        ("${X:-}", ""),
        ("${EMPTY:-def}", "def"),
        ("${EMPTY}", ""),
        ("${T:-def}", "value"),
        ("$${LITERAL}", "${LITERAL}"),
        ("$T $(T) $", "$T $(T) $"),
        ("<${T}-${T}>", "<value-value>"),
        ("${NESTED}", "${T} $$"),
        ("${X:-a:-b}", "a:-b"),
        ("^[a-z]+$", "^[a-z]+$"),
        ("价格$5", "价格$5"),
    ];
    for (text, result) in cases {
        assert_eq!(expanded(text).as_deref(), Ok(result), "{text}");
    }
}

#[test]
fn what_is_no_variable_or_not_set_is_a_fault() {
    assert_eq!(
        expanded("${NOT_SET}"),
        Err(Fault::Unset("NOT_SET".to_owned()))
    );
    for text in [
        "${", "${T", "${}", "${1A}", "${A B}", "${A-b}", "${长}", "a ${:-x}",
    ] {
        assert_eq!(expanded(text), Err(Fault::Malformed), "{text}");
    }
}

#[test]
fn the_folder_for_data_has_a_fallback() {
    assert_eq!(
        expanded("$XDG_DATA_HOME/w").as_deref(),
        Ok("/home/bot/.local/share/w")
    );
    assert_eq!(
        expanded("${XDG_DATA_HOME}/w").as_deref(),
        Ok("/home/bot/.local/share/w")
    );
    assert_eq!(
        expanded("$XDG_DATA_HOMES").as_deref(),
        Ok("$XDG_DATA_HOMES")
    );
    let set =
        |value: &'static str| move |name: &str| (name == "XDG_DATA_HOME").then(|| value.into());
    let with = |value| expand_text("$XDG_DATA_HOME/w", &set(value)).map(|(text, _)| text);
    assert_eq!(with("/data").as_deref(), Ok("/data/w"));
    assert_eq!(with("relative"), Err(Fault::NoDataHome));
    assert_eq!(with(""), Err(Fault::NoDataHome));
}

#[test]
fn a_faulty_scalar_is_reported_with_its_path_and_the_others_go_on() {
    let problems = Problems::new();
    let mut root = parse("a: [x, \"${NOT_SET}\"]\nb: ${T}\n", &problems).unwrap();
    expand(&mut root, "", &env, &problems);
    let told = problems.take();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].path, "a[1]");
    assert_eq!(told[0].kind.to_string(), "the variable NOT_SET is not set");
    let Value::List(items) = &root.get("a").unwrap().value else {
        panic!("no list")
    };
    assert_eq!(items[1].value, Value::Failed);
    assert_eq!(text_of(root.get("b").unwrap()), "value");
}

fn text_of(node: &Node) -> String {
    match &node.value {
        Value::Scalar(scalar) => scalar.text.clone(),
        other => panic!("no scalar: {other:?}"),
    }
}

/// What `token: ${T}` is when T has this value.
fn token(value: &str) -> String {
    let problems = Problems::new();
    let mut root = parse("token: ${T}\n", &problems).unwrap();
    expand(&mut root, "", &|_| Some(value.to_owned()), &problems);
    text_of(root.get("token").unwrap())
}

#[test]
fn a_value_never_changes_the_structure() {
    for value in [
        "!abc: \"x\" #y",
        "]x[",
        "- a",
        "007",
        "yes",
        "one\ntwo: three\n",
        "*",
        "",
        "null",
    ] {
        assert_eq!(token(value), value);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_token_is_exactly_the_variable(value in any::<String>()) {
        prop_assert_eq!(token(&value), value);
    }

    #[test]
    fn doubled_dollars_protect_any_text(text in "[a-z${}: -]{0,40}") {
        let protected = text.replace('$', "$$");
        prop_assert_eq!(expanded(&protected), Ok(text));
    }
}
