//! What answers mean.

use serde_json::json;

use super::*;

fn answered(method: &Method, status: u16, answer: Option<Value>) -> Result<Value, CallError> {
    let body = answer.map_or_else(String::new, |answer| answer.to_string());
    outcome(method, status, body.as_bytes())
}

#[test]
fn only_what_was_surely_not_done_may_be_done_again() {
    let post = |status, answer| answered(&Method::POST, status, answer);
    let result = json!({ "id": "m" });
    assert_eq!(post(200, Some(result.clone())), Ok(result));
    assert_eq!(post(204, None), Ok(Value::Null));
    assert_eq!(answered(&Method::DELETE, 200, None), Ok(Value::Null));
    let lost = |status, answer| matches!(post(status, answer), Err(CallError::Lost(_)));
    assert!(lost(200, None));
    assert!(lost(502, None));
    assert!(lost(500, Some(json!({ "code": 99, "message": "inner" }))));
    assert!(outcome(&Method::DELETE, 200, b"<html>").is_err());
    let refused = |status, answer| matches!(post(status, answer), Err(CallError::Refused(_)));
    assert!(refused(
        500,
        Some(json!({ "code": 11_244, "message": "expired" }))
    ));
    assert!(refused(400, None));
    assert!(refused(
        202,
        Some(json!({ "code": 304_023, "message": "review" }))
    ));
    // Where a redirect leads nobody knows.
    assert!(refused(302, None));
}
