//! Files in both directions.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::json;
use weirgate_sdk::{Attachment, DownloadError, Downloads, Segment};
use weirgate_testkit::{
    onebot::{FakeOneBot, Options},
    upload,
};

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and more";

async fn rig() -> (FakeOneBot, Rig) {
    let fake = FakeOneBot::listen(BOT, Options::default()).await;
    let rig = Rig::reach(with(Transport::Forward {
        url: fake.url().to_owned(),
    }));
    rig.is(&Connection::Up).await;
    (fake, rig)
}

/// Somebody sends a file; as the gateway gets it.
async fn sent(fake: &FakeOneBot, rig: &Rig, kind: &str, data: serde_json::Value) -> Attachment {
    let segment = json!({ "type": kind, "data": data });
    fake.send_segments(None, 7, &[segment]).await;
    let message = rig.ingress.next_message(LIMIT).await.expect("a message");
    let found = message
        .segments
        .into_iter()
        .find_map(|segment| match segment {
            Segment::Attachment(file) => Some(file),
            _ => None,
        });
    found.expect("an attachment")
}

async fn fetch(rig: &Rig, file: &Attachment) -> Result<Vec<u8>, DownloadError> {
    let downloads: &dyn Downloads = rig.qq.downloads().expect("it fetches files");
    let here = outgoing("p7", "x", None).conversation;
    let mut download = downloads.open(&here, file).await?;
    let mut all = Vec::new();
    while let Some(piece) = download.content.next().await? {
        all.extend_from_slice(&piece);
    }
    Ok(all)
}

#[tokio::test]
async fn a_file_comes_from_the_implementation_where_its_address_is_no_good() {
    let (fake, rig) = rig().await;
    let encoded = STANDARD.encode(PNG);
    // An address in a private network is somebody else's choice and not followed.
    let private = json!({ "file": "a.jpg", "url": "http://127.0.0.1:9/a?rkey=old" });
    let image = sent(&fake, &rig, "image", private).await;
    let unknown = fetch(&rig, &image).await;
    assert!(
        matches!(unknown, Err(DownloadError::Gone(_))),
        "{unknown:?}"
    );
    fake.file("a.jpg", json!({ "file": "/app/a.jpg", "base64": encoded }));
    assert_eq!(fetch(&rig, &image).await.as_deref(), Ok(PNG));
    for (kind, data, action) in [
        ("record", json!({ "file": "b.amr" }), "get_record"),
        (
            "file",
            json!({ "file": "c.pdf", "file_id": "/c" }),
            "get_file",
        ),
        ("video", json!({ "file": "d.mp4" }), "get_file"),
    ] {
        for name in ["b.amr", "/c", "d.mp4"] {
            fake.file(name, json!({ "file": format!("base64://{encoded}") }));
        }
        let file = sent(&fake, &rig, kind, data).await;
        assert_eq!(fetch(&rig, &file).await.as_deref(), Ok(PNG), "{kind}");
        assert!(
            fake.called().iter().any(|called| called == action),
            "{kind}"
        );
    }
    // What lies on the implementation's disk is not looked for on this one.
    fake.file("a.jpg", json!({ "file": "/etc/hostname", "url": "" }));
    let disk = fetch(&rig, &image).await;
    assert!(matches!(disk, Err(DownloadError::Refused(_))), "{disk:?}");
    rig.stop().await;
}

#[tokio::test]
async fn a_file_goes_to_the_group_or_the_person_and_a_refusal_says_so() {
    let (fake, rig) = rig().await;
    let file = |conversation: &str| Outgoing {
        files: vec![upload::file("answer.md", "# 你好".as_bytes())],
        ..outgoing(conversation, "", None)
    };
    assert!(rig.qq.send(file("g30001")).await.is_ok());
    assert!(rig.qq.send(file("p7")).await.is_ok());
    let content = || ("answer.md".to_owned(), "# 你好".as_bytes().to_vec());
    let sent = |to: &str| {
        let (name, bytes) = content();
        (to.to_owned(), name, bytes)
    };
    assert_eq!(fake.files(), [sent("group 30001"), sent("private 7")]);
    fake.refuse_files();
    let refused = rig.qq.send(file("g30001")).await;
    assert!(
        matches!(refused, Err(SendError::Rejected(_))),
        "{refused:?}"
    );
    rig.stop().await;
}
