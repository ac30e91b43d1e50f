//! Files of answers, on their way to a visitor.
//!
//! Owns the route `/api/chat/NAME/files/FILE`: who gets a file, how many at once, and the headers with which it can do
//! nothing but be shown or saved. Only what the gateway sent is given out, into the conversation into which it was sent;
//! what visitors hand in never is.

use std::{net::IpAddr, sync::Arc};

use axum::{
    Extension,
    body::Body,
    extract::{Path, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use weirgate_sdk::{ClientAddress, Content, KeepError, MediaLimits, OutgoingFile};

use crate::{
    adapter::WebChat,
    address::Held,
    http::may_ask,
    incoming::is_session,
    upload::{Refused, visitor},
};

/// Files of any kind are shown or offered; how large they may be is the media store's business beyond this.
pub(crate) const LIMITS: MediaLimits = MediaLimits {
    file: LARGEST,
    image: LARGEST,
    sticker: LARGEST,
    voice: LARGEST,
    audio: LARGEST,
    video: LARGEST,
    album: 10,
    album_bytes: LARGEST,
};
/// The largest file in bytes: a page holds one in memory to show it.
const LARGEST: u64 = 50 << 20;
/// Files that are given out at once, of the whole site.
pub(crate) const AT_ONCE: usize = 64;
/// The types under which a file is given out. Whatever else one is, it is bytes.
const TYPES: [&str; 11] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "audio/mpeg",
    "audio/ogg",
    "audio/opus",
    "audio/m4a",
    "audio/x-wav",
    "video/mp4",
    "video/webm",
];

/// Gives a file out.
pub(crate) async fn give(
    State(chat): State<Arc<WebChat>>,
    Path(file): Path<String>,
    client: Option<Extension<ClientAddress>>,
    headers: HeaderMap,
) -> Response {
    let address = client.map(|Extension(client)| client.0);
    match find(&chat, &headers, &file, address).await {
        Ok((file, content, place)) => answer(&file, content, place),
        Err(refused) => refused.into_response(),
    }
}

async fn find(
    chat: &WebChat,
    headers: &HeaderMap,
    reference: &str,
    address: Option<IpAddr>,
) -> Result<(OutgoingFile, Box<dyn Content>, Held), Refused> {
    if !may_ask(headers, &chat.settings.origins) {
        return Err(Refused::Origin);
    }
    let visitor = visitor(chat, headers).ok_or(Refused::Token)?;
    let session = headers
        .get("x-session")
        .and_then(|value| value.to_str().ok());
    let session = session.unwrap_or("main");
    if !is_session(session) {
        return Err(Refused::Session);
    }
    let keeper = chat.keeper().ok_or(Refused::Away)?;
    // Who reads nothing keeps his place.
    let place = chat.downloads.enter(address).ok_or(Refused::TooMany)?;
    let found = keeper.sent(&chat.key(&visitor, session), reference).await;
    let file = found.map_err(|error| match error {
        KeepError::TooLarge(_) | KeepError::Broken(_) | KeepError::Away(_) => Refused::Away,
    })?;
    let file = file.ok_or(Refused::Gone)?;
    let content = file.source.open().await.map_err(|_| Refused::Gone)?;
    Ok((file, content, place))
}

/// The file as it is read; its place is free when it ends, or when the visitor goes.
fn answer(file: &OutgoingFile, content: Box<dyn Content>, place: Held) -> Response {
    let pieces = stream::try_unfold((content, place), |(mut content, place)| async move {
        let piece = content.next().await?;
        Ok::<_, weirgate_sdk::DownloadError>(piece.map(|piece| (piece, (content, place))))
    });
    let known = TYPES.iter().find(|known| **known == file.mime);
    let kind = known.copied().unwrap_or("application/octet-stream");
    let mut response = (StatusCode::OK, Body::from_stream(pieces)).into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::CACHE_CONTROL, "private, no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_LENGTH, file.size.into());
    response
}
