//! Where something may have been said, and what of a history counts.

use serde_json::{Value, json, value::to_raw_value};

use super::*;
use crate::settings::Settings;

fn data(value: &Value) -> Data {
    let frame = json!({ "status": "ok", "data": value }).to_string();
    crate::onebot::answer::outcome(&serde_json::from_str(&frame).expect("a frame")).expect("ok")
}

#[test]
fn recent_conversations_are_those_with_something_newer() {
    let contacts = json!([
        { "peerUin": "30001", "chatType": 2, "msgTime": "200" },
        { "peerUin": 20001, "chatType": 1, "msgTime": 100 },
        { "peerUin": "30002", "chatType": 2, "msgTime": "99" },
        { "peerUin": "20002", "chatType": 1 },
        { "peerUin": "20003", "chatType": 100, "msgTime": "300" },
        { "chatType": 2, "msgTime": "300" },
        7,
    ]);
    let found = recent(Some(&to_raw_value(&contacts).expect("JSON")), 100);
    let expected = vec![
        Whom::Group("30001".into()),
        Whom::Friend("20001".into()),
        Whom::Friend("20002".into()),
    ];
    assert_eq!(found, Some(expected));
    for none in [
        json!(null),
        json!({}),
        json!("x"),
        json!([{ "user_id": 1 }]),
    ] {
        assert_eq!(recent(Some(&to_raw_value(&none).expect("JSON")), 0), None);
    }
    assert_eq!(recent(None, 0), None);
}

#[test]
fn lists_of_groups_are_bounded() {
    let groups: Vec<Value> = (1..100).map(|id| json!({ "group_id": id })).collect();
    let ids: Vec<String> = listed(Some(data(&json!(groups))), |one| one.group_id).collect();
    assert_eq!(ids.len(), MAX_PLACES);
    assert_eq!(ids[0], "1");
    assert_eq!(
        listed(Some(data(&json!({}))), |one| one.group_id).count(),
        0
    );
    assert_eq!(listed(None, |one| one.group_id).count(), 0);
}

#[test]
fn a_history_gives_what_people_said_since_in_order() {
    let shared = Shared::new("main".into(), Settings::default());
    let said = |id: i64, time: i64, user: u64| {
        json!({
            "message_type": "group", "group_id": 30001, "user_id": user, "message_id": id,
            "time": time, "message": [{ "type": "text", "data": { "text": id.to_string() } }],
        })
    };
    let mut own = said(5, 105, 10001);
    own["post_type"] = json!("message_sent");
    let mut typed = said(2, 102, 20001);
    typed["post_type"] = json!("message");
    let list = json!([
        said(3, 103, 20001),
        typed,
        said(1, 99, 20001),
        own,
        said(6, 106, 10001),
        {}
    ]);
    for answer in [json!({ "messages": list.clone() }), list] {
        let found = messages(&shared, "10001", &data(&answer), 100);
        let texts: Vec<String> = found
            .iter()
            .filter_map(|event| match event {
                Event::Message(message) => Some(message.own_text()),
                _ => None,
            })
            .collect();
        assert_eq!(texts, ["2", "3"]);
    }
    assert!(messages(&shared, "10001", &data(&json!({ "messages": [] })), 0).is_empty());
}
