//! Interactions: what somebody asked for with a part of the platform's own interface, and how it is answered.
//!
//! Owns the time that an interaction leaves: it is acknowledged when it is read, before anything waits in a queue,
//! because the platform believes the bot dead after three seconds; the answer then takes the place of "thinking" for a
//! quarter of an hour, and afterwards is a message like any other. A press shows no "thinking": what all may see is a
//! message, and only what its person alone may see answers it. Its token is journaled with the message and shown in no
//! log. Bounded in number and time.

use std::{fmt, num::NonZeroUsize, sync::Arc, time::Duration};

use lru::LruCache;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serenity::builder::{
    CreateAllowedMentions, CreateInteractionResponse, CreateInteractionResponseFollowup,
    CreateInteractionResponseMessage, EditInteractionResponse,
};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};
use weirgate_sdk::{MessageId, Outgoing, ReplyContext, SendError, Sent, Timestamp};

use crate::{
    api::{Call, CallError, Hook, Trouble, Verb},
    buttons::rows,
    channels::id,
    discord::{Shared, unix_time},
    places::{Snowflake, made_at, number},
    receive, send,
};

/// Interactions that wait for their answer; the oldest is forgotten, and "thinking" stays until the platform ends it.
const MAX_WAITING: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1_023);
/// How long the platform waits for the first sign (Interactions, Responding to an Interaction).
const FIRST_SIGN: Duration = Duration::from_secs(3);
/// How long the token answers: fifteen minutes, less the time that a call may take.
const TOKEN_LIFE: Timestamp = (15 * 60 - 20) * 1_000;
/// Between two attempts to acknowledge.
const PAUSE: Duration = Duration::from_millis(150);
/// The longest token, in bytes: the context that is journaled has room for it.
const MAX_TOKEN: usize = 800;

/// An interaction that can be answered. `Debug` leaves the token out.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handle {
    #[serde(rename = "a")]
    application: Snowflake,
    #[serde(rename = "i")]
    interaction: Snowflake,
    #[serde(rename = "t")]
    token: String,
    /// It is a press: its first answer is the message under which the button stands.
    #[serde(rename = "p", default, skip_serializing_if = "std::ops::Not::not")]
    press: bool,
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hook().fmt(f)
    }
}

impl Handle {
    /// Reads it from the event.
    #[must_use]
    pub fn read(event: &Value) -> Option<Self> {
        let token = event["token"].as_str()?;
        // It becomes part of a path.
        let fits = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.' | b'=');
        let fits = !token.is_empty() && token.len() <= MAX_TOKEN && token.bytes().all(fits);
        Some(Self {
            application: id(&event["application_id"])?,
            interaction: id(&event["id"])?,
            token: token.to_owned(),
            press: receive::is_press(event),
        })
        .filter(|_| fits)
    }

    /// What is journaled to answer it.
    #[must_use]
    pub fn context(&self) -> Option<ReplyContext> {
        Some(ReplyContext {
            data: serde_json::to_string(self).ok()?,
            expires_at: Some(self.ends_at()),
            uses_left: None,
        })
    }

    /// Reads what was journaled.
    fn from_context(context: &ReplyContext) -> Option<Self> {
        serde_json::from_str(&context.data).ok()
    }

    /// Whether it still answers.
    fn lives(&self, now: Timestamp) -> bool {
        now < self.ends_at()
    }

    fn ends_at(&self) -> Timestamp {
        made_at(self.interaction).saturating_add(TOKEN_LIFE)
    }

    fn hook(&self) -> Hook<'_> {
        Hook {
            application: self.application,
            interaction: self.interaction,
            token: &self.token,
        }
    }
}

/// Interactions that wait for their answer.
#[derive(Debug)]
pub struct Interactions {
    waiting: Mutex<LruCache<Snowflake, Waiting>>,
}

/// One that waits for its answer.
#[derive(Debug)]
pub struct Waiting {
    handle: Handle,
    /// Whether the platform took the first sign; nothing while nobody knows.
    acknowledged: watch::Receiver<Option<bool>>,
}

impl Default for Interactions {
    fn default() -> Self {
        Self {
            waiting: Mutex::new(LruCache::new(MAX_WAITING)),
        }
    }
}

impl Interactions {
    /// An interaction came; `None` if it is known.
    fn begin(&self, handle: &Handle) -> Option<watch::Sender<Option<bool>>> {
        let mut waiting = self.waiting.lock();
        if waiting.contains(&handle.interaction) {
            return None;
        }
        let (sender, acknowledged) = watch::channel(None);
        let handle = handle.clone();
        let waits = Waiting {
            handle: handle.clone(),
            acknowledged,
        };
        waiting.put(handle.interaction, waits);
        Some(sender)
    }

    /// Whether the platform took the first sign. Of one from before a restart that is tried out.
    async fn is_acknowledged(&self, interaction: Snowflake) -> bool {
        let known = {
            let mut waiting = self.waiting.lock();
            let waits = waiting.get(&interaction);
            waits.map(|waits| waits.acknowledged.clone())
        };
        let Some(mut acknowledged) = known else {
            return true;
        };
        let told = timeout(FIRST_SIGN, acknowledged.wait_for(Option::is_some)).await;
        matches!(told, Ok(Ok(told)) if *told == Some(true))
    }

    fn answered(&self, interaction: Snowflake) {
        self.waiting.lock().pop(&interaction);
    }

    /// Takes out what waits for the answer to one of these messages, and gives what shows "thinking".
    pub fn take(&self, messages: &[MessageId]) -> Vec<Waiting> {
        let mut waiting = self.waiting.lock();
        let numbers = messages.iter().filter_map(|message| {
            let id = message.as_str();
            number(id.strip_prefix(receive::MARK).unwrap_or(id))
        });
        let taken = numbers.filter_map(|number| waiting.pop(&number));
        taken.filter(|waits| !waits.handle.press).collect()
    }
}

/// Takes "thinking" away from what ended without an answer. It may have ended before "thinking" was shown, and what is
/// taken away too early is shown afterwards.
pub async fn abandon(shared: &Shared, waits: Waiting) {
    let Waiting {
        handle,
        mut acknowledged,
    } = waits;
    let is_refused = {
        let told = timeout(FIRST_SIGN, acknowledged.wait_for(Option::is_some)).await;
        matches!(told, Ok(Ok(told)) if *told == Some(false))
    };
    if is_refused {
        return;
    }
    if let Err(error) = take_away(shared, &handle).await {
        tracing::debug!(account = %shared.account, %error, "an interaction without an answer stays open");
    }
}

/// Acknowledges an interaction; nothing where that is not due. To be run beside everything else.
#[must_use]
pub fn acknowledge(
    shared: &Arc<Shared>,
    event: &Value,
) -> Option<impl Future<Output = ()> + use<>> {
    if !receive::is_read(event) || is_ignored(shared, event) {
        return None;
    }
    let handle = Handle::read(event)?;
    let known = shared.interactions.begin(&handle)?;
    let shared = Arc::clone(shared);
    Some(async move {
        let taken = timeout(FIRST_SIGN, defer(&shared, &handle)).await;
        let taken = taken.unwrap_or(false);
        if !taken {
            tracing::info!(account = %shared.account, interaction = handle.interaction,
                "an interaction could not be acknowledged in time: the answer is a message");
        }
        known.send_replace(Some(taken));
    })
}

/// Whether it comes from somebody who is not heard.
fn is_ignored(shared: &Shared, event: &Value) -> bool {
    let users = [&event["member"]["user"]["id"], &event["user"]["id"]];
    let mut users = users.iter().filter_map(|user| user.as_str());
    users.any(|user| shared.settings.ignore.contains(user))
}

/// Shows "thinking", or nothing where a button was pressed; whether the platform took it.
async fn defer(shared: &Shared, handle: &Handle) -> bool {
    let Ok(api) = shared.calls() else {
        return false;
    };
    let defer = if handle.press {
        CreateInteractionResponse::Acknowledge
    } else {
        CreateInteractionResponse::Defer(CreateInteractionResponseMessage::new())
    };
    let call = Call::Acknowledge(handle.hook());
    loop {
        match api.post(call, &defer, FIRST_SIGN).await {
            Ok(_) => return true,
            // Another attempt arrived, or this is from before a restart.
            Err(CallError::Refused(refusal)) if refusal.code == 40_060 => return true,
            Err(CallError::Refused(_) | CallError::Paused(..)) => return false,
            Err(CallError::Unreachable(_) | CallError::Lost(_)) => sleep(PAUSE).await,
        }
    }
}

/// Delivers a part as the answer to an interaction. `None` if it is none, or can be none any more: the part is then to
/// be sent as a message. A part that was shown already is shown again in the same place.
///
/// # Errors
/// The class of what went wrong.
pub async fn answer(shared: &Shared, outgoing: &Outgoing) -> Result<Option<Sent>, SendError> {
    let context = outgoing.reply_context.as_ref();
    let Some(handle) = context.and_then(Handle::from_context) else {
        return Ok(None);
    };
    if handle.press {
        return answer_press(shared, outgoing, &handle).await;
    }
    if !handle.lives(unix_time()) {
        return Ok(None);
    }
    let is_first = outgoing.part == 0;
    if !is_first && !outgoing.private {
        // A message has a key by which it is known when it comes again; an answer has none.
        return Ok(None);
    }
    if !shared
        .interactions
        .is_acknowledged(handle.interaction)
        .await
    {
        shared.interactions.answered(handle.interaction);
        return Ok(None);
    }
    let shown = if outgoing.private {
        alone(shared, &handle, outgoing, is_first).await
    } else {
        edit(shared, &handle, outgoing).await
    };
    match shown {
        Ok(result) => {
            shared.interactions.answered(handle.interaction);
            Ok(Some(Sent {
                message: send::message_id(&result),
            }))
        }
        Err(error) if is_over(&error) => {
            shared.interactions.answered(handle.interaction);
            Ok(None)
        }
        Err(error) => Err(send::failure(shared, handle.interaction, &error)),
    }
}

/// Tells whoever pressed what only he is to see. `None` for what all may see: that is a message like any other.
///
/// # Errors
/// [`SendError::Expired`] if he cannot be told alone any more.
async fn answer_press(
    shared: &Shared,
    outgoing: &Outgoing,
    handle: &Handle,
) -> Result<Option<Sent>, SendError> {
    let interaction = handle.interaction;
    if !outgoing.private {
        return Ok(None);
    }
    if !handle.lives(unix_time()) || !shared.interactions.is_acknowledged(interaction).await {
        return Err(SendError::Expired);
    }
    match follow_up(shared, handle, outgoing).await {
        Ok(result) => Ok(Some(Sent {
            message: send::message_id(&result),
        })),
        Err(error) if is_over(&error) => Err(SendError::Expired),
        Err(error) => Err(send::failure(shared, interaction, &error)),
    }
}

/// The answer in the place of "thinking".
async fn edit(shared: &Shared, handle: &Handle, outgoing: &Outgoing) -> Result<Value, CallError> {
    let edit = EditInteractionResponse::new()
        .content(&outgoing.rendered.text)
        .components(rows(&outgoing.buttons))
        .allowed_mentions(nobody());
    call(shared, Call::Answer(Verb::Patch, handle.hook()), &edit).await
}

/// The answer that only its person sees. Whether all see "thinking" was settled when it was shown, so it goes first.
async fn alone(
    shared: &Shared,
    handle: &Handle,
    outgoing: &Outgoing,
    is_first: bool,
) -> Result<Value, CallError> {
    if is_first {
        // Nothing was shown yet, whatever became of this.
        let gone = take_away(shared, handle).await;
        gone.map_err(|error| match error {
            CallError::Lost(why) => CallError::Unreachable(why),
            error => error,
        })?;
    }
    follow_up(shared, handle, outgoing).await
}

/// A further answer, which only whoever asked sees.
async fn follow_up(
    shared: &Shared,
    handle: &Handle,
    outgoing: &Outgoing,
) -> Result<Value, CallError> {
    let further = CreateInteractionResponseFollowup::new()
        .content(&outgoing.rendered.text)
        .components(rows(&outgoing.buttons))
        .allowed_mentions(nobody())
        .ephemeral(true);
    call(shared, Call::FollowUp(handle.hook()), &further).await
}

async fn take_away(shared: &Shared, handle: &Handle) -> Result<(), CallError> {
    let limit = shared.settings.call_timeout;
    let api = shared.calls();
    let api = api.map_err(|error| CallError::Unreachable(error.to_string()))?;
    match api
        .tell(Call::Answer(Verb::Delete, handle.hook()), limit)
        .await
    {
        // It is gone already.
        Err(CallError::Refused(refusal)) if refusal.code == 10_008 => Ok(()),
        told => told,
    }
}

async fn call<T: Serialize + Sync>(
    shared: &Shared,
    call: Call<'_>,
    body: &T,
) -> Result<Value, CallError> {
    let api = shared
        .api()
        .map_err(|error| CallError::Unreachable(error.to_string()))?;
    api.post(call, body, shared.settings.call_timeout).await
}

/// Whether an interaction cannot be answered any more: its token is not known, or what was to be changed is gone.
fn is_over(error: &CallError) -> bool {
    let CallError::Refused(refusal) = error else {
        return false;
    };
    matches!(refusal.trouble(), Trouble::Gone | Trouble::Token) || refusal.code == 50_027
}

/// Nobody is mentioned.
fn nobody() -> CreateAllowedMentions {
    CreateAllowedMentions::new().replied_user(false)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_journaled_answers_while_the_token_lives_and_tells_no_log() {
        let event =
            json!({ "id": "175928847299117063", "application_id": "5", "token": "aW50.x-y_z=" });
        let handle = Handle::read(&event).expect("whole");
        let context = handle.context().expect("written");
        let made = made_at(175_928_847_299_117_063);
        assert_eq!(context.expires_at, Some(made + TOKEN_LIFE));
        assert_eq!(Handle::from_context(&context), Some(handle.clone()));
        assert!(handle.lives(made + 1_000) && !handle.lives(made + TOKEN_LIFE));
        assert!(!format!("{handle:?}").contains("aW50"));
        for token in ["", "a/b", "a b", "a?b"] {
            let mut odd = event.clone();
            odd["token"] = token.into();
            assert_eq!(Handle::read(&odd), None, "{token}");
        }
    }
}
