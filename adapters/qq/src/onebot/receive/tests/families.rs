//! One question in a group, as each family of implementations writes it.
//!
//! Owns the forms in which they differ: ids as 32-bit hashes, 64-bit numbers or texts, content as segments or
//! as a string, fields of their own, fields that they leave out.

use super::*;

/// What all of them mean: somebody answers message 77, mentions the bot and says two lines.
fn means_the_same(name: &str, event: &Value, id: &str) {
    let message = message(event);
    assert_eq!(message.id.as_str(), id, "{name}");
    assert_eq!(
        message.conversation.conversation.as_str(),
        "g30001",
        "{name}"
    );
    assert_eq!(message.sender.key.id.as_str(), "20001", "{name}");
    assert_eq!(message.sender.name, "名片", "{name}");
    assert!(message.mentions_bot, "{name}");
    assert_eq!(message.own_text().trim(), "在 [吗]\n&", "{name}");
    assert_eq!(message.sent_at, 1_700_000_000_000, "{name}");
    let answered = message.reply_to.expect("a reply");
    assert_eq!(
        (answered.message.as_str(), answered.to_bot),
        ("77", Some(true)),
        "{name}"
    );
}

fn segments(number: impl Fn(i64) -> Value) -> Value {
    json!([
        { "type": "reply", "data": { "id": number(77) } },
        { "type": "at", "data": { "qq": number(10_001) } },
        { "type": "text", "data": { "text": " 在 [吗]\n&" } },
    ])
}

#[test]
fn napcat() {
    let event = json!({
        "self_id": 10001, "user_id": 20001, "time": 1_700_000_000, "message_id": 1_203_948_571,
        "message_seq": 1_203_948_571, "real_id": 1_203_948_571, "real_seq": "4711",
        "message_type": "group", "sub_type": "normal", "font": 14, "message_format": "array",
        "sender": { "user_id": 20001, "nickname": "昵称", "card": "名片", "role": "member" },
        "raw_message": "[CQ:reply,id=77][CQ:at,qq=10001] 在 &#91;吗&#93;\n&amp;",
        "message": segments(|number| json!(number.to_string())),
        "post_type": "message", "group_id": 30001, "group_name": "群",
    });
    means_the_same("array", &event, "1203948571");
    let mut text = event;
    text["message"] = text["raw_message"].clone();
    text["message_format"] = json!("string");
    means_the_same("string", &text, "1203948571");
    // The format that is announced may not be the one that comes.
    text["message_format"] = json!("array");
    means_the_same("string that says array", &text, "1203948571");
}

#[test]
fn llonebot() {
    let event = json!({
        "self_id": 10001, "user_id": 20001, "time": 1_700_000_000, "message_id": -912_345_678,
        "message_seq": 4711, "message_type": "group", "sub_type": "normal", "font": 14,
        "sender": {
            "user_id": 20001, "nickname": "昵称", "card": "名片", "role": "member", "title": "",
        },
        "raw_message": "", "message": segments(|number| json!(number.to_string())),
        "message_format": "array", "post_type": "message", "group_id": 30001,
    });
    means_the_same("LLOneBot", &event, "-912345678");
}

#[test]
fn lagrange() {
    let event = json!({
        "message_type": "group", "sub_type": "normal", "message_id": 2_012_345_678, "group_id": 30001,
        "user_id": 20001, "anonymous": null, "font": 0, "self_id": 10001, "time": 1_700_000_000,
        "post_type": "message", "message_style": { "bubble_id": 0 },
        "message": segments(|number| json!(number.to_string())),
        "raw_message": "[CQ:reply,id=77][CQ:at,qq=10001] 在 &#91;吗&#93;\n&amp;",
        "sender": {
            "user_id": 20001, "nickname": "昵称", "card": "名片", "sex": "unknown", "age": 0,
            "level": "1", "role": "member", "title": "",
        },
    });
    means_the_same("Lagrange", &event, "2012345678");
}

#[test]
fn go_cqhttp() {
    let event = json!({
        "post_type": "message", "message_type": "group", "time": 1_700_000_000, "self_id": 10001,
        "sub_type": "normal", "anonymous": null, "group_id": 30001, "font": 0, "message_seq": 4711,
        "message": "[CQ:reply,id=77][CQ:at,qq=10001] 在 &#91;吗&#93;\n&amp;",
        "raw_message": "[CQ:reply,id=77][CQ:at,qq=10001] 在 &#91;吗&#93;\n&amp;",
        "sender": {
            "age": 0, "area": "", "card": "名片", "level": "", "nickname": "昵称", "role": "member",
            "sex": "unknown", "title": "", "user_id": 20001,
        },
        "user_id": 20001, "message_id": -1_387_654_321,
    });
    means_the_same("go-cqhttp", &event, "-1387654321");
}

#[test]
fn others_with_texts_and_large_numbers() {
    let event = json!({
        "post_type": "message", "message_type": "group", "time": "1700000000", "self_id": "10001",
        "group_id": "30001", "user_id": "20001", "message_id": "7301234567890123456",
        "message": segments(|number| json!(number)),
        "sender": { "user_id": "20001", "card": "名片" },
    });
    means_the_same("texts", &event, "7301234567890123456");
}
