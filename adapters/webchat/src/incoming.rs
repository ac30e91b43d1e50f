//! Frames from a client, read.
//!
//! Owns what a client may say and every limit on it. Pure: a line of text in, a request or a fault out.
//! A fault concerns one line only. Nothing that names a user is ever read from a frame.

use serde_json::{Map, Value};
use weirgate_sdk::settings::Secret;

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
    /// Ends the running turn.
    Stop,
    /// Asks for facts about the gateway.
    System(Act),
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
    let mut message = None;
    read_line(line, max_message, &mut message).map_err(|code| Fault { code, message })
}

fn read_line(line: &str, max_message: usize, message: &mut Option<String>) -> Result<Line, Code> {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(line) else {
        return Err(Code::BadFrame);
    };
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
        "hello" => Request::Hello(hello(&fields)),
        "text" => {
            let files = files(fields.get("files"))?;
            let text = text(fields.get("content"), max_message, !files.is_empty())?;
            Request::Text {
                message: message.clone().ok_or(Code::MissingMessageId)?,
                text,
                files,
            }
        }
        "stop" => Request::Stop,
        "system" => Request::System(act(&fields)?),
        "history" => history(&fields)?,
        "sessions" => Request::Sessions,
        "ping" => Request::Ping,
        "setting" | "chat" => return Err(Code::NotAvailable),
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
    if clean.chars().all(is_invisible) {
        if optional {
            return Ok(String::new());
        }
        return Err(Code::Empty);
    }
    if clean.chars().count() > max_message {
        return Err(Code::TooLong);
    }
    Ok(clean)
}

/// White space and the characters without width that pass a trim.
fn is_invisible(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{3164}')
}

fn act(fields: &Map<String, Value>) -> Result<Act, Code> {
    let act = fields.get("content").and_then(|content| content.get("act"));
    match act.and_then(Value::as_str) {
        Some("getVersion") => Ok(Act::Version),
        Some("getModels") => Ok(Act::Models),
        Some(_) => Err(Code::UnknownAct),
        None => Err(Code::BadFrame),
    }
}

fn history(fields: &Map<String, Value>) -> Result<Request, Code> {
    let before = match fields.get("before") {
        None | Some(Value::Null) => None,
        Some(value) => Some(value.as_i64().ok_or(Code::BadFrame)?),
    };
    let limit = match fields.get("limit") {
        None | Some(Value::Null) => 50,
        Some(value) => value.as_u64().ok_or(Code::BadFrame)?.clamp(1, 200),
    };
    Ok(Request::History {
        before,
        limit: usize::try_from(limit).unwrap_or(200),
    })
}

#[cfg(test)]
mod tests;
