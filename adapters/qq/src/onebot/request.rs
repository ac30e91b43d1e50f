//! Requests: to be a friend, to join a group, to come into a group.
//!
//! Owns which of them is answered by itself and about which an owner is asked, and the form of the answer. Pure but for the
//! call that carries an owner's answer. Without a word of the operator nothing is answered: the request waits in the
//! account's own client.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use weirgate_sdk::{
    ChatKind, DedupeKey, Event, InboundMessage, PlatformRole, Request, RequestKind, Segment,
    Sender, SenderKind, Timestamp, Via,
    moderation::ModerationError,
    request::{MAX_WORDS, Requests as Answers},
    text::line,
};

use super::{
    moderate::{ask, confirmed},
    places::Place,
    receive::Receiver,
    send::Call,
    wire::{self, Frame, MAX_ID},
};
use crate::{
    key::bounded,
    qq::Qq,
    settings::{OnRequest, Requests},
};

/// The longest mark of a request, in bytes: what the implementation knows it by.
const MAX_FLAG: usize = 1_024;

/// How long a request that comes again is the same: implementations tell of what waits whenever they start.
const LIFETIME: Duration = Duration::from_secs(7 * 24 * 3_600);

/// A request, and what the operator wants done with its kind.
fn read(frame: &Frame<'_>, bot: &str, wanted: &Requests) -> Option<(Request, OnRequest)> {
    let to_another = wire::id(frame.self_id, MAX_ID).is_some_and(|id| id != bot);
    if wire::text(frame.post_type)? != "request" || to_another {
        return None;
    }
    let mark = wire::text(frame.flag)?;
    if mark.is_empty() || mark.len() > MAX_FLAG {
        return None;
    }
    let sub_type = wire::text(frame.sub_type).unwrap_or_default();
    let (kind, policy) = match &*wire::text(frame.request_type)? {
        "friend" => (RequestKind::Friend, wanted.friend),
        "group" if sub_type == "invite" => (RequestKind::Invite, wanted.invite),
        "group" if sub_type == "add" => (RequestKind::Join, wanted.join),
        _ => return None,
    };
    let group = wire::id(frame.group_id, MAX_ID).filter(|_| kind != RequestKind::Friend);
    let request = Request {
        kind,
        mark: mark.into_owned(),
        group: group.map(|group| group.into_owned()),
        words: line(&wire::text(frame.comment).unwrap_or_default(), MAX_WORDS),
    };
    Some((request, policy))
}

/// The call that answers a request.
fn call(request: &Request, approve: bool) -> Call {
    let mut params = json!({ "flag": request.mark, "approve": approve });
    let sub_type = match request.kind {
        RequestKind::Friend => {
            return Call {
                action: "set_friend_add_request",
                params,
            };
        }
        RequestKind::Invite => "invite",
        RequestKind::Join => "add",
    };
    params["sub_type"] = sub_type.into();
    // What older implementations call it.
    params["type"] = sub_type.into();
    Call {
        action: "set_group_add_request",
        params,
    }
}

/// The call that answers a request, if it is one to this bot and the operator wants it answered.
#[must_use]
pub fn answer(frame: &Frame<'_>, bot: &str, wanted: &Requests) -> Option<Call> {
    let (request, policy) = read(frame, bot, wanted)?;
    match policy {
        OnRequest::Ignore | OnRequest::Ask => None,
        OnRequest::Accept => Some(call(&request, true)),
        OnRequest::Reject => Some(call(&request, false)),
    }
}

/// The question to an owner, if the operator wants him asked.
#[must_use]
pub fn question(receiver: &Receiver<'_>, frame: &Frame<'_>, now: Timestamp) -> Option<Event> {
    let (request, policy) = read(frame, receiver.bot, receiver.requests)?;
    if policy != OnRequest::Ask {
        return None;
    }
    let owner = receiver.requests.owner.as_deref()?;
    let asker = wire::id(frame.user_id, MAX_ID)?;
    let place = Place::Private(owner).conversation();
    let time = wire::integer(frame.time).filter(|time| *time > 0);
    let sender = Sender {
        key: receiver.user(&asker),
        name: String::new(),
        is_bot: false,
        role: PlatformRole::Unknown,
        kind: SenderKind::Person,
    };
    Some(Event::Message(Box::new(InboundMessage {
        conversation: receiver.conversation(place.as_str()),
        chat: ChatKind::Private,
        sender,
        id: bounded(format!("request-{}", request.mark)).into(),
        segments: vec![Segment::Text(request.encode())],
        via: Via::Request,
        mentions_bot: true,
        reply_to: None,
        group_key: None,
        sent_at: time.map_or(now, |time| time.saturating_mul(1_000)),
        received_at: now,
        reply_context: None,
        passed: Vec::new(),
        dedupe: DedupeKey {
            key: bounded(format!("request/{}", request.mark)).into(),
            lifetime: LIFETIME,
        },
    })))
}

#[async_trait]
impl Answers for Qq {
    async fn answer(&self, request: &Request, approve: bool) -> Result<(), ModerationError> {
        let Call { action, params } = call(request, approve);
        let answered = ask(self.shared(), action, params).await?;
        confirmed(&answered)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn answered(event: &Value, wanted: &Requests) -> Option<(&'static str, Value)> {
        let text = event.to_string();
        let frame: Frame<'_> = serde_json::from_str(&text).expect("a frame");
        answer(&frame, "10001", wanted).map(|call| (call.action, call.params))
    }

    fn request(kind: &str, sub: &str) -> Value {
        json!({ "post_type": "request", "request_type": kind, "sub_type": sub, "flag": "f1",
            "user_id": 9_007_199_254_740_993_u64, "group_id": 30_001, "comment": "let me in" })
    }

    #[test]
    fn nothing_is_answered_without_a_word() {
        for (kind, sub) in [("friend", ""), ("group", "invite"), ("group", "add")] {
            assert_eq!(answered(&request(kind, sub), &Requests::default()), None);
        }
    }

    #[test]
    fn each_kind_has_its_own_word() {
        let wanted = Requests {
            friend: OnRequest::Accept,
            invite: OnRequest::Reject,
            join: OnRequest::Ignore,
            owner: None,
        };
        let friend = json!({ "flag": "f1", "approve": true });
        let invite =
            json!({ "flag": "f1", "approve": false, "sub_type": "invite", "type": "invite" });
        assert_eq!(
            answered(&request("friend", ""), &wanted),
            Some(("set_friend_add_request", friend))
        );
        assert_eq!(
            answered(&request("group", "invite"), &wanted),
            Some(("set_group_add_request", invite))
        );
        assert_eq!(answered(&request("group", "add"), &wanted), None);
    }

    #[test]
    fn what_is_not_whole_is_left() {
        let all = Requests {
            friend: OnRequest::Accept,
            invite: OnRequest::Accept,
            join: OnRequest::Accept,
            owner: None,
        };
        let mut odd = vec![
            json!({}),
            json!({ "post_type": "notice" }),
            request("new", ""),
        ];
        for flag in [Value::Null, json!(""), json!([]), json!("x".repeat(1_025))] {
            let mut request = request("friend", "");
            request["flag"] = flag;
            odd.push(request);
        }
        odd.push(request("group", "other"));
        let mut foreign = request("friend", "");
        foreign["self_id"] = json!(10_002);
        odd.push(foreign);
        for event in odd {
            assert_eq!(answered(&event, &all), None, "{event}");
        }
        // Numbers are marks as well.
        let mut number = request("friend", "");
        number["flag"] = json!(1_234_567_890_123_456_789_u64);
        let (_, params) = answered(&number, &all).expect("answered");
        assert_eq!(params["flag"], "1234567890123456789");
    }
}
