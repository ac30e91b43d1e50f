//! What came later counts, and what is not known is asked for.

use weirgate_sdk::{ChatKind, DedupeKey, Sender, UserKey, Via};

use super::*;

const NOW: Timestamp = 1_790_000_000_000;

fn place(conversation: &str, thread: Option<&str>) -> ConversationKey {
    ConversationKey {
        platform: "stage".into(),
        account: "main".into(),
        conversation: conversation.into(),
        thread: thread.map(Into::into),
    }
}

fn user(id: &str) -> UserKey {
    UserKey {
        platform: "stage".into(),
        realm: "".into(),
        id: id.into(),
    }
}

fn said(role: PlatformRole, sent_at: Timestamp) -> InboundMessage {
    InboundMessage {
        conversation: place("g", None),
        chat: ChatKind::Group,
        sender: Sender {
            key: user("1"),
            name: "Ann".into(),
            is_bot: false,
            role,
            kind: SenderKind::Person,
        },
        id: "1".into(),
        segments: Vec::new(),
        via: Via::Text,
        mentions_bot: true,
        reply_to: None,
        group_key: None,
        sent_at,
        received_at: sent_at,
        reply_context: None,
        passed: Vec::new(),
        dedupe: DedupeKey {
            key: "1".into(),
            lifetime: std::time::Duration::ZERO,
        },
    }
}

fn changed(conversation: &str, id: &str, role: PlatformRole) -> Event {
    Event::RoleChanged {
        conversation: place(conversation, None),
        user: user(id),
        role,
    }
}

fn newest(standings: &Standings, conversation: &str, id: &str) -> Newest {
    standings.newest(&place(conversation, Some("t")), &id.into())
}

#[test]
fn what_was_heard_last_counts() {
    let standings = Standings::default();
    standings.message(&said(PlatformRole::Member, NOW));
    assert_eq!(newest(&standings, "g", "1"), Newest::Nothing, "as usual");
    standings.message(&said(PlatformRole::Admin, NOW));
    assert_eq!(
        newest(&standings, "g", "1"),
        Newest::Known(PlatformRole::Admin)
    );
    assert!(standings.event(&changed("g", "1", PlatformRole::Member), NOW));
    assert_eq!(
        newest(&standings, "g", "1"),
        Newest::Known(PlatformRole::Member)
    );
    standings.message(&said(PlatformRole::Admin, NOW - 1));
    assert_eq!(
        newest(&standings, "g", "1"),
        Newest::Known(PlatformRole::Member),
        "a message of before gives nothing back"
    );
    standings.message(&said(PlatformRole::Admin, NOW));
    assert_eq!(
        newest(&standings, "g", "1"),
        Newest::Known(PlatformRole::Admin)
    );
    standings.message(&said(PlatformRole::Member, NOW - 1));
    assert_eq!(
        newest(&standings, "g", "1"),
        Newest::Known(PlatformRole::Member),
        "but it may take"
    );
}

#[test]
fn who_left_has_no_standing_and_who_came_is_asked_for() {
    let standings = Standings::default();
    standings.message(&said(PlatformRole::Owner, NOW));
    let left = Event::MemberLeft {
        conversation: place("g", None),
        user: user("1"),
    };
    assert!(standings.event(&left, NOW));
    assert_eq!(
        newest(&standings, "g", "1"),
        Newest::Known(PlatformRole::Unknown)
    );
    let joined = Event::MemberJoined {
        conversation: place("g", None),
        user: user("1"),
    };
    assert!(standings.event(&joined, NOW));
    assert_eq!(newest(&standings, "g", "1"), Newest::Doubtful);
    assert!(!standings.event(&Event::OwnMessage, NOW));
}

#[test]
fn what_is_not_told_any_more_is_not_believed() {
    let standings = Standings::default();
    standings.message(&said(PlatformRole::Admin, NOW));
    standings.message(&said(PlatformRole::Unknown, NOW));
    assert_eq!(newest(&standings, "g", "1"), Newest::Nothing);
    standings.event(&changed("g", "1", PlatformRole::Member), NOW);
    standings.message(&said(PlatformRole::Unknown, NOW));
    assert_eq!(
        newest(&standings, "g", "1"),
        Newest::Known(PlatformRole::Member)
    );
}

#[test]
fn a_change_elsewhere_at_the_account_makes_doubtful() {
    let standings = Standings::default();
    standings.message(&said(PlatformRole::Admin, NOW));
    standings.event(&changed("server", "2", PlatformRole::Member), NOW);
    assert_eq!(
        newest(&standings, "g", "1"),
        Newest::Known(PlatformRole::Admin),
        "of somebody else"
    );
    standings.event(&changed("server", "1", PlatformRole::Member), NOW);
    assert_eq!(newest(&standings, "g", "1"), Newest::Doubtful);
    let count = standings.count();
    let here = place("g", None);
    standings.answer(&here, &"1".into(), PlatformRole::Member, count);
    assert_eq!(
        newest(&standings, "g", "1"),
        Newest::Known(PlatformRole::Member)
    );
    standings.event(&changed("g", "1", PlatformRole::Admin), NOW);
    standings.answer(&here, &"1".into(), PlatformRole::Member, count);
    assert_eq!(
        newest(&standings, "g", "1"),
        Newest::Known(PlatformRole::Admin),
        "an answer that is older than an event is not kept"
    );
}

#[test]
fn after_a_gap_only_what_is_no_right_is_believed() {
    let standings = Standings::default();
    standings.message(&said(PlatformRole::Admin, NOW));
    standings.event(&changed("g", "2", PlatformRole::Member), NOW);
    standings.missed(&"stage".into(), &"other".into());
    assert_eq!(
        newest(&standings, "g", "1"),
        Newest::Known(PlatformRole::Admin)
    );
    standings.missed(&"stage".into(), &"main".into());
    assert_eq!(newest(&standings, "g", "1"), Newest::Nothing);
    assert_eq!(
        newest(&standings, "g", "2"),
        Newest::Known(PlatformRole::Member)
    );
}

#[test]
fn nothing_is_for_ever() {
    let standings = Standings::default();
    standings.message(&said(PlatformRole::Admin, NOW));
    for other in 0..REMEMBERED.get() {
        standings.event(
            &changed("g", &format!("o{other}"), PlatformRole::Member),
            NOW,
        );
    }
    assert_eq!(newest(&standings, "g", "1"), Newest::Nothing);
}
