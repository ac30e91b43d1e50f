//! What answers mean.

use serde_json::json;

use super::*;

fn refused(status: u16, headers: &[(&'static str, &str)], body: &str) -> CallError {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, value.parse().expect("a value"));
    }
    let status = StatusCode::from_u16(status).expect("a status");
    outcome(status, &map, body.as_bytes()).expect_err("a refusal")
}

fn trouble(status: u16, code: u64) -> Option<Trouble> {
    let body = json!({ "message": "no", "code": code });
    refused(status, &[], &body.to_string()).trouble()
}

#[test]
fn an_answer_of_somebody_else_is_no_refusal_of_the_platform() {
    for (status, body) in [
        (200, "<html>hello</html>"),
        (200, ""),
        (502, "<html>Bad Gateway</html>"),
        (500, r#"{"message":"500: Internal Server Error","code":0}"#),
    ] {
        let found = refused(status, &[], body);
        assert!(
            matches!(found, CallError::Lost(_)),
            "{status} {body}: {found:?}"
        );
    }
    // What was not even let in certainly was not carried out.
    assert_eq!(refused(301, &[], "").trouble(), Some(Trouble::Other));
    assert_eq!(
        refused(403, &[], "<html>").trouble(),
        Some(Trouble::Forbidden)
    );
}

#[test]
fn a_pause_is_read_from_the_answer_or_its_header_or_assumed() {
    let body = r#"{"message":"You are being rate limited.","retry_after":0.75,"global":false}"#;
    let flood = |seconds, scope| Some(Trouble::Flood(Duration::from_secs_f64(seconds), scope));
    let header = [("retry-after", "3")];
    assert_eq!(
        refused(429, &header, body).trouble(),
        flood(0.75, Freeze::Conversation)
    );
    assert_eq!(
        refused(429, &header, "<html>").trouble(),
        flood(3.0, Freeze::Conversation)
    );
    assert_eq!(
        refused(429, &[], "").trouble(),
        flood(5.0, Freeze::Conversation)
    );
    let odd = [("retry-after", "NaN")];
    assert_eq!(
        refused(429, &odd, "").trouble(),
        flood(5.0, Freeze::Conversation)
    );
    let long = r#"{"retry_after":1e12}"#;
    assert_eq!(
        refused(429, &[], long).trouble(),
        flood(86_400.0, Freeze::Conversation)
    );
    let global = r#"{"retry_after":2,"global":true}"#;
    assert_eq!(
        refused(429, &[], global).trouble(),
        flood(2.0, Freeze::Account)
    );
    let scope = [("x-ratelimit-scope", "global"), ("retry-after", "2")];
    assert_eq!(
        refused(429, &scope, "").trouble(),
        flood(2.0, Freeze::Account)
    );
}

#[test]
fn the_last_call_that_is_allowed_says_when_the_next_one_is() {
    let used_up = |left: &str, reset: &str| {
        let mut map = HeaderMap::new();
        map.insert("x-ratelimit-remaining", left.parse().expect("a value"));
        map.insert("x-ratelimit-reset-after", reset.parse().expect("a value"));
        refusal::used_up(&map)
    };
    assert_eq!(used_up("0", "1.5"), Some(Duration::from_millis(1_500)));
    assert_eq!(used_up("1", "1.5"), None);
    assert_eq!(used_up("0", "-1"), None);
    assert_eq!(refusal::used_up(&HeaderMap::new()), None);
}

#[test]
fn refusals_are_told_apart() {
    for (status, code, expected) in [
        (401, 0, Trouble::Token),
        (403, 50_001, Trouble::Forbidden),
        (403, 50_013, Trouble::Forbidden),
        (403, 50_007, Trouble::Forbidden),
        (400, 50_083, Trouble::Archived),
        (400, 160_005, Trouble::Forbidden),
        (404, 10_003, Trouble::Gone),
        (400, 160_002, Trouble::NoReply),
        (400, 50_006, Trouble::Other),
        (400, 50_035, Trouble::Other),
    ] {
        assert_eq!(trouble(status, code), Some(expected), "{status} {code}");
    }
    let long = json!({ "message": "Invalid Form Body", "code": 50035, "errors": { "content": { "_errors": [
        { "code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length." }] } } });
    assert_eq!(
        refused(400, &[], &long.to_string()).trouble(),
        Some(Trouble::TooLong)
    );
}

#[tokio::test]
async fn nobody_there_is_told_from_no_answer_and_the_token_is_not_shown() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("binds");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let api = Api::new(
        &format!("http://{address}"),
        "MTAwMDE.TEST.secret_value",
        "0",
    );
    let api = api.expect("a client");
    let error = api
        .get(Call::Me, Duration::from_secs(5))
        .await
        .expect_err("nobody is there");
    assert!(matches!(error, CallError::Unreachable(_)), "{error:?}");
    let shown = format!("{api:?} {error:?} {error}");
    assert!(!shown.contains("secret_value"), "{shown}");
}
