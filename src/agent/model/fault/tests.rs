use proptest::prelude::*;

use super::*;

fn read(status: Option<u16>, body: &str) -> (ErrorClass, bool) {
    let error = from_body(status, body, None);
    (error.kind, error.recoverable)
}

#[test]
fn a_status_decides_what_may_be_tried_again() {
    for status in [408, 409, 425, 500, 502, 503, 504, 529] {
        assert_eq!(read(Some(status), ""), (ErrorClass::Api, true), "{status}");
    }
    for status in [302, 400, 401, 402, 403, 404, 422] {
        assert_eq!(read(Some(status), ""), (ErrorClass::Api, false), "{status}");
    }
    assert_eq!(read(Some(429), ""), (ErrorClass::RateLimit, true));
}

#[test]
fn codes_say_more_than_the_status() {
    let quota = r#"{"error":{"code":"insufficient_quota","message":"pay"}}"#;
    assert_eq!(read(Some(429), quota), (ErrorClass::Api, false));
    let filter = r#"{"error":{"code":"content_filter","message":"no"}}"#;
    assert_eq!(read(Some(400), filter), (ErrorClass::Security, false));
    let slow = r#"{"error":{"type":"rate_limit_error"}}"#;
    assert_eq!(read(None, slow), (ErrorClass::RateLimit, true));
    let list = r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x"}}]"#;
    assert_eq!(read(None, list), (ErrorClass::RateLimit, true));
    let overloaded = r#"{"error":{"type":"overloaded_error"}}"#;
    assert_eq!(read(None, overloaded), (ErrorClass::Api, true));
    let wrong = r#"{"error":{"type":"invalid_request_error","message":"x"}}"#;
    assert_eq!(read(None, wrong), (ErrorClass::Api, false));
}

#[test]
fn the_message_is_found_wherever_it_stands() {
    for body in [
        r#"{"error":{"message":"too big"}}"#,
        r#"{"error":"too big"}"#,
        r#"{"object":"error","message":"too big"}"#,
        r#"{"detail":"too big"}"#,
        r#"[{"error":{"message":"too big"}}]"#,
        "too big",
        "<h1>too big</h1>",
    ] {
        assert_eq!(
            from_body(Some(500), body, None).message,
            "provider error 500: too big"
        );
    }
    assert_eq!(from_body(Some(502), "", None).message, "provider error 502");
}

#[test]
fn a_code_inside_a_success_counts_as_the_status() {
    let error = from_body(
        None,
        r#"{"choices":[],"error":{"code":502,"message":"m"}}"#,
        None,
    );
    assert_eq!((error.status, error.recoverable), (Some(502), true));
    let error = from_body(None, r#"{"error":{"code":"401","message":"m"}}"#, None);
    assert_eq!((error.status, error.recoverable), (Some(401), false));
}

#[test]
fn secrets_stay_out() {
    let shown = |text: &str| scrub(text, Some("topsecret"), MAX_MESSAGE_CHARS);
    assert_eq!(shown("key topsecret is bad"), "key *** is bad");
    assert_eq!(shown("key sk-abcdefgh123 is bad"), "key sk-*** is bad");
    assert_eq!(shown("sent Bearer abc.def now"), "sent Bearer *** now");
    assert_eq!(
        shown("at https://me:pw@host/v1?key=1#x ok"),
        "at https://host/v1 ok"
    );
    assert_eq!(shown("a\r\n\tb\u{0}c"), "a b c");
}

#[test]
fn a_page_becomes_a_short_line() {
    let page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title>\
        <style>p {color: red}</style><script>var token = 'x';</script></head>\
        <body><h1>Sorry</h1>key topsecret</body></html>";
    assert_eq!(
        excerpt(page, Some("topsecret")),
        "502 Bad Gateway Sorry key ***"
    );
    assert!(excerpt(&"字".repeat(5000), None).chars().count() <= MAX_EXCERPT_CHARS);
}

proptest! {
    #[test]
    fn any_body_gives_a_bounded_message_without_the_key(
        before in ".{0,200}", after in ".{0,200}", status in proptest::option::of(300_u16..600),
    ) {
        let body = format!("{before}K3Y-K3Y{after}");
        let json = serde_json::json!({"error": {"message": &body}}).to_string();
        for body in [&body, &json] {
            let error = from_body(status, body, Some("K3Y-K3Y"));
            prop_assert!(error.message.chars().count() <= MAX_MESSAGE_CHARS);
            prop_assert!(!error.message.contains("K3Y-K3Y"));
            prop_assert!(!error.message.chars().any(char::is_control));
        }
    }
}

#[test]
fn a_refusal_that_names_a_file_is_told_from_others() {
    let refuses = |status, message: &str| {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        refuses_files(&from_body(Some(status), &body, None))
    };
    assert!(refuses(400, "Invalid value for image_url"));
    assert!(refuses(404, "No endpoints found that support Image input"));
    assert!(refuses(413, "the document is too large"));
    assert!(!refuses(400, "unknown parameter: temprature"));
    assert!(!refuses(401, "no access to the image model"));
    assert!(!refuses(500, "the image service is down"));
    assert!(!refuses(429, "too many images a minute"));
}
