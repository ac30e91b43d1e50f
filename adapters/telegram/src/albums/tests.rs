//! When an album is whole, and what becomes of its items.

use serde_json::json;
use weirgate_sdk::{ChatKind, DedupeKey, PlatformRole, Replied, Sender, SenderKind, UserKey, Via};

use super::*;

const CLOCK: i64 = 1_790_000_000;

fn update(id: i64, group: Option<&str>) -> Value {
    let mut message = json!({ "message_id": id, "chat": { "id": -5 }, "date": CLOCK });
    if let Some(group) = group {
        message["media_group_id"] = json!(group);
    }
    json!({ "update_id": id, "message": message })
}

#[tokio::test]
async fn an_album_waits_until_no_more_comes() {
    let (mut albums, now) = (Albums::default(), Instant::now());
    let mut updates = vec![update(1, None), update(2, Some("a")), update(3, None)];
    assert_eq!(albums.whole(&updates, now, CLOCK), 1);
    updates.push(update(4, Some("a")));
    let later = now + SETTLE;
    assert_eq!(albums.whole(&updates, later, CLOCK), 1, "one more came");
    assert_eq!(albums.whole(&updates, later + SETTLE, CLOCK), 4);
    // What was sent long ago, while nobody listened, is whole.
    assert_eq!(Albums::default().whole(&updates, now, CLOCK + OLD), 4);
    let many: Vec<_> = (0..10).map(|id| update(id, Some("b"))).collect();
    assert_eq!(
        Albums::default().whole(&many, now, CLOCK),
        10,
        "no album has more"
    );
}

fn item(id: &str, group: Option<&str>, words: &str) -> Event {
    let mut segments = vec![Segment::Placeholder(format!("picture {id}"))];
    if !words.is_empty() {
        segments.push(Segment::Text(words.into()));
    }
    let person = UserKey {
        platform: "telegram".into(),
        realm: "".into(),
        id: "7".into(),
    };
    Event::Message(Box::new(InboundMessage {
        conversation: ConversationKey {
            platform: "telegram".into(),
            account: "main".into(),
            conversation: "-5".into(),
            thread: None,
        },
        chat: ChatKind::Group,
        sender: Sender {
            key: person,
            name: "A".into(),
            is_bot: false,
            role: PlatformRole::Unknown,
            kind: SenderKind::Person,
        },
        id: id.into(),
        segments,
        via: Via::Text,
        mentions_bot: words.contains("bot"),
        reply_to: words.contains("reply").then(|| Replied {
            message: "1".into(),
            to_bot: None,
            author: None,
        }),
        group_key: group.map(Into::into),
        sent_at: 0,
        received_at: 0,
        reply_context: None,
        passed: Vec::new(),
        dedupe: DedupeKey {
            key: format!("u{id}").into(),
            lifetime: Duration::from_secs(60),
        },
    }))
}

#[test]
fn items_become_one_message_in_order_with_their_captions() {
    let events = vec![
        item("12", Some("a"), "before"),
        item("20", None, "beside"),
        item("14", Some("a"), "after /status bot reply"),
        item("13", Some("a"), ""),
        item("15", Some("b"), ""),
    ];
    let merged = merged(events);
    let messages: Vec<_> = merged
        .iter()
        .filter_map(|event| match event {
            Event::Message(message) => Some(message),
            _ => None,
        })
        .collect();
    assert_eq!(messages.len(), 3);
    let album = messages[0];
    let picture = |id: &str| Segment::Placeholder(format!("picture {id}"));
    let text = |words: &str| Segment::Text(words.into());
    assert_eq!(
        album.segments,
        [
            picture("12"),
            text("before"),
            picture("13"),
            text("\n"),
            picture("14"),
            text("after /status bot reply"),
        ]
    );
    assert_eq!(album.own_text(), "before\nafter /status bot reply");
    assert!(album.mentions_bot && album.reply_to.is_some());
    assert_eq!((album.id.as_str(), &*album.dedupe.key), ("12", "u12"));
    assert_eq!(messages[1].id.as_str(), "20");
    assert_eq!(messages[2].id.as_str(), "15");
}
