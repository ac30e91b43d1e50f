//! What clients of an adapter ask for that is no message: the gateway's configuration, and the end of a conversation.
//!
//! Owns the same decisions, records and effects as the commands that do this, outside of a turn: who may is who may use
//! the command. Somebody whom the store has never met may nothing. It never believes what a client says of itself; who
//! asks is the adapter's word.

use async_trait::async_trait;
use weirgate_sdk::{Asker, Change, ChatKind, Configured, Extent, Manage, NotDone, Which};

use super::Agent;
use crate::{
    command::{
        Command, Site, at_level,
        config::{self, ConfigCommand},
        configure::Refused,
        delete::{self, Delete},
        need,
    },
    i18n::{Language, settings},
    permission::{Actor, AuditEvent, Capability, Denial, Proof, Scope, decide},
    reason::Reason,
    store::{Effect, Forget, Place, StoreError},
};

/// Somebody who asks, as the store knows him.
struct Known {
    actor: Actor,
    conversation: i64,
}

#[async_trait]
impl Manage for Agent {
    async fn configuration(&self, asker: &Asker, which: Which) -> Result<Vec<Configured>, NotDone> {
        let known = self.known(asker).await?.ok_or(NotDone::Forbidden)?;
        let _proof = self.may_configure(&known).await?;
        let configure = self.desk.configure.as_ref();
        let configure = configure.ok_or(NotDone::Unavailable)?;
        let shown = match which {
            Which::Running => configure.show("").await,
            Which::Default => configure.defaults().await,
        };
        let told = shown.into_iter().map(|it| Configured {
            key: it.key,
            value: it.value,
        });
        Ok(told.collect())
    }

    async fn configure(&self, asker: &Asker, changes: Vec<Change>) -> Result<(), NotDone> {
        let known = self.known(asker).await?.ok_or(NotDone::Forbidden)?;
        let mut effects = Vec::with_capacity(changes.len() * 2);
        for Change { key, value } in &changes {
            let proof = self.may_configure(&known).await?;
            let stored = format!("{}{key}", config::STORED);
            effects.push(Effect::Set {
                of: Place::GATEWAY,
                key: stored.into(),
                value: value.clone(),
            });
            let record = proof.record(AuditEvent::ConfigChanged, key.clone(), 0);
            effects.push(record.within(known.conversation).into());
        }
        let configure = self.desk.configure.as_ref();
        let configure = configure.ok_or(NotDone::Unavailable)?;
        let pairs: Vec<(&str, Option<&str>)> = changes
            .iter()
            .map(|change| (change.key.as_str(), change.value.as_deref()))
            .collect();
        configure.set(&pairs).await.map_err(refused)?;
        self.outside_of_turns(known.conversation, effects).await
    }

    async fn forget(&self, asker: &Asker, extent: Extent) -> Result<(), NotDone> {
        // Of a conversation that the store has never met there is nothing.
        let Some(known) = self.known(asker).await? else {
            return Ok(());
        };
        let site = Site {
            chat: ChatKind::Private,
            account: 0,
            conversation: known.conversation,
            own_history: false,
        };
        let rules = self.rules.get();
        let levels = &rules.settings.permissions.commands;
        let needed = need(&Delete, "", site, levels);
        let proof = self.allowed(&known, needed, Delete.spec().name).await?;
        let conversation = known.conversation;
        let wiped = delete::wipe(&self.desk, conversation, i64::MAX).await?;
        self.deliverer.ended(&asker.conversation, || {
            let dropped = wiped.messages.iter();
            dropped.map(|id| id.as_str().into()).collect()
        });
        let all = extent == Extent::All;
        let mut effects = vec![Effect::Forget(Forget { conversation, all })];
        if all {
            effects.push(Effect::EraseAudit { conversation });
        }
        let what = if all { "all" } else { "messages" };
        let record = proof.record(AuditEvent::ConversationDeleted, what.to_owned(), 0);
        effects.push(record.into());
        self.outside_of_turns(conversation, effects).await
    }
}

impl Agent {
    /// Who asks; `None` if the store has never met him or his conversation.
    async fn known(&self, asker: &Asker) -> Result<Option<Known>, NotDone> {
        let conversation = self.store.conversation_number(&asker.conversation).await?;
        let person = self.store.person_number(&asker.sender.key).await?;
        let (Some(conversation), Some(person)) = (conversation, person) else {
            return Ok(None);
        };
        let who = (person, &asker.sender.key);
        let shown = (asker.sender.kind, asker.sender.role);
        let (actor, _) = self.actor_in(conversation, who, shown).await?;
        Ok(Some(Known {
            actor,
            conversation,
        }))
    }

    /// Lets somebody at the configuration of the gateway who may use /config for it.
    async fn may_configure(&self, known: &Known) -> Result<Proof, NotDone> {
        let rules = self.rules.get();
        let levels = &rules.settings.permissions.commands;
        let spec = ConfigCommand.spec();
        let needed = at_level(spec, config::GATEWAY, levels);
        self.allowed(known, needed, spec.name).await
    }

    /// Decides; a refusal is recorded as one of the command that does the same, unless that was done often enough
    /// just now.
    async fn allowed(
        &self,
        known: &Known,
        (capability, scope): (Capability, Scope),
        command: &str,
    ) -> Result<Proof, NotDone> {
        let denial = match decide(&known.actor, capability, scope, self.clock.now()) {
            Ok(proof) => return Ok(proof),
            Err(denial) => denial,
        };
        if self.may_tell_in(known.conversation, known.actor.person) {
            self.record_denial(known, denial, command).await?;
        }
        self.traces.count(Reason::PermissionDenied);
        Err(NotDone::Forbidden)
    }

    async fn record_denial(
        &self,
        known: &Known,
        denial: Denial,
        command: &str,
    ) -> Result<(), NotDone> {
        let record = denial.record(AuditEvent::CommandBlocked, command.to_owned(), 0);
        let record = record.within(known.conversation);
        self.outside_of_turns(known.conversation, vec![record.into()])
            .await
    }

    /// Writes what changes by no turn.
    async fn outside_of_turns(
        &self,
        conversation: i64,
        effects: Vec<Effect>,
    ) -> Result<(), NotDone> {
        let changes = super::finish::Changes::of(&effects);
        self.desk.write_down(conversation, effects).await?;
        changes.recent(&self.recent);
        changes.directory(&self.desk.directory);
        Ok(())
    }
}

impl From<StoreError> for NotDone {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "what a client asked for was not done");
        Self::Unavailable
    }
}

/// Why nothing was set, in English: the keys and the words of the reference are, too.
fn refused(refused: Refused) -> NotDone {
    match refused {
        Refused::Key(key, why) => {
            let text = settings::Settings::NotSet { key, why };
            NotDone::Wrong(vec![text.render(Language::En)])
        }
        Refused::Value(problems) => NotDone::Wrong(problems),
        Refused::Busy => NotDone::Unavailable,
    }
}
