//! What people are told about what waits for somebody's yes, and about what is done then.
//!
//! Owns the texts: one exhaustive `match` a language.

use std::time::Duration;

use weirgate_sdk::{RequestKind, moderation::ModerationError};

use super::{
    Language,
    moderation::{Deed, failure_en, failure_zh, span_en, span_zh},
    rough,
};

/// What waits, in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The conversation gets another owner.
    Transfer {
        /// Who.
        to: String,
    },
    /// What is kept of the conversation is deleted.
    Delete,
    /// The bot leaves.
    Leave,
    /// Something is done to a member.
    Moderate {
        /// What.
        deed: Deed,
        /// To whom.
        who: String,
        /// How long.
        time: Option<Duration>,
    },
    /// A request to the account is granted.
    Admit {
        /// What is asked for.
        kind: RequestKind,
        /// By whom.
        who: String,
        /// The group that it is about.
        group: Option<String>,
    },
    /// A tool runs.
    Tool {
        /// Its name.
        name: String,
    },
    /// A question of the model is answered.
    Answer {
        /// The question, perhaps cut.
        question: String,
    },
}

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub enum Consent {
    /// On a button: yes, or one of several answers.
    Yes(&'static str),
    /// On a button: no.
    No,
    /// On a button: no answer to a question.
    Skip,
    /// Behind a question of the model.
    HowToAnswer(HowToAnswer),
    /// What is the answer?
    WhatAnswer {
        /// The question's name.
        code: String,
    },
    /// Behind a question: what it is called and until when it can be answered, and how where there are no buttons.
    HowTo {
        /// Its name.
        code: String,
        /// How long.
        time: Duration,
        /// What can be answered besides no, if it is more than yes.
        options: Vec<&'static str>,
        /// There are buttons.
        buttons: bool,
    },
    /// Nothing of this name waits here.
    Unknown,
    /// Nothing waits here.
    NothingOpen,
    /// What waits here: name and what it is.
    Open(Vec<(String, What)>),
    /// As many wait here as may.
    TooManyOpen {
        /// The most.
        most: usize,
    },
    /// Somebody else is asked.
    SomebodyElse,
    /// Somebody else who may as well has to look at it.
    FourEyes,
    /// It was answered before.
    TooLate,
    /// Its time is over.
    Over,
    /// An answer is needed, and which there are.
    WhichAnswer {
        /// Its name.
        code: String,
        /// The answers.
        options: Vec<&'static str>,
    },
    /// It is not known any more what it was about, or he who asked may not any more.
    Withdrawn,
    /// Somebody said no.
    Denied(What),
    /// Nobody answered in time.
    Lapsed {
        /// Its name.
        code: String,
        /// What.
        what: What,
    },
    /// Only in a group.
    GroupsOnly,
    /// The new owner is asked.
    TransferAsked {
        /// The new owner.
        to: String,
    },
    /// Somebody owns the conversation already.
    OwnsAlready {
        /// Who.
        who: String,
    },
    /// Somebody is not there.
    NotThere {
        /// Who.
        who: String,
    },
    /// The conversation has another owner.
    Transferred {
        /// The new owner.
        to: String,
    },
    /// May a tool run.
    ToolAsked {
        /// Its name.
        tool: String,
        /// With what, set off from the text.
        arguments: String,
        /// What it asks itself, in the middle of its work.
        message: Option<String>,
    },
    /// A tool may run.
    ToolAllowed {
        /// Its name.
        tool: String,
    },
    /// What shall be deleted.
    DeleteAsked,
    /// What was said is forgotten.
    DeletedHistory,
    /// All is deleted.
    DeletedAll {
        /// Messages that were waiting.
        messages: usize,
        /// Answers that were not sent.
        replies: usize,
    },
    /// Shall the bot leave.
    LeaveAsked,
    /// The platform lets no bot leave, or not here.
    LeaveNotHere,
    /// It did not work.
    NotLeft(ModerationError),
}

/// How a question of the model is answered, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HowToAnswer {
    /// Its name.
    pub code: String,
    /// How long.
    pub time: Duration,
    /// What can be chosen, if that does not stand on buttons.
    pub choices: Vec<String>,
    /// Others are there as well, so that an answer has to say what it answers.
    pub group: bool,
}

impl HowToAnswer {
    fn en(&self) -> String {
        let (choices, code) = (numbered(&self.choices), &self.code);
        let time = rough(self.time, ["d", "h", "m", "s"]);
        let how = if self.group {
            "reply to this message"
        } else {
            "just write"
        };
        format!("{choices}(To answer, {how}, or /answer {code} and your words; within {time}.)")
    }

    fn zh(&self) -> String {
        let (choices, code) = (numbered(&self.choices), &self.code);
        let time = rough(self.time, ["天", "小时", "分", "秒"]);
        let how = if self.group {
            "回复本条消息"
        } else {
            "直接发送回答"
        };
        format!("{choices}（{how}，或 /answer {code} 加上回答内容；{time}内有效）")
    }
}

impl Consent {
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
            Self::Yes(answer) => match *answer {
                "history" => "What was said".into(),
                "all" => "Everything".into(),
                _ => "Yes".into(),
            },
            Self::No => "No".into(),
            Self::Skip => "Skip".into(),
            Self::HowToAnswer(how) => how.en(),
            Self::WhatAnswer { code } => format!("What is the answer? /answer {code} and your words"),
            Self::HowTo {
                code,
                time,
                options,
                buttons,
            } => how_to_en(code, *time, options, *buttons),
            Self::Unknown => "Nothing of that name waits here. /approve shows what does.".into(),
            Self::NothingOpen => "Nothing waits for an answer here.".into(),
            Self::Open(all) => {
                let lines = all.iter().map(|(code, what)| format!("{code}: {}", what_en(what)));
                format!("Waiting for an answer:\n{}", lines.collect::<Vec<_>>().join("\n"))
            }
            Self::TooManyOpen { most } => format!(
                "Not asked: {most} questions wait for an answer here already. /approve shows them."
            ),
            Self::SomebodyElse => "That is for somebody else to answer.".into(),
            Self::FourEyes => {
                "Somebody else who may do that as well has to say yes (four eyes).".into()
            }
            Self::TooLate => "That was answered before.".into(),
            Self::Over => "Too late: its time is over. Nothing was done; ask again.".into(),
            Self::WhichAnswer { code, options } => {
                format!("Which? /approve {code} {}", options.join("|"))
            }
            Self::Withdrawn => {
                "Not done: whoever asked may not do that any more, or it cannot be read. Ask again."
                    .into()
            }
            Self::Denied(what) => format!("Not done: {}. The answer is no.", what_en(what)),
            Self::Lapsed { code, what } => {
                format!("{code}: nobody answered in time. Not done: {}.", what_en(what))
            }
            Self::GroupsOnly => "That is for groups.".into(),
            Self::TransferAsked { to } => format!(
                "{to}: you are to become the owner of this conversation. Do you want to? \
                 The owner until now becomes an admin."
            ),
            Self::OwnsAlready { who } => format!("{who} owns this conversation already."),
            Self::NotThere { who } => format!("{who} is not in this conversation."),
            Self::Transferred { to } => format!("{to} owns this conversation now."),
            Self::ToolAsked {
                tool,
                arguments,
                message: None,
            } => format!("May I run {tool} with this?\n{arguments}"),
            Self::ToolAsked {
                tool,
                arguments,
                message: Some(message),
            } => format!("{tool} asks:\n{message}\nIf yes, it is told:\n{arguments}"),
            Self::ToolAllowed { tool } => format!("{tool} may run; I go on."),
            Self::DeleteAsked => {
                "What shall I delete of this conversation?\n\
                 What was said: the context that I answer from.\n\
                 Everything: besides that all messages and answers that I keep, what waits, and the settings \
                 and rules. Roles that were given stay, and so do entries of the audit log.\n\
                 It cannot be undone."
                    .into()
            }
            Self::DeletedHistory => "I have forgotten what was said here.".into(),
            Self::DeletedAll { messages, replies } => format!(
                "Deleted. Waiting messages that are not answered any more: {messages}; \
                 answers that are not sent any more: {replies}."
            ),
            Self::LeaveAsked => "Shall I leave this group? Somebody has to invite me again then.".into(),
            Self::LeaveNotHere => "I cannot leave this conversation by myself: the platform has no way.".into(),
            Self::NotLeft(error) => format!("I could not leave. {}", failure_en(error)),
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::Yes(answer) => match *answer {
                "history" => "对话内容".into(),
                "all" => "全部".into(),
                _ => "同意".into(),
            },
            Self::No => "拒绝".into(),
            Self::Skip => "跳过".into(),
            Self::HowToAnswer(how) => how.zh(),
            Self::WhatAnswer { code } => format!("回答是什么？/answer {code} 加上回答内容"),
            Self::HowTo {
                code,
                time,
                options,
                buttons,
            } => how_to_zh(code, *time, options, *buttons),
            Self::Unknown => "本会话没有这个编号的待确认事项。用 /approve 查看列表。".into(),
            Self::NothingOpen => "本会话没有待确认的事项。".into(),
            Self::Open(all) => {
                let lines = all
                    .iter()
                    .map(|(code, what)| format!("{code}：{}", what_zh(what)));
                format!("等待答复：\n{}", lines.collect::<Vec<_>>().join("\n"))
            }
            Self::TooManyOpen { most } => {
                format!("未提出：本会话已有 {most} 项等待答复。用 /approve 查看列表。")
            }
            Self::SomebodyElse => "这需要由别人来答复。".into(),
            Self::FourEyes => "需要另一位有同样权限的人来同意（双人复核）。".into(),
            Self::TooLate => "已经有人答复过了。".into(),
            Self::Over => "已过期，未执行任何操作。请重新发起。".into(),
            Self::WhichAnswer { code, options } => {
                format!("请选择：/approve {code} {}", options.join("|"))
            }
            Self::Withdrawn => "未执行：发起人已没有这个权限，或内容无法读取。请重新发起。".into(),
            Self::Denied(what) => format!("已拒绝，未执行：{}。", what_zh(what)),
            Self::Lapsed { code, what } => {
                format!("{code}：无人及时答复，未执行：{}。", what_zh(what))
            }
            Self::GroupsOnly => "此命令用于群。".into(),
            Self::TransferAsked { to } => {
                format!("{to}：有人想把本会话的拥有者转让给你，是否接受？原拥有者将成为管理员。")
            }
            Self::OwnsAlready { who } => format!("{who} 已经是本会话的拥有者。"),
            Self::NotThere { who } => format!("{who} 不在本会话中。"),
            Self::Transferred { to } => format!("{to} 现在是本会话的拥有者。"),
            Self::ToolAsked {
                tool,
                arguments,
                message: None,
            } => format!("可以用以下参数运行 {tool} 吗？\n{arguments}"),
            Self::ToolAsked {
                tool,
                arguments,
                message: Some(message),
            } => format!("{tool} 询问：\n{message}\n如果同意，将告诉它：\n{arguments}"),
            Self::ToolAllowed { tool } => format!("已允许运行 {tool}，我继续处理。"),
            Self::DeleteAsked => "要删除本会话的哪些内容？\n\
                 对话内容：我回答时参考的上下文。\n\
                 全部：此外还包括我保存的所有消息和回复、正在等待的内容，以及设置和规则。\
                 已授予的角色和审计记录会保留。\n\
                 删除后无法恢复。"
                .into(),
            Self::DeletedHistory => "已忘记本会话的对话内容。".into(),
            Self::DeletedAll { messages, replies } => {
                format!("已删除。不再回复的等待消息：{messages} 条；不再发送的回复：{replies} 条。")
            }
            Self::LeaveAsked => "要我离开本群吗？之后需要有人重新邀请我。".into(),
            Self::LeaveNotHere => "我无法自己离开本会话：平台不支持。".into(),
            Self::NotLeft(error) => format!("未能离开。{}", failure_zh(error)),
        }
    }
}

/// How one answers without buttons, or until when with them.
fn how_to_en(code: &str, time: Duration, options: &[&'static str], buttons: bool) -> String {
    let time = rough(time, ["d", "h", "m", "s"]);
    match (buttons, options) {
        (true, _) => format!("({code}, within {time})"),
        (false, []) => format!("Yes: /approve {code}\nNo: /deny {code}\nWithin {time}."),
        (false, options) => {
            let lines: Vec<String> = options
                .iter()
                .map(|option| {
                    let text = Consent::Yes(option).en();
                    format!("{text}: /approve {code} {option}")
                })
                .collect();
            format!("{}\nNo: /deny {code}\nWithin {time}.", lines.join("\n"))
        }
    }
}

fn how_to_zh(code: &str, time: Duration, options: &[&'static str], buttons: bool) -> String {
    let time = rough(time, ["天", "小时", "分", "秒"]);
    match (buttons, options) {
        (true, _) => format!("（{code}，{time}内有效）"),
        (false, []) => {
            format!("同意：/approve {code}\n拒绝：/deny {code}\n{time}内有效。")
        }
        (false, options) => {
            let lines: Vec<String> = options
                .iter()
                .map(|option| {
                    let text = Consent::Yes(option).zh();
                    format!("{text}：/approve {code} {option}")
                })
                .collect();
            format!("{}\n拒绝：/deny {code}\n{time}内有效。", lines.join("\n"))
        }
    }
}

/// Choices, one a line, each with its number; the line behind them belongs to none of them.
fn numbered(choices: &[String]) -> String {
    let lines = choices.iter().enumerate();
    let lines = lines.map(|(place, choice)| format!("{}. {choice}\n", place + 1));
    let lines: String = lines.collect();
    if lines.is_empty() {
        lines
    } else {
        format!("{lines}\n")
    }
}

pub(super) fn what_en(what: &What) -> String {
    match what {
        What::Transfer { to } => format!("hand the conversation over to {to}"),
        What::Delete => "delete what is kept of the conversation".into(),
        What::Leave => "leave the conversation".into(),
        What::Moderate { deed, who, time } => format!("{} {who}{}", deed.name(), span_en(*time)),
        What::Admit { kind, who, group } => {
            let group = group.as_deref().unwrap_or("?");
            match kind {
                RequestKind::Friend => format!("take {who} as a friend"),
                RequestKind::Invite => format!("let {who} take me into the group {group}"),
                RequestKind::Join => format!("let {who} into the group {group}"),
            }
        }
        What::Tool { name } => format!("run {name}"),
        What::Answer { question } => format!("answer: {question}"),
    }
}

pub(super) fn what_zh(what: &What) -> String {
    match what {
        What::Transfer { to } => format!("将会话转让给 {to}"),
        What::Delete => "删除会话内容".into(),
        What::Leave => "离开会话".into(),
        What::Moderate { deed, who, time } => {
            format!("{} {who}{}", deed.zh(), span_zh(*time))
        }
        What::Admit { kind, who, group } => {
            let group = group.as_deref().unwrap_or("?");
            match kind {
                RequestKind::Friend => format!("加 {who} 为好友"),
                RequestKind::Invite => format!("接受 {who} 的邀请加入群 {group}"),
                RequestKind::Join => format!("允许 {who} 加入群 {group}"),
            }
        }
        What::Tool { name } => format!("运行 {name}"),
        What::Answer { question } => format!("回答问题：{question}"),
    }
}
