//! What people are told by the commands that watch over a conversation or the gateway.
//!
//! Owns the texts: one exhaustive `match` a language.

use std::time::Duration;

use weirgate_sdk::Timestamp;

use super::{Language, rough};
use crate::command::configure::Reloaded;

/// Lines of a list that are shown.
const LINES: usize = 20;

/// What waits of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waits {
    /// His name.
    pub who: String,
    /// How many messages.
    pub count: usize,
    /// Since when.
    pub since: Timestamp,
}

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub enum Oversight {
    /// Records of the audit log, newest first.
    Audit {
        /// One a line.
        lines: Vec<String>,
    },
    /// What waits in a conversation.
    Queue {
        /// Of whom, who has waited longest first.
        people: Vec<Waits>,
        /// People who are not shown.
        left_out: usize,
        /// There are messages that were not counted.
        more: bool,
        /// Now.
        now: Timestamp,
    },
    /// What waited was dropped.
    QueueDropped {
        /// Whose.
        who: String,
        /// How many messages.
        count: usize,
    },
    /// The configuration was read again.
    Reloaded(Reloaded),
    /// It cannot be done now.
    NotNow,
    /// The database is on a server, which has tools of its own for copies.
    OnServer,
    /// The database was copied.
    BackedUp {
        /// Where to.
        path: String,
        /// Its size.
        bytes: u64,
    },
    /// The database was not copied.
    NotBackedUp {
        /// Why not.
        error: String,
    },
    /// There are many copies already.
    TooManyCopies {
        /// Where.
        folder: String,
        /// The most.
        most: usize,
    },
    /// There is nothing to announce, or it is too long.
    NoAnnouncement {
        /// The most characters.
        longest: usize,
    },
    /// What an announcement would do.
    WouldAnnounce {
        /// In how many conversations.
        count: usize,
        /// How long it takes.
        seconds: u64,
    },
    /// Something is announced.
    Announcing {
        /// In how many conversations.
        count: usize,
        /// How long it takes.
        seconds: u64,
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
            Self::Queue { people, .. } if people.is_empty() => "Nothing waits here.".into(),
            Self::Queue {
                people,
                left_out,
                more,
                now,
            } => {
                let mut lines: Vec<String> = people
                    .iter()
                    .map(|waits| {
                        let age = age(waits.since, *now, ["d", "h", "m", "s"]);
                        format!("{}: {}, for {age}", waits.who, waits.count)
                    })
                    .collect();
                if *left_out > 0 {
                    lines.push(format!("and {left_out} more people"));
                }
                if *more {
                    lines.push("There is more than was counted.".into());
                }
                lines.join("\n")
            }
            Self::QueueDropped { who, count } => format!("Dropped of {who}: {count}."),
            Self::Reloaded(reloaded) => reloaded_en(reloaded),
            Self::NotNow => "That cannot be done now. Please try again.".into(),
            Self::OnServer => {
                "The database is on a PostgreSQL server: copy it there, with pg_dump.".into()
            }
            Self::BackedUp { path, bytes } => {
                format!("Copied: {path} ({bytes} bytes). weirgate restore puts it back.")
            }
            Self::NotBackedUp { error } => format!("Not copied: {error}"),
            Self::TooManyCopies { folder, most } => {
                format!("Not copied: there are {most} copies in {folder}. Move some away first.")
            }
            Self::NoAnnouncement { longest } => {
                format!("/broadcast TEXT, with at most {longest} characters.")
            }
            Self::WouldAnnounce { count: 0, .. } => "There is no other conversation.".into(),
            Self::WouldAnnounce { count, seconds } => format!(
                "This would go to {count} conversations and take {}. Nothing was sent: write it again with --yes.",
                took(*seconds, ["d", "h", "m", "s"])
            ),
            Self::Announcing { count, seconds } => format!(
                "It goes to {count} conversations and takes {}.",
                took(*seconds, ["d", "h", "m", "s"])
            ),
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::Audit { lines } if lines.is_empty() => "没有记录。".into(),
            Self::Audit { lines } => lines.join("\n"),
            Self::NotUnderstood { given } => format!("无法理解“{given}”。"),
            Self::Queue { people, .. } if people.is_empty() => "这里没有等待中的消息。".into(),
            Self::Queue {
                people,
                left_out,
                more,
                now,
            } => {
                let mut lines: Vec<String> = people
                    .iter()
                    .map(|waits| {
                        let age = age(waits.since, *now, ZH_UNITS);
                        format!("{}：{} 条，已等待 {age}", waits.who, waits.count)
                    })
                    .collect();
                if *left_out > 0 {
                    lines.push(format!("另有 {left_out} 人"));
                }
                if *more {
                    lines.push("还有未计入的消息。".into());
                }
                lines.join("\n")
            }
            Self::QueueDropped { who, count } => format!("已取消 {who} 的 {count} 条消息。"),
            Self::Reloaded(reloaded) => reloaded_zh(reloaded),
            Self::NotNow => "现在无法执行，请稍后再试。".into(),
            Self::OnServer => "数据库在 PostgreSQL 服务器上：请在那里用 pg_dump 备份。".into(),
            Self::BackedUp { path, bytes } => {
                format!("已备份：{path}（{bytes} 字节）。用 weirgate restore 可以恢复。")
            }
            Self::NotBackedUp { error } => format!("未备份：{error}"),
            Self::TooManyCopies { folder, most } => {
                format!("未备份：{folder} 中已有 {most} 个备份，请先移走一些。")
            }
            Self::NoAnnouncement { longest } => format!("/broadcast 文字，最多 {longest} 个字符。"),
            Self::WouldAnnounce { count: 0, .. } => "没有其他会话。".into(),
            Self::WouldAnnounce { count, seconds } => format!(
                "将发送到 {count} 个会话，需要 {}。尚未发送：确认请加上 --yes 再发一次。",
                took(*seconds, ZH_UNITS)
            ),
            Self::Announcing { count, seconds } => format!(
                "正在发送到 {count} 个会话，需要 {}。",
                took(*seconds, ZH_UNITS)
            ),
        }
    }
}

const ZH_UNITS: [&str; 4] = ["天", "小时", "分", "秒"];

fn age(since: Timestamp, now: Timestamp, units: [&str; 4]) -> String {
    let waited = u64::try_from(now.saturating_sub(since)).unwrap_or(0);
    rough(Duration::from_millis(waited), units)
}

fn took(seconds: u64, units: [&str; 4]) -> String {
    rough(Duration::from_secs(seconds.max(1)), units)
}

/// Lines under a heading, if there are any.
fn listed(heading: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let shown = lines.iter().take(LINES).map(String::as_str);
    let more = (lines.len() > LINES).then_some("…");
    let lines: Vec<&str> = shown.chain(more).collect();
    let heading = if heading.is_empty() {
        String::new()
    } else {
        format!("{heading}\n")
    };
    format!("\n{heading}{}", lines.join("\n"))
}

fn reloaded_en(reloaded: &Reloaded) -> String {
    match reloaded {
        Reloaded::Applied {
            changes,
            restart,
            warnings,
        } => format!(
            "The configuration is in force.{}{}{}",
            listed("Changed:", changes),
            listed("Needs a restart:", restart),
            listed("Warnings:", warnings)
        ),
        Reloaded::Unchanged { restart } => {
            format!(
                "Nothing has changed.{}",
                listed("Needs a restart:", restart)
            )
        }
        Reloaded::Refused { problems } => format!(
            "Nothing was changed: the configuration is wrong.{}",
            listed("", problems)
        ),
    }
}

fn reloaded_zh(reloaded: &Reloaded) -> String {
    match reloaded {
        Reloaded::Applied {
            changes,
            restart,
            warnings,
        } => format!(
            "配置已生效。{}{}{}",
            listed("已改变：", changes),
            listed("需要重启：", restart),
            listed("警告：", warnings)
        ),
        Reloaded::Unchanged { restart } => {
            format!("没有变化。{}", listed("需要重启：", restart))
        }
        Reloaded::Refused { problems } => {
            format!("没有改变：配置有误。{}", listed("", problems))
        }
    }
}
