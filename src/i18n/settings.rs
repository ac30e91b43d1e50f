//! What people are told about settings.
//!
//! Owns the texts: one exhaustive `match` a language.

use super::Language;
use crate::config::overrides::NotSet;

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub enum Settings {
    /// What may be set, with its values.
    Overview {
        /// One a line.
        lines: String,
        /// The asker may set rules of the conversation.
        moderates: bool,
        /// The asker owns the gateway.
        owner: bool,
    },
    /// Behind a value that nobody set.
    Default,
    /// Behind a value that was set at run time.
    RunTime,
    /// There is no such key.
    NoKey {
        /// What was written.
        given: String,
    },
    /// A key is none that is set at run time.
    NotSet {
        /// The key.
        key: String,
        /// Why.
        why: NotSet,
    },
    /// The configuration would be wrong.
    Wrong {
        /// What is wrong, in the words of `weirgate check`.
        lines: String,
    },
    /// The configuration is being changed by somebody else.
    Busy,
    /// A key was set.
    Set {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A key is back to what it was.
    Reset {
        /// The key.
        key: String,
    },
}

impl Settings {
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
            Self::Overview {
                lines,
                moderates,
                owner,
            } => {
                let rules = if *moderates {
                    "\nThe rules of this conversation as well (/policy), such as /config allow_media off"
                } else {
                    ""
                };
                let more = if *owner {
                    "\nAny key of agent.yaml as well, such as /config output.default_strategy full; with gateway. in front where one above has its name"
                } else {
                    ""
                };
                format!(
                    "/config KEY shows, /config KEY VALUE sets, /config reset KEY undoes:\n{lines}{rules}{more}"
                )
            }
            Self::Default => " (default)".into(),
            Self::RunTime => " (set at run time)".into(),
            Self::NoKey { given } => format!("There is no key \"{given}\"."),
            Self::NotSet { key, why } => {
                let why = match why {
                    NotSet::Unknown => "there is no such key",
                    NotSet::Secret => "secrets do not belong into a chat: write it into agent.yaml",
                    NotSet::Restart => "it needs a restart: write it into agent.yaml",
                    NotSet::TooMany => "the value is too long, or too many keys are set",
                };
                format!("{key} was not set: {why}.")
            }
            Self::Wrong { lines } => format!("Not set: the configuration would be wrong.\n{lines}"),
            Self::Busy => "Not set: the configuration is being changed just now.".into(),
            Self::Set { key, value } => format!("{key} is now: {value}"),
            Self::Reset { key } => format!("{key} is back to what it was."),
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::Overview {
                lines,
                moderates,
                owner,
            } => {
                let rules = if *moderates {
                    "\n本会话的规则（/policy）也可以，例如 /config allow_media off"
                } else {
                    ""
                };
                let more = if *owner {
                    "\nagent.yaml 中的任何键也可以，例如 /config output.default_strategy full；与上面同名的键前加 gateway."
                } else {
                    ""
                };
                format!(
                    "/config 键 查看，/config 键 值 设置，/config reset 键 撤销：\n{lines}{rules}{more}"
                )
            }
            Self::Default => "（默认）".into(),
            Self::RunTime => "（运行时设置）".into(),
            Self::NoKey { given } => format!("没有键“{given}”。"),
            Self::NotSet { key, why } => {
                let why = match why {
                    NotSet::Unknown => "没有这个键",
                    NotSet::Secret => "密钥不应出现在聊天中，请写入 agent.yaml",
                    NotSet::Restart => "需要重启才能生效，请写入 agent.yaml",
                    NotSet::TooMany => "值过长，或设置的键过多",
                };
                format!("未设置 {key}：{why}。")
            }
            Self::Wrong { lines } => format!("未设置：配置会出错。\n{lines}"),
            Self::Busy => "未设置：配置正在被修改，请稍后再试。".into(),
            Self::Set { key, value } => format!("{key} 现在是：{value}"),
            Self::Reset { key } => format!("{key} 已恢复。"),
        }
    }
}
