//! What `weirgate doctor` says: one finding a line, what is wrong and what to do.
//!
//! Owns the list of findings and how grave each is; each language is one exhaustive `match` in a file of
//! its own.

mod en;
mod zh;

use std::path::PathBuf;

use weirgate_sdk::Finding;

use super::{Language, skills::SkillText};
use crate::sandbox::kernel::Lacks;

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// As it should be.
    Ok,
    /// It works, and somebody should look at it.
    Warn,
    /// It does not work.
    Fail,
}

/// What a line is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// agent.yaml.
    Configuration,
    /// The data folder.
    Folder,
    /// Whether a gateway runs.
    Gateway,
    /// The free room on the disk.
    Disk,
    /// The clock.
    Clock,
    /// The database.
    Store,
    /// The web server.
    Http,
    /// An account, as platform/account.
    Account(String),
    /// A model, as provider/model.
    Model(String),
    /// The model that tells what a text means, as provider/model.
    Embed(String),
    /// The server that keeps the memory.
    Redis,
    /// A server of tools, by its name.
    Server(String),
    /// An endpoint of agents by others, by its name.
    Agents(String),
    /// The skills, or one of them by its name.
    Skill(Option<String>),
    /// The agents that can be named, or one of them by its name.
    Agent(Option<String>),
    /// The programs in the folder of tools, or one of them by its name.
    Program(Option<String>),
    /// The tool that runs command lines.
    Shell,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// Files, folders, the process.
    Here(Here),
    /// The clock and the database.
    Keep(Keep),
    /// Addresses, accounts, models.
    Reach(Reach),
    /// Skills.
    Skill(SkillText),
}

/// Files, folders, the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Here {
    /// The configuration can be used.
    Configured {
        /// The file.
        file: String,
        /// How many warnings there are.
        warnings: usize,
    },
    /// The configuration cannot be used.
    Misconfigured {
        /// The file.
        file: String,
        /// How many errors there are.
        errors: usize,
    },
    /// The data folder is there and can be written.
    Folder {
        /// Where.
        path: PathBuf,
    },
    /// The data folder is made by the first start.
    NoFolder {
        /// Where.
        path: PathBuf,
    },
    /// Nothing says where a user's data is, so that there is none.
    NoHome,
    /// The data folder cannot be written, or not be made.
    Forbidden {
        /// The folder that keeps us out.
        path: PathBuf,
        /// What the system said.
        error: String,
    },
    /// Other users can look into the data folder or the database.
    Open {
        /// What.
        path: PathBuf,
        /// The mode that it should have.
        mode: &'static str,
    },
    /// A gateway runs.
    Runs {
        /// Its process.
        process: u32,
        /// Its version.
        version: String,
    },
    /// A gateway of another version runs.
    RunsOther {
        /// Its process.
        process: u32,
        /// Its version.
        version: String,
    },
    /// None runs.
    Rests,
    /// Somebody holds the lock of the data folder and does not answer.
    Mute {
        /// Why.
        error: String,
    },
    /// Room on the disk.
    Room {
        /// Free megabytes.
        free: u64,
    },
    /// Little room on the disk.
    LittleRoom {
        /// Free megabytes.
        free: u64,
    },
    /// As good as no room on the disk.
    NoRoom {
        /// Free megabytes.
        free: u64,
    },
    /// The system does not tell.
    RoomUnknown {
        /// What it said.
        error: String,
    },
    /// The kernel keeps programs in their place.
    Confines {
        /// The version of Landlock.
        version: u8,
        /// They run as root, whose processes the system does not count.
        root: bool,
    },
    /// The kernel does not, so that none is run.
    Unconfined(Lacks),
    /// Programs that models can use.
    Programs {
        /// How many.
        count: usize,
    },
    /// One that cannot be used.
    LeftOut {
        /// Why.
        what: String,
    },
}

impl From<Here> for Health {
    fn from(found: Here) -> Self {
        Self::Here(found)
    }
}

/// The clock and the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// The clock is right as far as can be told.
    Clock,
    /// The clock shows a time that cannot be.
    ClockAstray {
        /// The time.
        now: String,
    },
    /// The clock was set while it was looked at.
    ClockJumps {
        /// By so many milliseconds.
        millis: i64,
    },
    /// The clock is behind what is in the database.
    ClockBehind {
        /// By so many seconds.
        seconds: i64,
    },
    /// The clock differs from that of a provider.
    ClockDiffers {
        /// The provider.
        provider: String,
        /// By so many seconds; positive if ours is ahead.
        seconds: i64,
    },
    /// The database is whole.
    Store {
        /// Megabytes.
        size: u64,
    },
    /// The database is on a server, which lets us in.
    Server {
        /// A gateway has it in use.
        used: bool,
    },
    /// There is no database yet.
    NoStore,
    /// The database is damaged.
    Damaged {
        /// What is wrong.
        reason: String,
    },
    /// The database was not looked at to the end.
    StoreUnchecked,
    /// The database cannot be opened.
    StoreFailed {
        /// What was said.
        error: String,
    },
}

impl From<Keep> for Health {
    fn from(found: Keep) -> Self {
        Self::Keep(found)
    }
}

/// Addresses, accounts, models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Something that an address or an account needs.
    Found {
        /// What.
        finding: Finding,
        /// The gateway runs, so that its addresses are in use.
        runs: bool,
    },
    /// Nothing to look at before the gateway runs.
    Nothing,
    /// The check took too long.
    TooLong,
    /// The account or the model cannot be built.
    Unusable {
        /// Why.
        error: String,
    },
    /// A server offers tools.
    Tools {
        /// How many.
        tools: usize,
        /// How many are not offered.
        left_out: usize,
    },
    /// An endpoint has agents.
    Agents {
        /// How many.
        agents: usize,
        /// How many are not offered.
        left_out: usize,
    },
    /// The demonstration, which needs nothing.
    Demo,
    /// The model answered.
    Answers {
        /// After so many milliseconds.
        millis: u64,
    },
    /// The model was not asked.
    NotAsked,
    /// The key is not accepted.
    KeyRefused {
        /// What the provider said.
        error: String,
    },
    /// The model or the address is not known there.
    ModelUnknown {
        /// What the provider said.
        error: String,
    },
    /// The provider takes no more requests just now.
    RateLimited {
        /// What the provider said.
        error: String,
    },
    /// The provider cannot be reached.
    Unreachable {
        /// What happened.
        error: String,
    },
    /// The server that keeps the memory does not answer, or refuses.
    MemoryAway {
        /// What happened.
        error: String,
    },
    /// The provider failed.
    ProviderFailed {
        /// What it said.
        error: String,
    },
}

impl From<SkillText> for Health {
    fn from(found: SkillText) -> Self {
        Self::Skill(found)
    }
}

impl From<Reach> for Health {
    fn from(found: Reach) -> Self {
        Self::Reach(found)
    }
}

impl Health {
    /// How grave it is.
    #[must_use]
    pub fn level(&self) -> Level {
        match self {
            Self::Here(here) => here.level(),
            Self::Keep(keep) => keep.level(),
            Self::Reach(reach) => reach.level(),
            Self::Skill(SkillText::Why(_)) => Level::Warn,
            Self::Skill(_) => Level::Ok,
        }
    }

    /// The text in a language: one line.
    #[must_use]
    pub fn render(&self, language: Language) -> String {
        match language {
            Language::Zh => zh::render(self),
            Language::En => en::render(self),
        }
    }
}

impl Here {
    fn level(&self) -> Level {
        match self {
            Self::Configured { warnings: 0, .. }
            | Self::Folder { .. }
            | Self::NoFolder { .. }
            | Self::Runs { .. }
            | Self::Rests
            | Self::Confines { root: false, .. }
            | Self::Programs { .. }
            | Self::Room { .. } => Level::Ok,
            Self::Configured { .. }
            | Self::LeftOut { .. }
            | Self::Open { .. }
            | Self::NoHome
            | Self::RunsOther { .. }
            | Self::LittleRoom { .. }
            | Self::Confines { .. }
            | Self::RoomUnknown { .. } => Level::Warn,
            Self::Misconfigured { .. }
            | Self::Forbidden { .. }
            | Self::Mute { .. }
            | Self::Unconfined(_)
            | Self::NoRoom { .. } => Level::Fail,
        }
    }
}

impl Keep {
    fn level(&self) -> Level {
        match self {
            Self::Clock | Self::Store { .. } | Self::Server { .. } | Self::NoStore => Level::Ok,
            // A signature or a token is refused by most when clocks are five minutes apart.
            Self::ClockDiffers { seconds, .. } if seconds.abs() >= 300 => Level::Fail,
            Self::ClockDiffers { .. } | Self::ClockJumps { .. } | Self::StoreUnchecked => {
                Level::Warn
            }
            Self::ClockAstray { .. }
            | Self::ClockBehind { .. }
            | Self::Damaged { .. }
            | Self::StoreFailed { .. } => Level::Fail,
        }
    }
}

impl Reach {
    fn level(&self) -> Level {
        match self {
            Self::Nothing | Self::Demo | Self::Answers { .. } | Self::NotAsked => Level::Ok,
            Self::Tools { left_out: 0, .. } | Self::Agents { left_out: 0, .. } => Level::Ok,
            Self::RateLimited { .. } | Self::Tools { .. } | Self::Agents { .. } => Level::Warn,
            Self::TooLong
            | Self::Unusable { .. }
            | Self::KeyRefused { .. }
            | Self::ModelUnknown { .. }
            | Self::Unreachable { .. }
            | Self::MemoryAway { .. }
            | Self::ProviderFailed { .. } => Level::Fail,
            Self::Found { finding, runs } => match finding {
                Finding::CanListen(_) => Level::Ok,
                Finding::InUse(_) if *runs => Level::Ok,
                Finding::Reached { online: true, .. } | Finding::HearsOnlyItself => Level::Ok,
                Finding::NoToken(_)
                | Finding::Reached { .. }
                | Finding::PostedElsewhere(_)
                | Finding::NotPosted(_) => Level::Warn,
                Finding::InUse(_)
                | Finding::CannotListen { .. }
                | Finding::TokenRefused { .. }
                | Finding::NotReached { .. }
                | Finding::NotGranted { .. }
                | Finding::NoPublicUrl => Level::Fail,
            },
        }
    }
}

impl Subject {
    /// Its name in a language.
    #[must_use]
    pub fn render(&self, language: Language) -> String {
        match language {
            Language::Zh => zh::subject(self),
            Language::En => en::subject(self),
        }
    }
}

impl Level {
    /// Its name in a language.
    #[must_use]
    pub fn render(self, language: Language) -> &'static str {
        match (self, language) {
            (Self::Ok, Language::En) => "ok",
            (Self::Warn, Language::En) => "warn",
            (Self::Fail, Language::En) => "FAIL",
            (Self::Ok, Language::Zh) => "正常",
            (Self::Warn, Language::Zh) => "注意",
            (Self::Fail, Language::Zh) => "故障",
        }
    }
}
