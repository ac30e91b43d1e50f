//! Buttons under a message.
//!
//! Owns the rows of buttons and how they go. A press comes as an interaction, which `crate::receive` reads and
//! `crate::interaction` answers.

use async_trait::async_trait;
use serenity::{
    builder::{CreateActionRow, CreateAllowedMentions, CreateButton, EditMessage},
    model::application::ButtonStyle as WireStyle,
};
use weirgate_sdk::{
    Button, ButtonLimits, ButtonStyle, Buttons, ConversationKey, MessageId, SendError,
};

use crate::{
    api::{Call, Verb},
    discord::Discord,
    places::number,
    send,
};

/// What the platform shows: five rows of five, with labels of 80 characters (Component Reference, Action Row and
/// Button).
pub const LIMITS: ButtonLimits = ButtonLimits {
    most: 5 * ROW,
    label: 80,
};
/// Buttons of a row.
const ROW: usize = 5;

/// The rows of these buttons; none without any.
pub fn rows(buttons: &[Button]) -> Vec<CreateActionRow> {
    let rows = buttons.chunks(ROW);
    rows.map(|row| CreateActionRow::Buttons(row.iter().map(button).collect()))
        .collect()
}

fn button(button: &Button) -> CreateButton {
    CreateButton::new(&button.id)
        .label(&button.label)
        .style(match button.style {
            ButtonStyle::Plain => WireStyle::Secondary,
            ButtonStyle::Positive => WireStyle::Success,
            ButtonStyle::Negative => WireStyle::Danger,
        })
}

#[async_trait]
impl Buttons for Discord {
    async fn retire(
        &self,
        conversation: &ConversationKey,
        message: &MessageId,
    ) -> Result<(), SendError> {
        let shared = self.shared();
        let channel = send::channel(conversation)?;
        let number = number(message.as_str());
        let number = number.ok_or_else(|| SendError::Gone("no message of this platform".into()))?;
        // What is not named stays as it is.
        let edit = EditMessage::new()
            .components(Vec::new())
            .allowed_mentions(CreateAllowedMentions::new().replied_user(false));
        let call = Call::Message(Verb::Patch, channel, number);
        let limit = shared.settings.call_timeout;
        let done = shared.api()?.post(call, &edit, limit).await;
        done.map(drop)
            .map_err(|error| send::failure(shared, channel, &error))
    }
}
