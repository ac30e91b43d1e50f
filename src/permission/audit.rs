//! The audit record: made by a decision, written in the transaction of its effect.
//!
//! Owns the event values and the only way to an [`Audit`] row. It never writes by itself.

use weirgate_sdk::{Timestamp, UserKey};

use super::{Actor, Capability, Scope};
use crate::store::{Audit, AuditResult, Effect};

/// What a record is about. The texts are stored: they never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditEvent {
    /// Somebody was refused.
    PermissionDenied,
    /// A command was refused.
    CommandBlocked,
    /// A role was given or taken.
    RoleChanged,
    /// A conversation's policy was changed.
    PolicyChanged,
    /// A setting of a conversation or of the gateway was changed.
    ConfigChanged,
    /// Somebody became an owner of the gateway.
    GatewayClaimed,
    /// A member was removed, or should have been.
    UserKicked,
    /// A member was kept out, or should have been.
    UserBanned,
    /// A member was let in again, or should have been.
    UserUnbanned,
    /// A member was kept from writing, or should have been.
    UserMuted,
    /// A member was allowed to write again, or should have been.
    UserUnmuted,
    /// A member was warned.
    UserWarned,
    /// A member's warnings were taken back.
    WarningsCleared,
    /// A conversation has another owner.
    OwnershipTransferred,
    /// What is kept of a conversation was deleted.
    ConversationDeleted,
    /// The bot left a conversation, or should have.
    ConversationLeft,
    /// Something that waited for a yes got a no.
    ApprovalDenied,
    /// A tool that waited for a yes got one.
    ToolApproved,
    /// A message was not passed on to the model.
    InjectionBlocked,
    /// A message with a word of the blocklist was not passed on to the model.
    ContentBlocked,
    /// A conversation's context was reset.
    ContextReset,
    /// Parts of a conversation's context were dropped.
    ContextDropped,
    /// Another person's turn was stopped.
    TurnStopped,
    /// A stranger was let in.
    PersonPaired,
    /// Somebody who was let in is a stranger again.
    PersonUnpaired,
    /// Somebody is answered nowhere any more.
    PersonBlocked,
    /// Somebody who was answered nowhere is answered again.
    PersonUnblocked,
    /// What is remembered for others was changed.
    MemoryChanged,
    /// Messages that waited were dropped.
    QueueDropped,
    /// The database was copied.
    BackedUp,
    /// The configuration was read again.
    ConfigReloaded,
    /// A server of tools was started anew.
    ServerRestarted,
    /// Something was announced in many conversations.
    Broadcast,
    /// A reply that was given up is sent after all.
    ReplyRetried,
    /// A reply is not sent any more.
    ReplyDropped,
    /// The messages of a failed turn were accepted anew.
    MessageRetried,
    /// A failed message was settled.
    MessageDropped,
    /// A request to an account was granted or refused.
    RequestAnswered,
}

impl AuditEvent {
    /// The stored text.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::PermissionDenied => "permission_denied",
            Self::CommandBlocked => "command_blocked",
            Self::RoleChanged => "role_changed",
            Self::PolicyChanged => "policy_changed",
            Self::ConfigChanged => "config_changed",
            Self::GatewayClaimed => "gateway_claimed",
            Self::UserKicked => "user_kicked",
            Self::UserBanned => "user_banned",
            Self::UserUnbanned => "user_unbanned",
            Self::UserMuted => "user_muted",
            Self::UserUnmuted => "user_unmuted",
            Self::UserWarned => "user_warned",
            Self::WarningsCleared => "warnings_cleared",
            Self::OwnershipTransferred => "ownership_transferred",
            Self::ConversationDeleted => "conversation_deleted",
            Self::ConversationLeft => "conversation_left",
            Self::ApprovalDenied => "approval_denied",
            Self::ToolApproved => "tool_approved",
            Self::InjectionBlocked => "injection_blocked",
            Self::ContentBlocked => "content_blocked",
            Self::ContextReset => "context_reset",
            Self::ContextDropped => "context_dropped",
            Self::TurnStopped => "turn_stopped",
            Self::PersonPaired => "person_paired",
            Self::PersonUnpaired => "person_unpaired",
            Self::PersonBlocked => "person_blocked",
            Self::PersonUnblocked => "person_unblocked",
            Self::MemoryChanged => "memory_changed",
            Self::QueueDropped => "queue_dropped",
            Self::BackedUp => "backed_up",
            Self::ConfigReloaded => "config_reloaded",
            Self::ServerRestarted => "server_restarted",
            Self::Broadcast => "broadcast",
            Self::ReplyRetried => "reply_retried",
            Self::ReplyDropped => "reply_dropped",
            Self::MessageRetried => "message_retried",
            Self::MessageDropped => "message_dropped",
            Self::RequestAnswered => "request_answered",
        }
    }
}

/// A record on its way into the store.
#[derive(Debug)]
#[must_use = "a decision that is not written down cannot be accounted for"]
pub struct AuditRecord(Audit);

impl AuditRecord {
    pub(super) fn new(
        (event, result): (AuditEvent, AuditResult),
        actor: &Actor,
        scope: Scope,
        target: String,
        turn: i64,
        capability: Capability,
        at: Timestamp,
    ) -> Self {
        let conversation = match scope {
            Scope::Conversation(id) => id,
            Scope::Own | Scope::Global => 0,
        };
        let details = serde_json::json!({
            "role": actor.role.name(), "capability": format!("{capability:?}"),
        });
        Self(Audit {
            event: event.code(),
            result,
            operator: actor.person,
            target,
            conversation,
            turn,
            details: details.to_string(),
            at,
        })
    }

    /// The record of something that was tried and did not succeed.
    pub fn failed(mut self) -> Self {
        self.0.result = AuditResult::Failed;
        self
    }

    /// The record of something that a rule beside the needed right forbids.
    pub fn denied(mut self) -> Self {
        self.0.result = AuditResult::Denied;
        self
    }

    /// The record with the conversation in which it happened, where the scope does not say that.
    pub fn within(mut self, conversation: i64) -> Self {
        self.0.conversation = conversation;
        self
    }

    /// The record with more about what was done: the fields of an object, beside what it has.
    pub fn with(mut self, more: &serde_json::Value) -> Self {
        add(&mut self.0, more);
        self
    }
}

/// What somebody asked for and somebody said yes to: whoever asked is the operator of the records among these effects, and
/// beside him stands who said yes, by his number and his platform's id. Their role is that of whose right was used.
pub fn approved(effects: &mut [Effect], asker: i64, (actor, key): (&Actor, &UserKey)) {
    let by = serde_json::json!({ "approved_by": key.id.as_str(), "approver": actor.person });
    for effect in effects {
        if let Effect::Audit(record) = effect {
            record.operator = asker;
            add(record, &by);
        }
    }
}

fn add(record: &mut Audit, more: &serde_json::Value) {
    let own = serde_json::from_str::<serde_json::Value>(&record.details);
    if let (Ok(serde_json::Value::Object(mut own)), Some(more)) = (own, more.as_object()) {
        own.extend(more.clone());
        record.details = serde_json::Value::Object(own).to_string();
    }
}

impl From<AuditRecord> for Effect {
    fn from(record: AuditRecord) -> Self {
        Self::Audit(record.0)
    }
}
