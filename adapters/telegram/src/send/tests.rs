//! The form of a message, and what each failure means.

use serde_json::json;
use weirgate_sdk::{
    ReplyTarget, Setup, UserKey,
    answer::{Mark, MarkKind},
};

use super::*;
use crate::{api::Refusal, settings::Settings};

const GROUP: i64 = -1_001_234_567_890;

fn outgoing(chat: i64, thread: Option<&str>) -> Outgoing {
    Outgoing {
        id: 1,
        part: 0,
        parts: 1,
        conversation: ConversationKey {
            platform: "telegram".into(),
            account: "main".into(),
            conversation: chat.to_string().into(),
            thread: thread.map(Into::into),
        },
        turn: None,
        answers: Vec::new(),
        rendered: Rendered {
            text: "𝔘 bold".into(),
            marks: vec![Mark {
                offset: 5,
                length: 4,
                kind: MarkKind::Bold,
            }],
        },
        reply: Some(ReplyTarget {
            message: "5".into(),
            author: UserKey {
                platform: "telegram".into(),
                realm: "".into(),
                id: "7".into(),
            },
        }),
        reply_context: None,
        buttons: Vec::new(),
        files: Vec::new(),
        private: false,
    }
}

fn written(outgoing: &Outgoing, reply: Reply) -> Value {
    let shared = shared(reply);
    let place = place(&shared, &outgoing.conversation).expect("a place");
    let answers = outgoing.reply.as_ref().map(|target| &target.message);
    let message = message(&shared, place, &outgoing.rendered, answers);
    let message = message.expect("a message");
    serde_json::to_value(message).expect("JSON")
}

#[test]
fn a_message_is_text_with_entities_in_its_topic() {
    let expected = json!({
        "chat_id": GROUP, "message_thread_id": 77, "text": "𝔘 bold",
        "entities": [{ "type": "bold", "offset": 3, "length": 4 }],
        "reply_parameters": { "message_id": 5, "allow_sending_without_reply": true },
    });
    assert_eq!(
        written(&outgoing(GROUP, Some("77")), Reply::Quote),
        expected
    );
}

#[test]
fn only_in_a_group_a_message_is_a_reply() {
    let reply = |written: Value| written.get("reply_parameters").is_some();
    assert!(reply(written(&outgoing(GROUP, None), Reply::Quote)));
    assert!(!reply(written(&outgoing(GROUP, None), Reply::None)));
    assert!(!reply(written(&outgoing(7, None), Reply::Quote)));
    let mut odd = outgoing(GROUP, None);
    odd.reply.as_mut().expect("one").message = "x".into();
    assert!(!reply(written(&odd, Reply::Quote)));
}

fn shared(reply: Reply) -> Shared {
    let setup = Setup {
        account: "main".into(),
        secret: [0; 32],
        version: "0",
        public_origin: None,
        models: weirgate_sdk::ChatModels::default(),
        menu: weirgate_sdk::Menu::default(),
    };
    let settings = Settings {
        reply,
        ..Settings::default()
    };
    Shared::new(&setup, settings)
}

#[tokio::test]
async fn failures_have_their_classes() {
    let shared = shared(Reply::Quote);
    let place = Place {
        chat: GROUP,
        topic: Some(77),
    };
    let refused = |code, text: &str| {
        let answer = json!({ "ok": false, "error_code": code, "description": text });
        let error = CallError::Refused(Refusal::read(400, None, &answer));
        failure(&shared, place, &error)
    };
    assert!(matches!(
        refused(400, "Bad Request: message is too long"),
        SendError::TooLong
    ));
    assert!(matches!(
        refused(400, "Bad Request: can't parse entities: x"),
        SendError::BadFormat(_)
    ));
    assert!(matches!(
        refused(400, "Bad Request: chat not found"),
        SendError::Gone(_)
    ));
    assert!(matches!(
        refused(403, "Forbidden: bot was kicked"),
        SendError::Forbidden(_)
    ));
    assert!(matches!(
        refused(400, "Bad Request: odd"),
        SendError::Rejected(_)
    ));
    assert!(matches!(
        refused(401, "Unauthorized"),
        SendError::Unavailable(_)
    ));
    let lost = failure(&shared, place, &CallError::Lost("x".into()));
    assert_eq!(lost, SendError::Ambiguous("x".into()));
    let away = failure(&shared, place, &CallError::Unreachable("x".into()));
    assert_eq!(away, SendError::Unavailable("x".into()));
    let answer = json!({ "error_code": 429, "parameters": { "retry_after": 7 } });
    let flood = CallError::Refused(Refusal::read(429, None, &answer));
    let limited = failure(&shared, place, &flood);
    assert!(matches!(limited, SendError::RateLimited { after, .. } if after.as_secs() == 7));
    // The pause is the chat's, with all of its topics.
    assert!(shared.floods.ask(GROUP, Instant::now()).is_err());
    let answer = json!({ "error_code": 400, "parameters": { "migrate_to_chat_id": -5 } });
    let moved = CallError::Refused(Refusal::read(400, None, &answer));
    let to = shared.key(Place {
        chat: -5,
        topic: None,
    });
    assert_eq!(
        failure(&shared, place, &moved),
        SendError::Migrated { to: Box::new(to) }
    );
}
