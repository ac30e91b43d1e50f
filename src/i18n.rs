//! Texts for people, in every language of the gateway.
//!
//! Owns the list of messages with their arguments. Each language is one exhaustive `match` in a file of
//! its own, so a missing translation does not compile. Texts are plain text; values that come from
//! outside are put in as they are and never interpreted.

pub mod admit;
pub mod arguments;
pub mod blocking;
pub mod consent;
pub mod console;
mod en;
pub mod health;
pub mod media;
pub mod mind;
pub mod moderation;
pub mod oversight;
pub mod problem;
pub mod remind;
pub mod rights;
pub mod servers;
pub mod settings;
pub mod setup;
pub mod skills;
pub mod translate;
pub mod trouble;
pub mod weather;
mod zh;

use std::time::Duration;

use weirgate_sdk::Timestamp;

use crate::permission::Level;

/// A language of the gateway's own texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Simplified Chinese, `zh-CN`.
    Zh,
    /// English, `en`.
    En,
}

impl Language {
    /// All languages, in the order in which they are offered.
    pub const ALL: [Self; 2] = [Self::Zh, Self::En];

    /// The language tag as it is written in agent.yaml, in `/lang` and in the store.
    #[must_use]
    pub fn tag(self) -> &'static str {
        match self {
            Self::Zh => "zh-CN",
            Self::En => "en",
        }
    }

    /// The language by its two letters.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Zh => "zh",
            Self::En => "en",
        }
    }

    /// Reads a tag leniently: case, region and underscores do not matter.
    #[must_use]
    pub fn from_tag(tag: &str) -> Option<Self> {
        let lower = tag.to_ascii_lowercase();
        match lower.split(['-', '_']).next() {
            Some("zh" | "cn" | "中文") => Some(Self::Zh),
            Some("en" | "english") => Some(Self::En),
            _ => None,
        }
    }

    /// Guesses from a text: any Han character means Chinese, any other letter English.
    #[must_use]
    pub fn of_text(text: &str) -> Option<Self> {
        let mut letters = false;
        for character in text.chars().take(400) {
            match character {
                '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}' => return Some(Self::Zh),
                other => letters |= other.is_alphabetic(),
            }
        }
        letters.then_some(Self::En)
    }
}

/// What is being written about a command in /help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum About {
    /// /help
    Help,
    /// /ping
    Ping,
    /// /status
    Status,
    /// /stop
    Stop,
    /// /cancel
    Cancel,
    /// /reset
    Reset,
    /// /why
    Why,
    /// /output
    Output,
    /// /lang
    Lang,
    /// /config
    Config,
    /// /whoami
    WhoAmI,
    /// /kick
    Kick,
    /// /ban
    Ban,
    /// /unban
    Unban,
    /// /mute
    Mute,
    /// /unmute
    Unmute,
    /// /warn
    Warn,
    /// /warnings
    Warnings,
    /// /role
    Role,
    /// /policy
    Policy,
    /// /audit
    Audit,
    /// /approve
    Approve,
    /// /deny
    Deny,
    /// /answer
    Answer,
    /// /transfer
    Transfer,
    /// /delete
    Delete,
    /// /leave
    Leave,
    /// /queue
    Queue,
    /// /backup
    Backup,
    /// /reload
    Reload,
    /// /remind
    Remind,
    /// /weather
    Weather,
    /// /translate
    Translate,
    /// /mcp
    Mcp,
    /// /broadcast
    Broadcast,
    /// /pair
    Pair,
    /// /block
    Block,
    /// /unblock
    Unblock,
    /// /claim
    Claim,
    /// /log
    Log,
    /// /search
    Search,
    /// /persona
    Persona,
    /// /skill
    Skill,
    /// /run
    Run,
    /// /model
    Model,
    /// /memory
    Memory,
    /// /forget
    Forget,
}

/// Facts for /status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusFacts {
    /// The gateway's version.
    pub version: &'static str,
    /// How long it has been running.
    pub uptime: Duration,
    /// Messages that wait, in all.
    pub waiting: usize,
    /// Messages of the asking person that wait in this conversation.
    pub own_waiting: usize,
    /// Turns under way.
    pub running: usize,
    /// Answers that are not sent yet.
    pub unsent: usize,
    /// The chat models, first choice first.
    pub models: Vec<String>,
    /// Accounts and their connection, as `platform/account: state`.
    pub accounts: Vec<String>,
    /// Servers of tools, as `mcp/name: state`.
    pub servers: Vec<String>,
    /// What was used today, if models have prices: by the asker, here, and by the account.
    pub spent: Option<[String; 3]>,
}

/// One turn, for /log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedTurn {
    /// When it ended.
    pub at: Timestamp,
    /// The model.
    pub model: String,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// Tokens of requests and of answers.
    pub tokens: (u64, u64),
    /// What it cost; empty without prices.
    pub price: String,
    /// The tools that were called, and how often each.
    pub tools: Vec<(String, usize)>,
}

/// Facts for /why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhyFacts {
    /// The turn, or the message where no turn took it.
    pub turn: String,
    /// When the message was received.
    pub received_at: Timestamp,
    /// How the message ended.
    pub state: &'static str,
    /// The reason code.
    pub reason: Option<String>,
    /// Attempts.
    pub attempts: u32,
    /// The state of the answer.
    pub answer: Option<&'static str>,
    /// The reason code of the answer.
    pub answer_reason: Option<String>,
    /// Steps that this process remembers: milliseconds since the message was received and reason code.
    pub steps: Vec<(i64, &'static str)>,
}

/// A tool and how often it was called.
fn counted((tool, times): &(String, usize)) -> String {
    match times {
        1 => tool.clone(),
        times => format!("{tool} ×{times}"),
    }
}

/// Milliseconds as seconds with one digit.
fn tenths(millis: u64) -> String {
    format!("{}.{}", millis / 1_000, millis % 1_000 / 100)
}

/// Everything that the gateway says to people in its own words.
#[derive(Debug, Clone, PartialEq)]
pub enum Text {
    /// Head of /help, or of its part for this level.
    HelpHead(Level),
    /// What else /help tells, and of which parts.
    HelpMore {
        /// Of what is for those who moderate.
        admin: bool,
        /// Of what is for owners.
        owner: bool,
    },
    /// What a command does, in one line.
    About(About),
    /// Answer to a bare /ping.
    Pong,
    /// Answer to /status.
    Status(Box<StatusFacts>),
    /// /stop ended this many turns; this many messages of the person still wait.
    Stopped {
        /// Turns ended.
        turns: usize,
        /// Messages that still wait.
        waiting: usize,
    },
    /// /stop found nothing to stop.
    NothingToStop {
        /// Messages that still wait.
        waiting: usize,
    },
    /// /cancel ended turns and dropped messages.
    Cancelled {
        /// Turns ended.
        turns: usize,
        /// Messages dropped.
        messages: usize,
    },
    /// The model wanted to use tools, but what it said of them could not be used.
    ModelCallsBroken,
    /// Answer to /log: the newest turns, newest last.
    Log(Vec<LoggedTurn>),
    /// /log found no turns.
    LogNothing,
    /// /search needs words.
    SearchWhat,
    /// /search is not set up.
    SearchOff,
    /// A tool that a command asked gave nothing; what it said.
    AskFailed(String),
    /// Shown while tools run.
    ToolsRunning {
        /// Their names.
        tools: String,
    },
    /// Put behind a partial answer that was stopped.
    StoppedMark,
    /// Put behind a partial answer whose turn ran out of time.
    TimeoutMark,
    /// Put behind an answer that the model cut at its limit.
    TruncatedMark,
    /// The platform allows no more messages in reply.
    BudgetMark {
        /// How many characters are left out.
        left: usize,
    },
    /// The conversation was reset.
    ResetDone,
    /// Answer to /why.
    Why(Box<WhyFacts>),
    /// /why found no message.
    WhyNothing,
    /// The present output strategy; `None` means the default.
    OutputIs(Option<&'static str>),
    /// The output strategy was set.
    OutputSet(&'static str),
    /// The output strategy goes back to the default.
    OutputCleared,
    /// The present language setting; `None` means automatic.
    LangIs(Option<Language>),
    /// The language was set.
    LangSet(Language),
    /// The language goes back to automatic.
    LangCleared,
    /// No such command.
    UnknownCommand(String),
    /// A command's argument is wrong: what was given, what is possible.
    BadArgument {
        /// What was given.
        given: String,
        /// What is possible.
        possible: &'static str,
    },
    /// Messages were dropped because the queue was full.
    DroppedOldest(usize),
    /// Messages were refused because the queue was full.
    RefusedNewest(usize),
    /// Messages waited too long.
    ExpiredMessages(usize),
    /// A message is too long.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The turn failed; the reference is in the log.
    Failed {
        /// The turn id.
        reference: String,
    },
    /// The turn ran out of time before there was any text.
    TimedOut {
        /// The turn id.
        reference: String,
    },
    /// The model refused by its content filter.
    ModelRefused,
    /// The model answered nothing.
    ModelEmpty,
    /// The model came to its length limit before it answered.
    ModelNoRoom,
    /// A turn failed in three processes.
    Quarantined {
        /// The turn id.
        reference: String,
    },
    /// A message was not passed on: it reads like an attempt to take over the model.
    InjectionBlocked {
        /// The turn id.
        reference: String,
    },
    /// A task is not done: it came from this gateway itself, or through too many agents.
    AgentLoop,
    /// A message was not passed on: it has a word of the blocklist.
    ContentBlocked {
        /// The turn id.
        reference: String,
    },
    /// Told to the model: the text that follows is not to be trusted.
    HintUntrusted,
    /// Told to the model: messages of this person were dropped before the next one.
    HintDropped {
        /// The configured prefix, `input_buffer.overflow_hint`.
        prefix: String,
        /// How many.
        count: u64,
        /// Seconds between the first and the last.
        span: u64,
    },
}

impl Text {
    /// The text in a language.
    #[must_use]
    pub fn render(&self, language: Language) -> String {
        match language {
            Language::Zh => zh::render(self),
            Language::En => en::render(self),
        }
    }
}

/// A duration in whole units, largest two: `2d 3h`, `4m 5s`.
fn rough(duration: Duration, units: [&str; 4]) -> String {
    let seconds = duration.as_secs();
    let counts = [
        seconds / 86_400,
        seconds / 3_600 % 24,
        seconds / 60 % 60,
        seconds % 60,
    ];
    let first = counts.iter().position(|count| *count > 0).unwrap_or(3);
    let shown: Vec<String> = counts
        .iter()
        .zip(units)
        .skip(first)
        .take(2)
        .filter(|(count, _)| **count > 0 || seconds == 0)
        .map(|(count, unit)| format!("{count}{unit}"))
        .collect();
    shown.join(" ")
}

#[cfg(test)]
mod tests;
