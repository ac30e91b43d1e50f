//! How a message is recognised as a command.
//!
//! Owns the syntax: a slash (also the full-width one), a name of ASCII letters, arguments. It never
//! looks into arguments and never decides who may call.

use super::{Command, find};

/// The longest name that is taken for a command, in characters.
const LONGEST_NAME: usize = 32;

/// What a text is.
#[derive(Clone, Copy)]
pub enum Parsed<'a> {
    /// A known command and its arguments, trimmed.
    Command(&'static dyn Command, &'a str),
    /// It looks like a command, but none has this name.
    Unknown(&'a str),
    /// Ordinary text.
    Text,
}

impl std::fmt::Debug for Parsed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Command(command, arguments) => {
                write!(f, "Command({}, {arguments:?})", command.spec().name)
            }
            Self::Unknown(name) => write!(f, "Unknown({name:?})"),
            Self::Text => f.write_str("Text"),
        }
    }
}

/// Reads a text. `/etc/hosts`, `/` and `//` are ordinary text; so is `!name` unless the command exists.
#[must_use]
pub fn parse(text: &str) -> Parsed<'_> {
    let text = text.trim();
    let Some((strict, rest)) = strip_prefix(text) else {
        return Parsed::Text;
    };
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let Some((name, arguments)) = rest.split_at_checked(end) else {
        return Parsed::Text;
    };
    let shaped = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().count() <= LONGEST_NAME
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_');
    if !shaped {
        return Parsed::Text;
    }
    match find(&name.to_ascii_lowercase()) {
        Some(command) => Parsed::Command(command, arguments.trim()),
        None if strict => Parsed::Unknown(name),
        None => Parsed::Text,
    }
}

/// The text behind the mark of a command, and whether the mark means nothing else.
fn strip_prefix(text: &str) -> Option<(bool, &str)> {
    let strict = text.strip_prefix(['/', '／']).map(|rest| (true, rest));
    strict.or_else(|| text.strip_prefix(['!', '！']).map(|rest| (false, rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(format!("{:?}", parse(text)), expected, "{text}");
    }

    #[test]
    fn commands_are_recognised() {
        check("/ping", r#"Command(ping, "")"#);
        check(" /PING  a b ", r#"Command(ping, "a b")"#);
        check("／ping 你好", r#"Command(ping, "你好")"#);
        check("!ping", r#"Command(ping, "")"#);
        check("！ping", r#"Command(ping, "")"#);
        check("/new", r#"Command(reset, "")"#);
        check("/ping\ntwo", r#"Command(ping, "two")"#);
    }

    #[test]
    fn other_texts_are_not() {
        for text in [
            "",
            "/",
            "//",
            "/etc/hosts",
            "/1",
            "!important",
            "hello /ping",
            "/a-b",
            "/é",
        ] {
            check(text, "Text");
        }
        check("/nosuch x", r#"Unknown("nosuch")"#);
        check(&format!("/{}", "x".repeat(33)), "Text");
    }
}
