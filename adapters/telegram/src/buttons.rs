//! Buttons under a message, and the answer that a press waits for.
//!
//! Owns the keyboard, what a press is answered with, and how buttons go. The platform shows a press as under way until it
//! is answered, once; an alert that only whoever pressed sees is that answer (Bot API, `answerCallbackQuery`).

use async_trait::async_trait;
use teloxide_core::{
    payloads::{AnswerCallbackQuery, EditMessageReplyMarkup},
    types::{
        CallbackQueryId, ChatId, InlineKeyboardButton, InlineKeyboardMarkup,
        MessageId as WireMessageId,
    },
};
use weirgate_sdk::{
    Button, ButtonLimits, Buttons, ConversationKey, MessageId, Outgoing, ReplyContext, SendError,
    Sent, Timestamp, text::line,
};

use crate::{
    api::{CallError, Trouble},
    places::number,
    send,
    telegram::{Shared, Telegram},
};

/// What the platform shows: rows of three are read well on a telephone.
pub const LIMITS: ButtonLimits = ButtonLimits { most: 9, label: 40 };
/// Buttons of a row.
const ROW: usize = 3;
/// The longest alert, in characters (Bot API, `answerCallbackQuery`).
const MAX_ALERT: usize = 200;
/// What the context of a press begins with; its id follows.
const MARK: &str = "press/";
/// For how long a press is answered. The platform says only that it takes no answer to an old one.
const PATIENCE: Timestamp = 15 * 60 * 1_000;

/// The keyboard of these buttons; none without any.
#[must_use]
pub fn keyboard(buttons: &[Button]) -> Option<InlineKeyboardMarkup> {
    let button =
        |button: &Button| InlineKeyboardButton::callback(button.label.clone(), button.id.clone());
    let rows = buttons
        .chunks(ROW)
        .map(|row| row.iter().map(button).collect::<Vec<_>>());
    (!buttons.is_empty()).then(|| InlineKeyboardMarkup::new(rows))
}

/// What answering a press needs.
#[must_use]
pub fn context(press: &str, now: Timestamp) -> ReplyContext {
    ReplyContext {
        data: format!("{MARK}{press}"),
        expires_at: Some(now.saturating_add(PATIENCE)),
        uses_left: Some(1),
    }
}

/// The press that something answers.
fn press(outgoing: &Outgoing) -> Option<&str> {
    let context = outgoing.reply_context.as_ref()?;
    context.data.strip_prefix(MARK)
}

/// Shows a text to whoever pressed alone, if it is one for him; `None` for any other.
///
/// # Errors
/// [`SendError::Expired`] if he cannot be told any more.
pub async fn alert(shared: &Shared, outgoing: &Outgoing) -> Result<Option<Sent>, SendError> {
    let Some(press) = press(outgoing).filter(|_| outgoing.private) else {
        return Ok(None);
    };
    if outgoing.part > 0 {
        // One alert is all there is room for.
        return Ok(Some(Sent::default()));
    }
    let mut answer = AnswerCallbackQuery::new(CallbackQueryId(press.to_owned()));
    answer.text = Some(line(&outgoing.rendered.text, MAX_ALERT));
    answer.show_alert = Some(true);
    match told(shared, &answer).await {
        Ok(()) => Ok(Some(Sent::default())),
        Err(CallError::Refused(refusal)) => match refusal.trouble() {
            Trouble::Flood(after) => Err(SendError::RateLimited {
                after,
                scope: weirgate_sdk::Freeze::Account,
            }),
            Trouble::Token => Err(SendError::Unavailable(refusal.text)),
            _ => Err(SendError::Expired),
        },
        Err(CallError::Unreachable(text)) => Err(SendError::Unavailable(text)),
        Err(CallError::Lost(text)) => Err(SendError::Ambiguous(text)),
    }
}

/// The answer to a press stands in the chat: it is no longer under way.
pub async fn settle(shared: &Shared, outgoing: &Outgoing) {
    let Some(press) = press(outgoing).filter(|_| outgoing.part + 1 == outgoing.parts) else {
        return;
    };
    let answer = AnswerCallbackQuery::new(CallbackQueryId(press.to_owned()));
    if let Err(error) = told(shared, &answer).await {
        tracing::debug!(account = %shared.account, %error, "a press is shown as under way for a while");
    }
}

async fn told(shared: &Shared, answer: &AnswerCallbackQuery) -> Result<(), CallError> {
    let api = shared
        .api()
        .map_err(|error| CallError::Unreachable(error.to_string()))?;
    let told = api.call(answer, shared.settings.call_timeout).await;
    told.map(drop)
}

#[async_trait]
impl Buttons for Telegram {
    async fn retire(
        &self,
        conversation: &ConversationKey,
        message: &MessageId,
    ) -> Result<(), SendError> {
        let shared = self.shared();
        let place = send::place(shared, conversation)?;
        let id = number(message.as_str()).and_then(|id| i32::try_from(id).ok());
        let id = id.ok_or_else(|| SendError::Gone("no message of this platform".into()))?;
        // Without a keyboard in the call there is none under the message.
        let call = EditMessageReplyMarkup::new(ChatId(place.chat), WireMessageId(id));
        let done = shared
            .api()?
            .call(&call, shared.settings.call_timeout)
            .await;
        done.map(drop)
            .map_err(|error| send::failure(shared, place, &error))
    }
}
