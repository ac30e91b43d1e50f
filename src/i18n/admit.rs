//! What an owner is told of requests to the account, in every language of the gateway.

use weirgate_sdk::moderation::ModerationError;

use super::{
    Language,
    consent::{What, what_en, what_zh},
    moderation::{failure_en, failure_zh},
};

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub enum Admit {
    /// Somebody asks the account for something.
    Asked {
        /// For what.
        what: What,
        /// What he says to it; may be empty.
        words: String,
    },
    /// What he asked for was granted.
    Granted(What),
    /// It was refused.
    Refused(What),
    /// The platform did not take the answer.
    NotTaken(ModerationError),
}

impl Admit {
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
            Self::Asked { what, words } if words.is_empty() => {
                format!("Somebody asks: {}?", what_en(what))
            }
            Self::Asked { what, words } => {
                format!("Somebody asks: {}?\nHe says: “{words}”", what_en(what))
            }
            Self::Granted(what) => format!("Done: {}.", what_en(what)),
            Self::Refused(what) => format!("Not done: {}. The answer is no.", what_en(what)),
            Self::NotTaken(error) => format!(
                "The platform did not take the answer; the request may wait in the account's own client. {}",
                failure_en(error)
            ),
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::Asked { what, words } if words.is_empty() => {
                format!("收到请求：{}？", what_zh(what))
            }
            Self::Asked { what, words } => {
                format!("收到请求：{}？\n附言：“{words}”", what_zh(what))
            }
            Self::Granted(what) => format!("已完成：{}。", what_zh(what)),
            Self::Refused(what) => format!("已拒绝，未执行：{}。", what_zh(what)),
            Self::NotTaken(error) => format!(
                "平台没有接受这个答复，请求可能仍在账号自己的客户端里等待。{}",
                failure_zh(error)
            ),
        }
    }
}
