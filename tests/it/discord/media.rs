//! Files of messages, from the platform to the gateway.

use futures_util::FutureExt as _;
use weirgate_sdk::{Attachment, AttachmentKind, DownloadError, Downloads, Segment};
use weirgate_testkit::{discord::Fault, upload};

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and more";

async fn fetch(bot: &Discord, file: &Attachment) -> Result<Vec<u8>, DownloadError> {
    let downloads: &dyn Downloads = bot.downloads().expect("it fetches files");
    let mut download = downloads.open(&place(CHANNEL, None), file).await?;
    let mut all = Vec::new();
    while let Some(piece) = download.content.next().await? {
        all.extend_from_slice(&piece);
    }
    Ok(all)
}

/// Somebody sends a file; as the gateway gets it.
async fn sent(rig: &Rig, name: &str, kind: &str) -> Attachment {
    let file = rig.fake.file(CHANNEL, name, kind, PNG);
    rig.fake
        .say(CHANNEL, 7, "look", &json!({ "attachments": [file] }));
    let message = rig.heard().await;
    let found = message
        .segments
        .into_iter()
        .find_map(|segment| match segment {
            Segment::Attachment(file) => Some(file),
            _ => None,
        });
    found.expect("an attachment")
}

#[tokio::test]
async fn a_file_is_fetched_without_the_token_and_an_expired_address_is_renewed() {
    let rig = Rig::start().await;
    let file = sent(&rig, "a.png", "image/png").await;
    assert_eq!(
        (file.kind, file.size),
        (AttachmentKind::Image, Some(PNG.len() as u64))
    );
    assert_eq!(fetch(&rig.bot, &file).await.as_deref(), Ok(PNG));
    assert_eq!(rig.fake.calls("message").len(), 0);
    rig.fake.expire_files();
    assert_eq!(fetch(&rig.bot, &file).await.as_deref(), Ok(PNG));
    assert_eq!(rig.fake.calls("message").len(), 1);
    // The message is gone as well.
    rig.fake.expire_files();
    rig.fake.fail("message", Fault::code(404, 10_008));
    let gone = fetch(&rig.bot, &file).await;
    assert!(matches!(gone, Err(DownloadError::Gone(_))), "{gone:?}");
    assert_eq!(rig.fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn addresses_of_others_are_not_followed() {
    let rig = Rig::start().await;
    let elsewhere = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("binds");
    let address = elsewhere.local_addr().expect("an address");
    let file = Attachment {
        kind: AttachmentKind::File,
        reference: format!("http://{address}/attachments/1/2/a"),
        name: None,
        size: None,
        expires_at: None,
    };
    let refused = fetch(&rig.bot, &file).await;
    assert!(
        matches!(refused, Err(DownloadError::Refused(_))),
        "{refused:?}"
    );
    let knocked = elsewhere.accept().now_or_never();
    assert!(knocked.is_none(), "nobody knocked");
    assert_eq!(rig.fake.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_file_goes_out_once_and_mentions_nobody() {
    let rig = Rig::start().await;
    let file = |content: &[u8]| Outgoing {
        files: vec![upload::file("answer.md", content)],
        ..rig.outgoing(&place(CHANNEL, None), 5, "")
    };
    assert!(rig.bot.send(file(b"# hello")).await.is_ok());
    // Known by its key when it comes again.
    assert!(rig.bot.send(file(b"# hello")).await.is_ok());
    let sent = rig.fake.messages();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].files.len(), 1);
    let sent = &sent[0].files[0];
    assert_eq!(
        (&*sent.name, &*sent.content),
        ("answer.md", &b"# hello"[..])
    );
    let large = Outgoing {
        id: 6,
        ..file(&vec![b'x'; 10 * 1024 * 1024 + 1])
    };
    let refused = rig.bot.send(large).await;
    assert!(
        matches!(refused, Err(SendError::Rejected(_) | SendError::TooLong)),
        "{refused:?}"
    );
    assert_eq!(rig.fake.violations(), Vec::<String>::new());
}
