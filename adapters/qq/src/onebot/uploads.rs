//! Files that are told twice: by a notice, and as a message with a file in it.
//!
//! Owns which of the two counts: the one that comes first. Implementations differ in whether they send both (NapCat and
//! LLBot do) and in which order, so each is paired with one of the other kind. Bounded; pure.

use std::collections::VecDeque;

use weirgate_sdk::{
    AttachmentKind, ChatKind, ConversationKey, DedupeKey, Event, InboundMessage, Segment,
    Timestamp, UserKey,
};

use super::receive::upload::UPLOAD;

/// Files that are remembered.
const MAX: usize = 128;
/// How far apart the two may be, in milliseconds: by what they say themselves, or by when they came.
const APART: i64 = 60_000;

/// The files of one account that were told lately.
#[derive(Debug, Default)]
pub struct Uploads(VecDeque<Upload>);

#[derive(Debug)]
struct Upload {
    file: File,
    /// The event by which it was told first.
    first: DedupeKey,
    by_notice: bool,
    /// That of the other kind, once it came.
    second: Option<DedupeKey>,
}

#[derive(Debug)]
struct File {
    place: ConversationKey,
    user: UserKey,
    name: String,
    size: Option<u64>,
    sent_at: Timestamp,
    received_at: Timestamp,
}

impl File {
    /// The file that a message of a group is, if it is nothing else.
    fn of(message: &InboundMessage) -> Option<Self> {
        let [Segment::Attachment(file)] = message.segments.as_slice() else {
            return None;
        };
        let is_file = file.kind == AttachmentKind::File && message.chat == ChatKind::Group;
        is_file.then(|| Self {
            place: message.conversation.clone(),
            user: message.sender.key.clone(),
            name: file.name.clone().unwrap_or_default(),
            size: file.size,
            sent_at: message.sent_at,
            received_at: message.received_at,
        })
    }

    fn is(&self, other: &Self) -> bool {
        let near = |one: Timestamp, two: Timestamp| one.abs_diff(two) <= APART.unsigned_abs();
        let same_size = self.size.is_none() || other.size.is_none() || self.size == other.size;
        self.place == other.place
            && self.user == other.user
            && self.name == other.name
            && same_size
            && (near(self.sent_at, other.sent_at) || near(self.received_at, other.received_at))
    }
}

impl Uploads {
    /// Takes away what tells of a file that was told already.
    pub fn once(&mut self, events: &mut [Event]) {
        for event in events {
            let Event::Message(message) = event else {
                continue;
            };
            if File::of(message).is_some_and(|file| self.is_told(file, message)) {
                *event = Event::Other {
                    name: "file.told".to_owned(),
                };
            }
        }
    }

    fn is_told(&mut self, file: File, message: &InboundMessage) -> bool {
        let by_notice = message.id.as_str().starts_with(UPLOAD);
        let key = &message.dedupe;
        // The same event once more is for the gateway to know, or goes the way that it went.
        if self.0.iter().any(|upload| upload.first == *key) {
            return false;
        }
        if self
            .0
            .iter()
            .any(|upload| upload.second.as_ref() == Some(key))
        {
            return true;
        }
        let other = self.0.iter_mut().find(|upload| {
            upload.by_notice != by_notice && upload.second.is_none() && upload.file.is(&file)
        });
        if let Some(other) = other {
            other.second = Some(key.clone());
            return true;
        }
        if self.0.len() >= MAX {
            self.0.pop_front();
        }
        self.0.push_back(Upload {
            file,
            first: key.clone(),
            by_notice,
            second: None,
        });
        false
    }
}

#[cfg(test)]
mod tests;
