//! What owners of the gateway are told of whom they block in all of it, in every language of the gateway.

use super::Language;

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub enum Blocking {
    /// Who is blocked.
    People {
        /// Each with since when, or where it stands.
        people: Vec<String>,
    },
    /// Somebody is blocked from now on.
    Blocked {
        /// Who.
        who: String,
    },
    /// Somebody is not blocked any more.
    Unblocked {
        /// Who.
        who: String,
    },
    /// Somebody was not blocked.
    NotBlocked {
        /// Who.
        who: String,
    },
    /// Somebody is blocked by agent.yaml.
    ByFile {
        /// Who.
        who: String,
    },
    /// So many are blocked that there is no room for another.
    TooMany {
        /// The most.
        most: usize,
    },
}

impl Blocking {
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
            Self::People { people } if people.is_empty() => {
                "Nobody is blocked in the whole gateway.".into()
            }
            Self::People { people } => people.join("\n"),
            Self::Blocked { who } => format!("{who} is not answered anywhere any more."),
            Self::Unblocked { who } => format!("{who} is answered again."),
            Self::NotBlocked { who } => format!("{who} was not blocked in the whole gateway."),
            Self::ByFile { who } => {
                format!(
                    "{who} is blocked by permissions.blocked in agent.yaml: take him out there."
                )
            }
            Self::TooMany { most } => {
                format!("At most {most} people can be blocked so; more can stand in agent.yaml.")
            }
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::People { people } if people.is_empty() => "整个网关没有封禁任何人。".into(),
            Self::People { people } => people.join("\n"),
            Self::Blocked { who } => format!("整个网关不再回复 {who}。"),
            Self::Unblocked { who } => format!("已重新回复 {who}。"),
            Self::NotBlocked { who } => format!("{who} 没有被整个网关封禁。"),
            Self::ByFile { who } => {
                format!("{who} 由 agent.yaml 的 permissions.blocked 封禁，请在那里移除。")
            }
            Self::TooMany { most } => {
                format!("最多这样封禁 {most} 人；更多的可以写进 agent.yaml。")
            }
        }
    }
}
