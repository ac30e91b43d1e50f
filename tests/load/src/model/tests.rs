use std::time::Duration;

use serde_json::json;

use super::{Pace, opening};

#[test]
fn an_answer_begins_with_the_tags_of_the_last_user_message() {
    let request = json!({ "messages": [
        { "role": "system", "content": "be brief #s" },
        { "role": "user", "content": "old #a1" },
        { "role": "assistant", "content": "#a1" },
        { "role": "user", "content": "new #a2" },
    ]});
    assert_eq!(opening(&request), "#a2");
    let parts = json!({ "messages": [{ "role": "user", "content": [
        { "type": "text", "text": "#a3" },
        { "type": "image_url", "image_url": { "url": "x" } },
        { "type": "text", "text": "#a4" },
    ]}]});
    assert_eq!(opening(&parts), "#a3 #a4");
    assert_eq!(opening(&json!({ "messages": "none" })), "untagged");
}

#[test]
fn the_pace_is_counted_from_the_request() {
    let pace = Pace {
        first_ms: 200,
        tokens: 50,
        inter_ms: 4,
        stamped: false,
    };
    assert_eq!(pace.due(0), Duration::from_millis(200));
    assert_eq!(pace.due(49), Duration::from_millis(396));
}
