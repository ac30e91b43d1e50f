//! The parts of one reply, one after the other: words, a file in the place of the later words, files behind them.
//!
//! Owns their numbers, which are the same after a restart, and what takes the place of a file that is refused: something
//! plainer, at last words. What each outcome of a send leads to is `attempt`'s.

use std::sync::Arc;

use weirgate_sdk::{MediaLimits, OutgoingFile, answer::Format};

use super::{End, Reply, Shared, attempt, failed};
use crate::{
    clock::{Tick, micros},
    outbound::compose::{part_texts, pause_before},
    reason::Reason,
};

/// A part as it is tried first.
struct Planned {
    /// The words; of files those that are said where none of them can be sent.
    text: String,
    format: Format,
    files: Vec<OutgoingFile>,
}

impl Shared {
    pub(super) async fn deliver(self: &Arc<Self>, reply: &mut Reply) -> End {
        let planned = self.planned(reply);
        // Behind the second part it was refused already.
        let mut whole = self.whole(reply).filter(|_| reply.part <= 1);
        let mut frozen: Tick = 0;
        let mut doubtful = reply.doubtful;
        let first = usize::try_from(reply.part).unwrap_or(0);
        for (index, plan) in planned.iter().enumerate().skip(first) {
            let pause = micros(pause_before(&reply.body, index));
            if index > 0
                && !self
                    .sleep_until(self.clock.tick().saturating_add(pause))
                    .await
            {
                return End::Stopped;
            }
            // Looked up for each part: a reload may have put another one in its place.
            let Some(adapter) = self.adapter(&reply.key) else {
                tracing::warn!(reply = reply.id, conversation = %reply.key.encode(),
                    "no account is configured for this conversation; the reply is given up");
                self.note(reply.turn, reply.id, Reason::SendGone);
                let part = u32::try_from(index).unwrap_or(u32::MAX);
                self.settle(reply.id, part, failed(Reason::SendGone)).await;
                return End::Settled;
            };
            let in_place = whole.take_if(|_| index == 1);
            let is_whole = in_place.is_some();
            let all = if is_whole || whole.is_some() {
                2
            } else {
                planned.len()
            };
            let mut part = attempt::Part {
                adapter,
                reply,
                text: &plan.text,
                format: plan.format,
                files: in_place.map_or_else(|| plan.files.clone(), |file| vec![file]),
                index: u32::try_from(index).unwrap_or(u32::MAX),
                count: u32::try_from(all).unwrap_or(u32::MAX),
            };
            let mut outcome = self.send_part(&mut part, &mut frozen, doubtful).await;
            while let attempt::Outcome::FileRefused = outcome {
                let limits = part.adapter.capabilities(&reply.key).media;
                part.files = plainer(&part.files, limits)
                    .filter(|_| !is_whole)
                    .unwrap_or_default();
                if part.files.is_empty() {
                    self.note(reply.turn, reply.id, Reason::FileAsText);
                    part.count = u32::try_from(planned.len()).unwrap_or(u32::MAX);
                } else {
                    self.note(reply.turn, reply.id, Reason::FilePlainer);
                }
                outcome = self.send_part(&mut part, &mut frozen, doubtful).await;
            }
            let is_over = is_whole && !part.files.is_empty();
            match outcome {
                attempt::Outcome::Delivered | attempt::Outcome::Doubtful if is_over => {
                    return End::Settled;
                }
                // What is left of it are words, which have no file to refuse.
                attempt::Outcome::Delivered | attempt::Outcome::FileRefused => {}
                attempt::Outcome::Doubtful => doubtful = true,
                attempt::Outcome::GivenUp => {
                    self.unanswered(reply);
                    return End::Settled;
                }
                attempt::Outcome::Stopped => return End::Stopped,
            }
            reply.intent_written = false;
            reply.doubts = 0;
        }
        End::Settled
    }

    /// All parts of a reply, without the file that may take the place of the later ones.
    fn planned(&self, reply: &Reply) -> Vec<Planned> {
        let texts = part_texts(&reply.body).into_iter().map(|text| Planned {
            text,
            format: reply.body.format,
            files: Vec::new(),
        });
        let albums = reply.body.albums();
        let albums = albums.into_iter().map(|album| {
            let words: Vec<&str> = album.iter().map(|file| file.words.as_str()).collect();
            let media = self.media.as_ref();
            let files = media.map(|media| album.iter().map(|file| media.outgoing(file)).collect());
            Planned {
                text: words.join("\n"),
                format: Format::Plain,
                files: files.unwrap_or_default(),
            }
        });
        texts.chain(albums).collect()
    }

    /// The file of a reply that takes the place of its later parts, if there is a store of files to take it from.
    fn whole(&self, reply: &Reply) -> Option<OutgoingFile> {
        let file = reply.body.file.as_ref()?;
        let media = self.media.as_ref()?;
        Some(media.outgoing(file))
    }
}

/// The same files as something plainer that the conversation takes; `None` if there is nothing.
fn plainer(files: &[OutgoingFile], limits: MediaLimits) -> Option<Vec<OutgoingFile>> {
    let plainer = |file: &OutgoingFile| {
        let kind = limits.fit(file.kind.plainer()?, file.size)?;
        Some(OutgoingFile {
            kind,
            ..file.clone()
        })
    };
    files.iter().map(plainer).collect()
}
