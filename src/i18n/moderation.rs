//! What people are told about moderation.
//!
//! Owns the texts: one exhaustive `match` a language. Every class of failure has a sentence that a person
//! understands.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use weirgate_sdk::moderation::ModerationError;

use super::{Language, rough};
use crate::outbound::due::{Lift, Lifted};

/// What is done to a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Removed; may come back.
    Kick,
    /// Kept out.
    Ban,
    /// Let in again.
    Unban,
    /// Kept from writing.
    Mute,
    /// May write again.
    Unmute,
}

impl Deed {
    /// The name for logs and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kick => "kick",
            Self::Ban => "ban",
            Self::Unban => "unban",
            Self::Mute => "mute",
            Self::Unmute => "unmute",
        }
    }

    /// What it is called in Chinese.
    pub(super) const fn zh(self) -> &'static str {
        match self {
            Self::Kick => "移出",
            Self::Ban => "封禁",
            Self::Unban => "解封",
            Self::Mute => "禁言",
            Self::Unmute => "解除禁言",
        }
    }
}

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub enum Moderation {
    /// The platform has no moderation, or not in this kind of chat.
    NotHere,
    /// Something stands where a time may stand, and is none.
    NoTime {
        /// What was written.
        given: String,
    },
    /// A time stands behind the reason.
    TimeBehind {
        /// What was written.
        given: String,
    },
    /// The caller means himself.
    Yourself,
    /// The target stands not below the caller.
    TooHigh,
    /// The platform confirmed it.
    Done {
        /// What.
        deed: Deed,
        /// Whom.
        who: String,
        /// How long.
        time: Option<Duration>,
        /// Why.
        reason: String,
    },
    /// It was not done, or nobody knows.
    Failed {
        /// Whom it concerned.
        who: String,
        /// Why not.
        error: ModerationError,
    },
    /// What would be done.
    Would {
        /// What.
        deed: Deed,
        /// Whom.
        who: String,
        /// How long.
        time: Option<Duration>,
    },
    /// Somebody would be warned.
    WouldWarn {
        /// Who.
        who: String,
    },
    /// What would go wrong.
    WouldFail {
        /// Whom it concerns.
        who: String,
        /// Why.
        error: ModerationError,
    },
    /// Somebody was warned.
    Warned {
        /// Who.
        who: String,
        /// How often by now.
        count: usize,
        /// When something follows; 0 for never.
        limit: u32,
    },
    /// Somebody was warned and muted.
    WarnedAndMuted {
        /// Who.
        who: String,
        /// How long.
        time: Option<Duration>,
    },
    /// Somebody was warned, and the mute that should follow failed.
    WarnedNotMuted {
        /// Who.
        who: String,
        /// Why.
        error: ModerationError,
    },
    /// Somebody's warnings.
    WarningsOf {
        /// Whose.
        who: String,
        /// One a line, oldest first.
        lines: Vec<String>,
    },
    /// Somebody's warnings were taken back.
    WarningsCleared {
        /// Whose.
        who: String,
    },
    /// The time of a ban or mute is over.
    Lifted {
        /// Which.
        lift: Lift,
    },
    /// The time of a ban or mute is over, and it could not be lifted.
    NotLifted {
        /// Which.
        lift: Lift,
        /// Why not.
        error: ModerationError,
    },
}

impl Moderation {
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
            Self::NotHere => "That works in groups of platforms that can do it, not here.".into(),
            Self::NoTime { given } => no_time_en(given),
            Self::TimeBehind { given } => time_behind_en(given),
            Self::Yourself => "Not done: that would be yourself.".into(),
            Self::TooHigh => "Not done: he does not stand below you here.".into(),
            Self::Done {
                deed,
                who,
                time,
                reason,
            } => {
                let what = match deed {
                    Deed::Kick => "was removed",
                    Deed::Ban => "is banned",
                    Deed::Unban => "may come back",
                    Deed::Mute => "is muted",
                    Deed::Unmute => "may write again",
                };
                let reason = if reason.is_empty() {
                    String::new()
                } else {
                    format!(" Reason: {reason}")
                };
                format!("{who} {what}{}.{reason}", span_en(*time))
            }
            Self::Failed { who, error } => format!("{who}: {}", failure_en(error)),
            Self::Would { deed, who, time } => {
                let time = span_en(*time);
                format!("Would {} {who}{time}. Nothing was done.", deed.name())
            }
            Self::WouldWarn { who } => format!("Would warn {who}. Nothing was done."),
            Self::WouldFail { who, error } => {
                format!("{who}: {} Nothing was tried.", failure_en(error))
            }
            Self::Warned {
                who,
                count,
                limit: 0,
            } => format!("{who} is warned (warning {count})."),
            Self::Warned { who, count, limit } => {
                format!("{who} is warned ({count} of {limit}).")
            }
            Self::WarnedAndMuted { who, time } => {
                format!(
                    "{who} is warned and, after so many, muted{}.",
                    span_en(*time)
                )
            }
            Self::WarnedNotMuted { who, error } => {
                format!(
                    "{who} is warned, but could not be muted. {}",
                    failure_en(error)
                )
            }
            Self::WarningsOf { who, lines } if lines.is_empty() => {
                format!("{who} has no warnings here.")
            }
            Self::WarningsOf { who, lines } => {
                format!("Warnings of {who}:\n{}", lines.join("\n"))
            }
            Self::WarningsCleared { who } => format!("{who} has no warnings any more."),
            Self::Lifted { lift } => {
                let what = match lift.what {
                    Lifted::Ban => "may come back",
                    Lifted::Mute => "may write again",
                };
                format!("{} {what}: the time is over.", lift.shown)
            }
            Self::NotLifted { lift, error } => {
                let what = match lift.what {
                    Lifted::Ban => "let in again",
                    Lifted::Mute => "heard again",
                };
                let failure = failure_en(error);
                format!("{} was to be {what} by now, but: {failure}", lift.shown)
            }
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::NotHere => "此操作只能在支持它的平台的群里使用。".into(),
            Self::NoTime { given } => no_time_zh(given),
            Self::TimeBehind { given } => time_behind_zh(given),
            Self::Yourself => "未执行：不能对自己操作。".into(),
            Self::TooHigh => "未执行：对方在本会话的角色不低于你。".into(),
            Self::Done {
                deed,
                who,
                time,
                reason,
            } => {
                let what = match deed {
                    Deed::Kick => "已被移出",
                    Deed::Ban => "已被封禁",
                    Deed::Unban => "可以重新加入了",
                    Deed::Mute => "已被禁言",
                    Deed::Unmute => "可以发言了",
                };
                let reason = if reason.is_empty() {
                    String::new()
                } else {
                    format!("原因：{reason}")
                };
                format!("{who} {what}{}。{reason}", span_zh(*time))
            }
            Self::Failed { who, error } => format!("{who}：{}", failure_zh(error)),
            Self::Would { deed, who, time } => {
                format!("将会{} {who}{}。没有实际执行。", deed.zh(), span_zh(*time))
            }
            Self::WouldWarn { who } => format!("将会警告 {who}。没有实际执行。"),
            Self::WouldFail { who, error } => {
                format!("{who}：{}没有实际执行。", failure_zh(error))
            }
            Self::Warned {
                who,
                count,
                limit: 0,
            } => format!("已警告 {who}（第 {count} 次）。"),
            Self::Warned { who, count, limit } => {
                format!("已警告 {who}（第 {count} 次，满 {limit} 次禁言）。")
            }
            Self::WarnedAndMuted { who, time } => {
                format!("已警告 {who}，次数已满，禁言{}。", span_zh(*time))
            }
            Self::WarnedNotMuted { who, error } => {
                format!("已警告 {who}，但无法禁言。{}", failure_zh(error))
            }
            Self::WarningsOf { who, lines } if lines.is_empty() => {
                format!("{who} 在本会话没有警告。")
            }
            Self::WarningsOf { who, lines } => format!("{who} 的警告：\n{}", lines.join("\n")),
            Self::WarningsCleared { who } => format!("已清除 {who} 的警告。"),
            Self::Lifted { lift } => {
                let what = match lift.what {
                    Lifted::Ban => "可以重新加入了",
                    Lifted::Mute => "可以发言了",
                };
                format!("{} {what}：时间已到。", lift.shown)
            }
            Self::NotLifted { lift, error } => {
                let what = match lift.what {
                    Lifted::Ban => "解封",
                    Lifted::Mute => "解除禁言",
                };
                let failure = failure_zh(error);
                format!("{} 到时间应{what}，但：{failure}", lift.shown)
            }
        }
    }
}

fn no_time_en(given: &str) -> String {
    format!(
        "Not done: \"{given}\" is not a time. Write 30s, 10m, 2h, 7d, 2w, 1mo, 1y or 7 days. In front of a reason that begins \
         like a time, write --."
    )
}

fn time_behind_en(given: &str) -> String {
    format!(
        "Not done: a time stands in front of the reason: @user {given} why. If \"{given}\" belongs to the reason, write -- in \
         front of the reason."
    )
}

fn no_time_zh(given: &str) -> String {
    format!(
        "未执行：“{given}”不是时长。请写成 30s、10m、2h、7d、2w、1mo、1y，或 10分钟、2小时、7天、1个月。原因以数字开头时，请在原因前加 --。"
    )
}

fn time_behind_zh(given: &str) -> String {
    format!(
        "未执行：时长要写在原因前面：@用户 {given} 原因。如果“{given}”是原因的一部分，请在原因前加 --。"
    )
}

pub(super) fn span_en(time: Option<Duration>) -> String {
    time.map_or_else(String::new, |time| {
        format!(" for {}", rough(time, ["d", "h", "m", "s"]))
    })
}

pub(super) fn span_zh(time: Option<Duration>) -> String {
    time.map_or_else(String::new, |time| {
        format!("，时长 {}", rough(time, ["天", "小时", "分钟", "秒"]))
    })
}

pub(super) fn failure_en(error: &ModerationError) -> String {
    let text = match error {
        ModerationError::BotLacksRight => "I may not do that: I am not an admin here.",
        ModerationError::TargetIsOwner => "he is the owner of this group.",
        ModerationError::TargetIsAdmin => {
            "he is an admin of this group, and I cannot touch admins."
        }
        ModerationError::TargetOutranks => {
            "he stands above me here: my role must stand above his in the settings of this group."
        }
        ModerationError::TargetIsBot => "that is me.",
        ModerationError::NotAMember => "nobody of that id is here.",
        ModerationError::MessageGone => "the message is gone, or too old.",
        ModerationError::MessageTooOld { most } => {
            let most = rough(*most, ["d", "h", "m", "s"]);
            return format!(
                "nothing was done: the platform lets me delete no message that is older than {most}."
            );
        }
        ModerationError::NotSupported => "the platform cannot do that here.",
        ModerationError::NotConfirmed(_) => {
            "it may have been done, but the platform did not confirm it. Please look."
        }
        ModerationError::Unavailable(_) => {
            "nothing was done: the platform cannot be reached now. Please try again."
        }
        ModerationError::Rejected(_) => "nothing was done: the platform refused. The log says why.",
        ModerationError::TooLong { most } => {
            let most = rough(*most, ["d", "h", "m", "s"]);
            return format!("nothing was done: at most {most} are possible.");
        }
    };
    text.to_owned()
}

pub(super) fn failure_zh(error: &ModerationError) -> String {
    let text = match error {
        ModerationError::BotLacksRight => "我没有权限：我在这里不是管理员。",
        ModerationError::TargetIsOwner => "对方是群主。",
        ModerationError::TargetIsAdmin => "对方是群管理员，我无法操作管理员。",
        ModerationError::TargetOutranks => {
            "对方的身份组不低于我：请在群设置里把我的身份组移到对方之上。"
        }
        ModerationError::TargetIsBot => "那是我自己。",
        ModerationError::NotAMember => "群里没有这个人。",
        ModerationError::MessageGone => "消息已不存在或太旧。",
        ModerationError::MessageTooOld { most } => {
            let most = rough(*most, ["天", "小时", "分钟", "秒"]);
            return format!("没有执行：平台不允许我撤回超过 {most} 的消息。");
        }
        ModerationError::NotSupported => "平台在这里不支持此操作。",
        ModerationError::NotConfirmed(_) => "可能已经执行，但平台没有确认，请查看。",
        ModerationError::Unavailable(_) => "没有执行：暂时无法连接平台，请稍后再试。",
        ModerationError::Rejected(_) => "没有执行：平台拒绝了，原因见日志。",
        ModerationError::TooLong { most } => {
            let most = rough(*most, ["天", "小时", "分钟", "秒"]);
            return format!("没有执行：最长 {most}。");
        }
    };
    text.to_owned()
}
