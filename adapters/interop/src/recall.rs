//! What became of a call that nobody of this process knows, read from the store.
//!
//! Owns how a transcript is read for it, and its bound. It changes nothing.

use std::sync::Arc;

use weirgate_sdk::{ConversationKey, MessageId, Transcript};

use crate::{
    call::{Progress, Stage},
    format::text,
};

/// Messages of a page.
const PAGE: usize = 100;
/// Most pages that are looked through, from the newest on.
const MAX_PAGES: usize = 10;

/// How far a call has come; `None` if nobody knows of it.
///
/// # Errors
/// The store's.
pub(crate) async fn recalled(
    transcript: &dyn Transcript,
    conversation: &ConversationKey,
    message: &MessageId,
) -> Result<Option<Progress>, String> {
    let (mut answers, mut before) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let page = transcript.read(conversation, before, PAGE).await?;
        for entry in page.iter().rev() {
            if entry.answers.contains(message) {
                answers.push(text(&entry.blocks));
            }
            if entry.message.as_ref() == Some(message) {
                answers.reverse();
                return Ok(Some(progress(&answers, entry.pending)));
            }
        }
        before = page.first().map(|entry| entry.id);
        if page.len() < PAGE {
            break;
        }
    }
    Ok(None)
}

fn progress(answers: &[String], pending: bool) -> Progress {
    let text: Arc<str> = answers.join("\n\n").into();
    let stage = match (pending, text.is_empty()) {
        (true, _) => Stage::Accepted,
        (false, true) => Stage::Silent,
        (false, false) => Stage::Done,
    };
    Progress {
        stage,
        text,
        is_final: stage == Stage::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_answered_is_done_and_what_waits_is_not() {
        let one = ["a".to_owned(), "b".to_owned()];
        let done = progress(&one, false);
        assert_eq!((done.stage, &*done.text), (Stage::Done, "a\n\nb"));
        assert_eq!(progress(&[], false).stage, Stage::Silent);
        assert_eq!(progress(&[], true).stage, Stage::Accepted);
    }
}
