//! What answers mean.

use serde_json::json;

use super::*;

fn refused(status: u16, header: Option<f64>, body: &str) -> Refusal {
    let status = StatusCode::from_u16(status).expect("a status");
    match outcome(status, header, body.as_bytes()) {
        Err(CallError::Refused(refusal)) => refusal,
        other => panic!("{other:?}"),
    }
}

fn trouble(code: u16, description: &str) -> Trouble {
    let body = json!({ "ok": false, "error_code": code, "description": description });
    refused(code, None, &body.to_string()).trouble()
}

#[test]
fn results_are_taken_out_of_their_envelope() {
    let found = outcome(StatusCode::OK, None, br#"{"ok":true,"result":{"id":7}}"#);
    assert_eq!(found, Ok(json!({ "id": 7 })));
}

#[test]
fn an_answer_of_somebody_else_is_no_refusal_of_the_platform() {
    for (status, body) in [
        (200, "<html>hello</html>"),
        (200, ""),
        (204, ""),
        (502, "<html>Bad Gateway</html>"),
        (
            500,
            r#"{"ok":false,"error_code":500,"description":"Internal Server Error"}"#,
        ),
    ] {
        let status = StatusCode::from_u16(status).expect("a status");
        let found = outcome(status, None, body.as_bytes());
        assert!(
            matches!(found, Err(CallError::Lost(_))),
            "{status} {body}: {found:?}"
        );
    }
    // What was not even let in certainly was not carried out.
    assert_eq!(refused(301, None, "").code, 301);
    assert_eq!(refused(403, None, "<html>").trouble(), Trouble::Forbidden);
}

#[test]
fn a_pause_is_read_from_the_answer_or_its_header_or_assumed() {
    let body = r#"{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7","parameters":{"retry_after":7}}"#;
    let flood = |seconds| Trouble::Flood(Duration::from_secs_f64(seconds));
    assert_eq!(refused(429, Some(3.0), body).trouble(), flood(7.0));
    assert_eq!(
        refused(429, Some(1.5), "<html>slow down</html>").trouble(),
        flood(1.5)
    );
    assert_eq!(refused(429, None, "").trouble(), flood(5.0));
    assert_eq!(refused(429, Some(f64::NAN), "").trouble(), flood(5.0));
    assert_eq!(refused(429, Some(1e12), "").trouble(), flood(86_400.0));
}

#[test]
fn refusals_are_told_apart_in_either_spelling() {
    for (code, description, expected) in [
        (401, "Unauthorized", Trouble::Token),
        (404, "Not Found", Trouble::Token),
        (
            409,
            "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
            Trouble::Conflict,
        ),
        (
            409,
            "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
            Trouble::Webhook,
        ),
        (
            409,
            "Conflict: terminated by setWebhook request",
            Trouble::Webhook,
        ),
        (400, "Bad Request: message is too long", Trouble::TooLong),
        (400, "Bad Request: MESSAGE_TOO_LONG", Trouble::TooLong),
        (
            400,
            "Bad Request: message is not modified: specified new message content…",
            Trouble::NotModified,
        ),
        (
            400,
            "Bad Request: can't parse entities: Can't find end of the entity",
            Trouble::Entities,
        ),
        (400, "Bad Request: ENTITIES_TOO_LONG", Trouble::Entities),
        (400, "Bad Request: ENTITY_BOUNDS_INVALID", Trouble::Entities),
        (
            400,
            "Bad Request: message thread not found",
            Trouble::NoTopic,
        ),
        (400, "Bad Request: TOPIC_CLOSED", Trouble::Forbidden),
        (
            400,
            "Bad Request: message to edit not found",
            Trouble::NoMessage,
        ),
        (
            400,
            "Bad Request: not enough rights to send text messages to the chat",
            Trouble::Forbidden,
        ),
        (
            403,
            "Forbidden: bot was blocked by the user",
            Trouble::Forbidden,
        ),
        (400, "Bad Request: chat not found", Trouble::Gone),
        (400, "Bad Request: PEER_ID_INVALID", Trouble::Gone),
        (400, "Bad Request: message text is empty", Trouble::Other),
    ] {
        assert_eq!(trouble(code, description), expected, "{description}");
    }
    let body = json!({
        "ok": false, "error_code": 400,
        "description": "Bad Request: group chat was upgraded to a supergroup chat",
        "parameters": { "migrate_to_chat_id": -1_001_234_567_890_i64 },
    });
    let refusal = refused(400, None, &body.to_string());
    assert_eq!(refusal.trouble(), Trouble::Migrated(-1_001_234_567_890));
}

#[test]
fn methods_are_named_as_in_the_documentation() {
    assert_eq!(method_name("SendMessage"), "sendMessage");
    assert_eq!(method_name(""), "");
}

#[tokio::test]
async fn nobody_there_is_told_from_no_answer_and_the_token_is_not_shown() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("binds");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let api = Api::new(&format!("http://{address}"), "123456:TEST-secret_value").expect("a client");
    let call = method::GetUpdates {
        offset: None,
        limit: 1,
        timeout: 0,
        allowed_updates: method::UPDATES,
    };
    let error = api
        .call(&call, Duration::from_secs(5))
        .await
        .expect_err("nobody is there");
    assert!(matches!(error, CallError::Unreachable(_)), "{error:?}");
    let shown = format!("{api:?} {error:?} {error}");
    assert!(!shown.contains("TEST-secret"), "{shown}");
}
