//! What people are told about personas, memory and models.
//!
//! Owns the texts: one exhaustive `match` a language.

use super::Language;

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub enum Mind {
    /// The persona here, and those that may be chosen.
    Personas {
        /// The one that was chosen; `None` for the gateway's own.
        present: Option<String>,
        /// All names.
        names: Vec<String>,
    },
    /// There is no such persona.
    NoPersona {
        /// What was written.
        given: String,
        /// All names.
        names: Vec<String>,
    },
    /// A persona was chosen; `None` for the gateway's own.
    PersonaSet(Option<String>),
    /// The newest message alone is more than the model can take.
    DoesNotFit {
        /// Its size, in tokens, about.
        size: usize,
        /// What is left for it.
        most: usize,
    },
}

impl Mind {
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
            Self::Personas { present, names } => format!(
                "Persona: {}.{}",
                present.as_deref().unwrap_or("default"),
                choice(names, " Possible: ", ", ", ", default.")
            ),
            Self::NoPersona { given, names } => format!(
                "There is no persona \"{given}\".{}",
                choice(names, " Possible: ", ", ", ", default.")
            ),
            Self::PersonaSet(Some(name)) => format!("From now on I am {name} here."),
            Self::PersonaSet(None) => "I am myself again.".into(),
            Self::DoesNotFit { size, most } => format!(
                "That is too long for the model: about {size} tokens, of which {most} fit. Nothing was changed; send it in \
                 smaller pieces or as a file."
            ),
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::Personas { present, names } => format!(
                "人设：{}。{}",
                present.as_deref().unwrap_or("默认"),
                choice(names, "可选：", "、", "、default。")
            ),
            Self::NoPersona { given, names } => format!(
                "没有名为“{given}”的人设。{}",
                choice(names, "可选：", "、", "、default。")
            ),
            Self::PersonaSet(Some(name)) => format!("从现在起，我在这里是“{name}”。"),
            Self::PersonaSet(None) => "我恢复默认人设了。".into(),
            Self::DoesNotFit { size, most } => format!(
                "内容太长，模型放不下：约 {size} 个词元，只能放 {most} 个。没有任何改动，请分成几段或以文件发送。"
            ),
        }
    }
}

/// Names one may choose; nothing if there are none.
fn choice(names: &[String], before: &str, between: &str, after: &str) -> String {
    if names.is_empty() {
        return String::new();
    }
    format!("{before}{}{after}", names.join(between))
}
