use super::*;

fn hosts() -> Vec<String> {
    vec!["chat.example.com".into(), "b.example:8443".into()]
}

#[test]
fn loopback_addresses_and_listed_hosts_are_served() {
    for host in [
        "localhost",
        "LOCALHOST:8080",
        "127.0.0.1:8080",
        "[::1]:8080",
        "[::1]",
        "192.168.1.5:8080",
        "chat.example.com",
        "Chat.Example.com:443",
        "b.example:8443",
    ] {
        assert_eq!(check_host(Some(host), &hosts()), Ok(()), "{host}");
    }
}

#[test]
fn a_rebound_or_broken_host_is_refused() {
    for host in [
        "evil.example",
        "localhost.evil.example",
        "evil.localhost.example:80",
        "b.example",
        "b.example:1",
        "chat.example.com.evil.example",
        "127.0.0.1.evil.example",
        "localhost:port",
        "localhost/",
        "a@localhost",
        "[::1",
        "[evil]",
        "",
    ] {
        assert_eq!(
            check_host(Some(host), &hosts()),
            Err(Refusal::Host),
            "{host}"
        );
    }
    assert_eq!(check_host(None, &hosts()), Err(Refusal::Host));
}

#[test]
fn the_own_page_and_listed_pages_may_open_the_socket() {
    let allowed = vec!["https://www.example.com".to_owned()];
    for (origin, host) in [
        ("http://localhost:8080", "localhost:8080"),
        ("https://localhost:8080", "localhost:8080"),
        ("http://[::1]:8080", "[::1]:8080"),
        ("https://chat.example.com", "chat.example.com"),
        ("https://chat.example.com", "chat.example.com:443"),
        ("http://chat.example.com:80", "chat.example.com"),
        ("https://www.example.com", "chat.example.com"),
        ("https://www.example.com:443", "chat.example.com"),
    ] {
        assert_eq!(
            check_origin(Some(origin), host, &allowed),
            Ok(()),
            "{origin} {host}"
        );
    }
    assert_eq!(check_origin(None, "localhost:8080", &allowed), Ok(()));
}

#[test]
fn any_other_page_is_refused() {
    let allowed = vec!["https://www.example.com".to_owned()];
    for origin in [
        "https://evil.example",
        "null",
        "",
        "http://localhost.evil.example",
        "http://localhost.evil.example:8080",
        "http://localhost:8081",
        "http://localhost",
        "http://127.0.0.1:8080",
        "http://localhost:8080/",
        "http://localhost:8080@evil.example",
        "http://evil@localhost:8080",
        "ftp://localhost:8080",
        "http://www.example.com",
        "https://www.example.com.evil.example",
        "https://www.example.com:8443",
    ] {
        let verdict = check_origin(Some(origin), "localhost:8080", &allowed);
        assert_eq!(verdict, Err(Refusal::Origin), "{origin}");
    }
}
