//! What people are told by the commands that watch over a conversation or the gateway.
//!
//! Owns the texts: one exhaustive `match` a language.

use super::Language;

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub enum Oversight {
    /// Records of the audit log, newest first.
    Audit {
        /// One a line.
        lines: Vec<String>,
    },
    /// A word is not understood.
    NotUnderstood {
        /// The word.
        given: String,
    },
}

impl Oversight {
    /// The text in a language.
    #[must_use]
    pub fn render(&self, language: Language) -> String {
        match language {
            Language::Zh => self.zh(),
            Language::En => self.en(),
        }
    }

    fn en(&self) -> String {
        match self {
            Self::Audit { lines } if lines.is_empty() => "Nothing is recorded.".into(),
            Self::Audit { lines } => lines.join("\n"),
            Self::NotUnderstood { given } => format!("\"{given}\" is not understood here."),
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::Audit { lines } if lines.is_empty() => "没有记录。".into(),
            Self::Audit { lines } => lines.join("\n"),
            Self::NotUnderstood { given } => format!("无法理解“{given}”。"),
        }
    }
}
