use serde_json::{Value, json, value::to_raw_value};

use super::*;

fn read(data: &Value) -> Implementation {
    Implementation::read(Some(&to_raw_value(data).expect("JSON")))
}

#[test]
fn families_are_known_by_the_names_that_they_give() {
    for (name, family) in [
        ("NapCat.Onebot", Family::NapCat),
        ("LLOneBot", Family::LlBot),
        ("LLBot", Family::LlBot),
        ("LuckyLilliaBot", Family::LlBot),
        ("Lagrange.OneBot", Family::Lagrange),
        ("go-cqhttp", Family::GoCqhttp),
        ("Overflow", Family::Other),
        ("", Family::Other),
    ] {
        let data = json!({ "app_name": name, "app_version": "4.18.1", "protocol_version": "v11" });
        let found = read(&data);
        assert_eq!(found.family, family, "{name}");
        assert_eq!(found.name, format!("{name} 4.18.1").trim());
        assert!(!found.is_foreign());
    }
}

#[test]
fn another_protocol_is_noticed_and_a_silent_one_is_not_accused() {
    for (protocol, foreign) in [
        (json!("v11"), false),
        (json!("11"), false),
        (json!(11), false),
        (json!(null), false),
        (json!("v12"), true),
        (json!("4.15"), true),
    ] {
        let found = read(&json!({ "app_name": "x", "protocol_version": protocol }));
        assert_eq!(found.is_foreign(), foreign, "{protocol}");
    }
    assert_eq!(read(&json!([])).name, "");
}

#[test]
fn the_bot_is_read_from_numbers_and_texts() {
    for (data, bot) in [
        (json!({ "user_id": 10001 }), Some("10001")),
        (json!({ "user_id": "123456789" }), Some("123456789")),
        (json!({ "user_id": 0 }), None),
        (json!({ "user_id": null }), None),
        (json!(null), None),
    ] {
        let raw = to_raw_value(&data).expect("JSON");
        assert_eq!(login(Some(&raw)).as_deref(), bot, "{data}");
    }
}
