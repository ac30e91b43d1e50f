//! Files of visitors, on their way to the gateway.
//!
//! Owns the route `/api/chat/NAME/files`: who may send a file, how many in what time, and what is answered. A file goes on as
//! it comes and lies where no route leads; a message then names it, or it came with one. They are not served back.

pub(crate) mod fit;

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::Body,
    extract::{Extension, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::TryStreamExt as _;
use parking_lot::Mutex;
use serde_json::{Value, json};
use weirgate_sdk::{
    Attachment, AttachmentKind, ClientAddress, ConversationKey, Download, DownloadError, KeepError,
    Keeper, KeptFile, text::line,
};

use crate::{
    adapter::WebChat,
    address::{Shared, customer},
    http::may_ask,
    incoming::is_session,
    rest,
    texts::Code,
    token::Visitor,
};

/// Files that come at once, of the whole site.
const AT_ONCE: usize = 16;
/// Files of one visitor in [`WINDOW`].
const MOST: u32 = 20;
/// The time in which they are counted.
const WINDOW: Duration = Duration::from_secs(600);
/// Files of all visitors at one address in [`WINDOW`].
const MOST_OF_ADDRESS: u32 = 200;
/// Visitors, and addresses, that are counted; of more, the one whose count is oldest is forgotten.
const COUNTED: usize = 10_000;
/// Longest name of a file, in characters.
const MAX_NAME: usize = 200;

/// Who sends how much.
pub(crate) struct Uploads {
    places: Shared,
    visitors: Mutex<Counts>,
    addresses: Mutex<Counts>,
}

impl Default for Uploads {
    fn default() -> Self {
        Self {
            places: Shared::new(AT_ONCE),
            visitors: Mutex::default(),
            addresses: Mutex::default(),
        }
    }
}

impl Uploads {
    /// Whether a visitor at an address may send one more file now; counts it.
    pub(crate) fn may(&self, visitor: &str, address: Option<IpAddr>, now: Instant) -> bool {
        self.visitors.lock().take(visitor, MOST, now)
            && address.map(customer).is_none_or(|address| {
                let mut addresses = self.addresses.lock();
                addresses.take(&address.to_string(), MOST_OF_ADDRESS, now)
            })
    }

    /// Forgets whose time is over.
    pub(crate) fn sweep(&self, now: Instant) {
        self.visitors.lock().sweep(now);
        self.addresses.lock().sweep(now);
    }
}

/// How many files came since when.
#[derive(Debug, Default)]
struct Counts(HashMap<String, (Instant, u32)>);

impl Counts {
    /// Counts one more; false if it is over the limit.
    fn take(&mut self, whose: &str, most: u32, now: Instant) -> bool {
        if !self.0.contains_key(whose) && self.0.len() >= COUNTED {
            // Who makes up many visitors shuts nobody else out.
            let first = self.0.iter().min_by_key(|(_, (since, _))| *since);
            let first = first.map(|(whose, _)| whose.clone());
            first.and_then(|first| self.0.remove(&first));
        }
        let (since, count) = self.0.entry(whose.to_owned()).or_insert((now, 0));
        if now.saturating_duration_since(*since) >= WINDOW {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        *count <= most
    }

    fn sweep(&mut self, now: Instant) {
        let young = |since: &Instant| now.saturating_duration_since(*since) < WINDOW;
        self.0.retain(|_, (since, _)| young(since));
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
    client: Option<Extension<ClientAddress>>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let address = client.map(|Extension(ClientAddress(address))| address);
    match receive(&chat, address, &headers, body).await {
        Ok(file) => answer(StatusCode::OK, &told(&file)),
        Err(refused) => refused.into_response(),
    }
}

async fn receive(
    chat: &WebChat,
    address: Option<IpAddr>,
    headers: &HeaderMap,
    body: Body,
) -> Result<KeptFile, Refused> {
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
    let uploads = &chat.uploads;
    let _place = uploads.places.enter(address).ok_or(Refused::TooMany)?;
    if !uploads.may(&visitor.id, address, Instant::now()) {
        return Err(Refused::TooMany);
    }
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
    fn a_visitor_and_an_address_send_so_many_files_in_a_while() {
        let uploads = Uploads::default();
        let (start, here) = (Instant::now(), Some(IpAddr::from([192, 0, 2, 1])));
        for _ in 0..MOST {
            assert!(uploads.may("a", here, start));
        }
        assert!(!uploads.may("a", here, start));
        assert!(uploads.may("b", here, start));
        let later = start + WINDOW;
        assert!(uploads.may("a", here, later));
        uploads.sweep(later);
        let counted = uploads.visitors.lock().0.len();
        assert_eq!(counted, 1, "only who was there lately");
        // Many visitors of one make no more than so many.
        let sent = (0..MOST_OF_ADDRESS).filter(|number| {
            let visitor = format!("made up {number}");
            uploads.may(&visitor, here, later)
        });
        assert_eq!(sent.count() as u32, MOST_OF_ADDRESS - 1);
        let elsewhere = Some(IpAddr::from([192, 0, 2, 2]));
        assert!(uploads.may("somebody else", elsewhere, later));
        assert!(!uploads.may("and here", here, later));
    }

    #[test]
    fn so_many_are_counted_and_nobody_is_shut_out() {
        let (mut counts, now) = (Counts::default(), Instant::now());
        for number in 0..=COUNTED {
            assert!(counts.take(&number.to_string(), 1, now));
        }
        assert_eq!(counts.0.len(), COUNTED);
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
