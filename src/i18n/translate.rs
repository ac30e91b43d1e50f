//! What is said where nothing was translated.
//!
//! Owns these texts.

use super::Language;

/// Why there is no translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoTranslation {
    /// The tool is switched off.
    Off,
    /// A language or a text is missing.
    How,
    /// The text is longer than this many characters.
    TooLong {
        /// The most.
        most: usize,
    },
}

impl NoTranslation {
    /// The text in a language.
    #[must_use]
    pub fn render(self, language: Language) -> String {
        match (self, language) {
            (Self::Off, Language::En) => "Translating is switched off here.".to_owned(),
            (Self::Off, Language::Zh) => "这里关闭了翻译。".to_owned(),
            (Self::How, Language::En) => {
                "Into which language, and what? For example: /translate zh Good morning. Or answer a message with \
                 /translate zh"
                    .to_owned()
            }
            (Self::How, Language::Zh) => {
                "译成哪种语言，译什么？例如：/translate 英文 早上好。也可以回复一条消息：/translate 英文".to_owned()
            }
            (Self::TooLong { most }, Language::En) => {
                format!("That is too long: at most {most} characters can be translated at once.")
            }
            (Self::TooLong { most }, Language::Zh) => {
                format!("太长了：一次最多翻译 {most} 个字。")
            }
        }
    }
}
