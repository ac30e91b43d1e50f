//! Whoever is blocked is turned away at the door: nothing of what he says is journaled.
//!
//! Owns that he is told, and that it is recorded, once in a while and not once a message. Both are rows of their own, which
//! belong to no message. Who is blocked is in [`super::overheard`].

use std::time::Duration;

use weirgate_sdk::{ConversationKey, InboundMessage, UserKey, Via};

use super::{Agent, MESSAGE, Rights};
use crate::{
    clock::micros,
    command::{Parsed, lang, parse},
    i18n::Language,
    outbound::{compose::Addressee, post::Post},
    permission::{Actor, AuditEvent, Capability, Scope, decide},
    store::{Meeting, StoreError, Write, commit},
};

/// How long somebody who was told in a conversation is told nothing more there.
const WINDOW: Duration = Duration::from_secs(600);

/// Who was turned away where.
pub(super) type Whom = (ConversationKey, UserKey);

impl Agent {
    /// Whether somebody who is blocked is to be told so now: from then on he counts as told.
    pub fn is_to_be_told(&self, message: &InboundMessage) -> bool {
        let whom = (message.conversation.clone(), message.sender.key.clone());
        let now = self.clock.tick();
        let mut told = self.lately.turned_away.lock();
        if told.get(&whom).is_some_and(|until| now < *until) {
            return false;
        }
        told.put(whom, now.saturating_add(micros(WINDOW)));
        true
    }

    /// Nothing more is to be said to a message.
    pub fn leave_unanswered(&self, message: &InboundMessage) {
        self.deliverer
            .ended(&message.conversation, || vec![message.id.clone()]);
    }

    /// Records that somebody who is blocked is not answered, and tells him.
    ///
    /// # Errors
    /// The store's. He is told in the next window then.
    pub async fn turn_away(&self, message: &InboundMessage) -> Result<(), StoreError> {
        let (key, sender) = (&message.conversation, &message.sender.key);
        let meeting = Box::new(Meeting {
            conversation: key.clone(),
            person: sender.clone(),
        });
        let met = commit(&self.store, |then| Write::Meet(meeting, then)).await?;
        let (conversation, person) = met;
        let directory = &self.desk.directory;
        directory.learn(conversation, key, person, sender);
        let actor = Actor {
            person,
            role: self.as_it_stands(message).await?,
            global_owner: false,
        };
        let here = Scope::Conversation(conversation);
        let Err(denial) = decide(&actor, Capability::SEND_MESSAGE, here, self.clock.now()) else {
            // It was taken back just now.
            self.leave_unanswered(message);
            return Ok(());
        };
        let text = Rights::Lacks(denial.missing());
        let own = message.own_text();
        let (event, target) = match parse(&own) {
            Parsed::Command(command, _) => {
                (AuditEvent::CommandBlocked, command.spec().name.to_owned())
            }
            _ => MESSAGE,
        };
        let record = denial.record(event, target, 0);
        let language = self.language_at(conversation, person, &own).await?;
        self.desk
            .write_down(conversation, vec![record.into()])
            .await?;
        let to = Addressee {
            answers: vec![message.id.as_str().to_owned()],
            author: (message.via != Via::Button).then(|| sender.encode()),
            reply_context: message.reply_context.clone(),
            private: true,
        };
        let place = (conversation, directory.conversation(conversation).await?);
        let text = (text.render(language), language);
        let rules = self.rules.get();
        let Some(mut post) = Post::compose(&self.deliverer, &rules.composer, place, text, to)
        else {
            return Ok(());
        };
        let now = self.clock.now();
        let (ends, notices) = (Vec::new(), post.row(now, now).into_iter().collect());
        let write = |then| Write::End {
            ends,
            notices,
            then,
        };
        let ids = commit(&self.store, write).await?;
        if let Some(id) = ids.first() {
            post.deliver(*id, &self.deliverer, self.clock, now);
        }
        Ok(())
    }

    /// The language for somebody of whom no turn runs: chosen, set there or configured, or that of his words.
    async fn language_at(
        &self,
        conversation: i64,
        person: i64,
        words: &str,
    ) -> Result<Language, StoreError> {
        let directory = &self.desk.directory;
        let chosen = directory.preference(person, lang::KEY).await?;
        let rules = directory.rules(conversation).await?;
        let tags = [
            chosen.as_deref(),
            rules.settings.get("language").map(String::as_str),
        ];
        let set = tags.into_iter().flatten().find_map(Language::from_tag);
        let language = set
            .or(self.rules.get().settings.language)
            .or_else(|| directory.spoken(person))
            .or_else(|| Language::of_text(words));
        Ok(language.unwrap_or(Language::Zh))
    }
}
