//! "Is typing", in private chats of implementations that have it.
//!
//! Owns the call, which is no part of the standard (NapCat's `set_input_status`), and that an implementation which does
//! not know it is not asked again.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use async_trait::async_trait;
use serde_json::json;
use weirgate_sdk::{ConversationKey, Indicates, SendError};

use super::{
    places::{Place, id_value},
    send::Call,
    version::Family,
};
use crate::qq::{Qq, Shared};

/// How long one sign is shown; the platform does not say, clients take it away after some seconds.
const LASTS: Duration = Duration::from_secs(5);
/// The sign for "is typing"; another one is that of speaking.
const WRITES: u8 = 1;

/// Whether the implementation has said that it does not know the call.
#[derive(Debug, Default)]
pub struct Typing(AtomicBool);

impl Typing {
    /// What stands at the other end may be another one now.
    pub fn begin(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    fn is_unknown(&self, family: Family) -> bool {
        // These never had it, and each unknown call is an error in their logs.
        matches!(family, Family::Lagrange | Family::GoCqhttp) || self.0.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Indicates for Qq {
    fn lasts(&self) -> Duration {
        LASTS
    }

    async fn indicate(&self, conversation: &ConversationKey) -> Result<(), SendError> {
        let shared = self.shared();
        let not_here = || Err(SendError::Rejected("no sign of typing here".into()));
        let Some(Place::Private(user)) = Place::parse(conversation.conversation.as_str()) else {
            return not_here();
        };
        if shared.typing.is_unknown(shared.family()) {
            return not_here();
        }
        show(shared, user).await
    }
}

async fn show(shared: &Shared, user: &str) -> Result<(), SendError> {
    let call = Call {
        action: "set_input_status",
        params: json!({ "user_id": id_value(user), "event_type": WRITES }),
    };
    let told = shared.request(&call, shared.settings.call_timeout).await;
    match told {
        Ok(_) => Ok(()),
        Err(error) => {
            if is_unknown_action(&error) {
                shared.typing.0.store(true, Ordering::Relaxed);
            }
            Err(error)
        }
    }
}

/// Whether an implementation says that it has no such call: the standard's code, or that of HTTP.
fn is_unknown_action(error: &SendError) -> bool {
    let SendError::Rejected(text) = error else {
        return false;
    };
    text.starts_with("retcode 1404") || text.contains("HTTP 404")
}
