//! Presses of buttons, and messages that come once more.
//!
//! Owns the form in which a press is handed in, which is that of a message: what it says is looked up by the gateway, never
//! taken for true.

use serde_json::json;
use tokio::time::timeout;
use weirgate_sdk::{MessageId, Replied, Segment, TranscriptEntry, Via};

use super::{
    STORE_WAIT, Session,
    talk::{PAGE, Said},
};
use crate::{
    hub::RoomHandle,
    outgoing::{direct, object},
    submit::Submission,
    token::Visitor,
};

impl Session {
    /// Takes a press of a button of an answer.
    pub(super) async fn press(
        &mut self,
        visitor: &Visitor,
        session: String,
        message: String,
        (answer, button): (i64, String),
    ) {
        let Some(room) = self.enter_room(visitor, &session, &message).await else {
            return;
        };
        let pressed = json!({ "id": answer, "button": button });
        let shown = object(json!({ "html": "", "pressed": pressed }));
        room.lock().arriving(&message, shown);
        let event = self.said(
            visitor,
            (&session, &message),
            Said {
                segments: vec![Segment::Text(button)],
                via: Via::Button,
                reply_to: Some(Replied {
                    message: answer.to_string().into(),
                    to_bot: Some(true),
                    author: None,
                }),
            },
        );
        self.submit(Submission {
            event,
            room,
            session,
            message: Some(message),
            tries: 0,
        })
        .await;
    }

    /// Whether a message was accepted before; whoever sent it again is told so then. Only the newest messages are looked
    /// through: it is sent again soon, or the receipt tells.
    pub(super) async fn is_again(
        &self,
        visitor: &Visitor,
        (room, session): (&RoomHandle, &str),
        message: &str,
    ) -> bool {
        let newest = self.read(&self.key(visitor, session), None, PAGE).await;
        let is_it = |entry: &TranscriptEntry| {
            let id = entry.message.as_ref();
            id.is_some_and(|id| id.as_str() == message)
        };
        let found = newest.is_some_and(|entries| entries.iter().any(is_it));
        if found {
            self.acknowledge(session, message, None);
            self.came_before((room, session), message).await;
        }
        found
    }

    /// A message came that was accepted before: if it is over, whoever sent it again is told so. The room remembers the
    /// last ends only; what ended before them the store knows.
    pub(super) async fn came_before(&self, (room, session): (&RoomHandle, &str), message: &str) {
        let mut over = room.lock().arrived_before(message);
        // Without an end it may also be still to come.
        if over.is_none() && self.has_ended(session, message).await {
            over = Some(room.lock().over(message));
        }
        if let Some(body) = over {
            self.say(direct("end", Some(session), body));
        }
    }

    /// Whether the store says that a message is over. If it does not answer the client asks again when it reconnects.
    async fn has_ended(&self, session: &str, message: &str) -> bool {
        let Some(visitor) = &self.visitor else {
            return false;
        };
        let (transcript, message) = (self.ingress.transcript(), MessageId::from(message));
        let key = self.key(visitor, session);
        match timeout(STORE_WAIT, transcript.has_ended(&key, &message)).await {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) => {
                tracing::warn!(%error, "it cannot be read whether a message has ended");
                false
            }
            Err(_) => false,
        }
    }
}
