//! What people send beside words, in a turn: kept and described. What the model is given of it is `enclosed`'s.
//!
//! Owns which files of a turn are fetched, what stands for each in the words, and what the person is told of one that
//! could not be had. It never decides who may send files; that was decided before.

use bytes::Bytes;
use futures_util::stream;
use weirgate_sdk::{
    Adapter, Attachment, AttachmentKind, Download, MediaLimits, Segment, answer::Format,
};

use super::{
    Agent,
    ending::{Ending, marked},
    history::Part,
    running::RunningTurn,
    turn::{Input, Turn},
};
use crate::{
    i18n::{Language, media::MediaNote},
    inbound::body::described,
    media::{Fault, MediaStore, TEXT},
    reason::Reason,
    security::fence::{self, Origin},
    store::{MediaRow, ReplyBody, ReplyFile, kind_name},
    trace::turn_id,
};

/// Files of one turn that are fetched; those behind it are only described.
const MAX_FILES: usize = 10;

/// What became of the files of a turn.
#[derive(Debug, Default)]
pub(super) struct Media {
    /// What stands in the words for each attachment, in their order.
    words: Vec<String>,
    /// References to what was kept, for the model and the history.
    pub(super) parts: Vec<Part>,
    /// What the person is told.
    pub(super) notes: Vec<MediaNote>,
}

impl Media {
    /// What stands for the attachments, one after the other.
    pub(super) fn words(&self) -> impl FnMut(&Attachment) -> String + '_ {
        let mut words = self.words.iter();
        move |attachment| {
            words
                .next()
                .cloned()
                .unwrap_or_else(|| described(attachment))
        }
    }
}

impl Agent {
    /// A text with the notes behind it, in the person's language. Names of files go through the output filter.
    pub(super) fn with_notes(
        &self,
        input: &Input,
        text: String,
        notes: &[MediaNote],
        language: Language,
    ) -> String {
        if notes.is_empty() {
            return text;
        }
        let notes: Vec<String> = notes.iter().map(|note| note.render(language)).collect();
        let notes = notes.join("\n");
        let cleaned = input.rules.composer.redactor().clean(&notes);
        self.note_replaced(input, cleaned.secrets, cleaned.words);
        marked(text, &cleaned.text)
    }

    /// Puts a long answer into a file beside its parts, where that is wanted and the platform takes one.
    pub(super) async fn long_as_file(
        &self,
        input: &Input,
        turn: &Turn,
        body: ReplyBody,
    ) -> ReplyBody {
        let most_parts = input.rules.composer.output().long_as_file;
        let is_long = most_parts > 0 && body.parts.len() > most_parts.max(1);
        let adapter = self.deliverer.adapter(&turn.conversation);
        let limits = adapter.map(|adapter| adapter.capabilities(&turn.conversation).media);
        let (Some(store), Some(limits)) = (&self.media, limits) else {
            return body;
        };
        let size = u64::try_from(body.text.len()).unwrap_or(u64::MAX);
        let alone = body.media.is_empty() && body.buttons.is_empty() && !body.private;
        if !is_long || !alone || size > limits.file {
            return body;
        }
        let name = match body.format {
            Format::Markdown => "answer.md",
            Format::Plain | Format::Html => "answer.txt",
        };
        let whole = Bytes::copy_from_slice(body.text.as_bytes());
        let whole = Download::of(Some(size), stream::iter([Ok(whole)]));
        let place = (input.conversation, &*turn.conversation);
        match store.put(place, name, whole, limits.file).await {
            Ok(file) => {
                self.traces
                    .note(input.turn, Reason::SentAsFile, self.clock.now());
                ReplyBody {
                    file: Some(file),
                    ..body
                }
            }
            Err(fault) => {
                let turn = turn_id(input.turn);
                tracing::warn!(%turn, %fault, "a long answer goes out in messages, not as a file");
                body
            }
        }
    }

    /// The files of an answer, in groups that are one message each, and its text: with words for those for which the
    /// platform leaves no message.
    pub(super) fn albums(
        &self,
        input: &Input,
        turn: &Turn,
        ending: &Ending,
        mut text: String,
    ) -> (String, Vec<ReplyFile>) {
        let Some(adapter) = self.deliverer.adapter(&turn.conversation) else {
            return (text, Vec::new());
        };
        let limits = adapter.capabilities(&turn.conversation).media;
        let mut files = joined(ending.files.clone(), limits);
        let context = turn.body().reply_context.as_ref();
        let uses = context.and_then(|context| context.uses_left);
        let most = uses.and_then(|uses| usize::try_from(uses).ok());
        // One is for the words, of which there are some at the latest when a file is left out.
        let most = most.map_or(usize::MAX, |most| most.saturating_sub(1));
        let mut groups = 0;
        let kept = files
            .iter()
            .take_while(|file| {
                groups += usize::from(!file.joined);
                groups <= most
            })
            .count();
        for left in files.drain(kept..) {
            self.traces
                .note(input.turn, Reason::FileAsText, self.clock.now());
            text = marked(text, &left.words);
        }
        (text, files)
    }

    /// Fetches the files of a turn, unless it is stopped meanwhile.
    pub(super) async fn take_media(
        &self,
        input: &Input,
        turn: &Turn,
        running: &RunningTurn,
    ) -> Media {
        let attachments: Vec<&Attachment> = turn
            .bodies
            .iter()
            .flat_map(|body| &body.segments)
            .filter_map(|segment| match segment {
                Segment::Attachment(attachment) => Some(attachment),
                _ => None,
            })
            .collect();
        let (Some(store), Some(adapter)) =
            (&self.media, self.deliverer.adapter(&turn.conversation))
        else {
            return Media::default();
        };
        if attachments.is_empty() {
            return Media::default();
        }
        let takes = Self::takes(input, turn);
        let mut media = Media::default();
        for (index, attachment) in attachments.into_iter().enumerate() {
            let wanted = index < MAX_FILES
                && match attachment.kind {
                    AttachmentKind::Image => takes.pictures,
                    AttachmentKind::Audio => takes.sounds,
                    AttachmentKind::File => true,
                    // No model here sees them move.
                    AttachmentKind::Video => false,
                };
            let taken = if wanted {
                let fetch = self.fetch(store, &*adapter, input, turn, attachment);
                tokio::select! {
                    biased;
                    () = running.stopped() => return media,
                    taken = fetch => Some(taken),
                }
            } else {
                None
            };
            let words = match taken {
                Some(Ok((row, words))) => {
                    media.keep(&row);
                    words
                }
                Some(Err(note)) => {
                    let words = note.for_model(&described(attachment));
                    media.notes.push(note);
                    words
                }
                None => described(attachment),
            };
            media.words.push(words);
        }
        media
    }

    /// Fetches one file, and says what stands for it.
    async fn fetch(
        &self,
        store: &MediaStore,
        adapter: &dyn Adapter,
        input: &Input,
        turn: &Turn,
        attachment: &Attachment,
    ) -> Result<(MediaRow, String), MediaNote> {
        let place = (input.conversation, &*turn.conversation);
        let kept = match store.fetch(adapter.downloads(), place, attachment).await {
            Ok(row) => words_of(store, &row, attachment)
                .await
                .map(|words| (row, words)),
            Err(fault) => Err(fault),
        };
        kept.map_err(|fault| {
            tracing::warn!(turn = %turn_id(input.turn), %fault, "a file could not be had");
            let what = fence::label(attachment.name.as_deref().unwrap_or_default());
            let kind = attachment.kind;
            let (note, reason) = match fault {
                Fault::TooLarge(limit) => (
                    MediaNote::TooLarge { kind, what, limit },
                    Reason::MediaTooLarge,
                ),
                Fault::OtherType(_) => (MediaNote::OtherType { kind, what }, Reason::MediaFailed),
                Fault::NotGiven(_) | Fault::TooSlow(_) | Fault::NotKept(_) => {
                    (MediaNote::Failed { kind, what }, Reason::MediaFailed)
                }
            };
            self.traces.note(input.turn, reason, self.clock.now());
            note
        })
    }
}

/// Marks which files are one message with the one before.
fn joined(mut files: Vec<ReplyFile>, limits: MediaLimits) -> Vec<ReplyFile> {
    let (mut count, mut bytes) = (0, 0_u64);
    for file in &mut files {
        bytes = bytes.saturating_add(file.size);
        file.joined = file.kind.joins(&file.mime)
            && (1..limits.album).contains(&count)
            && bytes <= limits.album_bytes;
        if !file.joined {
            count = usize::from(file.kind.joins(&file.mime));
            bytes = file.size;
        } else {
            count += 1;
        }
    }
    files
}

impl Media {
    fn keep(&mut self, row: &MediaRow) {
        self.parts.push(Part::Media {
            kind: kind_name(row.kind).to_owned(),
            reference: row.id.clone(),
        });
    }
}

/// What stands for a kept file: a text stands there itself, between two lines that say what it is.
async fn words_of(
    store: &MediaStore,
    row: &MediaRow,
    attachment: &Attachment,
) -> Result<String, Fault> {
    let described = described(attachment);
    if row.mime != TEXT {
        return Ok(described);
    }
    let most = store.settings().text_bytes;
    let Some(bytes) = store.head(&row.id, most).await? else {
        return Ok(described);
    };
    let text = String::from_utf8_lossy(&bytes);
    // The last character may be cut in two.
    let text = text.trim_end_matches('\u{fffd}').trim_end();
    let name = fence::label(attachment.name.as_deref().unwrap_or("file"));
    let cut = if row.size > most { "[…]\n" } else { "" };
    let fenced = fence::fenced(Origin::File, text);
    Ok(format!(
        "{described}\n{fenced}{cut}[end of the file {name}]\n"
    ))
}

#[cfg(test)]
mod tests {
    use weirgate_sdk::MediaKind;

    use super::*;

    fn file(kind: MediaKind, mime: &str, size: u64) -> ReplyFile {
        ReplyFile {
            id: String::new(),
            name: String::new(),
            mime: mime.to_owned(),
            size,
            kind,
            reference: String::new(),
            words: String::new(),
            joined: false,
        }
    }

    #[test]
    fn pictures_that_stand_still_are_one_message_as_far_as_they_fit() {
        let limits = MediaLimits {
            album: 3,
            album_bytes: 10,
            ..MediaLimits::NONE
        };
        let image = |size| file(MediaKind::Image, "image/png", size);
        let moving = file(MediaKind::Image, "image/gif", 1);
        let saved = file(MediaKind::File, "image/png", 1);
        let groups = |files: Vec<ReplyFile>| -> Vec<bool> {
            let files = joined(files, limits);
            files.iter().map(|file| file.joined).collect()
        };
        let four = vec![image(1), image(1), image(1), image(1)];
        assert_eq!(groups(four), [false, true, true, false]);
        let large = vec![image(6), image(5), image(5)];
        assert_eq!(groups(large), [false, false, true]);
        let mixed = vec![image(1), moving, image(1), saved, image(1), image(1)];
        assert_eq!(groups(mixed), [false, false, false, false, false, true]);
    }
}
