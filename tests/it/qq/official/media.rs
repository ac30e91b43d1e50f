//! Files in both directions.

use weirgate_sdk::{Attachment, DownloadError, Segment};
use weirgate_testkit::{qq::HandedFile, upload};

use super::*;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and more";

fn picture() -> weirgate_sdk::OutgoingFile {
    weirgate_sdk::OutgoingFile {
        kind: weirgate_sdk::MediaKind::Image,
        mime: "image/png".into(),
        ..upload::file("a.png", PNG)
    }
}

fn with_file(
    rig: &Rig,
    to: &InboundMessage,
    id: i64,
    file: weirgate_sdk::OutgoingFile,
) -> Outgoing {
    Outgoing {
        files: vec![file],
        ..rig.outgoing(to, id, "")
    }
}

async fn fetch(
    rig: &Rig,
    to: &InboundMessage,
    file: &Attachment,
) -> Result<Vec<u8>, DownloadError> {
    let downloads = rig.bot.downloads().expect("it fetches files");
    let mut download = downloads.open(&to.conversation, file).await?;
    let mut all = Vec::new();
    while let Some(piece) = download.content.next().await? {
        all.extend_from_slice(&piece);
    }
    Ok(all)
}

#[tokio::test]
async fn files_that_people_send_are_fetched_where_the_platform_keeps_them() {
    let rig = Rig::start().await;
    let (picture, voice) = (
        rig.fake.serve("a.png", PNG),
        rig.fake.serve("v.wav", b"RIFF"),
    );
    let attachments = json!({ "attachments": [
        { "content_type": "image/png", "filename": "a.png", "size": PNG.len(), "url": picture },
        { "content_type": "voice", "filename": "v.amr", "url": "https://example.com/v.amr",
          "voice_wav_url": voice, "asr_refer_text": "good morning" },
        { "content_type": "file", "filename": "x", "url": "http://169.254.169.254/latest" },
    ]});
    rig.fake.say(Where::Group, 7, "look", &attachments);
    let heard = rig.ingress.next_message(LIMIT).await.expect("heard");
    let files: Vec<Attachment> = heard
        .segments
        .iter()
        .filter_map(|segment| match segment {
            Segment::Attachment(file) => Some(file.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(files.len(), 3);
    assert_eq!(fetch(&rig, &heard, &files[0]).await.as_deref(), Ok(PNG));
    // What can be listened to, rather than the platform's own form.
    assert_eq!(
        fetch(&rig, &heard, &files[1]).await.as_deref(),
        Ok(&b"RIFF"[..])
    );
    let private = fetch(&rig, &heard, &files[2]).await;
    assert!(
        matches!(private, Err(DownloadError::Refused(_))),
        "{private:?}"
    );
    rig.ended().await;
}

#[tokio::test]
async fn a_file_is_handed_over_and_shown_as_an_answer() {
    let rig = Rig::start().await;
    for (id, place) in [(1, Where::Group), (2, Where::Private)] {
        let heard = rig.hear(place, "send it").await;
        let limits = rig.bot.capabilities(&heard.conversation).media;
        assert!(limits.file.min(limits.image) >= 1024 * 1024);
        let sent = rig.bot.send(with_file(&rig, &heard, id, picture())).await;
        assert!(sent.expect("sent").message.is_some());
        let shown = rig.fake.next_message(LIMIT).await.expect("seen");
        assert_eq!(shown.said["msg_id"], heard.id.as_str());
        let picture = HandedFile {
            kind: 1,
            name: String::new(),
            content: PNG.to_vec(),
        };
        assert_eq!(rig.fake.file_of(&shown.said), Some(picture));
        let text = upload::file("long answer.md", b"# all of it");
        let sent = rig.bot.send(with_file(&rig, &heard, 10 + id, text)).await;
        sent.expect("sent");
        let shown = rig.fake.next_message(LIMIT).await.expect("seen");
        let file = rig.fake.file_of(&shown.said).expect("a file");
        assert_eq!((file.kind, &*file.name), (4, "long answer.md"));
        assert_eq!(file.content, b"# all of it");
    }
    rig.ended().await;
}

#[tokio::test]
async fn a_channel_takes_pictures_and_no_other_files() {
    let rig = Rig::start().await;
    let heard = rig.hear(Where::Channel, "send it").await;
    let limits = rig.bot.capabilities(&heard.conversation).media;
    assert!(limits.image > 0 && limits.file == 0);
    let sent = rig.bot.send(with_file(&rig, &heard, 1, picture())).await;
    sent.expect("sent");
    let shown = rig.fake.next_message(LIMIT).await.expect("seen");
    assert_eq!(shown.said["file_image"], PNG.len());
    assert_eq!(shown.said["msg_id"], heard.id.as_str());
    let text = upload::file("a.txt", b"words");
    let refused = rig.bot.send(with_file(&rig, &heard, 2, text)).await;
    assert!(
        matches!(refused, Err(SendError::Rejected(_))),
        "{refused:?}"
    );
    rig.ended().await;
}

#[tokio::test]
async fn a_file_whose_answer_is_lost_is_shown_once() {
    let rig = Rig::start().await;
    let heard = rig.hear(Where::Group, "send it").await;
    // Whether it was handed over nobody knows, and nobody saw it: it is safe to begin anew.
    rig.fake.fail("files", Fault::Lost);
    let lost = rig.bot.send(with_file(&rig, &heard, 1, picture())).await;
    assert!(matches!(lost, Err(SendError::Unavailable(_))), "{lost:?}");
    rig.fake.fail("send", Fault::Lost);
    let lost = rig.bot.send(with_file(&rig, &heard, 1, picture())).await;
    assert!(matches!(lost, Err(SendError::Ambiguous(_))), "{lost:?}");
    let again = rig.bot.send(with_file(&rig, &heard, 1, picture())).await;
    assert_eq!(again, Ok(Sent::default()));
    assert_eq!(rig.fake.messages().len(), 1);
    // A token that ended before its time is renewed, and the file goes out the next time.
    rig.fake.expire_tokens();
    let ended = rig.bot.send(with_file(&rig, &heard, 2, picture())).await;
    assert!(matches!(ended, Err(SendError::Unavailable(_))), "{ended:?}");
    let again = rig.bot.send(with_file(&rig, &heard, 2, picture())).await;
    assert!(again.expect("sent").message.is_some());
    rig.ended().await;
}

#[tokio::test]
async fn a_file_that_the_platform_refuses_is_given_up_for_words() {
    let rig = Rig::start().await;
    let heard = rig.hear(Where::Private, "send it").await;
    for (id, fault) in [(1, 304_083), (2, 11_253)] {
        rig.fake.fail("files", Fault::code(400, fault));
        let refused = rig.bot.send(with_file(&rig, &heard, id, picture())).await;
        assert!(
            matches!(
                refused,
                Err(SendError::Rejected(_) | SendError::Forbidden(_))
            ),
            "{refused:?}"
        );
    }
    assert!(rig.fake.messages().is_empty());
    rig.ended().await;
}

/// More than goes inside of a call, in three parts.
fn film() -> (Vec<u8>, weirgate_sdk::OutgoingFile) {
    let content: Vec<u8> = (0..5_500_000_u32).map(|at| (at % 251) as u8).collect();
    let file = upload::shown(
        weirgate_sdk::MediaKind::Video,
        "video/mp4",
        "a.mp4",
        &content,
    );
    (content, file)
}

#[tokio::test]
async fn a_large_file_is_handed_over_in_parts() {
    let rig = Rig::start().await;
    let (content, file) = film();
    for (id, place) in [(1, Where::Group), (2, Where::Private)] {
        let heard = rig.hear(place, "send it").await;
        let limits = rig.bot.capabilities(&heard.conversation).media;
        assert_eq!((limits.video, limits.image), (100 << 20, 30 << 20));
        // What nobody has seen is done again.
        rig.fake.fail("part", Fault::Refused(503, Value::Null));
        rig.fake.fail("part", Fault::Broken);
        rig.fake.fail("upload_part_finish", Fault::Lost);
        let sent = rig
            .bot
            .send(with_file(&rig, &heard, id, file.clone()))
            .await;
        assert!(sent.expect("sent").message.is_some());
        let shown = rig.fake.next_message(LIMIT).await.expect("seen");
        let handed = rig.fake.file_of(&shown.said).expect("a file");
        assert_eq!((handed.kind, &*handed.name), (2, "a.mp4"));
        assert!(handed.content == content, "the file is another one");
    }
    assert_eq!(rig.fake.calls("part").len(), 2 * (3 + 2));
    rig.ended().await;
}

#[tokio::test]
async fn a_large_file_that_is_refused_is_given_up_and_one_that_is_lost_begins_anew() {
    let rig = Rig::start().await;
    let heard = rig.hear(Where::Group, "send it").await;
    let (_, file) = film();
    let send = async |id| {
        rig.bot
            .send(with_file(&rig, &heard, id, file.clone()))
            .await
    };
    let odd = json!({ "upload_id": "0", "block_size": "1", "parts": [] });
    for (call, fault) in [
        ("upload_prepare", Fault::code(400, 40_093_002)),
        ("upload_prepare", Fault::Refused(200, odd)),
        ("part", Fault::Refused(403, Value::Null)),
        ("files", Fault::code(400, 304_082)),
    ] {
        rig.fake.fail(call, fault);
        let refused = send(1).await;
        assert!(
            matches!(refused, Err(SendError::Rejected(_))),
            "{call}: {refused:?}"
        );
    }
    for call in ["upload_prepare", "files"] {
        rig.fake.fail(call, Fault::Lost);
        let lost = send(2).await;
        assert!(matches!(lost, Err(SendError::Unavailable(_))), "{lost:?}");
    }
    assert!(rig.fake.messages().is_empty());
    send(2).await.expect("sent");
    assert_eq!(rig.fake.messages().len(), 1);
    rig.ended().await;
}
