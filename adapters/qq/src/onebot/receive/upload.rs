//! Files that somebody put into a group, or gave the bot, as some implementations tell it: by a notice only.
//!
//! Owns how such a notice becomes a message of whoever gave the file.

use serde::Deserialize;
use weirgate_sdk::{Attachment, AttachmentKind, Event, Segment, Timestamp, text::line};

use super::{
    MAX_NAME, Receiver,
    noticed::{Noticed, Says},
};
use crate::onebot::{
    download,
    wire::{self, Frame, Raw},
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
        let noticed = Noticed::read(frame, now)?;
        if noticed.user == *self.bot {
            return Some(Event::OwnMessage);
        }
        if self.ignored.contains(&*noticed.user) {
            return None;
        }
        let file: WireFile<'_> = wire::object(frame.file);
        let name = wire::text(file.name).unwrap_or_default();
        let name = line(&name, MAX_NAME);
        let id = wire::id(file.id, MAX_FILE_ID);
        let address = wire::text(file.url).filter(|url| url.starts_with("http"));
        let own = id.as_deref().map(|id| match &noticed.group {
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
        let says = Says {
            prefix: UPLOAD,
            what: "upload",
            apart: Some(id.as_deref().unwrap_or(&name).to_owned()),
            segment,
            mentions_bot: false,
        };
        Some(self.message_of(&noticed, says, now))
    }
}
