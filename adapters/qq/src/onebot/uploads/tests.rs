//! Two tellings of a file are one, whichever comes first; two files are two.

use std::time::Duration;

use weirgate_sdk::{Attachment, PlatformRole, Sender, SenderKind, Via};

use super::*;

const NOW: Timestamp = 1_790_000_000_000;

fn told(id: &str, name: &str, at: Timestamp) -> Event {
    Event::Message(Box::new(InboundMessage {
        conversation: ConversationKey {
            platform: "qq".into(),
            account: "main".into(),
            conversation: "g1".into(),
            thread: None,
        },
        chat: ChatKind::Group,
        sender: Sender {
            key: UserKey {
                platform: "qq".into(),
                realm: "".into(),
                id: "7".into(),
            },
            name: String::new(),
            is_bot: false,
            role: PlatformRole::Unknown,
            kind: SenderKind::Person,
        },
        id: id.into(),
        segments: vec![Segment::Attachment(Attachment {
            kind: AttachmentKind::File,
            reference: "x".into(),
            name: Some(name.into()),
            size: Some(3),
            expires_at: None,
        })],
        via: Via::Text,
        mentions_bot: false,
        reply_to: None,
        group_key: None,
        sent_at: at,
        received_at: at,
        reply_context: None,
        passed: Vec::new(),
        dedupe: DedupeKey {
            key: format!("{at}/{id}/{name}").into(),
            lifetime: Duration::from_secs(600),
        },
    }))
}

/// Which of these go on.
fn go_on(uploads: &mut Uploads, mut events: Vec<Event>) -> Vec<bool> {
    uploads.once(&mut events);
    let goes = |event: &Event| matches!(event, Event::Message(_));
    events.iter().map(goes).collect()
}

#[test]
fn a_file_is_told_once_whichever_comes_first() {
    let notice = |at| told("upload-1-7", "a.txt", at);
    let message = |id| told(id, "a.txt", NOW);
    for events in [
        [notice(NOW + 2_000), message("5")],
        [message("5"), notice(NOW - 2_000)],
    ] {
        let mut uploads = Uploads::default();
        assert_eq!(go_on(&mut uploads, events.to_vec()), [true, false]);
        // A second connection tells the same again: what went on is known as a duplicate, what did not stays away.
        assert_eq!(go_on(&mut uploads, events.to_vec()), [true, false]);
        // The same file once more is another one, told twice as well.
        let again = vec![message("6"), notice(NOW + 9_000)];
        assert_eq!(go_on(&mut uploads, again), [true, false]);
    }
}

#[test]
fn other_files_and_later_ones_are_others() {
    let mut uploads = Uploads::default();
    let events = vec![
        told("upload-1-7", "a.txt", NOW),
        told("5", "b.txt", NOW),
        told("6", "a.txt", NOW + APART + 1),
    ];
    assert_eq!(go_on(&mut uploads, events), [true, true, true]);
}

#[test]
fn only_so_many_are_remembered() {
    let mut uploads = Uploads::default();
    for number in 0..=MAX {
        let event = told("5", &number.to_string(), NOW);
        assert_eq!(go_on(&mut uploads, vec![event]), [true]);
    }
    assert_eq!(uploads.0.len(), MAX);
    let late = told("upload-1-7", "0", NOW);
    assert_eq!(go_on(&mut uploads, vec![late]), [true]);
}
