//! What people are told of the arguments of commands.
//!
//! Owns the texts: one exhaustive `match` a language.

use super::Language;
use crate::command::argument::Kind;

/// What an argument is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// Somebody.
    User,
    /// Why.
    Reason,
    /// For how long.
    Time,
    /// When.
    When,
    /// A text.
    Content,
    /// A text that is needed.
    Text,
    /// What is to be done or told then.
    Task,
    /// What is kept.
    Note,
    /// What is looked for.
    Words,
    /// What somebody says to a question.
    Reply,
    /// The name of something.
    Name,
    /// The name of a skill.
    Skill,
    /// What a skill is given.
    Inputs,
    /// The key of a setting.
    Key,
    /// Its value.
    Value,
    /// A role.
    Role,
    /// How many.
    Count,
    /// The number of an entry.
    Number,
    /// The number of what is listed.
    Entry,
    /// The name of a question.
    Id,
    /// One of its answers.
    Answer,
    /// A place.
    Place,
    /// A language.
    Language,
    /// The language of the gateway.
    Tongue,
    /// The code of a stranger.
    Pairing,
    /// The code of the gateway.
    Claiming,
    /// How answers are shown.
    Mode,
    /// What is to be done.
    Action,
    /// That it is meant.
    Confirm,
    /// A command.
    Command,
}

impl Label {
    /// The name of a field, the same in every language: letters of a to z.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Reason => "reason",
            Self::Time | Self::When => "time",
            Self::Content | Self::Text | Self::Task | Self::Note => "text",
            Self::Words | Self::Reply => "words",
            Self::Name | Self::Skill => "name",
            Self::Inputs => "inputs",
            Self::Key => "key",
            Self::Value => "value",
            Self::Role => "role",
            Self::Count | Self::Number | Self::Entry => "number",
            Self::Id => "id",
            Self::Answer => "answer",
            Self::Place => "place",
            Self::Language | Self::Tongue => "language",
            Self::Pairing | Self::Claiming => "code",
            Self::Mode => "mode",
            Self::Action => "action",
            Self::Confirm => "confirm",
            Self::Command => "command",
        }
    }

    /// The name in a language.
    #[must_use]
    pub const fn text(self, language: Language) -> &'static str {
        match language {
            Language::En => self.en(),
            Language::Zh => self.zh(),
        }
    }

    const fn en(self) -> &'static str {
        match self {
            Self::User => "@user",
            Self::Reason => "reason",
            Self::Time => "time",
            Self::When => "TIME",
            Self::Content | Self::Note => "text",
            Self::Text | Self::Task => "TEXT",
            Self::Words | Self::Reply => "words",
            Self::Name => "name",
            Self::Skill => "NAME",
            Self::Inputs => "KEY=VALUE …",
            Self::Key => "key",
            Self::Value => "value",
            Self::Role => "role",
            Self::Count | Self::Number => "number",
            Self::Entry => "NUMBER",
            Self::Id => "ID",
            Self::Answer => "answer",
            Self::Place => "PLACE",
            Self::Language => "LANGUAGE",
            Self::Tongue => "language",
            Self::Pairing | Self::Claiming => "CODE",
            Self::Mode => "mode",
            Self::Action => "action",
            Self::Confirm => "confirm",
            Self::Command => "command",
        }
    }

    const fn zh(self) -> &'static str {
        match self {
            Self::User => "@用户",
            Self::Reason => "原因",
            Self::Time => "时长",
            Self::When => "时间",
            Self::Content | Self::Text => "文字",
            Self::Task | Self::Note => "内容",
            Self::Words => "关键词",
            Self::Reply => "回答内容",
            Self::Name | Self::Skill => "名称",
            Self::Inputs => "键=值 …",
            Self::Key => "键",
            Self::Value => "值",
            Self::Role => "角色",
            Self::Count => "条数",
            Self::Number | Self::Entry | Self::Id => "编号",
            Self::Answer => "答复",
            Self::Place => "地点",
            Self::Language | Self::Tongue => "语言",
            Self::Pairing => "配对码",
            Self::Claiming => "认领码",
            Self::Mode => "方式",
            Self::Action => "操作",
            Self::Confirm => "确认",
            Self::Command => "命令",
        }
    }

    /// What may stand there.
    #[must_use]
    pub fn kind(kind: Kind, language: Language) -> String {
        let (named, text) = match (language, kind) {
            (Language::En, Kind::Person) => (
                [].as_slice(),
                "a mention, an id, or the name of somebody who wrote here lately",
            ),
            (Language::Zh, Kind::Person) => ([].as_slice(), "提及、账号，或最近在此发言者的名字"),
            (Language::En, Kind::Span) => ([].as_slice(), "a length of time such as 10m, 2h, 7d"),
            (Language::Zh, Kind::Span) => ([].as_slice(), "时长，如 10m、2h、7d"),
            (Language::En, Kind::Number) => ([].as_slice(), "a whole number"),
            (Language::Zh, Kind::Number) => ([].as_slice(), "整数"),
            (_, Kind::Choice(words)) => (words, ""),
            (Language::En, Kind::Word(words)) => (words, "a word"),
            (Language::Zh, Kind::Word(words)) => (words, "一个词"),
            (Language::En, Kind::Text(words)) => (words, "words"),
            (Language::Zh, Kind::Text(words)) => (words, "任意文字"),
        };
        let text = Some(text).filter(|text| !text.is_empty());
        let all = text.into_iter().chain(named.iter().copied());
        let or = match language {
            Language::En => " or ",
            Language::Zh => " 或 ",
        };
        all.collect::<Vec<_>>().join(or)
    }
}
