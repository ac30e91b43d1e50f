//! Cards become a few words, whatever they hold.

use super::*;

#[test]
fn a_card_shows_its_title_and_link() {
    let card = r#"{"prompt":"[小程序] 示例","meta":{"d":{"title":"标题","qqdocurl":"https://example.com/v/1"}}}"#;
    assert_eq!(json(card), "card: 标题 https://example.com/v/1");
    assert_eq!(json(r#"{"prompt":"[分享]\n文章"}"#), "card: [分享] 文章");
    assert_eq!(
        json(r#"{"meta":{"a":1,"b":{"jumpUrl":"https://example.com/a"}}}"#),
        "card: https://example.com/a"
    );
    assert_eq!(
        json(r#"{"prompt":"p","meta":{"d":{"url":"not a link"}}}"#),
        "card: p"
    );
}

#[test]
fn invalid_and_huge_cards_are_a_short_placeholder() {
    for card in [
        "",
        "{",
        "[]",
        "7",
        r#"{"meta":[]}"#,
        r#"{"prompt":{"a":1}}"#,
    ] {
        assert_eq!(json(card), "card", "{card}");
    }
    let huge = format!(r#"{{"prompt":"{}"}}"#, "x".repeat(2 * 1024 * 1024));
    assert_eq!(json(&huge), "card");
    let deep = "[".repeat(5_000);
    assert_eq!(json(&deep), "card");
    let long = format!(r#"{{"prompt":"{}"}}"#, "长".repeat(5_000));
    assert_eq!(json(&long).chars().count(), "card: ".len() + MAX_TITLE);
}

#[test]
fn an_xml_card_shows_its_attributes() {
    let card = r#"<?xml version='1.0'?><msg brief="[分享] 标题" url="https://example.com/x"><item/></msg>"#;
    assert_eq!(xml(card), "card: [分享] 标题 https://example.com/x");
    assert_eq!(xml("<msg"), "card");
}
