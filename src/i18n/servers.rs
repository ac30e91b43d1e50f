//! What people are told about servers of tools and endpoints of agents.
//!
//! Owns the texts: one exhaustive `match` a language.

use super::Language;
use crate::agent::mcp::State;

/// What a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serves {
    /// Tools.
    Tools,
    /// Agents by others.
    Agents,
}

impl Serves {
    /// What stands before a name where both kinds are listed.
    #[must_use]
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Tools => "",
            Self::Agents => "agents/",
        }
    }
}

/// A server and how it is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerLine {
    /// What it has.
    pub kind: Serves,
    /// What it is called.
    pub name: String,
    /// How it is doing.
    pub state: State,
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Servers {
    /// There are none.
    None,
    /// Each with how it is doing, and why where it is not.
    List(Vec<ServerLine>),
    /// One is started anew.
    Restarted {
        /// Which.
        name: String,
    },
    /// There is none of this name.
    Unknown {
        /// Which was meant.
        name: String,
    },
}

impl ServerLine {
    /// In one word, for whoever asks: why it is so is for the owners of the gateway.
    #[must_use]
    pub fn brief(&self) -> String {
        let state = match self.state {
            State::Starting => "starting",
            State::Ready { .. } => "up",
            State::Waiting { .. } => "down",
            State::Stopped { .. } => "stopped",
        };
        let kind = match self.kind {
            Serves::Tools => "mcp",
            Serves::Agents => "agents",
        };
        format!("{kind}/{}: {state}", self.name)
    }

    fn en(&self) -> String {
        let name = format!("{}{}", self.kind.prefix(), self.name);
        let what = match self.kind {
            Serves::Tools => "tools",
            Serves::Agents => "agents",
        };
        match &self.state {
            State::Starting => format!("{name}: starting"),
            State::Ready { tools, left_out: 0 } => format!("{name}: up, {what}: {tools}"),
            State::Ready { tools, left_out } => {
                format!("{name}: up, {what}: {tools}, left out: {left_out}")
            }
            State::Waiting { error } => format!("{name}: down, tried again: {error}"),
            State::Stopped { error } => {
                format!("{name}: failed too often, left alone: {error}")
            }
        }
    }

    fn zh(&self) -> String {
        let name = format!("{}{}", self.kind.prefix(), self.name);
        let what = match self.kind {
            Serves::Tools => "工具",
            Serves::Agents => "智能体",
        };
        match &self.state {
            State::Starting => format!("{name}：启动中"),
            State::Ready { tools, left_out: 0 } => format!("{name}：正常，{what} {tools} 个"),
            State::Ready { tools, left_out } => {
                format!("{name}：正常，{what} {tools} 个，略去 {left_out} 个")
            }
            State::Waiting { error } => format!("{name}：不可用，稍后重试：{error}"),
            State::Stopped { error } => format!("{name}：多次失败，已停止重试：{error}"),
        }
    }
}

impl Servers {
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
            Self::None => "There are no servers of tools and no agents by others.".into(),
            Self::List(lines) => joined(lines, ServerLine::en),
            Self::Restarted { name } => format!("{name} is started anew."),
            Self::Unknown { name } => {
                format!("There is no server {name}. /mcp shows which there are.")
            }
        }
    }

    fn zh(&self) -> String {
        match self {
            Self::None => "没有配置工具服务器或外部智能体。".into(),
            Self::List(lines) => joined(lines, ServerLine::zh),
            Self::Restarted { name } => format!("正在重新启动 {name}。"),
            Self::Unknown { name } => format!("没有名为 {name} 的服务器。用 /mcp 查看列表。"),
        }
    }
}

fn joined(lines: &[ServerLine], line: fn(&ServerLine) -> String) -> String {
    let lines: Vec<String> = lines.iter().map(line).collect();
    lines.join("\n")
}
