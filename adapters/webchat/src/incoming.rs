//! Frames from a client, read.
//!
//! Owns what a client may say and every limit on it. Pure: a line of text or a binary frame in, a request or a fault
//! out. A fault concerns one line only. Nothing that names a user is ever read from a frame.

mod act;
mod binary;
mod chat;

use bytes::Bytes;
use serde_json::{Map, Value};
use weirgate_sdk::{Change, button::MAX_BUTTON_ID, settings::Secret};

use self::binary::Blobs;
use crate::texts::{Code, Language};

/// Most lines in one frame.
pub(crate) const MAX_LINES: usize = 64;
/// Most files of one message.
const MAX_FILES: usize = 10;
/// Longest session label and message id in characters.
const MAX_ID: usize = 64;

/// What a client wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Request {
    /// Begins, or goes over to another session.
    Hello(Hello),
    /// Says something.
    Text {
        /// The client's id of the message.
        message: String,
        /// The words, line ends as `\n`; empty only beside files.
        text: String,
        /// Files that were sent before.
        files: Vec<String>,
    },
    /// Says something that brings its files along.
    Chat {
        /// The client's id of the message.
        message: String,
        /// The words, line ends as `\n`; empty only beside files.
        text: String,
        /// The files, in their order.
        files: Vec<Inline>,
    },
    /// Presses a button under an answer.
    Press {
        /// The client's id of the press.
        message: String,
        /// The answer's id.
        answer: i64,
        /// The button's id.
        button: String,
    },
    /// Ends the running turn.
    Stop,
    /// Asks for facts about the gateway.
    System(Act),
    /// Asks for the configuration, or changes it.
    Setting(Setting),
    /// Begins, empties or deletes a conversation.
    Session(SessionAct),
    /// Asks for the conversation as it is now.
    Sync,
    /// Asks which messages still wait for their end.
    Context,
    /// Asks for past messages.
    History {
        /// Those before this journal id.
        before: Option<i64>,
        /// At most so many.
        limit: usize,
    },
    /// Asks for the visitor's conversations.
    Sessions,
    /// Asks for a sign of life.
    Ping,
}

impl Request {
    /// Whether it is something that gets an answer of its own, and an end.
    pub(crate) fn is_message(&self) -> bool {
        matches!(
            self,
            Self::Text { .. } | Self::Chat { .. } | Self::Press { .. }
        )
    }
}

/// A file that comes in a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inline {
    /// What the client calls it; untrusted.
    pub(crate) name: Option<String>,
    /// The media type that the client gives it, in lower case; to be compared with the content.
    pub(crate) declared: Option<String>,
    /// The content, never empty.
    pub(crate) bytes: Bytes,
}

/// What `setting` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Setting {
    /// What is in force.
    Running,
    /// The defaults.
    Default,
    /// These are to be set.
    Save(Vec<Change>),
}

impl Setting {
    /// The name in the protocol.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Running => "getConfig",
            Self::Default => "getDefaultConfig",
            Self::Save(_) => "saveConfig",
        }
    }
}

/// What `session` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionAct {
    /// A label for a new conversation.
    New,
    /// What was said goes.
    Clear,
    /// The conversation goes.
    Delete,
}

impl SessionAct {
    /// The name in the protocol.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Clear => "clear",
            Self::Delete => "delete",
        }
    }
}

/// The first frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    /// The token of an earlier welcome.
    pub(crate) token: Option<Secret>,
    /// Who he is, as the site's own server has signed it.
    pub(crate) identity: Option<Secret>,
    /// The last frame that the client has seen.
    pub(crate) resume: Option<Resume>,
    /// The language of errors.
    pub(crate) language: Language,
    /// He wants to be told what the conversation remembers from now on.
    pub(crate) memory: bool,
}

/// Where a client stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resume {
    /// The process that it spoke with.
    pub(crate) epoch: String,
    /// The last number seen.
    pub(crate) seq: u64,
}

/// What `system` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// The gateway's version.
    Version,
    /// The chat models.
    Models,
}

/// One line that could be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The session it names; `None` for the socket's own.
    pub(crate) session: Option<String>,
    /// The message id it names, if any, for answers to it.
    pub(crate) message: Option<String>,
    /// The request.
    pub(crate) request: Request,
}

/// One line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// What is wrong.
    pub(crate) code: Code,
    /// The message id, if that much could be read.
    pub(crate) message: Option<String>,
}

/// Reads one line; `max_message` in characters.
pub(crate) fn read(line: &str, max_message: usize) -> Result<Line, Fault> {
    match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(fields)) => understand(&fields, max_message, Blobs::default()),
        _ => Err(Code::BadFrame.into()),
    }
}

/// Reads a binary frame: the length of its head, the head, which is one line, and the blobs that the head names.
pub(crate) fn read_binary(frame: &Bytes, max_message: usize) -> Result<Line, Fault> {
    let (fields, blobs) = binary::split(frame)?;
    understand(&fields, max_message, blobs)
}

impl From<Code> for Fault {
    fn from(code: Code) -> Self {
        let message = None;
        Self { code, message }
    }
}

fn understand(
    fields: &Map<String, Value>,
    max_message: usize,
    mut blobs: Blobs,
) -> Result<Line, Fault> {
    let mut message = None;
    let line = read_fields(fields, max_message, &mut message, &mut blobs);
    // What belongs to nothing is as wrong as what is missing.
    let line = line.and_then(|line| blobs.finish().map(|()| line));
    line.map_err(|code| Fault { code, message })
}

fn read_fields(
    fields: &Map<String, Value>,
    max_message: usize,
    message: &mut Option<String>,
    blobs: &mut Blobs,
) -> Result<Line, Code> {
    *message = match fields.get("messageId") {
        None | Some(Value::Null) => None,
        Some(Value::String(id)) if is_id(id, "_-.:") => Some(id.clone()),
        Some(_) => return Err(Code::BadMessageId),
    };
    let session = match fields.get("sessionId") {
        None | Some(Value::Null) => None,
        Some(Value::String(label)) if label == "default" => None,
        Some(Value::String(label)) if is_session(label) => Some(label.clone()),
        Some(_) => return Err(Code::BadSessionId),
    };
    let kind = fields
        .get("type")
        .and_then(Value::as_str)
        .ok_or(Code::BadFrame)?;
    let request = match kind {
        "hello" => Request::Hello(hello(fields)),
        "text" => {
            let files = files(fields.get("files"))?;
            let text = text(fields.get("content"), max_message, !files.is_empty())?;
            Request::Text {
                message: message.clone().ok_or(Code::MissingMessageId)?,
                text,
                files,
            }
        }
        "chat" => {
            let (text, files) = chat::read(fields.get("content"), max_message, blobs)?;
            Request::Chat {
                message: message.clone().ok_or(Code::MissingMessageId)?,
                text,
                files,
            }
        }
        "press" => press(fields, message.clone())?,
        "stop" => Request::Stop,
        "system" => Request::System(act::system(fields)?),
        "setting" => Request::Setting(act::setting(fields)?),
        "session" => Request::Session(act::session(fields)?),
        "history" => history(fields)?,
        "sessions" => Request::Sessions,
        "sync" => Request::Sync,
        "context" => Request::Context,
        "ping" => Request::Ping,
        _ => return Err(Code::UnknownType),
    };
    Ok(Line {
        session,
        message: message.clone(),
        request,
    })
}

/// Whether a text is a session label.
pub(crate) fn is_session(label: &str) -> bool {
    is_id(label, "_-")
}

fn is_id(id: &str, marks: &str) -> bool {
    let fit = |c: char| c.is_ascii_alphanumeric() || marks.contains(c);
    !id.is_empty() && id.len() <= MAX_ID && id.chars().all(fit)
}

/// A bad token or resume point is none: the visitor begins anew, or gets the whole view.
fn hello(fields: &Map<String, Value>) -> Hello {
    let resume = fields.get("resume").and_then(|resume| {
        let epoch = resume.get("epoch")?.as_str()?.to_owned();
        Some(Resume {
            epoch,
            seq: resume.get("seq")?.as_u64()?,
        })
    });
    Hello {
        token: fields.get("token").and_then(Value::as_str).map(Secret::new),
        // Of another type it is none that is good, so that nobody is taken for a stranger by mistake.
        identity: match fields.get("identity") {
            None | Some(Value::Null) => None,
            Some(identity) => Some(Secret::new(identity.as_str().unwrap_or_default())),
        },
        resume,
        language: fields.get("language").map(Language::of).unwrap_or_default(),
        memory: fields.get("history").and_then(Value::as_bool) == Some(true),
    }
}

fn files(files: Option<&Value>) -> Result<Vec<String>, Code> {
    let names = match files {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(names)) if names.len() <= MAX_FILES => names,
        Some(_) => return Err(Code::BadFrame),
    };
    let name = |name: &Value| match name.as_str() {
        Some(name) if is_id(name, "") => Ok(name.to_owned()),
        _ => Err(Code::BadFrame),
    };
    names.iter().map(name).collect()
}

/// The words of a message; beside files there need be none.
fn text(content: Option<&Value>, max_message: usize, optional: bool) -> Result<String, Code> {
    let text = match content {
        None | Some(Value::Null) if optional => "",
        Some(Value::String(text)) => text.as_str(),
        Some(Value::Object(content)) => content
            .get("text")
            .and_then(Value::as_str)
            .ok_or(Code::BadFrame)?,
        _ => return Err(Code::BadFrame),
    };
    checked(clean(text), max_message, optional)
}

/// A text without control characters, line ends as `\n`.
fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => clean.push('\n'),
            '\n' | '\t' => clean.push(c),
            c if c.is_control() => {}
            c => clean.push(c),
        }
    }
    clean
}

/// The words of a message, if they are some and not too many; `optional` ones may be none.
fn checked(words: String, max_message: usize, optional: bool) -> Result<String, Code> {
    if words.chars().all(is_invisible) {
        return if optional {
            Ok(String::new())
        } else {
            Err(Code::Empty)
        };
    }
    if words.chars().count() > max_message {
        return Err(Code::TooLong);
    }
    Ok(words)
}

/// A press. Which buttons there are is for the gateway to say.
fn press(fields: &Map<String, Value>, message: Option<String>) -> Result<Request, Code> {
    let answer = fields.get("id").and_then(whole);
    let button = fields.get("button").and_then(Value::as_str);
    let fits = |id: &&str| {
        (1..=MAX_BUTTON_ID).contains(&id.len()) && id.bytes().all(|it| it.is_ascii_graphic())
    };
    match (answer, button.filter(fits)) {
        (Some(answer), Some(button)) => Ok(Request::Press {
            message: message.ok_or(Code::MissingMessageId)?,
            answer,
            button: button.to_owned(),
        }),
        _ => Err(Code::BadFrame),
    }
}

/// A whole number, however it is written: in JSON `7.0` is one as well.
fn whole(value: &Value) -> Option<i64> {
    /// The greatest number up to which every whole number has a float of its own.
    const MOST: f64 = 9_007_199_254_740_992.0;
    let float = || {
        value
            .as_f64()
            .filter(|it| it.fract() == 0.0 && it.abs() <= MOST)
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "what has a fraction or is greater is none"
    )]
    value.as_i64().or_else(|| float().map(|it| it as i64))
}

/// White space and the characters without width that pass a trim.
fn is_invisible(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{3164}')
}

fn history(fields: &Map<String, Value>) -> Result<Request, Code> {
    let before = match fields.get("before") {
        None | Some(Value::Null) => None,
        Some(value) => Some(whole(value).ok_or(Code::BadFrame)?),
    };
    let limit = match fields.get("limit") {
        None | Some(Value::Null) => 50,
        Some(value) => {
            let limit = whole(value).and_then(|limit| u64::try_from(limit).ok());
            limit.ok_or(Code::BadFrame)?.clamp(1, 200)
        }
    };
    Ok(Request::History {
        before,
        limit: usize::try_from(limit).unwrap_or(200),
    })
}

#[cfg(test)]
mod tests;
