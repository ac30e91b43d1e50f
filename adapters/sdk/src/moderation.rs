//! The ability to moderate: act on members and messages, and look up who may what.
//!
//! Owns the actions, the classes of failure, and what an adapter promises: that what can be known before is looked
//! at before, and that an action is reported as done only when the platform said so. It decides nothing about rights
//! in the gateway: who reaches this ability has proved them already. A failure is a class, so that the gateway can say
//! it in a person's language.

use std::time::Duration;

use async_trait::async_trait;

use crate::{
    id::{ConversationKey, MessageId, UserId, UserKey},
    message::{PlatformRole, Timestamp},
};

/// Something that is done to a member or a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Removes a member, who may come back.
    Kick {
        /// Whom.
        user: UserId,
    },
    /// Keeps a member out, or where the platform cannot do that for a time, keeps him quiet for it.
    Ban {
        /// Whom.
        user: UserId,
        /// How long; `None` is for good.
        time: Option<Duration>,
    },
    /// Ends a ban.
    Unban {
        /// Whose.
        user: UserId,
    },
    /// Keeps a member from writing.
    Mute {
        /// Whom.
        user: UserId,
        /// How long; `None` is for good.
        time: Option<Duration>,
    },
    /// Lets a muted member write again.
    Unmute {
        /// Whom.
        user: UserId,
    },
    /// Deletes a message, for everybody.
    Delete {
        /// Which.
        message: MessageId,
    },
}

impl Action {
    /// The member that it is done to; none for messages.
    #[must_use]
    pub fn user(&self) -> Option<&UserId> {
        match self {
            Self::Kick { user }
            | Self::Ban { user, .. }
            | Self::Unban { user }
            | Self::Mute { user, .. }
            | Self::Unmute { user } => Some(user),
            Self::Delete { .. } => None,
        }
    }
}

/// A member as the platform knows him.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Who.
    pub user: UserKey,
    /// The name shown in the conversation; untrusted, may be empty, at most 200 characters.
    pub name: String,
    /// Standing in the conversation.
    pub role: PlatformRole,
    /// He cannot write until then. `None` also where the platform does not tell.
    pub muted_until: Option<Timestamp>,
}

/// What the bot itself may do in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BotRights {
    /// Its standing.
    pub role: PlatformRole,
    /// It may remove members of a lower standing.
    pub remove: bool,
    /// It may mute them.
    pub mute: bool,
    /// It may delete their messages.
    pub delete: bool,
}

/// Why an action or a look-up failed. Texts are for the operator: short, without line breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModerationError {
    /// The bot does not have the right there: as a rule it is no admin.
    #[error("the bot lacks the right")]
    BotLacksRight,
    /// The member owns the conversation.
    #[error("the member is the owner")]
    TargetIsOwner,
    /// The member is an admin, whom the bot cannot touch.
    #[error("the member is an admin")]
    TargetIsAdmin,
    /// The member stands as high as the bot or higher, without being an admin.
    #[error("the member stands above the bot")]
    TargetOutranks,
    /// It is the bot itself.
    #[error("the member is the bot itself")]
    TargetIsBot,
    /// Nobody of that id is in the conversation.
    #[error("not a member")]
    NotAMember,
    /// The message is gone, or cannot be deleted any more.
    #[error("the message cannot be deleted any more")]
    MessageGone,
    /// The message is older than those that the platform lets the bot delete.
    #[error("the message is older than {most:?}")]
    MessageTooOld {
        /// The greatest age.
        most: Duration,
    },
    /// The platform does not do it for so long.
    #[error("longer than {most:?}")]
    TooLong {
        /// The longest time.
        most: Duration,
    },
    /// The platform cannot do it, or not in this kind of conversation.
    #[error("the platform cannot do that")]
    NotSupported,
    /// It was asked for and may have been done, but the platform did not say so.
    #[error("not confirmed: {0}")]
    NotConfirmed(String),
    /// The platform cannot be reached; nothing was done.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// Refused for any other reason; nothing was done.
    #[error("rejected: {0}")]
    Rejected(String),
}

/// Moderates the conversations of an account. Every call is bounded in time by the adapter.
#[async_trait]
pub trait Moderates: Send + Sync {
    /// Whether it could be done now: looks at everything that can be known before, at the platform and not in a cache,
    /// and changes nothing. `Ok` means that nothing is known to be in the way. Of a message less is known
    /// before: how old it is only [`Self::act`] meets, and whose it is not every platform tells.
    ///
    /// # Errors
    /// What [`Self::act`] would fail with, or why it cannot be known.
    async fn would(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<(), ModerationError>;

    /// Does it, once [`Self::would`] has found nothing in the way: what that refuses is refused with the same class and
    /// not tried. `Ok` means that the platform said that it is done.
    ///
    /// # Errors
    /// [`ModerationError::NotConfirmed`] if it may have been done; after any other error nothing was.
    async fn act(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<(), ModerationError>;

    /// Whether the platform itself ends what is done for a time. If not, the gateway does when the time is over, by the
    /// opposite action: an adapter then does it without an end.
    fn ends(&self, action: &Action) -> bool {
        let _ = action;
        true
    }

    /// Whether it is done already, to be asked before an action whose outcome is unknown is repeated;
    /// `None` if the platform does not tell.
    ///
    /// # Errors
    /// As for a look-up.
    async fn is_done(
        &self,
        conversation: &ConversationKey,
        action: &Action,
    ) -> Result<Option<bool>, ModerationError>;

    /// Looks a member up, at the platform and not in a cache.
    ///
    /// # Errors
    /// [`ModerationError::NotAMember`], or why it cannot be known.
    async fn member(
        &self,
        conversation: &ConversationKey,
        user: &UserId,
    ) -> Result<Member, ModerationError>;

    /// What the bot itself may do there, now.
    ///
    /// # Errors
    /// Why it cannot be known.
    async fn bot_rights(
        &self,
        conversation: &ConversationKey,
    ) -> Result<BotRights, ModerationError>;

    /// The owner and the admins. May come from a cache that the platform's role events keep true.
    ///
    /// # Errors
    /// Why they cannot be known.
    async fn admins(&self, conversation: &ConversationKey) -> Result<Vec<Member>, ModerationError>;
}

/// Leaves the conversations of an account.
#[async_trait]
pub trait Leaves: Send + Sync {
    /// The bot leaves. `Ok` means that the platform said so. Bounded in time by the adapter.
    ///
    /// # Errors
    /// [`ModerationError::NotSupported`] where there is nothing to leave, such as a private chat;
    /// [`ModerationError::NotConfirmed`] if it may have left. After any other error it has not.
    async fn leave(&self, conversation: &ConversationKey) -> Result<(), ModerationError>;
}
