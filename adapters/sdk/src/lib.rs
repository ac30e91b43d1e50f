//! The contract between the gateway and a platform adapter.
//!
//! An adapter is one crate that depends on this one and implements [`Adapter`]: it turns platform
//! events into [`Event`]s, hands them to the [`Ingress`], and delivers what the gateway gives it to
//! [`Adapter::send`]. Everything beyond that is an ability, a small trait of its own that the adapter
//! offers when its platform has it. The contract suite of the test kit is the definition of what is
//! promised here; `docs/writing-an-adapter.md` walks through an example.
//!
//! Beside the contract stand a few small tools that more than one adapter needs: [`admins`], [`backoff`],
//! [`media::address`], [`media::form`], [`patience`], [`text`] and [`answer::table`]. They are pure.
//!
//! This crate never opens a connection, reads a file or a clock, or knows a platform by name. The one
//! socket that it touches is that of [`Finding::listen`], for a moment.

pub mod ability;
pub mod adapter;
pub mod admins;
pub mod answer;
pub mod backoff;
pub mod button;
pub mod capability;
pub mod check;
pub mod error;
pub mod event;
pub mod id;
pub mod ingress;
pub mod manage;
pub mod media;
pub mod message;
pub mod moderation;
pub mod patience;
pub mod request;
pub mod settings;
pub mod stop;
pub mod text;

pub use ability::{
    Choice, Indicates, Preview, PreviewStart, Streams, ThreadSummary, ToolUse, ToolUseState,
    Transcript, TranscriptEntry,
};
pub use adapter::{
    Adapter, ChatModels, FieldKind, Menu, MenuCommand, MenuField, MenuLanguage, Outgoing,
    ReplyTarget, Sent, Setup, TIME_ENDS,
};
pub use button::{Button, ButtonLimits, ButtonStyle, Buttons};
pub use capability::{Capabilities, Length, LengthUnit, MediaLimits, Rates, Streaming};
pub use check::Finding;
pub use error::{AdapterError, Freeze, SendError};
pub use event::{Batch, Cursor, Event};
pub use id::{
    AccountName, BotId, ConversationId, ConversationKey, DedupeKey, MessageId, Platform, Realm,
    ThreadId, UserId, UserKey,
};
pub use ingress::{ClientAddress, Connection, Ingress, NotAccepted, Outcome, Receipt, ReceiptSlot};
pub use manage::{Asker, Change, Configured, Extent, Manage, NotDone, Which};
pub use media::{
    Content, Download, DownloadError, Downloads, KeepError, Keeper, KeptFile, MediaKind,
    OutgoingFile, SentFile, Source,
};
pub use message::{
    Attachment, AttachmentKind, ChatKind, InboundMessage, PlatformRole, Replied, ReplyContext,
    Segment, Sender, SenderKind, Timestamp, Via,
};
pub use moderation::{Action, BotRights, Leaves, Member, Moderates, ModerationError};
pub use request::{Request, RequestKind, Requests};
pub use stop::{Stop, Stopper};
