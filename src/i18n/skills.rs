//! What people are told about skills.
//!
//! Owns the texts: one exhaustive `match` a language.

use super::Language;
use crate::agent::skill::{Fault, LeftOut};

/// A skill, as people are shown it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The tools that it needs.
    pub tools: Vec<String>,
    /// Its version, licence and the like, each with its key.
    pub about: Vec<(&'static str, String)>,
    /// Which inputs it has, if it has steps to run.
    pub usage: Option<String>,
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillText {
    /// There are none.
    None,
    /// Those that the asker may use, with what each is for, and those that are left out, if he may know.
    List {
        /// Name and description.
        skills: Vec<(String, String)>,
        /// With the reasons.
        left_out: Vec<LeftOut>,
    },
    /// One.
    One(Shown),
    /// There is none of this name.
    Unknown {
        /// Which was meant.
        name: String,
    },
    /// It has no steps to run.
    NoSteps {
        /// Which was meant.
        name: String,
    },
    /// The inputs of one do not fit.
    Misfit {
        /// The skill.
        name: String,
        /// What does not fit.
        what: String,
        /// Which inputs it has.
        usage: String,
    },
    /// So many were found, for the doctor.
    Found {
        /// How many.
        count: usize,
    },
    /// So many agents that can be named were found, for the doctor.
    FoundAgents {
        /// How many.
        count: usize,
    },
    /// Why one is left out.
    Why(Fault),
}

impl SkillText {
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
            Self::None => "There are no skills.".into(),
            Self::List { skills, left_out } => {
                let left_out = left_out
                    .iter()
                    .map(|one| format!("{}: left out: {}", one.name, why_en(&one.fault)));
                let skills = skills
                    .iter()
                    .map(|(name, about)| format!("{name}: {about}"));
                skills.chain(left_out).collect::<Vec<_>>().join("\n")
            }
            Self::One(shown) => one(shown, "Needs: ", ", "),
            Self::Unknown { name } => {
                format!("There is no skill {name}. /skill shows which there are.")
            }
            Self::NoSteps { name } => {
                format!("The skill {name} has no steps to run. Just ask for what it is for.")
            }
            Self::Misfit { name, what, usage } => {
                format!("The inputs do not fit: {what}\n/run {name} {usage}")
            }
            Self::Found { count } => format!("skills: {count}"),
            Self::FoundAgents { count } => format!("agents that can be named: {count}"),
            Self::Why(fault) => why_en(fault),
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::None => "没有技能。".into(),
            Self::List { skills, left_out } => {
                let left_out = left_out
                    .iter()
                    .map(|one| format!("{}：未启用：{}", one.name, why_zh(&one.fault)));
                let skills = skills
                    .iter()
                    .map(|(name, about)| format!("{name}：{about}"));
                skills.chain(left_out).collect::<Vec<_>>().join("\n")
            }
            Self::One(shown) => one(shown, "需要工具：", "、"),
            Self::Unknown { name } => format!("没有名为 {name} 的技能。用 /skill 查看列表。"),
            Self::NoSteps { name } => format!("技能 {name} 没有可执行的步骤，直接提出要求即可。"),
            Self::Misfit { name, what, usage } => {
                format!("输入不符合要求：{what}\n/run {name} {usage}")
            }
            Self::Found { count } => format!("技能 {count} 个"),
            Self::FoundAgents { count } => format!("可指名的子代理 {count} 个"),
            Self::Why(fault) => why_zh(fault),
        }
    }
}

fn one(shown: &Shown, needs: &str, between: &str) -> String {
    let mut lines = vec![shown.name.clone(), shown.description.clone()];
    if !shown.tools.is_empty() {
        lines.push(format!("{needs}{}", shown.tools.join(between)));
    }
    let about = shown
        .about
        .iter()
        .map(|(key, text)| format!("{key}: {text}"));
    lines.extend(about);
    let run = |usage: &String| format!("/run {} {usage}", shown.name).trim().to_owned();
    lines.extend(shown.usage.as_ref().map(run));
    lines.join("\n")
}

fn why_en(fault: &Fault) -> String {
    match fault {
        Fault::Unreadable { error } => error.clone(),
        Fault::TooLarge { most } => format!("larger than {most} bytes"),
        Fault::NoFrontMatter => "it does not begin with a front matter between lines of ---".into(),
        Fault::Yaml { error } => format!("the front matter is no YAML: {error}"),
        Fault::Key { key, wanted } => format!("{key} is missing or wrong: {wanted}"),
        Fault::OtherName { name } => format!("the name {name:?} is not that of the folder"),
        Fault::OtherFile { name } => format!("the name {name:?} is not that of the file"),
        Fault::Empty => "there is nothing behind the front matter".into(),
        Fault::Steps { problems } => problems.join("; "),
        Fault::BothForms => "it has a SKILL.md and a steps.yaml; one of them makes a skill".into(),
        Fault::Taken => "a tool has this name".into(),
        Fault::Missing { tools } => {
            format!("it needs tools that are not there: {}", tools.join(", "))
        }
        Fault::TooMany { most } => format!("there are more than {most} of them"),
    }
}

fn why_zh(fault: &Fault) -> String {
    match fault {
        Fault::Unreadable { error } => error.clone(),
        Fault::TooLarge { most } => format!("超过 {most} 字节"),
        Fault::NoFrontMatter => "开头没有用 --- 包围的元数据".into(),
        Fault::Yaml { error } => format!("元数据不是有效的 YAML：{error}"),
        Fault::Key { key, wanted } => format!("{key} 缺失或有误，应为：{wanted}"),
        Fault::OtherName { name } => format!("名称“{name}”与文件夹名不一致"),
        Fault::OtherFile { name } => format!("名称“{name}”与文件名不一致"),
        Fault::Empty => "元数据之后没有内容".into(),
        Fault::Steps { problems } => problems.join("；"),
        Fault::BothForms => "同时有 SKILL.md 和 steps.yaml，只能有其中一个".into(),
        Fault::Taken => "已有同名工具".into(),
        Fault::Missing { tools } => format!("缺少所需工具：{}", tools.join("、")),
        Fault::TooMany { most } => format!("超过 {most} 个"),
    }
}
