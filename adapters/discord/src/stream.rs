//! Answers while they are written: a message that grows.
//!
//! Owns the previews and what they leave behind. A message that grew becomes the first part of the answer: [`Live`]
//! remembers it until then, so that nobody reads the answer twice, and it is taken away if there is no answer.

mod clip;

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;
use serenity::builder::{CreateAllowedMentions, EditMessage};
use weirgate_sdk::{
    Button, MessageId, Outgoing, Preview, PreviewStart, SendError, Sent, Streams, answer::Block,
};

use crate::{
    api::{Call, CallError, Refusal, Trouble, Verb},
    buttons::rows,
    channels::id,
    discord::{Discord, Shared},
    format::Markdown,
    places::Snowflake,
    send,
};

/// Messages that grow at once; the oldest is forgotten, and its answer comes beside it.
const MAX_LIVE: usize = 1_024;

/// Messages that show unfinished answers, by turn.
#[derive(Debug, Default)]
pub struct Live(Mutex<Vec<Growing>>);

/// A message that shows an unfinished answer.
#[derive(Debug, Clone)]
pub struct Growing {
    turn: Arc<str>,
    channel: Snowflake,
    message: Snowflake,
    answers: Vec<MessageId>,
}

impl Live {
    fn remember(&self, growing: Growing) {
        let mut all = self.0.lock();
        all.retain(|one| one.turn != growing.turn);
        if all.len() >= MAX_LIVE {
            all.remove(0);
        }
        all.push(growing);
    }

    fn find(&self, turn: &str, channel: Snowflake) -> Option<Snowflake> {
        let all = self.0.lock();
        let mut all = all.iter();
        let found = all.find(|one| *one.turn == *turn && one.channel == channel);
        found.map(|growing| growing.message)
    }

    fn forget(&self, turn: &str) {
        self.0.lock().retain(|one| *one.turn != *turn);
    }

    /// Takes out what was to answer one of these messages.
    pub fn take(&self, messages: &[MessageId]) -> Vec<Growing> {
        let mut all = self.0.lock();
        let is_of = |one: &mut Growing| one.answers.iter().any(|id| messages.contains(id));
        all.extract_if(.., is_of).collect()
    }
}

#[async_trait]
impl Streams for Discord {
    async fn open(&self, start: PreviewStart) -> Result<Box<dyn Preview>, SendError> {
        Ok(Box::new(Message {
            channel: send::channel(&start.conversation)?,
            shown: String::new(),
            format: *self.format(),
            shared: Arc::clone(self.shared()),
            start,
        }))
    }
}

/// A message that grows.
struct Message {
    shared: Arc<Shared>,
    channel: Snowflake,
    start: PreviewStart,
    format: Markdown,
    shown: String,
}

#[async_trait]
impl Preview for Message {
    async fn push(&mut self, blocks: &[Block]) -> Result<(), SendError> {
        let text = clip::clip(&self.format, blocks);
        if text.trim().is_empty() || text == self.shown {
            return Ok(());
        }
        let shared = &self.shared;
        let turn = &self.start.turn;
        match shared.live.find(turn, self.channel) {
            Some(message) => match edit(shared, self.channel, message, (&text, &[])).await {
                Ok(_) => {}
                Err(error) => match send::failure(shared, self.channel, &error) {
                    // An edit may be made again; one that failed is simply an older text for a while.
                    SendError::Ambiguous(_) | SendError::Unavailable(_) => return Ok(()),
                    error => return Err(error),
                },
            },
            None => {
                let message = self.begin(&text).await?;
                shared.live.remember(Growing {
                    turn: Arc::clone(turn),
                    channel: self.channel,
                    message,
                    answers: self.start.answers.clone(),
                });
            }
        }
        self.shown = text;
        Ok(())
    }

    async fn finish(self: Box<Self>) {
        // What it shows becomes the first part of the answer.
    }
}

impl Message {
    /// Sends the message that is going to grow. By its key it is one message, however often that is tried.
    async fn begin(&self, text: &str) -> Result<Snowflake, SendError> {
        let shared = &self.shared;
        let key = send::preview_key(&shared.secret, &self.start.turn);
        let message = send::worded(&key, text);
        let sent = send::post(shared, self.channel, message, self.answered()).await;
        let result = sent.map_err(|error| send::failure(shared, self.channel, &error))?;
        let message = id(&result["id"]);
        message.ok_or_else(|| SendError::Rejected("the message has no number".into()))
    }

    /// The message that it is shown as a reply to, as the answer will be.
    fn answered(&self) -> Option<Snowflake> {
        let newest = self.start.answers.last()?;
        send::shown_as_reply(&self.shared, newest)
    }
}

async fn edit(
    shared: &Shared,
    channel: Snowflake,
    message: Snowflake,
    (text, buttons): (&str, &[Button]),
) -> Result<Value, CallError> {
    let api = shared
        .api()
        .map_err(|error| CallError::Unreachable(error.to_string()))?;
    // Whom a message may mention is settled anew at each edit.
    let edit = EditMessage::new()
        .content(text)
        .components(rows(buttons))
        .allowed_mentions(CreateAllowedMentions::new().replied_user(false));
    let call = Call::Message(Verb::Patch, channel, message);
    api.post(call, &edit, shared.settings.call_timeout).await
}

/// Makes the first part of an answer out of the message that showed it unfinished. `None` if there is no such message
/// any more, so that the part is to be sent.
///
/// # Errors
/// The class of what went wrong; an edit whose outcome is unknown may be made again.
pub async fn complete(
    shared: &Shared,
    channel: Snowflake,
    outgoing: &Outgoing,
) -> Result<Option<Sent>, SendError> {
    let turn = outgoing.turn.as_deref().filter(|_| outgoing.part == 0);
    let found = turn.and_then(|turn| Some((turn, shared.live.find(turn, channel)?)));
    let Some((turn, message)) = found else {
        return Ok(None);
    };
    // Nothing was changed, so that the part may be sent.
    let is_stale = |refusal: &Refusal| matches!(refusal.trouble(), Trouble::Gone | Trouble::Other);
    let shown = (&*outgoing.rendered.text, &*outgoing.buttons);
    let mut edited = edit(shared, channel, message, shown).await;
    if send::reopened(shared, channel, &edited).await {
        edited = edit(shared, channel, message, shown).await;
    }
    match edited {
        Ok(_) => {
            shared.live.forget(turn);
            Ok(Some(Sent {
                message: Some(message.to_string().into()),
            }))
        }
        Err(CallError::Refused(refusal)) if is_stale(&refusal) => {
            shared.live.forget(turn);
            if refusal.trouble() != Trouble::Gone {
                take_away(shared, channel, message).await;
            }
            Ok(None)
        }
        Err(error) => Err(send::failure(shared, channel, &error)),
    }
}

/// Takes away a message that shows what will never be finished.
pub async fn abandon(shared: &Shared, growing: &Growing) {
    take_away(shared, growing.channel, growing.message).await;
}

async fn take_away(shared: &Shared, channel: Snowflake, message: Snowflake) {
    let Ok(api) = shared.api() else { return };
    let call = Call::Message(Verb::Delete, channel, message);
    if let Err(error) = api.tell(call, shared.settings.call_timeout).await {
        tracing::debug!(account = %shared.account, channel, message, %error, "an unfinished answer stays");
    }
}
