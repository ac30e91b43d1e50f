//! Files that somebody put into a group, or gave the bot, as some implementations tell it: by a notice only.
//!
//! Owns how such a notice becomes a message of whoever gave the file.

use serde::Deserialize;
use weirgate_sdk::{
    Attachment, AttachmentKind, ChatKind, DedupeKey, Event, InboundMessage, PlatformRole, Segment,
    Sender, SenderKind, Timestamp, Via, text::line,
};

use super::{DEDUPE_LIFETIME, MAX_NAME, Receiver, milliseconds};
use crate::onebot::{
    download,
    places::Place,
    wire::{self, Frame, MAX_ID, Raw},
};

/// What the id of such a message begins with: the platform gives a notice none, so it cannot be quoted.
pub const UPLOAD: &str = "upload-";
/// The longest id of a file, in bytes.
const MAX_FILE_ID: usize = 600;

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireFile<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    size: Raw<'a>,
    #[serde(borrow)]
    busid: Raw<'a>,
    #[serde(borrow)]
    url: Raw<'a>,
}

impl Receiver<'_> {
    /// The message that a file is. The bot's own are its own; what nobody can get at is still told by its name.
    pub(super) fn uploaded(&self, frame: &Frame<'_>, now: Timestamp) -> Option<Event> {
        let user = wire::id(frame.user_id, MAX_ID)?;
        if user == self.bot {
            return Some(Event::OwnMessage);
        }
        if self.ignored.contains(&*user) {
            return None;
        }
        let group = wire::id(frame.group_id, MAX_ID).filter(|group| *group != "0");
        let (chat, place) = match &group {
            Some(group) => (ChatKind::Group, Place::Group(group)),
            None => (ChatKind::Private, Place::Private(&user)),
        };
        let file: WireFile<'_> = wire::object(frame.file);
        let name = wire::text(file.name).unwrap_or_default();
        let name = line(&name, MAX_NAME);
        let id = wire::id(file.id, MAX_FILE_ID);
        let address = wire::text(file.url).filter(|url| url.starts_with("http"));
        let own = id.as_deref().map(|id| match &group {
            Some(_) => download::in_group(wire::integer(file.busid), id),
            None => id.to_owned(),
        });
        let segment = match download::reference(address, own.map(Into::into)) {
            Some(reference) if reference.len() <= download::MAX_REFERENCE => {
                Segment::Attachment(Attachment {
                    kind: AttachmentKind::File,
                    reference,
                    name: (!name.is_empty()).then(|| name.clone()),
                    size: wire::integer(file.size).and_then(|size| u64::try_from(size).ok()),
                    expires_at: None,
                })
            }
            _ => Segment::Placeholder(format!("file: {name}")),
        };
        let time = wire::integer(frame.time).filter(|time| *time > 0);
        let sent_at = time.map_or(now, milliseconds);
        let seconds = sent_at / 1_000;
        let what = id.as_deref().unwrap_or(&name);
        let key = format!("{seconds}/upload/{user}/{place}/{what}");
        Some(Event::Message(Box::new(InboundMessage {
            conversation: self.conversation(place.conversation().as_str()),
            chat,
            sender: Sender {
                key: self.user(&user),
                name: String::new(),
                is_bot: false,
                role: PlatformRole::Unknown,
                kind: SenderKind::Person,
            },
            id: format!("{UPLOAD}{seconds}-{user}").into(),
            segments: vec![segment],
            via: Via::Text,
            mentions_bot: false,
            reply_to: None,
            group_key: None,
            sent_at,
            received_at: now,
            reply_context: None,
            dedupe: DedupeKey {
                key: key.into(),
                lifetime: DEDUPE_LIFETIME,
            },
        })))
    }
}
