//! Checks of the files that an adapter delivers.
//!
//! Owns one small file of each kind, and what must come of it: shown, or refused in a class that says that nothing was.

use std::sync::Arc;

use async_trait::async_trait;
use weirgate_sdk::{
    Content, DownloadError, InboundMessage, MediaKind, Outgoing, OutgoingFile, SendError, Source,
    answer::Rendered,
};

use super::{LIMIT, Platform, capabilities, connected, end, hear, must_see, part, whole};
use crate::upload::shown;

/// The beginning of a picture.
pub const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

/// A file of each kind, each of another size.
#[must_use]
pub fn samples() -> Vec<OutgoingFile> {
    let webp: &[u8] = b"RIFF\x24\0\0\0WEBPVP8 sticker";
    vec![
        shown(MediaKind::Image, "image/png", "one.png", PNG),
        shown(
            MediaKind::Image,
            "image/gif",
            "two.gif",
            b"GIF89a\x01\0\x01\0moves",
        ),
        shown(MediaKind::Sticker, "image/webp", "three.webp", webp),
        shown(MediaKind::Voice, "audio/ogg", "four.ogg", b"OggS\0\x02\0\0"),
        shown(MediaKind::Audio, "audio/mpeg", "five.mp3", b"ID3\x03\0"),
        shown(
            MediaKind::Video,
            "video/mp4",
            "six.mp4",
            b"\0\0\0\x18ftypmp42\0\0",
        ),
        shown(
            MediaKind::File,
            "text/plain",
            "seven \u{4f60}.txt",
            b"words",
        ),
    ]
}

fn files(message: &InboundMessage, id: i64, files: Vec<OutgoingFile>) -> Outgoing {
    Outgoing {
        files,
        ..part(message, id, Rendered::default(), (0, 1))
    }
}

/// Each kind that the capabilities have arrives, in order with words, and pictures as one message.
pub async fn files_arrive_as_promised<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    let limits = capabilities(&*adapter, &message.conversation).media;
    let mut id = 0;
    for file in samples() {
        id += 2;
        if limits.of(file.kind) == 0 {
            let refused = adapter.send(files(&message, id, vec![file])).await;
            assert!(limits.file > 0 || refused.is_err(), "{refused:?}");
            if refused.is_ok() {
                platform.seen_files(0, LIMIT).await.expect("a file");
            }
            continue;
        }
        let size = usize::try_from(file.size).expect("small");
        let kind = file.kind;
        let sent = adapter.send(files(&message, id, vec![file])).await;
        assert!(sent.is_ok(), "{kind:?}: {sent:?}");
        let seen = platform.seen_files(0, LIMIT).await;
        assert_eq!(seen, Some(vec![size]), "{kind:?}");
        let words = whole(&*adapter, &message, id + 1, "words");
        adapter.send(words).await.expect("sent");
        assert_eq!(must_see(&mut platform, 0).await.visible, "words");
    }
    if limits.album > 1 {
        let picture = |tail: &[u8]| {
            let content = [PNG, tail].concat();
            shown(MediaKind::Image, "image/png", "a.png", &content)
        };
        let album = vec![picture(b""), picture(b"12"), picture(b"1")];
        let sizes = [0, 2, 1].map(|more| PNG.len() + more);
        let sent = adapter.send(files(&message, id + 2, album)).await;
        assert!(sent.is_ok(), "{sent:?}");
        let seen = platform.seen_files(0, LIMIT).await;
        assert_eq!(seen.as_deref(), Some(&sizes[..]));
    }
    end(platform).await;
}

/// A file that is not there any more.
struct Gone;

#[async_trait]
impl Source for Gone {
    async fn open(&self) -> Result<Box<dyn Content>, DownloadError> {
        Err(DownloadError::Gone("it is not kept any more".into()))
    }
}

/// A file that cannot be read is a refusal that sent nothing, unless it is only named; and no end of anything.
pub async fn a_file_that_is_gone_is_refused<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    for (id, file) in (1..).zip(samples()) {
        let gone = OutgoingFile {
            source: Arc::new(Gone),
            ..file
        };
        let sent = adapter.send(files(&message, id, vec![gone])).await;
        match sent {
            // It is fetched by whoever wants to see it.
            Ok(_) if P::NAMES_FILES => {
                platform.seen_files(0, LIMIT).await.expect("a file");
            }
            Err(SendError::Rejected(_) | SendError::TooLong | SendError::BadFormat(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    let words = whole(&*adapter, &message, 99, "words");
    adapter.send(words).await.expect("sent");
    assert_eq!(must_see(&mut platform, 0).await.visible, "words");
    end(platform).await;
}
