//! The adapter: one account on one platform.
//!
//! Owns the trait that every platform implements and the form in which answers are handed to it.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use async_trait::async_trait;

use crate::{
    ability::{Indicates, Streams},
    answer::{Render, Rendered},
    button::{Button, Buttons},
    capability::Capabilities,
    check::Finding,
    error::{AdapterError, SendError},
    id::{AccountName, ConversationKey, MessageId, Platform, UserKey},
    ingress::Ingress,
    media::{Downloads, OutgoingFile},
    message::ReplyContext,
    moderation::{Leaves, Moderates},
    request::Requests,
    stop::Stop,
};

/// The message that an answer is shown as a reply to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyTarget {
    /// The message.
    pub message: MessageId,
    /// Its author, where the answer should name him.
    pub author: UserKey,
}

/// One part of one answer on its way out.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The answer's id in the outbox; with `part` the idempotency key. The same (id, part) may be handed
    /// over again after a crash or an unknown outcome.
    pub id: i64,
    /// Which part, from 0.
    pub part: u32,
    /// How many parts the answer has.
    pub parts: u32,
    /// Where to.
    pub conversation: ConversationKey,
    /// The turn that made it, as text; `None` for notices that belong to no turn.
    pub turn: Option<Arc<str>>,
    /// The messages that it answers, oldest first.
    pub answers: Vec<MessageId>,
    /// The text, rendered by the adapter's own [`Render`].
    pub rendered: Rendered,
    /// Show it as a reply to this; set on the first part only.
    pub reply: Option<ReplyTarget>,
    /// The files that this part is, in the place of a text, which is empty then: one, or an album of pictures that are
    /// one message. Only of kinds that the capabilities have, and never larger or more than they say. A refusal
    /// ([`SendError::Rejected`] and the like) says that none of them was sent; the gateway then tries them as files to be
    /// saved ([`crate::MediaKind::File`]), and at last sends words in their place.
    pub files: Vec<OutgoingFile>,
    /// What answering the message needs.
    pub reply_context: Option<ReplyContext>,
    /// Buttons under it, within the capabilities' limits; on the last part only.
    pub buttons: Vec<Button>,
    /// Only whom it answers is to see it, where the platform can do that. What answers a press and cannot be
    /// shown to him alone any more is [`SendError::Expired`]; any other text is then shown to all.
    pub private: bool,
}

/// What the gateway gives an adapter when it builds it. `Debug` leaves the key out.
#[derive(Clone)]
pub struct Setup {
    /// The account's name in agent.yaml.
    pub account: AccountName,
    /// A key that is this account's alone and stays the same as long as the data folder does; for
    /// signing what the adapter hands out.
    pub secret: [u8; 32],
    /// The gateway's version.
    pub version: &'static str,
    /// How the outside reaches the gateway's web server, if the operator says so: `scheme://host` or
    /// `scheme://host:port` in lower case, without the default port of the scheme.
    pub public_origin: Option<String>,
    /// The chat models in use, which may change while the adapter runs.
    pub models: ChatModels,
    /// What people can ask of the gateway, for platforms that show it.
    pub menu: Menu,
}

/// The gateway's commands, once for each language. The first language is that of people whose own is not
/// among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Menu {
    /// The languages.
    pub languages: Vec<MenuLanguage>,
}

/// The commands in one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuLanguage {
    /// The language by its two letters (ISO 639-1).
    pub code: &'static str,
    /// The commands.
    pub commands: Vec<MenuCommand>,
}

/// A command, in one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuCommand {
    /// The name without the slash: a to z, digits and `_`, at most 32; the same in every language.
    pub name: String,
    /// What it does, in one line.
    pub about: String,
    /// What stands behind the name; empty if nothing does.
    pub usage: String,
    /// What can be filled in, those that are needed first. What was filled in stands behind the name in this order,
    /// as somebody would have typed it.
    pub fields: Vec<MenuField>,
}

/// A field of a command, in one language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuField {
    /// The name: a to z, at most 32; the same in every language, and another for each field of a command.
    pub name: String,
    /// What it is, in one line.
    pub about: String,
    /// What may stand there.
    pub kind: FieldKind,
    /// The command is not carried out without it.
    pub required: bool,
}

/// What may stand in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// Somebody, as a mention.
    Person,
    /// One of these words.
    Choice(Vec<String>),
    /// A whole number.
    Number,
    /// A length of time, in words. Behind it stands [`TIME_ENDS`] if it or a field behind it is filled in: a reason
    /// that begins like a time is none.
    Span,
    /// Words.
    Words,
}

/// The word that ends a field for a length of time, also one that was left empty.
pub const TIME_ENDS: &str = "--";

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // By name, so that a new field cannot be forgotten here.
        let Self {
            account,
            secret: _,
            version,
            public_origin,
            models,
            menu,
        } = self;
        f.debug_struct("Setup")
            .field("account", account)
            .field("secret", &format_args!("***"))
            .field("version", version)
            .field("public_origin", public_origin)
            .field("models", models)
            .field("menu", menu)
            .finish()
    }
}

/// The chat models in use, as `provider/model`, first choice first. All clones share one list, which the
/// gateway replaces when its configuration is reloaded.
#[derive(Debug, Clone, Default)]
pub struct ChatModels(Arc<RwLock<Vec<String>>>);

impl ChatModels {
    /// These models.
    #[must_use]
    pub fn new(names: Vec<String>) -> Self {
        Self(Arc::new(RwLock::new(names)))
    }

    /// The present names.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        // Nothing that holds the lock can leave half a list behind.
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Puts other names in their place, for all clones.
    pub fn set(&self, names: Vec<String>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = names;
    }
}

/// The platform took a part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sent {
    /// The platform's id of the new message, if it gives one.
    pub message: Option<MessageId>,
}

/// One account on one platform.
///
/// Sends to different conversations run side by side; to one conversation they come one after another.
#[async_trait]
pub trait Adapter: Send + Sync + 'static {
    /// The platform's name, as in agent.yaml. Constant.
    fn platform(&self) -> Platform;

    /// The account's name, as in agent.yaml. Constant.
    fn account(&self) -> AccountName;

    /// What a conversation can do. Pure and quick: no IO, no lock that is held over IO.
    fn capabilities(&self, conversation: &ConversationKey) -> Capabilities;

    /// How answers are rendered. Pure.
    fn render(&self) -> &dyn Render;

    /// Receives until `stop`, reconnecting by itself for ever. Returns soon after the signal; sends
    /// must still work until then and fail with [`SendError::Unavailable`] afterwards.
    ///
    /// # Errors
    /// Only what no reconnecting can mend, see [`AdapterError`].
    async fn run(&self, ingress: Arc<dyn Ingress>, stop: Stop) -> Result<(), AdapterError>;

    /// Delivers one part. Bounded in time by the adapter. Never retries by itself.
    ///
    /// # Errors
    /// The class of what went wrong; [`SendError::Ambiguous`] if nobody knows whether it arrived.
    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError>;

    /// These messages have ended, and nothing more is sent for them: they were dropped beside many others
    /// of which one notice tells, their answer shows nothing or was given up, or no answer was due. Asked
    /// only of conversations whose capabilities say `pending`, where a message is shown as pending until its
    /// end. Quick: no IO. What ended before a crash is not told again; the transcript knows it.
    fn ended(&self, _conversation: &ConversationKey, _messages: &[MessageId]) {}

    /// Looks whether the account can work, for an operator who asks. Another process may run it meanwhile.
    /// Sends nothing to people and leaves nothing behind; the caller bounds the time. With `offline` nobody
    /// outside of this machine is asked.
    async fn check(&self, _offline: bool) -> Vec<Finding> {
        Vec::new()
    }

    /// Shows text that is still being written, if the platform can.
    fn streams(&self) -> Option<&dyn Streams> {
        None
    }

    /// Shows that an answer is being written, if the platform can.
    fn indicates(&self) -> Option<&dyn Indicates> {
        None
    }

    /// Fetches the files of messages, if the platform keeps them.
    fn downloads(&self) -> Option<&dyn Downloads> {
        None
    }

    /// Acts on members and messages, if the platform can.
    fn moderates(&self) -> Option<&dyn Moderates> {
        None
    }

    /// Takes buttons away again, if the platform has buttons.
    fn buttons(&self) -> Option<&dyn Buttons> {
        None
    }

    /// Answers requests to the account, if the platform has some.
    fn requests(&self) -> Option<&dyn Requests> {
        None
    }

    /// Leaves conversations, if the platform lets a bot do that.
    fn leaves(&self) -> Option<&dyn Leaves> {
        None
    }
}

#[cfg(test)]
mod tests;
