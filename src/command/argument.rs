//! What stands behind a command's name: which arguments it takes, of which types, in which order.
//!
//! Owns the declaration, and what people and platforms are shown of it: the usage in /help and the documents, the
//! fields of a platform's menu. It reads nothing that somebody wrote: what is wrong with that, each command says itself.

use weirgate_sdk::{FieldKind, MenuField};

use crate::i18n::{Language, arguments::Label};

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Somebody: a mention, an id, or the name of one who was heard lately.
    Person,
    /// A length of time: 10m, 2h, 7d.
    Span,
    /// A whole number.
    Number,
    /// One of these words and no other.
    Choice(&'static [&'static str]),
    /// A word without white space. Those that are named have a meaning of their own.
    Word(&'static [&'static str]),
    /// All that is left, with its white space. A text that is one of the named words has a meaning of its own.
    Text(&'static [&'static str]),
}

/// One argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument {
    /// Its type.
    pub kind: Kind,
    /// What it is called.
    pub label: Label,
    /// A call without it is not carried out.
    pub required: bool,
}

/// An argument that every call has.
#[must_use]
pub const fn always(kind: Kind, label: Label) -> Argument {
    Argument {
        kind,
        label,
        required: true,
    }
}

/// An argument that may be left out.
#[must_use]
pub const fn perhaps(kind: Kind, label: Label) -> Argument {
    Argument {
        kind,
        label,
        required: false,
    }
}

/// Somebody who is always meant.
pub const SOMEBODY: Argument = always(Kind::Person, Label::User);
/// Somebody who may be meant.
pub const PERHAPS_SOMEBODY: Argument = perhaps(Kind::Person, Label::User);
/// Why.
pub const REASON: Argument = perhaps(Kind::Text(&[]), Label::Reason);
/// For how long.
pub const TIME: Argument = perhaps(Kind::Span, Label::Time);

/// One way of calling a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The word that it begins with; empty if it begins with its arguments.
    pub word: &'static str,
    /// What follows, in this order.
    pub arguments: &'static [Argument],
}

/// A way of calling that begins with a word.
#[must_use]
pub const fn form(word: &'static str, arguments: &'static [Argument]) -> Form {
    Form { word, arguments }
}

/// What a command takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// These arguments, in this order.
    These(&'static [Argument]),
    /// One of these forms.
    OneOf(&'static [Form]),
    /// One of these forms, or nothing.
    PerhapsOneOf(&'static [Form]),
}

impl Takes {
    /// How it is written, in one line: what may be left out in brackets, alternatives between bars.
    #[must_use]
    pub fn usage(&self, language: Language) -> String {
        let argument = |argument: &Argument| {
            let shown = shown(argument, language);
            if argument.required {
                shown
            } else {
                format!("[{shown}]")
            }
        };
        let form = |form: &Form| {
            let word = Some(form.word.to_owned()).filter(|word| !word.is_empty());
            let rest = form
                .arguments
                .iter()
                .map(|argument| shown(argument, language));
            joined(word.into_iter().chain(rest), " ")
        };
        match self {
            Self::Nothing => String::new(),
            Self::These(arguments) => joined(arguments.iter().map(argument), " "),
            Self::OneOf(forms) => joined(forms.iter().map(form), "|"),
            Self::PerhapsOneOf(forms) => format!("[{}]", joined(forms.iter().map(form), "|")),
        }
    }

    /// The fields of a platform's menu. Where there are several forms, one field takes the whole.
    #[must_use]
    pub fn fields(&self, language: Language) -> Vec<MenuField> {
        let arguments = match self {
            Self::Nothing => [].as_slice(),
            Self::These(arguments) => arguments,
            Self::OneOf(_) | Self::PerhapsOneOf(_) => {
                return vec![MenuField {
                    name: Label::Content.id().to_owned(),
                    about: self.usage(language),
                    kind: FieldKind::Words,
                    required: matches!(self, Self::OneOf(_)),
                }];
            }
        };
        let field = |argument: &Argument| MenuField {
            name: argument.label.id().to_owned(),
            about: described(argument, language),
            kind: match argument.kind {
                Kind::Person => FieldKind::Person,
                Kind::Number => FieldKind::Number,
                Kind::Choice(words) => {
                    FieldKind::Choice(words.iter().map(|word| (*word).to_owned()).collect())
                }
                Kind::Span => FieldKind::Span,
                Kind::Word(_) | Kind::Text(_) => FieldKind::Words,
            },
            required: argument.required,
        };
        arguments.iter().map(field).collect()
    }

    /// What each argument is, one a line, each once.
    #[must_use]
    pub fn explained(&self, language: Language) -> Vec<String> {
        let mut lines = Vec::new();
        let (own, forms) = match self {
            Self::Nothing => ([].as_slice(), [].as_slice()),
            Self::These(arguments) => (*arguments, [].as_slice()),
            Self::OneOf(forms) | Self::PerhapsOneOf(forms) => ([].as_slice(), *forms),
        };
        let of_forms = forms.iter().flat_map(|form| form.arguments);
        for argument in own.iter().chain(of_forms) {
            let line = described(argument, language);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }
}

fn joined(parts: impl Iterator<Item = String>, by: &str) -> String {
    parts.collect::<Vec<_>>().join(by)
}

/// An argument as it stands in a usage.
fn shown(argument: &Argument, language: Language) -> String {
    let label = argument.label.text(language);
    let (label, words) = match argument.kind {
        Kind::Choice(words) => (None, words),
        Kind::Word(words) | Kind::Text(words) => (Some(label), words),
        Kind::Person | Kind::Span | Kind::Number => (Some(label), [].as_slice()),
    };
    let all = label.into_iter().chain(words.iter().copied());
    all.collect::<Vec<_>>().join("|")
}

/// An argument in a line of its own.
fn described(argument: &Argument, language: Language) -> String {
    let label = argument.label.text(language);
    let kind = Label::kind(argument.kind, language);
    format!("{label}: {kind}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::command;

    #[test]
    fn usages_have_brackets_and_bars() {
        let mute = Takes::These(&[SOMEBODY, TIME, REASON]);
        assert_eq!(mute.usage(Language::En), "@user [time] [reason]");
        const FIND: Argument = always(Kind::Text(&[]), Label::Words);
        static NOTES: [Form; 2] = [form("find", &[FIND]), form("all", &[])];
        assert_eq!(Takes::OneOf(&NOTES).usage(Language::En), "find words|all");
        let notes = Takes::PerhapsOneOf(&NOTES);
        assert_eq!(notes.usage(Language::En), "[find words|all]");
        assert_eq!(Takes::Nothing.usage(Language::Zh), "");
        assert_eq!(
            mute.explained(Language::En),
            [
                "@user: a mention, an id, or the name of somebody who wrote here lately",
                "time: a length of time such as 10m, 2h, 7d",
                "reason: words",
            ]
        );
    }

    #[test]
    fn every_command_can_be_filled_in_as_a_platform_wants_it() {
        for command in command::all() {
            let spec = command.spec();
            for language in Language::ALL {
                let fields = spec.takes.fields(language);
                let names: BTreeSet<&str> =
                    fields.iter().map(|field| field.name.as_str()).collect();
                assert_eq!(names.len(), fields.len(), "{}: names differ", spec.name);
                let first_optional = fields.iter().position(|field| !field.required);
                let last_required = fields.iter().rposition(|field| field.required);
                if let (Some(optional), Some(required)) = (first_optional, last_required) {
                    assert!(
                        required < optional,
                        "{}: required ones are first",
                        spec.name
                    );
                }
                let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase());
                assert!(names.iter().all(|name| plain(name)), "{}", spec.name);
                let last = fields.len().saturating_sub(1);
                let takes_all = |field: &Argument| matches!(field.kind, Kind::Text(_));
                let Takes::These(arguments) = spec.takes else {
                    continue;
                };
                // Only what is found anywhere may follow a text.
                let early = arguments.iter().take(last).any(takes_all);
                assert!(!early || spec.name == "broadcast", "{}", spec.name);
            }
        }
    }
}
