//! Files of visitors, on their way to the gateway.
//!
//! Owns the route `/api/chat/NAME/files`: who may send a file, how many in what time, and what is answered. A file goes on as
//! it comes and lies where no route leads; a message then names it, or it came with one. They are not served back.

pub(crate) mod fit;

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::TryStreamExt as _;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use weirgate_sdk::{
    Attachment, AttachmentKind, ConversationKey, Download, DownloadError, KeepError, Keeper,
    KeptFile, text::line,
};

use crate::{
    adapter::WebChat, http::may_ask, incoming::is_session, rest, texts::Code, token::Visitor,
};

/// Files that come at once, of the whole site.
const AT_ONCE: usize = 16;
/// Files of one visitor in [`WINDOW`].
const MOST: u32 = 20;
/// The time in which they are counted.
const WINDOW: Duration = Duration::from_secs(600);
/// Visitors that are counted; beyond that nobody sends a file until the oldest counts are over.
const VISITORS: usize = 10_000;
/// Longest name of a file, in characters.
const MAX_NAME: usize = 200;

/// Who sends how much.
pub(crate) struct Uploads {
    places: Semaphore,
    counts: Mutex<HashMap<String, (Instant, u32)>>,
}

impl Default for Uploads {
    fn default() -> Self {
        Self {
            places: Semaphore::new(AT_ONCE),
            counts: Mutex::default(),
        }
    }
}

impl Uploads {
    /// Whether a visitor may send one more file now; counts it.
    pub(crate) fn may(&self, visitor: &str, now: Instant) -> bool {
        let mut counts = self.counts.lock();
        if !counts.contains_key(visitor) && counts.len() >= VISITORS {
            // Who makes up many visitors shuts nobody else out.
            let first = counts.iter().min_by_key(|(_, (since, _))| *since);
            let first = first.map(|(visitor, _)| visitor.clone());
            first.and_then(|first| counts.remove(&first));
        }
        let (since, count) = counts.entry(visitor.to_owned()).or_insert((now, 0));
        if now.saturating_duration_since(*since) >= WINDOW {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        *count <= MOST
    }

    /// Forgets whose time is over.
    pub(crate) fn sweep(&self, now: Instant) {
        let young = |since: &Instant| now.saturating_duration_since(*since) < WINDOW;
        self.counts.lock().retain(|_, (since, _)| young(since));
    }
}

/// Why a file is not taken, or not given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Another page, or a request that is none.
    Origin,
    /// The site takes none.
    Off,
    /// Nobody whom this server knows.
    Token,
    /// A label that is none.
    Session,
    /// Too many in a short time.
    TooMany,
    /// It is larger than this.
    TooLarge(u64),
    /// It is empty or broke off.
    Broken,
    /// There is no such file, or none any more.
    Gone,
    /// Files of its name are not taken.
    Name,
    /// Its content is not what its name or its type says.
    Content,
    /// The gateway cannot keep or give it now.
    Away,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let (status, code) = match self {
            Self::Origin => (StatusCode::FORBIDDEN, "forbidden"),
            Self::Off => (StatusCode::FORBIDDEN, "files_off"),
            Self::Token => (StatusCode::UNAUTHORIZED, "unknown_visitor"),
            Self::Session => (StatusCode::BAD_REQUEST, "bad_session_id"),
            Self::TooMany => (StatusCode::TOO_MANY_REQUESTS, "too_many_files"),
            Self::TooLarge(_) => (StatusCode::PAYLOAD_TOO_LARGE, "file_too_large"),
            Self::Broken => (StatusCode::BAD_REQUEST, "file_broken"),
            Self::Gone => (StatusCode::NOT_FOUND, "unknown_file"),
            Self::Name => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "refused_file"),
            Self::Content => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "bad_file"),
            Self::Away => (StatusCode::SERVICE_UNAVAILABLE, "store_unavailable"),
        };
        let mut body = json!({ "error": code });
        if let Self::TooLarge(most) = self {
            body["limit"] = most.into();
        }
        answer(status, &body)
    }
}

impl Refused {
    /// What a client is told whose message brought the file.
    pub(crate) fn code(self) -> Code {
        match self {
            Self::Off => Code::FilesOff,
            Self::TooMany => Code::TooManyFiles,
            Self::TooLarge(_) => Code::FileTooLarge,
            Self::Broken | Self::Content => Code::BadFile,
            Self::Name => Code::RefusedFile,
            Self::Gone => Code::UnknownFile,
            Self::Origin | Self::Token | Self::Session => Code::Forbidden,
            Self::Away => Code::StoreUnavailable,
        }
    }
}

/// A file as its sender describes it.
pub(crate) struct Described<'a> {
    /// What he calls it.
    pub(crate) name: Option<String>,
    /// The media type that he gives it, in lower case.
    pub(crate) declared: Option<&'a str>,
}

/// Keeps a file, if it is what it is said to be and such files are taken.
pub(crate) async fn keep(
    keeper: &dyn Keeper,
    conversation: &ConversationKey,
    described: Described<'_>,
    file: Download,
) -> Result<KeptFile, Refused> {
    let Described { name, declared } = described;
    let name = name.map(|name| line(&name, MAX_NAME));
    let name = name.filter(|name| !name.is_empty());
    if !fit::is_taken(name.as_deref()) {
        return Err(Refused::Name);
    }
    let kept = keeper.keep(conversation, name.clone(), file).await;
    let kept = kept.map_err(|error| match error {
        KeepError::TooLarge(most) => Refused::TooLarge(most),
        KeepError::Broken(_) => Refused::Broken,
        KeepError::Away(_) => Refused::Away,
    })?;
    // What does not fit stays until it expires, under a name that nobody was told.
    let fits = fit::fits(name.as_deref(), declared, kept.kind);
    fits.then_some(kept).ok_or(Refused::Content)
}

/// Takes a file.
pub(crate) async fn take(
    State(chat): State<Arc<WebChat>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match receive(&chat, &headers, body).await {
        Ok(file) => answer(StatusCode::OK, &told(&file)),
        Err(refused) => refused.into_response(),
    }
}

async fn receive(chat: &WebChat, headers: &HeaderMap, body: Body) -> Result<KeptFile, Refused> {
    if !may_ask(headers, &chat.settings.origins) {
        return Err(Refused::Origin);
    }
    let visitor = visitor(chat, headers).ok_or(Refused::Token)?;
    if !chat.settings.files {
        return Err(Refused::Off);
    }
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let session = text("x-session").unwrap_or("main");
    if !is_session(session) {
        return Err(Refused::Session);
    }
    let keeper = chat.keeper().ok_or(Refused::Away)?;
    let place = chat.uploads.places.try_acquire();
    let (Ok(_place), true) = (place, chat.uploads.may(&visitor.id, Instant::now())) else {
        return Err(Refused::TooMany);
    };
    let size = text(header::CONTENT_LENGTH.as_str()).and_then(|size| size.parse().ok());
    let pieces = body
        .into_data_stream()
        .map_err(|error| DownloadError::Gone(error.to_string()));
    let file = Download::of(size, pieces);
    let declared = text(header::CONTENT_TYPE.as_str()).map(str::to_ascii_lowercase);
    let described = Described {
        name: text("x-file-name").map(decoded),
        declared: declared.as_deref(),
    };
    keep(&*keeper, &chat.key(&visitor, session), described, file).await
}

/// The visitor whose signed identity or token the request shows.
pub(crate) fn visitor(chat: &WebChat, headers: &HeaderMap) -> Option<Visitor> {
    let hello = rest::hello(headers, None).ok()?;
    chat.returning(&hello).ok()
}

/// A name without its `%XX`.
fn decoded(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        let mut digits = rest.clone();
        let code = (byte == b'%')
            .then(|| Some([digits.next()?, digits.next()?]))
            .flatten()
            .and_then(|code| u8::from_str_radix(std::str::from_utf8(&code).ok()?, 16).ok());
        bytes.push(code.unwrap_or(byte));
        if code.is_some() {
            rest = digits;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Looks up the files that a message names. `None` if one of them is not the visitor's, or is gone.
pub(crate) async fn named(
    keeper: &Arc<dyn Keeper>,
    conversation: &ConversationKey,
    names: &[String],
) -> Option<Vec<KeptFile>> {
    let mut files = Vec::with_capacity(names.len());
    for name in names {
        files.push(keeper.find(conversation, name).await.ok()??);
    }
    Some(files)
}

fn told(file: &KeptFile) -> Value {
    let kind = kind(file.kind);
    json!({ "file": file.reference, "kind": kind, "name": file.name, "size": file.size })
}

fn kind(kind: AttachmentKind) -> &'static str {
    match kind {
        AttachmentKind::Image => "image",
        AttachmentKind::Audio => "audio",
        AttachmentKind::Video => "video",
        AttachmentKind::File => "file",
    }
}

/// A file of a message, as its windows are told of it.
pub(crate) fn shown(file: &Attachment) -> Value {
    json!({ "kind": kind(file.kind), "name": file.name, "size": file.size })
}

/// The largest files that are taken, by kind and in bytes; `None` if none are.
pub(crate) fn limits(chat: &WebChat) -> Option<Value> {
    let keeper = chat.keeper().filter(|_| chat.settings.files)?;
    let kinds = [
        AttachmentKind::Image,
        AttachmentKind::Audio,
        AttachmentKind::Video,
        AttachmentKind::File,
    ];
    let limits = kinds.map(|it| (kind(it).to_owned(), keeper.limit(it).into()));
    Some(Value::Object(limits.into_iter().collect()))
}

fn answer(status: StatusCode, body: &Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, headers, body.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_sends_so_many_files_in_a_while() {
        let uploads = Uploads::default();
        let start = Instant::now();
        for _ in 0..MOST {
            assert!(uploads.may("a", start));
        }
        assert!(!uploads.may("a", start));
        assert!(uploads.may("b", start));
        let later = start + WINDOW;
        assert!(uploads.may("a", later));
        uploads.sweep(later);
        assert_eq!(uploads.counts.lock().len(), 1, "only who was there lately");
        for number in 0..VISITORS {
            assert!(uploads.may(&format!("made up {number}"), later));
        }
        assert!(uploads.may("somebody else", later));
        assert_eq!(uploads.counts.lock().len(), VISITORS);
    }

    #[test]
    fn names_are_read_as_browsers_write_them() {
        for (written, name) in [
            ("a%20b.png", "a b.png"),
            ("%E4%BD%A0.txt", "你.txt"),
            ("100%", "100%"),
            ("%zz", "%zz"),
            ("%ff", "\u{fffd}"),
        ] {
            assert_eq!(decoded(written), name);
        }
    }
}
