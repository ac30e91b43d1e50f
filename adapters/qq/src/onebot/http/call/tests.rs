use super::*;

#[test]
fn a_status_without_a_result_is_certain_only_when_it_refuses() {
    for (status, certain) in [(400, true), (404, true), (406, true)] {
        let class = matches!(unread(status), SendError::Rejected(_));
        assert_eq!(class, certain, "{status}");
    }
    for status in [200, 204, 302, 500, 502, 504] {
        assert!(
            matches!(unread(status), SendError::Ambiguous(_)),
            "{status}"
        );
    }
}

#[test]
fn a_token_that_no_header_can_hold_is_refused() {
    let made = HttpCalls::new("http://127.0.0.1:1", Some(&Secret::new("a\nb")));
    assert!(made.is_err_and(|why| why.contains("token")));
}
