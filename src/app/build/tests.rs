use super::*;

#[test]
fn an_address_becomes_the_origin_that_a_browser_would_send() {
    for (url, wanted) in [
        ("https://chat.example.com", "https://chat.example.com"),
        (
            "https://Chat.Example.com:443/a/b",
            "https://chat.example.com",
        ),
        ("http://chat.example.com:80", "http://chat.example.com"),
        (
            "http://chat.example.com:443/",
            "http://chat.example.com:443",
        ),
        ("https://[::1]:8443/x", "https://[::1]:8443"),
    ] {
        assert_eq!(origin(url).as_deref(), Some(wanted));
    }
    for url in ["chat.example.com", "ftp://chat.example.com", "https://"] {
        assert_eq!(origin(url), None, "{url}");
    }
}
