//! A call from its beginning to its end.
//!
//! Owns how far it has come, as whoever waits for it sees it. A slow reader sees the newest state and not every one.

use std::sync::Arc;

use tokio::sync::watch;
use weirgate_sdk::{ConversationKey, MessageId};

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It was handed in, and the gateway has not said that it has it.
    HandedIn,
    /// The gateway has it.
    Accepted,
    /// An answer is being written.
    Working,
    /// It was answered.
    Done,
    /// It ended, and there is no answer.
    Silent,
    /// It was not taken, and why.
    Refused(&'static str),
    /// Its caller gave it up.
    Cancelled,
}

/// A call as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Progress {
    /// How far it has come.
    pub(crate) stage: Stage,
    /// The answer so far.
    pub(crate) text: Arc<str>,
    /// The text is what was said for good, and no preview.
    pub(crate) is_final: bool,
}

impl Stage {
    /// Nothing comes any more.
    pub(crate) fn is_over(self) -> bool {
        !matches!(self, Self::HandedIn | Self::Accepted | Self::Working)
    }
}

/// A call.
#[derive(Debug)]
pub(crate) struct Call {
    /// The session of the caller.
    pub(crate) conversation: ConversationKey,
    /// The message that it is.
    pub(crate) message: MessageId,
    progress: watch::Sender<Progress>,
}

impl Call {
    pub(crate) fn new(conversation: ConversationKey, message: MessageId) -> Arc<Self> {
        let progress = Progress {
            stage: Stage::HandedIn,
            text: "".into(),
            is_final: false,
        };
        Arc::new(Self {
            conversation,
            message,
            progress: watch::Sender::new(progress),
        })
    }

    /// What it is now and from now on.
    pub(crate) fn follow(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// The gateway has it.
    pub(crate) fn accepted(&self) {
        self.change(|progress| {
            let first = progress.stage == Stage::HandedIn;
            if first {
                progress.stage = Stage::Accepted;
            }
            first
        });
    }

    /// The answer is written so far.
    pub(crate) fn draft(&self, text: String) {
        self.change(|progress| {
            if progress.is_final {
                return false;
            }
            progress.stage = Stage::Working;
            progress.text = text.into();
            true
        });
    }

    /// A part of the answer as it was sent; `last`: it is the last one.
    pub(crate) fn part(&self, text: &str, last: bool) {
        self.change(|progress| {
            progress.text = if progress.is_final && !progress.text.is_empty() {
                format!("{}\n\n{text}", progress.text).into()
            } else {
                text.into()
            };
            progress.is_final = true;
            progress.stage = if last { Stage::Done } else { Stage::Working };
            true
        });
    }

    /// It ends.
    pub(crate) fn end(&self, stage: Stage) {
        self.change(|progress| {
            progress.stage = stage;
            true
        });
    }

    /// It is as the store says.
    pub(crate) fn set(&self, new: Progress) {
        self.change(|progress| {
            *progress = new;
            true
        });
    }

    /// What is over stays as it is.
    fn change(&self, change: impl FnOnce(&mut Progress) -> bool) {
        self.progress
            .send_if_modified(|progress| !progress.stage.is_over() && change(progress));
    }
}

/// What is new of a text: a further piece, or all of it anew.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum New<'a> {
    /// Nothing.
    Nothing,
    /// This stands behind what was told.
    Delta(&'a str),
    /// This is in its place.
    Replace(&'a str),
}

/// What is new of a text for whom `told` was told.
pub(crate) fn news<'a>(told: &str, text: &'a str) -> New<'a> {
    match text.strip_prefix(told) {
        Some("") => New::Nothing,
        Some(rest) => New::Delta(rest),
        None => New::Replace(text),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call() -> Arc<Call> {
        let conversation = ConversationKey {
            platform: "interop".into(),
            account: "a".into(),
            conversation: "c".into(),
            thread: None,
        };
        Call::new(conversation, "m".into())
    }

    #[test]
    fn an_answer_takes_the_place_of_its_preview_and_its_parts_follow_each_other() {
        let call = call();
        let follow = call.follow();
        call.accepted();
        assert_eq!(follow.borrow().stage, Stage::Accepted);
        call.draft("so fa".into());
        call.part("so far", false);
        call.draft("late".into());
        call.accepted();
        assert_eq!(
            (&*follow.borrow().text, follow.borrow().stage),
            ("so far", Stage::Working)
        );
        call.part("and more", true);
        call.part("too late", true);
        call.end(Stage::Cancelled);
        assert_eq!(
            (&*follow.borrow().text, follow.borrow().stage),
            ("so far\n\nand more", Stage::Done)
        );
    }

    proptest! {
        #[test]
        fn pieces_give_the_text(texts in prop::collection::vec("[ab好]{0,5}", 0..20)) {
            let mut told = String::new();
            for text in &texts {
                match news(&told, text) {
                    New::Nothing => {}
                    New::Delta(piece) => told.push_str(piece),
                    New::Replace(whole) => told = whole.to_owned(),
                }
                prop_assert_eq!(&told, text);
            }
        }
    }
}
