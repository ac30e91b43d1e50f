//! Files that a tool gives to go out with the answer.
//!
//! Owns what a file goes out as, the limits on the way into the store, and what the model is told of it. The files leave
//! with the answer of the turn, in one transaction with it; until then nothing is promised to anybody but the model.

use std::sync::Arc;

use parking_lot::Mutex;
use weirgate_sdk::{AttachmentKind, ConversationKey, Download, MediaKind, MediaLimits, text::line};

use super::{Fault, usage::Usage};
use crate::{
    i18n::{Language, media::MediaNote},
    media::{self, MediaStore, cleaned::cleaned},
    security::{fence, redact::Redactor},
    store::{ReplyFile, kind_name},
};

/// Most files of one answer.
const MAX_FILES: u32 = 10;
/// Files of the conversation among which one is looked for.
const LOOKED_AT: usize = 200;
/// Longest name, in characters.
const MAX_NAME: usize = 120;

/// As what a file is to go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As what its content is.
    Auto,
    /// To be saved.
    File,
    /// A picture as a sticker.
    Sticker,
    /// A recording as a voice.
    Voice,
}

/// What a call may send, and what it has given.
pub struct Sending<'a> {
    /// Where files are kept.
    pub store: &'a Arc<MediaStore>,
    /// The conversation's number and key.
    pub conversation: (i64, &'a ConversationKey),
    /// What the conversation takes.
    pub limits: MediaLimits,
    /// What must not leave.
    pub redactor: &'a Redactor,
    /// The language of the one who asks.
    pub language: Language,
    /// What the turn has used.
    pub usage: &'a Usage,
    /// What was given.
    pub taken: Mutex<Vec<ReplyFile>>,
}

impl std::fmt::Debug for Sending<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sending")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Sending<'_> {
    /// Whether the conversation takes files at all.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        self.largest() > 0
    }

    fn largest(&self) -> u64 {
        let kinds = [
            MediaKind::Image,
            MediaKind::Sticker,
            MediaKind::Voice,
            MediaKind::Audio,
            MediaKind::Video,
            MediaKind::File,
        ];
        let sizes = kinds.map(|kind| self.limits.of(kind));
        sizes.into_iter().max().unwrap_or_default()
    }

    /// The newest file that somebody sent into the conversation under this name, or of this kind; with its name.
    ///
    /// # Errors
    /// There is none, or it is gone.
    pub async fn received(&self, wanted: &str) -> Result<(String, Download), Fault> {
        let kind = match wanted {
            "image" => Some(AttachmentKind::Image),
            "audio" => Some(AttachmentKind::Audio),
            "video" => Some(AttachmentKind::Video),
            "file" => Some(AttachmentKind::File),
            _ => None,
        };
        let rows = self.store.newest(self.conversation.0, LOOKED_AT).await;
        let rows = rows.map_err(|_| Fault::passing("The files cannot be looked at now."))?;
        let found = rows.into_iter().find(|row| match kind {
            Some(kind) => row.kind == kind,
            // The model knows names as they are shown to it.
            None => row
                .name
                .as_deref()
                .is_some_and(|name| name == wanted || fence::label(name) == wanted),
        });
        let none = || Fault::lasting("Nobody sent such a file here, or it is not kept any more.");
        let row = found.ok_or_else(none)?;
        let file = self.store.read(&row).await;
        let file = file.map_err(|_| Fault::passing("The file cannot be read now."))?;
        let extension = row.mime.rsplit('/').next().unwrap_or("bin");
        let own = || format!("{}.{extension}", kind_name(row.kind));
        Ok((row.name.clone().unwrap_or_else(own), file.ok_or_else(none)?))
    }

    /// Keeps a file, so that it goes out with the answer. Gives what the model is told.
    ///
    /// # Errors
    /// Why it does not go out.
    pub async fn take(&self, name: &str, file: Download, form: Form) -> Result<String, Fault> {
        if !self.usage.take_file(MAX_FILES) {
            let text = format!("No more than {MAX_FILES} files go out with one answer.");
            return Err(Fault::lasting(text));
        }
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = line(&self.redactor.redact(name), MAX_NAME);
        let name = if name.is_empty() { "file" } else { &name };
        let largest = self.largest();
        let file = cleaned(file, self.redactor);
        let put = self.store.put(self.conversation, name, file, largest);
        let mut file = put.await.map_err(|fault| match fault {
            media::Fault::TooLarge(most) => too_large(most),
            fault => {
                tracing::warn!(%fault, "a file that was to be sent is not kept");
                Fault::passing("The file cannot be kept now.")
            }
        })?;
        match self.form(&file, form) {
            Ok(kind) => file.kind = kind,
            Err(fault) => {
                if let Err(fault) = self.store.take_back(&file).await {
                    // It goes when its time is over.
                    tracing::debug!(%fault, "a file that is not sent stays for a while");
                }
                return Err(fault);
            }
        }
        let what = MediaNote::NotSent {
            kind: file.kind,
            what: fence::label(&file.name),
        };
        file.words = what.render(self.language);
        let told = format!(
            "{} ({}, {} bytes) goes out with your answer.",
            file.name,
            file.kind.name(),
            file.size
        );
        self.taken.lock().push(file);
        Ok(told)
    }

    /// As what a file goes out.
    fn form(&self, file: &ReplyFile, form: Form) -> Result<MediaKind, Fault> {
        let wanted = match (form, file.kind) {
            (Form::Auto, kind) => kind,
            (Form::File, _) => MediaKind::File,
            (Form::Sticker, MediaKind::Image) => MediaKind::Sticker,
            (Form::Voice, MediaKind::Voice | MediaKind::Audio) => MediaKind::Voice,
            (Form::Sticker, _) => return Err(Fault::lasting("Only a picture can be a sticker.")),
            (Form::Voice, _) => return Err(Fault::lasting("Only a recording can be a voice.")),
        };
        let fit = self.limits.fit(wanted, file.size);
        fit.ok_or_else(|| too_large(self.limits.most(wanted)))
    }
}

fn too_large(most: u64) -> Fault {
    Fault::lasting(format!(
        "The file is too large: at most {most} bytes can be sent here."
    ))
}
