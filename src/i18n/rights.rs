//! What people are told about rights, roles and the policy of a conversation.
//!
//! Owns the texts: one exhaustive `match` a language.

use std::time::Duration;

use weirgate_sdk::Timestamp;

use super::{Language, rough};
use crate::permission::{Capability, assign::Refused};

/// A text.
#[derive(Debug, Clone, PartialEq)]
pub enum Rights {
    /// A right is missing. No capability: only owners of the gateway may.
    Lacks(Capability),
    /// Pictures, voice and files are not taken here.
    MediaOff,
    /// Commands are not taken here.
    CommandsOff,
    /// A message is too long here.
    TooLong {
        /// The most characters.
        most: usize,
    },
    /// Too many messages.
    TooManyMessages {
        /// The most in a minute.
        most: u32,
    },
    /// Too many commands.
    TooManyCommands {
        /// The most in a minute.
        most: u32,
    },
    /// The tokens of today are used up.
    NoTokens {
        /// The asker's own; else those of the conversation or the bot.
        own: bool,
    },
    /// Somebody talks in circles with the bot.
    Loop {
        /// How long he is not answered.
        pause: Duration,
    },
    /// A stranger is told his code.
    PairWith {
        /// The code.
        code: String,
        /// How long it is good.
        good_for: Duration,
    },
    /// Who waits to be let in.
    Pairing {
        /// Each with his code.
        people: Vec<String>,
    },
    /// No code like this is good.
    NoSuchCode,
    /// Somebody was let in.
    Paired {
        /// Who.
        who: String,
    },
    /// Somebody who was let in is a stranger again.
    Unpaired {
        /// Who.
        who: String,
    },
    /// Somebody was not let in by a code.
    NotLetIn {
        /// Who.
        who: String,
    },
    /// Who somebody is.
    WhoAmI {
        /// His id on the platform.
        id: String,
        /// The id of the conversation.
        conversation: String,
        /// His role.
        role: String,
        /// What it may.
        may: Capability,
        /// He owns the gateway.
        global_owner: bool,
    },
    /// A role, and until when it is lent.
    RoleOf {
        /// Whose.
        who: String,
        /// The role.
        role: String,
        /// Until when.
        until: Option<Timestamp>,
    },
    /// No role was given here.
    NoRoles,
    /// A role was given.
    RoleGiven {
        /// To whom.
        who: String,
        /// The role.
        role: String,
        /// Until when.
        until: Option<Timestamp>,
    },
    /// A role was taken back.
    RoleTaken {
        /// From whom.
        who: String,
    },
    /// Nobody was named.
    WhoIsMeant,
    /// A handle of the platform is nobody's who is known.
    UnknownHandle {
        /// The handle, without its mark.
        name: String,
    },
    /// A word in a list of people is nobody's id or name.
    NobodyListed {
        /// What was written.
        given: String,
    },
    /// Too many people of a list are not named by numbers.
    TooManyNames {
        /// The most.
        most: usize,
    },
    /// Several people have the name.
    Several {
        /// Each with his id.
        people: Vec<String>,
    },
    /// A role is not given.
    NotGiven(Refused),
    /// There is no such role.
    NoRole {
        /// What was written.
        given: String,
        /// The roles.
        roles: String,
    },
    /// It is not a time.
    NoTime {
        /// What was written.
        given: String,
    },
    /// So many roles were given here that there is no room for another.
    TooManyRoles {
        /// The most.
        most: usize,
    },
    /// The policy of the conversation.
    Policy {
        /// Its keys and values, one a line.
        lines: String,
    },
    /// A key of the policy was set.
    PolicySet {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// There is no such key.
    NoPolicy {
        /// What was written.
        given: String,
        /// The keys.
        keys: String,
    },
    /// The platform does not say who somebody is.
    PlatformAway,
    /// The list would shut out whoever makes it.
    ShutsYouOut,
    /// The person owns the gateway from now on.
    Claimed,
    /// The code is wrong, used or too old.
    NotClaimed,
}

impl Rights {
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
            Self::Lacks(missing) => lacks_en(*missing).into(),
            Self::MediaOff => "Pictures, voice and files are switched off here.".into(),
            Self::CommandsOff => "Commands are switched off here.".into(),
            Self::TooLong { most } => {
                format!("That is too long: at most {most} characters are taken here.")
            }
            Self::TooManyMessages { most } => {
                format!("Too fast: at most {most} of your messages are answered here in a minute.")
            }
            Self::TooManyCommands { most } => {
                format!("Too fast: at most {most} of your commands are taken here in a minute.")
            }
            Self::WhoAmI {
                id,
                conversation,
                role,
                may,
                global_owner,
            } => who_en((id, conversation, role), *may, *global_owner),
            Self::RoleOf { who, role, until } => format!("{who}: {role}{}", until_en(*until)),
            Self::NoRoles => "No roles were given here.".into(),
            Self::RoleGiven { who, role, until } => {
                format!("{who} is {role} now{}.", until_en(*until))
            }
            Self::RoleTaken { who } => {
                format!("{who} has no role of his own any more; what he is elsewhere counts.")
            }
            Self::NoTokens { own: true } => {
                "You have used up what you may have of the model today.".into()
            }
            Self::NoTokens { own: false } => {
                "What may be had of the model here today is used up.".into()
            }
            Self::Loop { pause } => loop_en(*pause),
            Self::PairWith { code, good_for } => format!(
                "I do not know you yet. An owner of this bot can let you in with: /pair {code} (good for {})",
                rough(*good_for, ["d", "h", "m", "s"])
            ),
            Self::Pairing { people } if people.is_empty() => "Nobody waits to be let in.".into(),
            Self::Pairing { people } => people.join("\n"),
            Self::NoSuchCode => "No such code is good.".into(),
            Self::Paired { who } => format!("{who} is let in."),
            Self::Unpaired { who } => format!("{who} is a stranger again."),
            Self::NotLetIn { who } => format!("{who} was not let in by a code."),
            Self::Several { people } => several_en(people),
            Self::UnknownHandle { name } => unknown_en(name),
            Self::NobodyListed { given } => nobody_en(given),
            Self::TooManyNames { most } => too_many_names_en(*most),
            Self::WhoIsMeant => {
                "Who is meant? Mention the person, answer a message of his, or write his id.".into()
            }
            Self::NotGiven(refused) => not_given_en(*refused).into(),
            Self::NoRole { given, roles } => {
                format!("There is no role \"{given}\". Roles: {roles}, none.")
            }
            Self::NoTime { given } => {
                format!("\"{given}\" is not a time. Write it like 10m, 2h, 7d or 7 days.")
            }
            Self::TooManyRoles { most } => {
                format!("At most {most} roles can be given in one conversation.")
            }
            Self::Policy { lines } => format!("Policy of this conversation:\n{lines}"),
            Self::PolicySet { key, value } => format!("{key} is now: {value}"),
            Self::NoPolicy { given, keys } => {
                format!("There is no \"{given}\". Possible: {keys}.")
            }
            Self::PlatformAway => {
                "Not done: the platform does not say now who that is. Please try again.".into()
            }
            Self::ShutsYouOut => {
                "Not done: that would shut you out. Put your own id on the list as well.".into()
            }
            Self::Claimed => "You own this gateway from now on.".into(),
            Self::NotClaimed => {
                "That code is wrong, used or too old. A start without an owner prints a new one."
                    .into()
            }
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::Lacks(missing) => lacks_zh(*missing).into(),
            Self::MediaOff => "本会话不接收图片、语音和文件。".into(),
            Self::CommandsOff => "本会话已关闭命令。".into(),
            Self::TooLong { most } => format!("消息过长：本会话最多 {most} 个字符。"),
            Self::TooManyMessages { most } => {
                format!("发送太快：本会话每分钟最多回复 {most} 条消息。")
            }
            Self::TooManyCommands { most } => {
                format!("发送太快：本会话每分钟最多执行 {most} 条命令。")
            }
            Self::WhoAmI {
                id,
                conversation,
                role,
                may,
                global_owner,
            } => {
                let owner = if *global_owner {
                    "\n你是本网关的拥有者。"
                } else {
                    ""
                };
                let may = names(*may);
                format!("你：{id}\n会话：{conversation}\n角色：{role}（{may}）{owner}")
            }
            Self::RoleOf { who, role, until } => format!("{who}：{role}{}", until_zh(*until)),
            Self::NoRoles => "本会话没有授予过角色。".into(),
            Self::RoleGiven { who, role, until } => {
                format!("{who} 现在是 {role}{}。", until_zh(*until))
            }
            Self::RoleTaken { who } => format!("已收回 {who} 在本会话的角色，其余身份照常有效。"),
            Self::NoTokens { own: true } => "你今天的模型用量已用完。".into(),
            Self::NoTokens { own: false } => "这里今天的模型用量已用完。".into(),
            Self::Loop { pause } => format!(
                "我们在兜圈子。{}后我再在这里回复你。",
                rough(*pause, ["天", "小时", "分钟", "秒"])
            ),
            Self::PairWith { code, good_for } => format!(
                "我还不认识你。请让机器人的拥有者发送 /pair {code} 来允许你使用（{}内有效）。",
                rough(*good_for, ["天", "小时", "分钟", "秒"])
            ),
            Self::Pairing { people } if people.is_empty() => "没有人在等待配对。".into(),
            Self::Pairing { people } => people.join("\n"),
            Self::NoSuchCode => "没有有效的这个配对码。".into(),
            Self::Paired { who } => format!("已允许 {who} 使用。"),
            Self::Unpaired { who } => format!("已取消 {who} 的配对。"),
            Self::NotLetIn { who } => format!("{who} 没有配对。"),
            Self::Several { people } => {
                format!("有多人同名，请 @ 对方或写出 id：\n{}", people.join("\n"))
            }
            Self::UnknownHandle { name } => format!(
                "我还没见过 @{name}，别人显示的同名也不算数。请回复对方的消息，或写出对方的 id。"
            ),
            Self::NobodyListed { given } => format!(
                "“{given}”不是这里的人。请 @ 对方，或写出 id 或 @名字；不是数字的 id 写成 id:…"
            ),
            Self::TooManyNames { most } => {
                format!("一次最多写 {most} 个人的名字；数字 id 不限。")
            }
            Self::WhoIsMeant => "指的是谁？请 @ 对方、回复对方的消息，或写出对方的 id。".into(),
            Self::NotGiven(refused) => not_given_zh(*refused).into(),
            Self::NoRole { given, roles } => {
                format!("没有角色“{given}”。可用：{roles}、none。")
            }
            Self::NoTime { given } => format!("“{given}”不是时长。请写成 10m、2h、7d 或 7天。"),
            Self::TooManyRoles { most } => format!("一个会话最多授予 {most} 个角色。"),
            Self::Policy { lines } => format!("本会话的策略：\n{lines}"),
            Self::PolicySet { key, value } => format!("{key} 现在是：{value}"),
            Self::NoPolicy { given, keys } => format!("没有“{given}”。可用：{keys}。"),
            Self::PlatformAway => "未执行：平台暂时无法确认对方的身份，请稍后再试。".into(),
            Self::ShutsYouOut => "未执行：这会把你自己挡在外面。请把你的 id 也写进名单。".into(),
            Self::Claimed => "从现在起，你是本网关的拥有者。".into(),
            Self::NotClaimed => {
                "认领码错误、已用过或已过期。没有拥有者时，每次启动都会打印新的认领码。".into()
            }
        }
    }
}

fn too_many_names_en(most: usize) -> String {
    format!("At most {most} people can be named at once, any number by numeric ids.")
}

fn lacks_en(missing: Capability) -> &'static str {
    if missing.is_empty() {
        "Only an owner of the gateway may do that."
    } else if missing.contains(Capability::MANAGE_PERMISSION) {
        "Only an owner may do that here."
    } else if missing.contains(Capability::MANAGE_CONFIG) {
        "Only an owner may change that here."
    } else if missing.contains(Capability::MANAGE_MEMBER) {
        "Only an admin may do that here."
    } else if missing.contains(Capability::SEND_MESSAGE) {
        "You are not answered here."
    } else if missing.contains(Capability::SEND_MEDIA) {
        "You may not send pictures, voice or files here."
    } else {
        "That needs a member's rights."
    }
}

fn lacks_zh(missing: Capability) -> &'static str {
    if missing.is_empty() {
        "只有网关的拥有者可以这样做。"
    } else if missing.contains(Capability::MANAGE_PERMISSION) {
        "只有本会话的拥有者可以这样做。"
    } else if missing.contains(Capability::MANAGE_CONFIG) {
        "只有本会话的拥有者可以修改。"
    } else if missing.contains(Capability::MANAGE_MEMBER) {
        "只有本会话的管理员可以这样做。"
    } else if missing.contains(Capability::SEND_MESSAGE) {
        "本会话不回复你的消息。"
    } else if missing.contains(Capability::SEND_MEDIA) {
        "你不能在本会话发送图片、语音或文件。"
    } else {
        "这需要成员权限。"
    }
}

fn several_en(people: &[String]) -> String {
    let people = people.join("\n");
    format!("Several people have that name: mention one, or write the id.\n{people}")
}

fn unknown_en(name: &str) -> String {
    format!(
        "I have not met @{name} yet, and a name that somebody shows is not taken for it. Answer a message of that person, or write the id."
    )
}

fn nobody_en(given: &str) -> String {
    format!(
        "\"{given}\" is nobody here. Mention the people, or write ids or @names; an id that is no number as id:…"
    )
}

fn not_given_en(refused: Refused) -> &'static str {
    match refused {
        Refused::GlobalOwner => "Not done: he owns the gateway.",
        Refused::TargetTooHigh => "Not done: his role is not below yours.",
        Refused::RoleTooHigh => "Not done: you can only give roles that are below your own.",
        Refused::Self_ => "Not done: nobody raises himself.",
        Refused::BlocksOwner => "Not done: an owner cannot be blocked.",
        Refused::LastOwner => {
            "Not done: he is the last owner here. Make somebody else owner first."
        }
    }
}

fn not_given_zh(refused: Refused) -> &'static str {
    match refused {
        Refused::GlobalOwner => "未执行：对方是网关的拥有者。",
        Refused::TargetTooHigh => "未执行：对方的角色不低于你。",
        Refused::RoleTooHigh => "未执行：只能授予低于自己的角色。",
        Refused::Self_ => "未执行：不能提升自己的角色。",
        Refused::BlocksOwner => "未执行：不能封禁拥有者。",
        Refused::LastOwner => "未执行：对方是本会话最后一位拥有者，请先指定另一位拥有者。",
    }
}

fn names(capability: Capability) -> String {
    if capability.is_empty() {
        return "-".to_owned();
    }
    let names: Vec<&str> = capability.iter_names().map(|(name, _)| name).collect();
    names.join(", ")
}

fn who_en(
    (id, conversation, role): (&str, &str, &str),
    may: Capability,
    global_owner: bool,
) -> String {
    let owner = if global_owner {
        "\nYou own this gateway."
    } else {
        ""
    };
    let may = names(may);
    format!("You: {id}\nHere: {conversation}\nRole: {role} ({may}){owner}")
}

fn loop_en(pause: Duration) -> String {
    let pause = rough(pause, ["d", "h", "m", "s"]);
    format!("We are talking in circles. I answer you here again in {pause}.")
}

fn until_en(until: Option<Timestamp>) -> String {
    until.map_or_else(String::new, |until| format!(", until {} UTC", time(until)))
}

fn until_zh(until: Option<Timestamp>) -> String {
    until.map_or_else(String::new, |until| format!("，至 {} UTC", time(until)))
}

fn time(at: Timestamp) -> String {
    crate::clock::minute(at)
}
