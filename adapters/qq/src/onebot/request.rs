//! Requests: to be a friend, to join a group, to come into a group.
//!
//! Owns which of them is answered by itself, and the form of the answer. Pure. Without a word of the operator nothing is
//! answered: the request waits in the account's own client.

use serde_json::json;

use super::{
    send::Call,
    wire::{self, Frame, MAX_ID},
};
use crate::settings::{OnRequest, Requests};

/// The longest mark of a request, in bytes: what the implementation knows it by.
const MAX_FLAG: usize = 1_024;

/// The call that answers a request, if it is one to this bot and the operator wants it answered.
#[must_use]
pub fn answer(frame: &Frame<'_>, bot: &str, wanted: Requests) -> Option<Call> {
    let to_another = wire::id(frame.self_id, MAX_ID).is_some_and(|id| id != bot);
    if wire::text(frame.post_type)? != "request" || to_another {
        return None;
    }
    let flag = wire::text(frame.flag)?;
    if flag.is_empty() || flag.len() > MAX_FLAG {
        return None;
    }
    let kind = wire::text(frame.sub_type).unwrap_or_default();
    let (policy, action) = match &*wire::text(frame.request_type)? {
        "friend" => (wanted.friend, "set_friend_add_request"),
        "group" if kind == "invite" => (wanted.invite, "set_group_add_request"),
        "group" if kind == "add" => (wanted.join, "set_group_add_request"),
        _ => return None,
    };
    let approve = match policy {
        OnRequest::Ignore => return None,
        OnRequest::Accept => true,
        OnRequest::Reject => false,
    };
    let mut params = json!({ "flag": flag, "approve": approve });
    if action == "set_group_add_request" {
        params["sub_type"] = kind.as_ref().into();
        // What older implementations call it.
        params["type"] = kind.as_ref().into();
    }
    Some(Call { action, params })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn answered(event: &Value, wanted: Requests) -> Option<(&'static str, Value)> {
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
            assert_eq!(answered(&request(kind, sub), Requests::default()), None);
        }
    }

    #[test]
    fn each_kind_has_its_own_word() {
        let wanted = Requests {
            friend: OnRequest::Accept,
            invite: OnRequest::Reject,
            join: OnRequest::Ignore,
        };
        let friend = json!({ "flag": "f1", "approve": true });
        let invite =
            json!({ "flag": "f1", "approve": false, "sub_type": "invite", "type": "invite" });
        assert_eq!(
            answered(&request("friend", ""), wanted),
            Some(("set_friend_add_request", friend))
        );
        assert_eq!(
            answered(&request("group", "invite"), wanted),
            Some(("set_group_add_request", invite))
        );
        assert_eq!(answered(&request("group", "add"), wanted), None);
    }

    #[test]
    fn what_is_not_whole_is_left() {
        let all = Requests {
            friend: OnRequest::Accept,
            invite: OnRequest::Accept,
            join: OnRequest::Accept,
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
            assert_eq!(answered(&event, all), None, "{event}");
        }
        // Numbers are marks as well.
        let mut number = request("friend", "");
        number["flag"] = json!(1_234_567_890_123_456_789_u64);
        let (_, params) = answered(&number, all).expect("answered");
        assert_eq!(params["flag"], "1234567890123456789");
    }
}
