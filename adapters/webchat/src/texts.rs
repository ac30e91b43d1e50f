//! The few sentences that the adapter itself says, in both languages.
//!
//! Owns the error codes of the protocol. What the gateway says comes from the gateway.

use serde_json::Value;

/// The language of a socket, chosen by its hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// Reads a language tag such as `zh-CN`; everything that is not Chinese is English.
    pub(crate) fn of(tag: &Value) -> Self {
        let chinese = tag
            .as_str()
            .and_then(|tag| tag.get(..2))
            .is_some_and(|two| two.eq_ignore_ascii_case("zh"));
        if chinese {
            Self::Chinese
        } else {
            Self::English
        }
    }
}

/// What is wrong with a frame. The name in the protocol never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// No JSON object with a `type`, or a field of the wrong kind.
    BadFrame,
    /// A type that nobody knows.
    UnknownType,
    /// An `act` of `system` that nobody knows.
    UnknownAct,
    /// A type, or a binary frame, that this version does not have.
    NotAvailable,
    /// The first frame was no `hello`.
    HelloFirst,
    /// `text` without a message id.
    MissingMessageId,
    /// A message id of more than 64 characters or with other characters than allowed.
    BadMessageId,
    /// A session id of more than 64 characters or with other characters than allowed.
    BadSessionId,
    /// One socket speaks in too many sessions.
    TooManySessions,
    /// The message has no text.
    Empty,
    /// The message names a file that is not there.
    UnknownFile,
    /// The message is too long.
    TooLong,
    /// Too many lines in one frame.
    TooManyLines,
    /// The store does not take the message now; sending it again later is safe.
    StoreUnavailable,
    /// The gateway stops; sending it again after the reconnect is safe.
    Stopping,
    /// The gateway refused the message.
    Refused,
    /// The gateway did not take the message up.
    Ignored,
    /// The past messages cannot be read now.
    HistoryUnavailable,
    /// The visitor opened more sockets than allowed; this is his oldest.
    TooManySockets,
    /// The visitor said too much in a minute.
    TooFast,
    /// The visitor said too much in a day.
    TooManyToday,
    /// The signed identity is not good.
    BadIdentity,
    /// The site lets nobody in without a signed identity.
    IdentityRequired,
    /// A request over HTTP shows no visitor.
    NoVisitor,
}

impl Code {
    const ALL: [Self; 23] = [
        Self::BadFrame,
        Self::UnknownType,
        Self::UnknownAct,
        Self::NotAvailable,
        Self::HelloFirst,
        Self::MissingMessageId,
        Self::BadMessageId,
        Self::BadSessionId,
        Self::TooManySessions,
        Self::Empty,
        Self::TooLong,
        Self::TooManyLines,
        Self::StoreUnavailable,
        Self::Stopping,
        Self::Refused,
        Self::Ignored,
        Self::HistoryUnavailable,
        Self::TooManySockets,
        Self::TooFast,
        Self::TooManyToday,
        Self::BadIdentity,
        Self::IdentityRequired,
        Self::NoVisitor,
    ];

    /// The code of a name in the protocol.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }

    /// The name in the protocol.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::BadFrame => "bad_frame",
            Self::UnknownType => "unknown_type",
            Self::UnknownAct => "unknown_act",
            Self::NotAvailable => "not_available",
            Self::HelloFirst => "hello_first",
            Self::MissingMessageId => "missing_message_id",
            Self::BadMessageId => "bad_message_id",
            Self::BadSessionId => "bad_session_id",
            Self::TooManySessions => "too_many_sessions",
            Self::Empty => "empty",
            Self::UnknownFile => "unknown_file",
            Self::TooLong => "too_long",
            Self::TooManyLines => "too_many_lines",
            Self::StoreUnavailable => "store_unavailable",
            Self::Stopping => "stopping",
            Self::Refused => "refused",
            Self::Ignored => "ignored",
            Self::HistoryUnavailable => "history_unavailable",
            Self::TooManySockets => "too_many_sockets",
            Self::TooFast => "too_fast",
            Self::TooManyToday => "too_many_today",
            Self::BadIdentity => "bad_identity",
            Self::IdentityRequired => "identity_required",
            Self::NoVisitor => "no_visitor",
        }
    }

    /// What it means, for a person.
    pub(crate) fn text(self, language: Language) -> &'static str {
        match language {
            Language::English => self.english(),
            Language::Chinese => self.chinese(),
        }
    }

    fn english(self) -> &'static str {
        match self {
            Self::BadFrame => "The frame is not valid.",
            Self::UnknownType => "This type of frame is not known.",
            Self::UnknownAct => "This act is not known.",
            Self::NotAvailable => "This is not available here.",
            Self::HelloFirst => "Say hello first.",
            Self::MissingMessageId => "The message has no messageId.",
            Self::BadMessageId => "The messageId is not valid.",
            Self::BadSessionId => "The sessionId is not valid.",
            Self::TooManySessions => "Too many conversations on one connection.",
            Self::Empty => "The message is empty.",
            Self::UnknownFile => "This file is not there any more; send it again.",
            Self::TooLong => "The message is too long.",
            Self::TooManyLines => "Too many lines in one frame.",
            Self::StoreUnavailable => "The message could not be saved. Please try again later.",
            Self::Stopping => "The server is restarting. The message was not taken yet.",
            Self::Refused => "The message was refused.",
            Self::Ignored => "The message was not taken up.",
            Self::HistoryUnavailable => "Earlier messages cannot be read now.",
            Self::TooManySockets => "The chat is open in too many windows; this one was closed.",
            Self::TooFast => "Too many messages. Please wait a minute.",
            Self::TooManyToday => "You have reached today's limit. Please come back tomorrow.",
            Self::BadIdentity => "Your sign-in is no longer good. Please sign in again.",
            Self::IdentityRequired => "Please sign in to use this chat.",
            Self::NoVisitor => "Ask for a visitor's token first.",
        }
    }

    fn chinese(self) -> &'static str {
        match self {
            Self::BadFrame => "消息帧格式不正确。",
            Self::UnknownType => "未知的消息帧类型。",
            Self::UnknownAct => "未知的操作。",
            Self::NotAvailable => "这里不支持此功能。",
            Self::HelloFirst => "请先发送 hello。",
            Self::MissingMessageId => "消息缺少 messageId。",
            Self::BadMessageId => "messageId 不正确。",
            Self::BadSessionId => "sessionId 不正确。",
            Self::TooManySessions => "同一连接上的会话太多。",
            Self::Empty => "消息内容为空。",
            Self::UnknownFile => "这个文件已经不在了，请重新发送。",
            Self::TooLong => "消息太长。",
            Self::TooManyLines => "一帧中的行数太多。",
            Self::StoreUnavailable => "消息暂时无法保存，请稍后再试。",
            Self::Stopping => "服务正在重启，消息尚未接收。",
            Self::Refused => "消息被拒绝。",
            Self::Ignored => "消息未被受理。",
            Self::HistoryUnavailable => "暂时无法读取历史消息。",
            Self::TooManySockets => "聊天窗口开得太多，此窗口已断开。",
            Self::TooFast => "消息太多，请稍等一分钟。",
            Self::TooManyToday => "今天的消息数已达上限，请明天再来。",
            Self::BadIdentity => "登录已失效，请重新登录。",
            Self::IdentityRequired => "请登录后使用此聊天。",
            Self::NoVisitor => "请先获取访客令牌。",
        }
    }
}
