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
    /// An `act` that nobody knows.
    UnknownAct,
    /// A part of a message of a type that nobody knows.
    UnknownPart,
    /// The length at the beginning of a binary frame is not that of its head.
    BadLength,
    /// So many places, blobs, parts or keys are not taken, or they are not as many as each other.
    BadCount,
    /// The sizes of a binary frame are not those of its blobs.
    BadSize,
    /// A type that this gateway does nothing for.
    NotAvailable,
    /// The visitor may not.
    Forbidden,
    /// What is to be set cannot be.
    BadValue,
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
    /// A file cannot be read, is empty, or is not what it says.
    BadFile,
    /// Files with such a name are not taken.
    RefusedFile,
    /// A file is larger than the gateway keeps.
    FileTooLarge,
    /// The visitor sent too many files in a short time.
    TooManyFiles,
    /// The site takes no files.
    FilesOff,
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
    const ALL: [Self; 35] = [
        Self::BadFrame,
        Self::UnknownType,
        Self::UnknownAct,
        Self::UnknownPart,
        Self::BadLength,
        Self::BadCount,
        Self::BadSize,
        Self::NotAvailable,
        Self::Forbidden,
        Self::BadValue,
        Self::HelloFirst,
        Self::MissingMessageId,
        Self::BadMessageId,
        Self::BadSessionId,
        Self::TooManySessions,
        Self::Empty,
        Self::UnknownFile,
        Self::BadFile,
        Self::RefusedFile,
        Self::FileTooLarge,
        Self::TooManyFiles,
        Self::FilesOff,
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
            Self::UnknownPart => "unknown_part",
            Self::BadLength => "bad_length",
            Self::BadCount => "bad_count",
            Self::BadSize => "bad_size",
            Self::NotAvailable => "not_available",
            Self::Forbidden => "forbidden",
            Self::BadValue => "bad_value",
            Self::HelloFirst => "hello_first",
            Self::MissingMessageId => "missing_message_id",
            Self::BadMessageId => "bad_message_id",
            Self::BadSessionId => "bad_session_id",
            Self::TooManySessions => "too_many_sessions",
            Self::Empty => "empty",
            Self::UnknownFile => "unknown_file",
            Self::BadFile => "bad_file",
            Self::RefusedFile => "refused_file",
            Self::FileTooLarge => "file_too_large",
            Self::TooManyFiles => "too_many_files",
            Self::FilesOff => "files_off",
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
            Self::UnknownPart => "A part of the message has a type that is not known.",
            Self::BadLength => "The length at the beginning of the frame is not that of its head.",
            Self::BadCount => "There are too many of something, or not as many as were announced.",
            Self::BadSize => "The sizes do not fit to the data of the frame.",
            Self::NotAvailable => "This is not available here.",
            Self::Forbidden => "You may not do this.",
            Self::BadValue => "This cannot be set so.",
            Self::HelloFirst => "Say hello first.",
            Self::MissingMessageId => "The message has no messageId.",
            Self::BadMessageId => "The messageId is not valid.",
            Self::BadSessionId => "The sessionId is not valid.",
            Self::TooManySessions => "Too many conversations on one connection.",
            Self::Empty => "The message is empty.",
            Self::UnknownFile => "This file is not there any more; send it again.",
            Self::BadFile => "The file cannot be read, or is not what its name says.",
            Self::RefusedFile => "Files of this type are not taken.",
            Self::FileTooLarge => "The file is too large.",
            Self::TooManyFiles => "Too many files. Please wait a few minutes.",
            Self::FilesOff => "Files are not taken here.",
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
            Self::UnknownPart => "消息中有未知类型的部分。",
            Self::BadLength => "帧开头的长度与其头部不符。",
            Self::BadCount => "数量过多，或与声明的不符。",
            Self::BadSize => "声明的大小与帧中的数据不符。",
            Self::NotAvailable => "这里不支持此功能。",
            Self::Forbidden => "您没有权限执行此操作。",
            Self::BadValue => "不能这样设置。",
            Self::HelloFirst => "请先发送 hello。",
            Self::MissingMessageId => "消息缺少 messageId。",
            Self::BadMessageId => "messageId 不正确。",
            Self::BadSessionId => "sessionId 不正确。",
            Self::TooManySessions => "同一连接上的会话太多。",
            Self::Empty => "消息内容为空。",
            Self::UnknownFile => "这个文件已经不在了，请重新发送。",
            Self::BadFile => "文件无法读取，或与其名称不符。",
            Self::RefusedFile => "不接受此类型的文件。",
            Self::FileTooLarge => "文件太大。",
            Self::TooManyFiles => "文件太多，请过几分钟再发。",
            Self::FilesOff => "这里不接收文件。",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_found_by_its_name() {
        for code in Code::ALL {
            assert_eq!(Code::of(code.name()), Some(code));
            for language in [Language::English, Language::Chinese] {
                assert!(!code.text(language).is_empty());
            }
        }
        let names: std::collections::BTreeSet<_> =
            Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
    }
}
