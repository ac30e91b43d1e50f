//! How far the steps of a skill have come.
//!
//! Owns what is kept of that over a crash and over a wait for somebody's yes, and which step is next. Pure. A key never
//! changes its meaning: it is stored.

use serde::{Deserialize, Serialize};

use super::{OnError, OnResult, Template};
use crate::{agent::tool::Given, security::fence::Origin, store::ReplyFile};

/// What a step came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Came {
    /// It did what it was to do.
    pub ok: bool,
    /// What it gave, or why it gave nothing: without secrets and of bounded length.
    pub text: String,
    /// Whose words that is; nothing for the gateway's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

impl Came {
    /// Why a step gave nothing, in the gateway's words.
    #[must_use]
    pub fn failed(text: impl Into<String>) -> Self {
        Self {
            ok: false,
            text: text.into(),
            origin: None,
        }
    }

    /// As what a tool gives.
    #[must_use]
    pub fn given(&self) -> Given {
        Given {
            text: self.text.clone(),
            origin: self.origin,
        }
    }
}

/// How far they have come.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Progress {
    /// The digest of the file: another one cannot be gone on with.
    pub digest: String,
    /// What the steps came to that have ended, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub came: Vec<Came>,
    /// The step behind them may have done something that is not safe to repeat.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub begun: bool,
    /// Files that they gave to go out with the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ReplyFile>,
}

impl Progress {
    /// Nothing was done yet.
    #[must_use]
    pub fn of(template: &Template) -> Self {
        Self {
            digest: template.digest.clone(),
            ..Self::default()
        }
    }

    /// The place of the step that is next; nothing if the steps are at their end.
    #[must_use]
    pub fn next(&self, template: &Template) -> Option<usize> {
        let next = self.came.len();
        let (Some(came), Some(step)) = (
            self.came.last(),
            next.checked_sub(1)
                .and_then(|last| template.steps.get(last)),
        ) else {
            return (next < template.steps.len()).then_some(next);
        };
        let goes_on = match (came.ok, step.on_result, step.on_error) {
            (true, OnResult::Continue, _) | (false, _, OnError::Continue) => true,
            (true, OnResult::StopIfSuccess, _) | (false, _, OnError::Stop) => false,
        };
        (goes_on && next < template.steps.len()).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::agent::skill::template::read::tests::template;

    /// Which steps run where these come to that; the marks are theirs.
    fn run(steps: &str, came: &[bool]) -> (usize, Option<bool>) {
        let template = template(steps);
        let mut progress = Progress::of(&template);
        while let Some(next) = progress.next(&template) {
            let ok = came.get(next).copied().unwrap_or(true);
            progress.came.push(Came {
                ok,
                ..Came::failed("")
            });
        }
        (
            progress.came.len(),
            progress.came.last().map(|came| came.ok),
        )
    }

    #[test]
    fn success_ends_where_it_is_said_and_failure_where_it_is_not() {
        // Of the letters, s is stop_if_success, c goes on after a failure, f is a failure that stops.
        assert_eq!(run("...", &[]), (3, Some(true)));
        assert_eq!(run("s..", &[]), (1, Some(true)));
        assert_eq!(run("s..", &[false]), (3, Some(true)));
        assert_eq!(run("ss.", &[false, true]), (2, Some(true)));
        assert_eq!(run("...", &[true, false]), (2, Some(false)));
        assert_eq!(run(".c.", &[true, false]), (3, Some(true)));
        assert_eq!(run("f..", &[false]), (1, Some(false)));
        assert_eq!(run("..c", &[true, true, false]), (3, Some(false)));
    }

    proptest! {
        #[test]
        fn it_always_ends_and_what_was_kept_goes_on_at_the_same_step(
            steps in "[.scf]{1,20}", came in prop::collection::vec(any::<bool>(), 20), at in 0_usize..20
        ) {
            let template = template(&steps);
            let mut progress = Progress::of(&template);
            while let Some(next) = progress.next(&template) {
                if next == at {
                    let kept = serde_json::to_string(&progress).unwrap();
                    let back: Progress = serde_json::from_str(&kept).unwrap();
                    prop_assert_eq!(&back, &progress);
                    prop_assert_eq!(back.next(&template), Some(next));
                }
                progress.came.push(Came { ok: came[next], text: "x".into(), origin: Some(Origin::WebPage) });
                prop_assert!(progress.came.len() <= steps.len());
            }
        }
    }
}
