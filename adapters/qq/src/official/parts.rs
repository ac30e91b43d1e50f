//! A large file, handed over in parts.
//!
//! Owns the order of it: the platform is told what the file is, plans the parts and names an address for each; the bytes go
//! there as they are read, the platform is told of each part, and at last of the whole. Nothing holds more than a piece of
//! the file. An address is signed, so it is never shown, and nothing that proves who the bot is goes there.
//!
//! How it goes stands in bot-docs (rich media) and in Tencent's own program.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, stream};
use md5::{Digest as _, Md5};
use parking_lot::Mutex;
use reqwest::{Body, header::CONTENT_LENGTH};
use serde_json::{Value, json};
use sha1::Sha1;
use tokio::time::sleep;
use weirgate_net::http::{Broken, within};
use weirgate_sdk::{Content, OutgoingFile};

use super::{
    api::{Api, CallError},
    media::{SLOWEST, open, refused, unseen},
    sign::to_hex,
};
use crate::web;

/// The bytes at the beginning that have a digest of their own (bot-docs, `md5_10m`).
const HEAD: u64 = 10_002_432;
/// Parts of one file at most.
const MOST_PARTS: usize = 1_000;
/// How often a part is sent, and told of.
const TRIES: u32 = 3;
/// The pause before the second time; the next ones are longer.
const PAUSE: Duration = Duration::from_secs(1);

/// Hands a file over for a place; gives what the platform says of it. Nobody has seen it by then, so it may begin anew
/// whatever the error is.
///
/// # Errors
/// Why it was not handed over.
pub async fn hand_over(
    api: &Api,
    place: &str,
    file: &OutgoingFile,
    kind: u64,
) -> Result<Value, CallError> {
    let digests = Digests::of(file).await?;
    let said = json!({
        "file_type": kind, "file_name": file.name, "file_size": file.size.to_string(),
        "md5": digests.md5, "sha1": digests.sha1, "md5_10m": digests.head,
    });
    let planned = api.post(&format!("{place}/upload_prepare"), &said).await;
    let planned = planned.map_err(unseen)?;
    let plan = Plan::read(&planned, file.size)
        .ok_or_else(|| refused(400, "the platform's plan does not fit the file"))?;
    for part in &plan.parts {
        let md5 = again(|| put(api, file, part)).await?;
        let said = json!({
            "upload_id": plan.upload, "part_index": part.index, "block_size": part.size.to_string(), "md5": md5,
        });
        let path = format!("{place}/upload_part_finish");
        again(|| api.post(&path, &said)).await?;
    }
    let said = json!({
        "file_type": kind, "file_name": file.name, "srv_send_msg": false, "upload_id": plan.upload,
    });
    let whole = api.post(&format!("{place}/files"), &said).await;
    whole.map_err(unseen)
}

/// Does something that is safe to do twice, until it is done or refused.
async fn again<T, F: Future<Output = Result<T, CallError>>>(
    attempt: impl Fn() -> F,
) -> Result<T, CallError> {
    let mut tries = 1;
    loop {
        match attempt().await {
            Err(CallError::Lost(_) | CallError::Unreachable(_)) if tries < TRIES => {
                sleep(PAUSE * tries).await;
                tries += 1;
            }
            outcome => return outcome.map_err(unseen),
        }
    }
}

/// Sends a part to its address; gives its digest.
async fn put(api: &Api, file: &OutgoingFile, part: &Part) -> Result<String, CallError> {
    let (client, address) = web::way(&part.address, Some(api.base()))
        .map_err(|_| refused(400, "the platform names no address for a part"))?;
    // Only an API on this machine is reached without encryption.
    if address.scheme() != "https" && api.base().starts_with("https") {
        return Err(refused(400, "a part would go out without encryption"));
    }
    let md5 = Arc::new(Mutex::new(Md5::new()));
    let content = open(file).await?;
    let pieces = pieces(content, part.from, part.size, Arc::clone(&md5));
    let request = client
        .put(address)
        .header(CONTENT_LENGTH, part.size)
        .body(Body::wrap_stream(pieces));
    let limit = api.limit() + Duration::from_secs(part.size / SLOWEST);
    let sent = within(limit, async {
        let answer = request.send().await.map_err(Broken::from)?;
        Ok::<_, CallError>(answer.status().as_u16())
    });
    match sent.await? {
        200..=299 => {}
        status @ (429 | 500..) => {
            let text = format!("a part was answered with HTTP status {status}");
            return Err(CallError::Unreachable(text));
        }
        // It says nothing about what the bot may.
        status => {
            let text = format!("a part was answered with HTTP status {status}");
            return Err(refused(400, &text));
        }
    }
    let md5 = md5.lock().clone();
    Ok(to_hex(&md5.finalize()))
}

/// So many bytes of a file from a place on, counted in a digest as they go.
fn pieces(
    content: Box<dyn Content>,
    from: u64,
    size: u64,
    md5: Arc<Mutex<Md5>>,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    stream::try_unfold(
        (content, from, size),
        move |(mut content, mut skip, left)| {
            let md5 = Arc::clone(&md5);
            async move {
                if left == 0 {
                    return Ok(None);
                }
                loop {
                    let piece = content.next().await.map_err(io::Error::other)?;
                    let mut piece = piece.ok_or(io::ErrorKind::UnexpectedEof)?;
                    let before = skip.min(length(&piece));
                    skip -= before;
                    drop(piece.split_to(usize::try_from(before).unwrap_or(piece.len())));
                    piece.truncate(usize::try_from(left).unwrap_or(usize::MAX));
                    if !piece.is_empty() {
                        md5.lock().update(&piece);
                        let left = left - length(&piece);
                        return Ok(Some((piece, (content, skip, left))));
                    }
                }
            }
        },
    )
}

fn length(bytes: &Bytes) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// What identifies a file.
struct Digests {
    md5: String,
    sha1: String,
    head: String,
}

impl Digests {
    async fn of(file: &OutgoingFile) -> Result<Self, CallError> {
        let (mut md5, mut sha1, mut head) = (Md5::new(), Sha1::new(), Md5::new());
        let mut content = open(file).await?;
        let mut read = 0_u64;
        while let Some(piece) = content
            .next()
            .await
            .map_err(|error| refused(400, &error.to_string()))?
        {
            let of_head = usize::try_from(HEAD.saturating_sub(read)).unwrap_or(usize::MAX);
            head.update(piece.get(..of_head).unwrap_or(&piece));
            md5.update(&piece);
            sha1.update(&piece);
            read = read.saturating_add(length(&piece));
        }
        if read != file.size {
            return Err(refused(400, "the file changed while it was read"));
        }
        Ok(Self {
            md5: to_hex(&md5.finalize()),
            sha1: to_hex(&sha1.finalize()),
            head: to_hex(&head.finalize()),
        })
    }
}

/// What the platform wants to have.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    upload: String,
    parts: Vec<Part>,
}

/// A part of a file.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    /// The platform's number of it: some begin with 0, some with 1.
    index: u64,
    /// Its first byte.
    from: u64,
    size: u64,
    address: String,
}

impl Plan {
    /// Reads a plan for a file of so many bytes; `None` unless its parts are the file. Numbers may be texts.
    fn read(planned: &Value, size: u64) -> Option<Self> {
        let number = |value: &Value| match value.as_str() {
            Some(text) => text.parse().ok(),
            None => value.as_u64(),
        };
        let block = number(&planned["block_size"]).filter(|block| *block > 0)?;
        let listed = planned["parts"].as_array()?;
        let fits = u64::try_from(listed.len()) == Ok(size.div_ceil(block));
        if !fits || listed.len() > MOST_PARTS {
            return None;
        }
        let part = |(from, part): (u64, &Value)| {
            Some(Part {
                index: number(&part["index"]).or_else(|| number(&part["part_index"]))?,
                from,
                size: block.min(size - from),
                address: part["presigned_url"].as_str()?.to_owned(),
            })
        };
        let begins = (0..).map(|place| place * block);
        let parts: Option<Vec<Part>> = begins.zip(listed).map(part).collect();
        Some(Self {
            upload: planned["upload_id"].as_str()?.to_owned(),
            parts: parts?,
        })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::TryStreamExt as _;
    use weirgate_sdk::Download;

    use super::*;

    #[tokio::test]
    async fn a_part_is_its_bytes_in_whatever_pieces_the_file_comes() {
        let bytes: Vec<u8> = (0..=255).collect();
        for size in [1, 3, 64, 100, 256] {
            for (from, length) in [(0_usize, 256_usize), (0, 10), (100, 100), (250, 6)] {
                let parts: Vec<_> = bytes
                    .chunks(size)
                    .map(|piece| Ok(Bytes::copy_from_slice(piece)))
                    .collect();
                let content = Download::of(None, stream::iter(parts)).content;
                let md5 = Arc::new(Mutex::new(Md5::new()));
                let (begin, count) = (from as u64, length as u64);
                let part = pieces(content, begin, count, Arc::clone(&md5));
                let part: Vec<Bytes> = part.try_collect().await.expect("whole");
                let expected = &bytes[from..from + length];
                assert_eq!(part.concat(), expected);
                let counted = md5.lock().clone().finalize();
                assert_eq!(counted, Md5::digest(expected));
            }
        }
        let content = Download::of(None, stream::iter([Ok(Bytes::from_static(b"ab"))])).content;
        let short = pieces(content, 1, 2, Arc::default()).try_collect::<Vec<_>>();
        assert!(short.await.is_err(), "it is shorter than it was");
    }

    #[test]
    fn a_plan_that_is_not_the_file_is_none() {
        let part = |index: u64| json!({ "index": index, "presigned_url": format!("https://example.com/{index}") });
        let plan =
            json!({ "upload_id": "u", "block_size": "4", "parts": [part(1), part(2), part(3)] });
        let read = Plan::read(&plan, 10).expect("a plan");
        let told: Vec<_> = read
            .parts
            .iter()
            .map(|it| (it.index, it.from, it.size))
            .collect();
        assert_eq!(told, [(1, 0, 4), (2, 4, 4), (3, 8, 2)]);
        for size in [0, 8, 13, u64::MAX] {
            assert_eq!(Plan::read(&plan, size), None, "{size}");
        }
        for (name, value) in [
            ("upload_id", Value::Null),
            ("block_size", json!("0")),
            ("block_size", json!(-4)),
            ("parts", json!([part(1), part(2), {}])),
            ("parts", json!("none")),
        ] {
            let mut odd = plan.clone();
            odd[name] = value;
            assert_eq!(Plan::read(&odd, 10), None, "{odd}");
        }
    }
}
