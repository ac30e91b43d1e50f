//! A task whose time has come: a turn of the model, as its author.
//!
//! Owns the message that is made of it, once however often it is tried. It waits behind what people say themselves, and
//! is answered, limited and counted like anything that its author says; whether he may is looked at again then.

use weirgate_sdk::{ConversationKey, SenderKind, UserKey};

use super::{
    Performer,
    remind::{Author, Remind},
};
use crate::{
    pending::resume::Resumer,
    schedule::lane::Lane,
    store::{Body, Due, StoreError},
};

impl Performer {
    /// Queues the turn of a task.
    pub(super) async fn ask(
        &self,
        row: &Due,
        conversation: &ConversationKey,
        (remind, author): (&Remind, &Author),
    ) -> Result<(), StoreError> {
        let Some(person) = UserKey::decode(&remind.who) else {
            return Ok(());
        };
        let body = Body {
            message: remind.message.clone(),
            name: author.name.clone(),
            text: remind.text.clone(),
            segments: Vec::new(),
            group: author.group,
            role: remind.role,
            kind: SenderKind::Person,
            reply_to: None,
            reply_author: None,
            reply_context: None,
            pressed: false,
            request: false,
            too_large: false,
            resumes: None,
            due: Some(row.due_at),
            passed: Vec::new(),
        };
        let resumer = Resumer {
            store: &self.store,
            directory: &self.directory,
            dispatch: &self.queue.0,
            keying: self.queue.1,
            clock: self.clock,
        };
        let event = format!("weirgate/task/{}/{}", row.id, row.due_at);
        resumer
            .queue((conversation, &person), event, &body, Lane::Background)
            .await
    }
}
