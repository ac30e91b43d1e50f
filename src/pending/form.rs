//! Buttons of a pending action, and what comes back from them.
//!
//! Owns the form of their ids: name, beginning of the hash, answer. Pure. A press is read strictly; whether it is true
//! is seen from the row.

use weirgate_sdk::{Button, ButtonLimits, ButtonStyle};

use super::{Act, code, id_of};
use crate::{
    i18n::{Language, consent::Consent},
    store::{Pending, PendingState, StoredPending},
};

/// What the ids of these buttons begin with.
const MARK: &str = "p";
/// The answer that means yes, where it is the only one.
const YES: &str = "yes";
/// The answer that means no.
const NO: &str = "no";
/// How much of the hash stands in an id.
const HASH: usize = 8;

/// What a press says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pressed {
    /// The row.
    pub id: i64,
    /// How the hash of the action begins.
    pub hash: String,
    /// What was answered; `None` for no.
    pub answer: Option<String>,
}

/// Reads the id of a button as it came; `None` if no button of this gateway has it.
#[must_use]
pub fn pressed(id: &str) -> Option<Pressed> {
    let mut parts = id.split('/');
    let (mark, name) = (parts.next()?, parts.next()?);
    let (hash, answer) = (parts.next()?, parts.next()?);
    let is_hash = hash.len() == HASH && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    if mark != MARK || !is_hash || parts.next().is_some() {
        return None;
    }
    Some(Pressed {
        id: id_of(name)?,
        hash: hash.to_owned(),
        answer: (answer != NO).then(|| answer.to_owned()),
    })
}

/// The buttons of a row, where so many fit; none where they do not.
#[must_use]
pub fn buttons(
    pending: &Pending,
    act: &Act,
    limits: Option<ButtonLimits>,
    language: Language,
) -> Vec<Button> {
    let options = act.options();
    let Some(limits) = limits.filter(|limits| options.len() < limits.most) else {
        return Vec::new();
    };
    let start: String = pending.hash.chars().take(HASH).collect();
    let button = |answer: &str, label: String, style| Button {
        label: label.chars().take(limits.label).collect(),
        id: format!("{MARK}/{}/{start}/{answer}", code(pending.id)),
        style,
    };
    let style = match act {
        Act::Delete | Act::Leave => ButtonStyle::Negative,
        Act::Tool(parked) if parked.choices().is_some() => ButtonStyle::Plain,
        Act::Transfer { .. } | Act::Moderate { .. } | Act::Admit { .. } | Act::Tool(_) => {
            ButtonStyle::Positive
        }
    };
    let yes = options
        .iter()
        .map(|answer| button(answer, act.label(answer, language), style));
    let no = if act.is_question() {
        Consent::Skip
    } else {
        Consent::No
    };
    let no = button(NO, no.render(language), ButtonStyle::Plain);
    yes.chain([no]).collect()
}

/// Which of the buttons under a question says what was answered; `None` while nothing was.
#[must_use]
pub fn chosen<'a>(row: &StoredPending, buttons: &'a [Button]) -> Option<&'a Button> {
    let answer = match row.state {
        PendingState::Approved => Some(row.answer.as_deref().unwrap_or(YES)),
        PendingState::Denied => None,
        PendingState::Open | PendingState::Expired | PendingState::Withdrawn => return None,
    };
    let says = |button: &&Button| {
        pressed(&button.id)
            .is_some_and(|it| it.id == row.pending.id && it.answer.as_deref() == answer)
    };
    buttons.iter().find(says)
}

#[cfg(test)]
mod tests {
    use weirgate_sdk::button::MAX_BUTTON_ID;

    use super::*;
    use crate::store::{Answerer, PendingKind};

    fn row(id: i64) -> Pending {
        Pending {
            id,
            conversation: 1,
            asker: 1,
            kind: PendingKind::Choice,
            answerer: Answerer::GlobalOwner,
            four_eyes: false,
            action: String::new(),
            hash: "0123456789abcdef".into(),
            created_at: 0,
            expires_at: 0,
        }
    }

    #[test]
    fn what_stands_on_buttons_comes_back() {
        let limits = ButtonLimits { most: 3, label: 20 };
        for language in Language::ALL {
            let buttons = buttons(&row(i64::MAX >> 4), &Act::Delete, Some(limits), language);
            let answers: Vec<Option<String>> = buttons
                .iter()
                .map(|button| {
                    assert!(button.id.len() <= MAX_BUTTON_ID, "{}", button.id);
                    assert!(!button.label.is_empty() && button.label.chars().count() <= 20);
                    let pressed = pressed(&button.id).expect("its own id");
                    assert_eq!((pressed.id, &*pressed.hash), (i64::MAX >> 4, "01234567"));
                    pressed.answer
                })
                .collect();
            let expected = [Some("history".to_owned()), Some("all".to_owned()), None];
            assert_eq!(answers, expected);
        }
    }

    #[test]
    fn the_button_that_says_the_answer_is_found_again() {
        let pending = row(42);
        let limits = ButtonLimits { most: 3, label: 20 };
        for (act, state, answer, index) in [
            (Act::Leave, PendingState::Open, None, None),
            (Act::Leave, PendingState::Approved, None, Some(0)),
            (Act::Leave, PendingState::Approved, Some("yes"), Some(0)),
            (Act::Leave, PendingState::Denied, None, Some(1)),
            (Act::Delete, PendingState::Approved, Some("all"), Some(1)),
            (Act::Delete, PendingState::Denied, None, Some(2)),
            (Act::Delete, PendingState::Expired, None, None),
            (Act::Delete, PendingState::Withdrawn, None, None),
        ] {
            let buttons = buttons(&pending, &act, Some(limits), Language::En);
            let row = StoredPending {
                pending: pending.clone(),
                state,
                answer: answer.map(str::to_owned),
                answered_by: 0,
                shown_as: None,
            };
            assert_eq!(
                chosen(&row, &buttons),
                index.map(|index: usize| &buttons[index]),
                "{act:?} {state:?}"
            );
        }
    }

    #[test]
    fn too_few_buttons_are_none() {
        let one = ButtonLimits { most: 2, label: 20 };
        assert!(buttons(&row(1), &Act::Delete, Some(one), Language::En).is_empty());
        assert!(buttons(&row(1), &Act::Leave, None, Language::En).is_empty());
        assert_eq!(
            buttons(&row(1), &Act::Leave, Some(one), Language::En).len(),
            2
        );
    }

    #[test]
    fn nothing_else_is_a_press() {
        let name = code(7);
        for id in [
            "",
            "p",
            &format!("p/{name}"),
            &format!("p/{name}/01234567"),
            &format!("q/{name}/01234567/yes"),
            &format!("p/{name}/0123456/yes"),
            &format!("p/{name}/0123456z/yes"),
            &format!("p/{name}/01234567/yes/more"),
            "p/../01234567/yes",
        ] {
            assert_eq!(pressed(id), None, "{id}");
        }
    }
}
