//! Which answers are certain, and which hide a message that may have arrived.

use serde_json::{Value, json};

use super::*;

fn read(answer: &Value) -> Result<Sent, SendError> {
    let json = answer.to_string();
    outcome(&serde_json::from_str(&json).expect("a frame")).map(|data| data.sent())
}

fn failed(retcode: i64, message: &str) -> SendError {
    let answer =
        json!({ "status": "failed", "retcode": retcode, "data": null, "message": message });
    read(&answer).expect_err("failed")
}

#[test]
fn success_gives_the_exact_id() {
    for (id, expected) in [
        (json!(-912345678), Some("-912345678")),
        (json!("7301234567890123456"), Some("7301234567890123456")),
        (json!(0), None),
        (json!(null), None),
        (json!("undefined"), None),
    ] {
        let answer = json!({ "status": "ok", "retcode": 0, "data": { "message_id": id } });
        let sent = read(&answer).expect("sent");
        assert_eq!(sent.message.as_ref().map(MessageId::as_str), expected);
    }
    for answer in [
        json!({ "status": "async", "retcode": 1, "data": null }),
        json!({ "retcode": 0 }),
        json!({ "status": "ok", "data": [] }),
    ] {
        assert_eq!(read(&answer), Ok(Sent::default()), "{answer}");
    }
}

#[test]
fn a_time_out_may_hide_a_delivered_message() {
    let texts = [
        "Timeout: NTEvent sendMsg EventRet: {\"result\":0}",
        "发送超时",
        "request timed out",
    ];
    for text in texts {
        assert!(
            matches!(failed(1200, text), SendError::Ambiguous(_)),
            "{text}"
        );
    }
}

#[test]
fn a_known_reason_is_certain_even_inside_a_time_out_text() {
    let text =
        "Timeout: sendMsg EventRet: {\"result\":110,\"errMsg\":\"发送失败，你已被移出该群\"}";
    assert!(matches!(failed(1200, text), SendError::Gone(_)));
    assert!(matches!(
        failed(1200, "你已被禁言"),
        SendError::Forbidden(_)
    ));
    assert_eq!(failed(100, "消息过长"), SendError::TooLong);
}

#[test]
fn everything_else_is_refused_for_good() {
    for (retcode, text) in [
        (100, "SEND_MSG_API_ERROR"),
        (1400, "bad request"),
        (1404, "unknown action"),
        (1200, "risk control"),
        (-1, ""),
    ] {
        let SendError::Rejected(told) = failed(retcode, text) else {
            panic!("{retcode}")
        };
        assert!(told.contains(&retcode.to_string()) && told.contains(text));
    }
    assert!(matches!(
        read(&json!({ "retcode": 5 })),
        Err(SendError::Rejected(_))
    ));
    assert!(matches!(read(&json!({})), Err(SendError::Rejected(_))));
}

#[test]
fn error_texts_are_one_short_line() {
    let SendError::Rejected(told) = failed(100, &"行\n".repeat(500)) else {
        panic!()
    };
    assert!(told.chars().count() < MAX_ERROR + 20 && !told.contains('\n'));
    let answer = json!({ "status": "failed", "retcode": 100, "msg": "CODE", "wording": "CODE" });
    assert_eq!(
        read(&answer),
        Err(SendError::Rejected("retcode 100: CODE".into()))
    );
}

#[test]
fn a_refused_token_is_known_with_and_without_a_call() {
    for (frame, refused) in [
        (
            r#"{"status":"failed","retcode":1403,"message":"token"}"#,
            true,
        ),
        (r#"{"status":"failed","retcode":"1401","echo":null}"#, true),
        (r#"{"status":"failed","retcode":1403,"echo":7}"#, false),
        (r#"{"status":"failed","retcode":1404}"#, false),
        (r#"{"post_type":"message","retcode":1403}"#, false),
    ] {
        let read = serde_json::from_str(frame).expect("a frame");
        assert_eq!(refuses_token(&read), refused, "{frame}");
    }
    for (code, unavailable) in [(1400, false), (1401, true), (1403, true), (1404, false)] {
        let class = matches!(failed(code, "no"), SendError::Unavailable(_));
        assert_eq!(class, unavailable, "{code}");
    }
}
