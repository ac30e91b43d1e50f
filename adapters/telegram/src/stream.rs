//! Answers while they are written: a draft in a private chat, a message that grows in a group.
//!
//! Owns the previews and what they leave behind. A draft vanishes by itself. A message that grew becomes the first part
//! of the answer: [`Live`] remembers it until then, so that nobody reads the answer twice.

mod clip;

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;
use teloxide_core::{
    payloads::{DeleteMessage, EditMessageText, EditMessageTextSetters},
    types::{ChatId, InlineKeyboardMarkup, MessageId as WireMessageId},
};
use tokio::time::Instant;
use weirgate_sdk::{
    MessageId, Outgoing, Preview, PreviewStart, SendError, Sent, Streams,
    answer::{Block, Render, Rendered},
};

use crate::{
    api::{CallError, Refusal, Trouble, method::SendMessageDraft},
    buttons,
    format::entities,
    places::{Place, is_private},
    send,
    telegram::{Shared, Telegram},
};

/// Messages that grow at once; the oldest is forgotten, and its answer comes beside it.
const MAX_LIVE: usize = 1_024;

/// Messages that show unfinished answers, by turn.
#[derive(Debug, Default)]
pub struct Live(Mutex<Vec<Growing>>);

#[derive(Debug, Clone)]
struct Growing {
    turn: Arc<str>,
    place: Place,
    message: i32,
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

    fn find(&self, turn: &str, place: Place) -> Option<i32> {
        let all = self.0.lock();
        let found = all
            .iter()
            .find(|one| *one.turn == *turn && one.place == place);
        found.map(|growing| growing.message)
    }

    fn forget(&self, turn: &str) {
        self.0.lock().retain(|one| *one.turn != *turn);
    }
}

#[async_trait]
impl Streams for Telegram {
    async fn open(&self, start: PreviewStart) -> Result<Box<dyn Preview>, SendError> {
        let shared = Arc::clone(self.shared());
        let place = send::place(&shared, &start.conversation)?;
        if is_private(place.chat) {
            return Ok(Box::new(Draft {
                id: draft_id(&start.turn),
                shown: Rendered::default(),
                format: *self.format(),
                shared,
                place,
            }));
        }
        Ok(Box::new(Message {
            shown: Rendered::default(),
            format: *self.format(),
            shared,
            place,
            start,
        }))
    }
}

/// The number of a turn's draft: never 0, and the same for every attempt, so that one takes the place of the other.
fn draft_id(turn: &str) -> i32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = turn.bytes().fold(0x811c_9dc5, mix);
    i32::try_from(hash >> 1).unwrap_or(1).max(1)
}

/// A draft beside the messages.
struct Draft {
    shared: Arc<Shared>,
    place: Place,
    id: i32,
    format: crate::format::Entities,
    shown: Rendered,
}

#[async_trait]
impl Preview for Draft {
    async fn push(&mut self, blocks: &[Block]) -> Result<(), SendError> {
        let Some(rendered) = fresh(self.format, blocks, &self.shown) else {
            return Ok(());
        };
        let shared = &self.shared;
        let api = shared.api()?;
        shared.floods.ask(self.place.chat, Instant::now())?;
        let draft = SendMessageDraft {
            chat_id: self.place.chat,
            message_thread_id: self.place.topic,
            draft_id: self.id,
            entities: entities(&rendered),
            text: rendered.text.clone(),
            // The button is the platform's own; pressing it comes as an update.
            can_stop: true,
        };
        let sent = api.call(&draft, shared.settings.call_timeout).await;
        sent.map_err(|error| send::failure(shared, self.place, &error))?;
        self.shown = rendered;
        Ok(())
    }

    async fn finish(self: Box<Self>) {
        // It vanishes when the message comes.
    }
}

/// A message that grows.
struct Message {
    shared: Arc<Shared>,
    place: Place,
    start: PreviewStart,
    format: crate::format::Entities,
    shown: Rendered,
}

#[async_trait]
impl Preview for Message {
    async fn push(&mut self, blocks: &[Block]) -> Result<(), SendError> {
        let Some(rendered) = fresh(self.format, blocks, &self.shown) else {
            return Ok(());
        };
        let shared = &self.shared;
        shared.floods.ask(self.place.chat, Instant::now())?;
        let turn = &self.start.turn;
        match shared.live.find(turn, self.place) {
            Some(message) => match edit(shared, self.place, message, &rendered, None).await {
                Ok(_) => {}
                Err(error) => match send::failure(shared, self.place, &error) {
                    SendError::NotModified => {}
                    // An edit may be made again; one that failed is simply an older text for a while.
                    SendError::Ambiguous(_) | SendError::Unavailable(_) => return Ok(()),
                    error => return Err(error),
                },
            },
            None => {
                let message = self.begin(&rendered).await?;
                shared.live.remember(Growing {
                    turn: Arc::clone(turn),
                    place: self.place,
                    message,
                });
            }
        }
        self.shown = rendered;
        Ok(())
    }

    async fn finish(self: Box<Self>) {
        // What it shows becomes the first part of the answer.
    }
}

impl Message {
    /// Sends the message that is going to grow.
    async fn begin(&self, rendered: &Rendered) -> Result<i32, SendError> {
        let shared = &self.shared;
        let answers = self.start.answers.last();
        let message = send::message(shared, self.place, rendered, answers)?;
        let sent = shared
            .api()?
            .call(&message, shared.settings.call_timeout)
            .await;
        let result = sent.map_err(|error| send::failure(shared, self.place, &error))?;
        let id = result["message_id"].as_i64();
        let id = id.and_then(|id| i32::try_from(id).ok());
        id.ok_or_else(|| SendError::Rejected("the message has no id".into()))
    }
}

/// What is to be shown now, if it is another text than the one that is shown.
fn fresh(format: crate::format::Entities, blocks: &[Block], shown: &Rendered) -> Option<Rendered> {
    let rendered = clip::clip(&format, format.render(blocks));
    (!rendered.text.is_empty() && rendered != *shown).then_some(rendered)
}

async fn edit(
    shared: &Shared,
    place: Place,
    message: i32,
    rendered: &Rendered,
    keyboard: Option<InlineKeyboardMarkup>,
) -> Result<Value, CallError> {
    let api = shared
        .api()
        .map_err(|error| CallError::Unreachable(error.to_string()))?;
    let mut call = EditMessageText::new(
        ChatId(place.chat),
        WireMessageId(message),
        rendered.text.as_str(),
    );
    if !rendered.marks.is_empty() {
        call = call.entities(entities(rendered));
    }
    call.reply_markup = keyboard;
    api.call(&call, shared.settings.call_timeout).await
}

/// Makes the first part of an answer out of the message that showed it unfinished. `None` if there is no such message
/// any more, so that the part is to be sent.
///
/// # Errors
/// The class of what went wrong; an edit whose outcome is unknown may be made again.
pub async fn complete(
    shared: &Shared,
    place: Place,
    outgoing: &Outgoing,
) -> Result<Option<Sent>, SendError> {
    let turn = outgoing.turn.as_deref().filter(|_| outgoing.part == 0);
    let Some((turn, message)) = turn.and_then(|turn| Some((turn, shared.live.find(turn, place)?)))
    else {
        return Ok(None);
    };
    let keyboard = buttons::keyboard(&outgoing.buttons);
    let edited = edit(shared, place, message, &outgoing.rendered, keyboard).await;
    // Nothing was shown, so that the part may be sent; ids do not outlive a move.
    let is_gone = |refusal: &Refusal| {
        matches!(
            refusal.trouble(),
            Trouble::NoMessage | Trouble::NoTopic | Trouble::Migrated(_) | Trouble::Other
        )
    };
    let done = match edited {
        Ok(_) => true,
        Err(CallError::Refused(refusal)) if is_gone(&refusal) => false,
        Err(error) => match send::failure(shared, place, &error) {
            SendError::NotModified => true,
            SendError::Ambiguous(why) => return Err(SendError::Unavailable(why)),
            error => return Err(error),
        },
    };
    shared.live.forget(turn);
    let sent = Sent {
        message: Some(MessageId::from(message.to_string())),
    };
    Ok(done.then_some(sent))
}

/// Takes away what showed that there would be an answer, where the answer has no words that could take its place.
pub async fn withdraw(shared: &Shared, place: Place, outgoing: &Outgoing) {
    let turn = outgoing.turn.as_deref().filter(|_| outgoing.part == 0);
    let Some((turn, message)) = turn.and_then(|turn| Some((turn, shared.live.find(turn, place)?)))
    else {
        return;
    };
    shared.live.forget(turn);
    let Ok(api) = shared.api() else { return };
    let call = DeleteMessage::new(ChatId(place.chat), WireMessageId(message));
    if let Err(error) = api.call(&call, shared.settings.call_timeout).await {
        tracing::debug!(account = %shared.account, chat = place.chat, message, %error, "an unfinished answer stays");
    }
}

#[cfg(test)]
mod tests;
