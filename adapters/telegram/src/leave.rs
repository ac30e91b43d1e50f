//! The bot leaves a group.
//!
//! Owns what it means when the bot is gone already: that it is done.

use async_trait::async_trait;
use teloxide_core::{payloads::LeaveChat, types::ChatId};
use weirgate_sdk::{ConversationKey, Leaves, ModerationError};

use crate::{
    moderate::{done, group},
    telegram::Telegram,
};

#[async_trait]
impl Leaves for Telegram {
    async fn leave(&self, conversation: &ConversationKey) -> Result<(), ModerationError> {
        let shared = self.shared();
        let call = LeaveChat::new(ChatId(group(shared, conversation)?));
        match done(shared, &call).await {
            // It needs no right to leave: this says that the bot is no member.
            Err(ModerationError::BotLacksRight) => Ok(()),
            left => left,
        }
    }
}
