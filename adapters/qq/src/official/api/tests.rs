//! What answers mean.

use serde_json::json;

use super::*;

#[test]
fn only_what_was_surely_not_done_may_be_done_again() {
    let result = json!({ "id": "m" });
    assert_eq!(outcome(200, Some(result.clone())), Ok(result));
    assert_eq!(outcome(204, None), Ok(Value::Null));
    let lost = |status, answer| matches!(outcome(status, answer), Err(CallError::Lost(_)));
    assert!(lost(200, None));
    assert!(lost(502, None));
    assert!(lost(500, Some(json!({ "code": 99, "message": "inner" }))));
    let refused = |status, answer| matches!(outcome(status, answer), Err(CallError::Refused(_)));
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

#[test]
fn only_this_machine_is_local() {
    for local in ["http://127.0.0.1:1", "http://localhost", "http://[::1]:5/x"] {
        assert!(is_local(local), "{local}");
    }
    for other in ["https://api.sgroup.qq.com", "http://127.0.0.1.example", "x"] {
        assert!(!is_local(other), "{other}");
    }
}
