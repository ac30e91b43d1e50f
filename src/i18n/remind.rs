//! What people are told about reminders.
//!
//! Owns the texts: one exhaustive `match` a language.

use super::Language;

/// One reminder that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// Its number.
    pub number: String,
    /// When it is due next.
    pub at: String,
    /// The pattern by which it comes again.
    pub pattern: Option<String>,
    /// The model is given it.
    pub task: bool,
    /// Its text.
    pub text: String,
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reminding {
    /// It is time.
    Now {
        /// What he wanted to be told.
        text: String,
        /// When it was due, if that is over.
        was: Option<String>,
    },
    /// It is noted.
    Set {
        /// Its number.
        number: String,
        /// When.
        at: String,
        /// It comes again.
        again: bool,
    },
    /// What waits.
    List(Vec<Waiting>),
    /// It is dropped.
    Dropped {
        /// Its number.
        number: String,
    },
    /// There is none of this number.
    Unknown,
    /// The time is not understood.
    NoTime,
    /// The time is over.
    Over,
    /// It would come too often.
    TooOften {
        /// The shortest pause in minutes.
        minutes: u64,
    },
    /// There is no text, or too much.
    NoText {
        /// The most characters.
        longest: usize,
    },
    /// There are as many as there may be.
    TooMany {
        /// The most.
        most: usize,
    },
}

impl Reminding {
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
            Self::Now { text, was: None } => format!("⏰ {text}"),
            Self::Now {
                text,
                was: Some(was),
            } => format!("⏰ {text}\n(for {was}; it could not be said before)"),
            Self::Set {
                number,
                at,
                again: false,
            } => format!("Noted: {at}. /remind drop {number} takes it back."),
            Self::Set { number, at, .. } => {
                format!("Noted, again and again: first {at}. /remind drop {number} ends it.")
            }
            Self::List(waiting) if waiting.is_empty() => "You have no reminders here.".into(),
            Self::List(waiting) => listed(waiting, "again", "task"),
            Self::Dropped { number } => format!("Reminder {number} is dropped."),
            Self::Unknown => "You have no reminder of this number here. /remind lists them.".into(),
            Self::NoTime => "When? For example: /remind 10m tea, /remind 18:30 call home, /remind 2026-12-24 18:00 \
                             gifts, /remind daily 09:00 stand-up, /remind cron 0 9 * * 1-5 report"
                .into(),
            Self::Over => "That time is over.".into(),
            Self::TooOften { minutes } => {
                format!("That is too often: at least {minutes} minutes lie between two times.")
            }
            Self::NoText { longest } => {
                format!("What of? A text of at most {longest} characters stands behind the time.")
            }
            Self::TooMany { most } => {
                format!("You have {most} reminders here, which is the most. /remind lists them.")
            }
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::Now { text, was: None } => format!("⏰ {text}"),
            Self::Now {
                text,
                was: Some(was),
            } => format!("⏰ {text}\n（原定 {was}，当时无法发送）"),
            Self::Set {
                number,
                at,
                again: false,
            } => format!("已记下：{at}。/remind drop {number} 可以取消。"),
            Self::Set { number, at, .. } => {
                format!("已记下，会重复提醒：第一次在 {at}。/remind drop {number} 可以取消。")
            }
            Self::List(waiting) if waiting.is_empty() => "你在这里没有提醒。".into(),
            Self::List(waiting) => listed(waiting, "重复", "任务"),
            Self::Dropped { number } => format!("已取消提醒 {number}。"),
            Self::Unknown => "你在这里没有这个编号的提醒。用 /remind 查看。".into(),
            Self::NoTime => "什么时候？例如：/remind 10分钟 喝茶、/remind 18:30 打电话、/remind 2026-12-24 18:00 买礼物、\
                             /remind 每天 09:00 站会、/remind cron 0 9 * * 1-5 日报"
                .into(),
            Self::Over => "这个时间已经过去了。".into(),
            Self::TooOften { minutes } => format!("太频繁了：两次提醒至少间隔 {minutes} 分钟。"),
            Self::NoText { longest } => format!("提醒什么？请在时间后面写上内容，最多 {longest} 个字符。"),
            Self::TooMany { most } => {
                format!("你在这里已有 {most} 个提醒，不能再多了。用 /remind 查看。")
            }
        }
    }
}

fn listed(waiting: &[Waiting], again: &str, task: &str) -> String {
    let line = |one: &Waiting| {
        let pattern = one.pattern.as_deref();
        let pattern = pattern.map_or_else(String::new, |pattern| format!(" ({again}: {pattern})"));
        let task = if one.task {
            format!(" [{task}]")
        } else {
            String::new()
        };
        format!("{}: {}{pattern}{task} {}", one.number, one.at, one.text)
    };
    let lines: Vec<String> = waiting.iter().map(line).collect();
    lines.join("\n")
}
