//! The bot leaves a group.
//!
//! Owns the call and the proof after it. A group that the bot created is never dissolved with it: implementations do
//! that when they are told to, so they are told not to.

use async_trait::async_trait;
use serde_json::json;
use weirgate_sdk::{ConversationKey, Leaves, ModerationError};

use super::{
    moderate::{ask, confirmed, group},
    places::id_value,
};
use crate::qq::Qq;

#[async_trait]
impl Leaves for Qq {
    async fn leave(&self, conversation: &ConversationKey) -> Result<(), ModerationError> {
        let group = group(conversation)?;
        let params = json!({ "group_id": id_value(group), "is_dismiss": false });
        confirmed(&ask(self.shared(), "set_group_leave", params).await?)
    }
}
