//! Messages as adapters hand them in: who said what, where, in which segments.
//!
//! Owns the neutral form of an incoming message. It never holds platform markup: an adapter decodes
//! its platform's encoding first, and what it cannot express arrives as a described placeholder.

use serde::{Deserialize, Serialize};

use crate::id::{ConversationKey, DedupeKey, MessageId, UserId, UserKey};

/// Milliseconds since the Unix epoch, UTC.
pub type Timestamp = i64;

/// What kind of place a conversation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatKind {
    /// One person and the bot; always addressed to the bot.
    Private,
    /// Several people; the bot is addressed by mention, reply, command or wake word.
    Group,
}

/// What stands behind a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SenderKind {
    /// An account of a person (or of a bot, see [`Sender::is_bot`]).
    #[default]
    Person,
    /// A hidden member, for example an anonymous admin: nobody's rights but a guest's.
    Anonymous,
    /// A channel that posts under its own name.
    Channel,
    /// The platform itself, or a webhook.
    Service,
}

/// The sender's standing on the platform, in the conversation of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlatformRole {
    /// Created or owns the conversation.
    Owner,
    /// Administers it.
    Admin,
    /// An ordinary member.
    Member,
    /// The platform does not say.
    #[default]
    Unknown,
}

/// Who sent a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// The stable key.
    pub key: UserKey,
    /// The name as shown in this conversation; untrusted, may be empty, at most 200 characters.
    pub name: String,
    /// The platform says that this is a bot.
    pub is_bot: bool,
    /// Standing in this conversation.
    pub role: PlatformRole,
    /// What stands behind it.
    pub kind: SenderKind,
}

/// How the person gave the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Via {
    /// Typed as a message.
    #[default]
    Text,
    /// The platform's own command interface; the text is `/name arguments`.
    Command,
    /// A button of an earlier message. The text is the button's id as it came, `reply_to` the message that it stands
    /// under, and the id is one of the press itself. See [`crate::Button`].
    Button,
    /// Nothing that was said: somebody asks the account for something, and the conversation is the one in which an owner
    /// of the gateway is asked. See [`crate::Request`].
    Request,
}

/// What an attachment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// A picture.
    Image,
    /// A voice message or music.
    Audio,
    /// A video.
    Video,
    /// Any other file.
    File,
}

/// A reference to media on the platform. The bytes are not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// What it is.
    pub kind: AttachmentKind,
    /// What the adapter needs to fetch it; opaque, at most 2,048 bytes.
    pub reference: String,
    /// File name as the sender gave it; untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Size in bytes, if the platform says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// When the reference stops working.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// One piece of a message, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Segment {
    /// Plain text with `\n` line ends.
    Text(String),
    /// A person is mentioned.
    Mention {
        /// Who.
        user: UserId,
        /// The name shown, without the mark of mention; may be empty.
        name: String,
    },
    /// Somebody is called by what is his alone on the whole platform, without the mark of mention, and the adapter cannot
    /// tell whose that is. It never stands for who shows the same name: that anybody can.
    Handle(String),
    /// Everybody is mentioned. Never addresses the bot.
    MentionAll,
    /// Text of an earlier message that the sender quotes or forwards: untrusted, somebody else's words.
    Quote(String),
    /// A file, picture, voice message or video.
    Attachment(Attachment),
    /// Anything else, described in a few words such as `card: title https://…`.
    Placeholder(String),
}

/// The message that a message answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replied {
    /// Its id.
    pub message: MessageId,
    /// Its author was this bot. `None` when the platform does not say; the gateway then looks it up
    /// among the messages that it sent.
    pub to_bot: Option<bool>,
    /// Who wrote it, where the platform says so: whom a command means that answers a message and names
    /// nobody. Never guessed.
    pub author: Option<UserId>,
}

/// What a platform needs to answer this very message, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyContext {
    /// Opaque to the gateway, journaled with the message, at most 1,024 bytes.
    pub data: String,
    /// After this the context is worthless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// How many sends it allows, if they are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uses_left: Option<u32>,
}

/// A message as the adapter hands it in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboundMessage {
    /// Where.
    pub conversation: ConversationKey,
    /// What kind of place that is.
    pub chat: ChatKind,
    /// Who.
    pub sender: Sender,
    /// The platform's id of the message.
    pub id: MessageId,
    /// What was said.
    pub segments: Vec<Segment>,
    /// How it was given.
    pub via: Via,
    /// The bot is mentioned by name or id.
    pub mentions_bot: bool,
    /// The message it answers.
    pub reply_to: Option<Replied>,
    /// Messages with an equal key arrive together (an album) and belong into one turn.
    pub group_key: Option<Box<str>>,
    /// When the platform says it was sent.
    pub sent_at: Timestamp,
    /// When the adapter read it.
    pub received_at: Timestamp,
    /// What answering it needs, if the platform needs anything.
    pub reply_context: Option<ReplyContext>,
    /// The marks of the gateways through which a task came here, the oldest first, where programs pass it on; nobody
    /// but an agent passes anything on, so it is empty for people.
    pub passed: Vec<String>,
    /// What makes it the same message when it comes again.
    pub dedupe: DedupeKey,
}

impl InboundMessage {
    /// The sender's own words: text segments in order, mentions of people by name, without quotes,
    /// attachments and placeholders.
    #[must_use]
    pub fn own_text(&self) -> String {
        own_text(&self.segments)
    }

    /// Nothing was said: no attachment, no placeholder, and only white space.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.iter().all(|segment| match segment {
            Segment::Text(text) | Segment::Quote(text) => text.trim().is_empty(),
            Segment::Mention { .. } | Segment::MentionAll => true,
            Segment::Handle(_) | Segment::Attachment(_) | Segment::Placeholder(_) => false,
        })
    }
}

/// The sender's own words among segments, as in [`InboundMessage::own_text`].
#[must_use]
pub fn own_text(segments: &[Segment]) -> String {
    let mut text = String::new();
    for segment in segments {
        match segment {
            Segment::Text(piece) => text.push_str(piece),
            Segment::Mention { name, .. } | Segment::Handle(name) if !name.is_empty() => {
                text.push('@');
                text.push_str(name);
            }
            _ => {}
        }
    }
    text
}
