//! What people are told about personas, memory and models.
//!
//! Owns the texts: one exhaustive `match` a language.

use super::Language;
use crate::{
    clock::minute,
    store::{MemorySource, MemoryTier},
};

/// An entry of the memory, as it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// Its number.
    pub id: i64,
    /// Its words, perhaps cut.
    pub text: String,
    /// When they were last changed.
    pub at: weirgate_sdk::Timestamp,
    /// Who made it.
    pub source: MemorySource,
    /// How long it lives.
    pub tier: MemoryTier,
    /// It belongs to another conversation.
    pub elsewhere: bool,
    /// It is not recalled by itself any more.
    pub archived: bool,
}

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
    /// The model that answers here, and those that may be chosen.
    Models {
        /// The one that is asked first.
        present: Option<String>,
        /// All that the asker may use.
        names: Vec<String>,
    },
    /// There is no such model for the asker.
    NoModel {
        /// What was written.
        given: String,
        /// All that he may use.
        names: Vec<String>,
    },
    /// A model was chosen; `None` for those of the configuration.
    ModelSet(Option<String>),
    /// The newest message alone is more than the model can take.
    DoesNotFit {
        /// Its size, in tokens, about.
        size: usize,
        /// What is left for it.
        most: usize,
    },
    /// The heading of what the model thought.
    Thoughts,
    /// Stands where thoughts are too long to be shown whole.
    ThoughtsCut,
    /// What is remembered, the newest first.
    Memory {
        /// The newest entries.
        entries: Vec<Remembered>,
        /// How many there are behind them.
        more: usize,
        /// The page of the list that is shown, from 1 on; 0 where it is no list with pages.
        page: usize,
    },
    /// Nothing is remembered in this gateway.
    MemoryOff,
    /// The memory does not answer now.
    MemoryAway,
    /// It is kept under this number.
    Kept(i64),
    /// There is nothing to keep.
    RememberWhat {
        /// Most characters of an entry.
        most: usize,
    },
    /// It reads like an attempt to take over the model.
    NotKept,
    /// There is no room.
    MemoryFull,
    /// So many entries are gone.
    Forgotten(usize),
    /// There is no such entry, or it is somebody else's.
    NothingForgotten,
    /// /forget needs numbers.
    ForgetWhat,
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
            Self::Models { present, names } => format!(
                "Model: {}.{}",
                present.as_deref().unwrap_or("none"),
                choice(names, " Possible: ", ", ", ", default.")
            ),
            Self::NoModel { given, names } => format!(
                "There is no model \"{given}\" for you.{}",
                choice(names, " Possible: ", ", ", ", default.")
            ),
            Self::ModelSet(Some(name)) => format!("From now on {name} answers here."),
            Self::ModelSet(None) => "The usual model answers here again.".into(),
            Self::Memory {
                entries,
                more,
                page,
            } => memory_en(entries, *more, *page),
            Self::MemoryOff => "Nothing is remembered here: memory is switched off.".into(),
            Self::MemoryAway => {
                "What I remember cannot be reached now. Please try again later.".into()
            }
            Self::Kept(id) => format!("Remembered as #{id}."),
            Self::RememberWhat { most } => {
                format!("What shall I remember? At most {most} characters.")
            }
            Self::NotKept => {
                "I do not keep that: it reads like an attempt to change how I work.".into()
            }
            Self::MemoryFull => "There is no room left; /forget something first.".into(),
            Self::Forgotten(1) => "Forgotten.".into(),
            Self::Forgotten(count) => format!("Forgotten: {count} entries."),
            Self::NothingForgotten => "There is no such entry of yours here.".into(),
            Self::ForgetWhat => "What shall I forget? /forget NUMBER, or /forget all.".into(),
            Self::DoesNotFit { size, most } => format!(
                "That is too long for the model: about {size} tokens, of which {most} fit. Nothing was changed; send it in \
                 smaller pieces or as a file."
            ),
            Self::Thoughts => "Reasoning".into(),
            Self::ThoughtsCut => "(shortened)".into(),
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
            Self::Models { present, names } => format!(
                "模型：{}。{}",
                present.as_deref().unwrap_or("无"),
                choice(names, "可选：", "、", "、default。")
            ),
            Self::NoModel { given, names } => format!(
                "没有你可以使用的模型“{given}”。{}",
                choice(names, "可选：", "、", "、default。")
            ),
            Self::ModelSet(Some(name)) => format!("从现在起，这里由 {name} 回答。"),
            Self::ModelSet(None) => "这里恢复由默认模型回答。".into(),
            Self::Memory {
                entries,
                more,
                page,
            } => memory_zh(entries, *more, *page),
            Self::MemoryOff => "记忆功能已关闭，这里不保存任何内容。".into(),
            Self::MemoryAway => "现在无法访问记忆，请稍后再试。".into(),
            Self::Kept(id) => format!("已记住，编号 #{id}。"),
            Self::RememberWhat { most } => format!("要记住什么？最多 {most} 个字符。"),
            Self::NotKept => "这段内容像是在试图改变我的工作方式，我不会保存。".into(),
            Self::MemoryFull => "记忆已满，请先用 /forget 忘掉一些。".into(),
            Self::Forgotten(count) => format!("已忘记 {count} 条。"),
            Self::NothingForgotten => "这里没有属于你的这条记忆。".into(),
            Self::ForgetWhat => "要忘记什么？/forget 编号，或 /forget all。".into(),
            Self::DoesNotFit { size, most } => format!(
                "内容太长，模型放不下：约 {size} 个词元，只能放 {most} 个。没有任何改动，请分成几段或以文件发送。"
            ),
            Self::Thoughts => "思考".into(),
            Self::ThoughtsCut => "（已截短）".into(),
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

fn memory_en(entries: &[Remembered], more: usize, page: usize) -> String {
    if entries.is_empty() {
        return "Nothing is remembered here.".into();
    }
    let line = |entry: &Remembered| {
        let source = match entry.source {
            MemorySource::Person => "told me",
            MemorySource::Tool => "asked of me",
            MemorySource::Extraction => "noticed",
            MemorySource::Merged => "put together",
        };
        let tier = match entry.tier {
            MemoryTier::System => ", a rule",
            MemoryTier::Important => "",
            MemoryTier::Daily => ", for some days",
            MemoryTier::Misc => ", for a day",
        };
        let elsewhere = if entry.elsewhere {
            ", in another chat"
        } else {
            ""
        };
        let aside = if entry.archived { ", put aside" } else { "" };
        let at = minute(entry.at);
        format!(
            "#{} {} ({at}: {source}{tier}{elsewhere}{aside})",
            entry.id, entry.text
        )
    };
    finished(entries.iter().map(line).collect(), more, page)
}

fn memory_zh(entries: &[Remembered], more: usize, page: usize) -> String {
    if entries.is_empty() {
        return "这里没有任何记忆。".into();
    }
    let line = |entry: &Remembered| {
        let source = match entry.source {
            MemorySource::Person => "你告诉我的",
            MemorySource::Tool => "对话中让我记的",
            MemorySource::Extraction => "我注意到的",
            MemorySource::Merged => "归并而来",
        };
        let tier = match entry.tier {
            MemoryTier::System => "，规则",
            MemoryTier::Important => "",
            MemoryTier::Daily => "，保留数日",
            MemoryTier::Misc => "，保留一天",
        };
        let elsewhere = if entry.elsewhere {
            "，在其他聊天中"
        } else {
            ""
        };
        let aside = if entry.archived { "，已归档" } else { "" };
        let at = minute(entry.at);
        format!(
            "#{} {}（{at}：{source}{tier}{elsewhere}{aside}）",
            entry.id, entry.text
        )
    };
    finished(entries.iter().map(line).collect(), more, page)
}

fn finished(mut lines: Vec<String>, more: usize, page: usize) -> String {
    if more > 0 {
        lines.push(match page {
            0 => format!("… +{more}"),
            page => format!("… +{more} (/memory page {})", page + 1),
        });
    }
    lines.join("\n")
}
