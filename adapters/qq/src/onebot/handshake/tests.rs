//! The handshake: who is let in.

use tokio_tungstenite::tungstenite::http::HeaderValue;
use weirgate_sdk::settings::Secret;

use super::*;
use crate::settings::Settings;

fn shared(token: Option<&str>, self_id: Option<&str>) -> Shared {
    let settings = Settings {
        token: token.map(Secret::new),
        self_id: self_id.map(str::to_owned),
        ..Settings::default()
    };
    Shared::new("main".into(), settings)
}

fn check(
    shared: &Shared,
    headers: &[(&'static str, &'static str)],
    path: &'static str,
) -> Result<Peer, Refusal> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(*name, HeaderValue::from_static(value));
    }
    examine(&[shared], &map, &Uri::from_static(path)).map(|(_, peer)| peer)
}

const BOT: (&str, &str) = ("x-self-id", "10001");

#[test]
fn the_token_comes_first_and_in_every_common_form() {
    let shared = shared(Some("se cret"), None);
    let peer = Peer {
        bot: "10001".into(),
        role: Role::Universal,
    };
    for value in ["Bearer se cret", "bearer se cret", "Token se cret"] {
        assert_eq!(
            check(&shared, &[BOT, ("authorization", value)], "/"),
            Ok(peer.clone())
        );
    }
    assert_eq!(
        check(&shared, &[BOT], "/onebot?x=1&access_token=se%20cret"),
        Ok(peer)
    );
    for (headers, path) in [
        (vec![], "/"),
        (vec![BOT], "/"),
        (vec![BOT], "/?access_token="),
        (vec![("authorization", "")], "/"),
    ] {
        assert_eq!(check(&shared, &headers, path), Err(Refusal::NoToken));
    }
    for (headers, path) in [
        (vec![("authorization", "Bearer se cre")], "/"),
        (vec![("authorization", "Bearer se cret2")], "/"),
        (
            vec![("authorization", "Bearer no")],
            "/?access_token=se%20cret",
        ),
        (vec![BOT], "/?access_token=%ff%"),
    ] {
        assert_eq!(check(&shared, &headers, path), Err(Refusal::WrongToken));
    }
}

#[test]
fn the_bot_must_be_named_by_number() {
    let shared = shared(None, None);
    for headers in [
        vec![],
        vec![("x-self-id", "")],
        vec![("x-self-id", "-1")],
        vec![("x-self-id", "a1")],
    ] {
        assert_eq!(check(&shared, &headers, "/"), Err(Refusal::NoBot));
    }
    assert!(check(&shared, &[BOT], "/any/path").is_ok());
}

#[test]
fn only_the_configured_bot_is_let_in() {
    let shared = shared(None, Some("10002"));
    assert_eq!(check(&shared, &[BOT], "/"), Err(Refusal::OtherBot));
    assert!(check(&shared, &[("x-self-id", "10002")], "/").is_ok());
}

#[test]
fn roles_are_known_ones() {
    let shared = shared(None, None);
    let role = |value| check(&shared, &[BOT, ("x-client-role", value)], "/").map(|peer| peer.role);
    assert_eq!(role("API"), Ok(Role::Api));
    assert_eq!(role("Event"), Ok(Role::Event));
    assert_eq!(role("other"), Err(Refusal::UnknownRole));
}

#[test]
fn refusals_have_their_own_status() {
    assert_eq!(Refusal::NoToken.status(), 401);
    assert_eq!(Refusal::WrongToken.status(), 403);
    assert_eq!(Refusal::OtherBot.status(), 403);
    assert_eq!(Refusal::NoBot.status(), 400);
}

#[test]
fn percent_codes_are_decoded_and_broken_ones_kept() {
    for (text, plain) in [
        ("a%20b", "a b"),
        ("%E4%B8%AD", "中"),
        ("%", "%"),
        ("%4", "%4"),
        ("%zz%41", "%zzA"),
    ] {
        assert_eq!(percent_decode(text), plain);
    }
}

#[test]
fn accounts_at_one_address_are_told_apart_by_the_bot() {
    let (one, two) = (
        shared(Some("one-token"), Some("10001")),
        shared(Some("two-token"), Some("10002")),
    );
    let at = |bot: &'static str, token: Option<&'static str>| {
        let mut map = HeaderMap::new();
        map.insert("x-self-id", HeaderValue::from_static(bot));
        if let Some(token) = token {
            map.insert(
                "authorization",
                HeaderValue::from_str(&format!("Bearer {token}")).expect("a header"),
            );
        }
        examine(&[&one, &two], &map, &Uri::from_static("/")).map(|(index, _)| index)
    };
    assert_eq!(at("10001", Some("one-token")), Ok(0));
    assert_eq!(at("10002", Some("two-token")), Ok(1));
    // The token of one account does not open another.
    assert_eq!(at("10002", Some("one-token")), Err(Refusal::WrongToken));
    // Which bots there are is nothing for strangers.
    assert_eq!(at("10003", None), Err(Refusal::NoToken));
    assert_eq!(at("10003", Some("guess")), Err(Refusal::WrongToken));
    assert_eq!(at("10003", Some("two-token")), Err(Refusal::OtherBot));
}
