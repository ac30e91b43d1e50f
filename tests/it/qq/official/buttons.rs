//! Buttons under a message, and presses of them.

use weirgate_sdk::{Button, ButtonStyle, ChatKind, PlatformRole, Via};
use weirgate_testkit::qq::{Policy, member};

use super::*;

async fn entitled() -> Rig {
    let fake = FakeQq::start().await;
    fake.allow(Policy {
        markdown: true,
        buttons: true,
        ..Policy::default()
    });
    let settings = Settings {
        markdown: true,
        buttons: true,
        ..settings(&fake)
    };
    Rig::with(fake, settings).await
}

fn question(rig: &Rig, to: &InboundMessage, id: i64) -> Outgoing {
    let button = |label: &str, style| Button {
        label: label.into(),
        id: format!("p/A1/01234567/{label}"),
        style,
    };
    Outgoing {
        buttons: vec![
            button("yes", ButtonStyle::Positive),
            button("no", ButtonStyle::Negative),
        ],
        ..rig.outgoing(to, id, "sure?")
    }
}

#[tokio::test]
async fn a_press_is_acknowledged_before_it_is_durable_and_answered_under_its_event() {
    let rig = entitled().await;
    for (id, place) in [(1, Where::Group), (2, Where::Private)] {
        let heard = rig.hear(place, "do it").await;
        let limits = rig.bot.capabilities(&heard.conversation).buttons;
        assert!(limits.is_some_and(|limits| limits.most >= 2 && limits.label >= 20));
        let asked = question(&rig, &heard, id);
        let data = asked.buttons[0].id.clone();
        rig.bot.send(asked).await.expect("sent");
        let shown = rig.fake.next_message(LIMIT).await.expect("seen");
        let row = &shown.said["keyboard"]["content"]["rows"][0]["buttons"];
        assert_eq!(row[0]["action"]["data"], data);
        assert_eq!(row[1]["render_data"]["label"], "no");
        // The store is away for a while; the client is not kept waiting.
        rig.ingress.hold();
        let press = rig.fake.press(place, 7, &data);
        let signs = usize::try_from(id).expect("small");
        let signed = async {
            while rig.fake.calls("interaction").len() < signs {
                tokio::task::yield_now().await;
            }
        };
        assert!(tokio::time::timeout(LIMIT, signed).await.is_ok());
        rig.ingress.release();
        let pressed = rig.ingress.next_message(LIMIT).await.expect("a press");
        assert_eq!((pressed.via, pressed.own_text()), (Via::Button, data));
        assert_eq!(pressed.id.as_str(), format!("press/{press}"));
        assert_eq!(pressed.conversation, heard.conversation);
        assert_eq!(pressed.sender.key, heard.sender.key);
        rig.send(&pressed, 10 + id, "done").await.expect("sent");
        let answer = rig.fake.next_message(LIMIT).await.expect("seen");
        let event = format!("INTERACTION_CREATE:{press}");
        assert_eq!(answer.said["event_id"], event.as_str());
        assert!(answer.said["msg_id"].is_null());
    }
    rig.ended().await;
}

#[tokio::test]
async fn what_only_whoever_pressed_may_read_is_not_said_in_a_group() {
    let rig = entitled().await;
    rig.fake.press(Where::Group, 7, "p/A1/01234567/yes");
    let pressed = rig.ingress.next_message(LIMIT).await.expect("a press");
    assert_eq!(pressed.chat, ChatKind::Group);
    assert_eq!(pressed.sender.key.id.as_str(), member(7));
    let denial = Outgoing {
        private: true,
        ..rig.outgoing(&pressed, 1, "not yours")
    };
    assert_eq!(rig.bot.send(denial).await, Err(SendError::Expired));
    rig.fake.press(Where::Private, 7, "p/A1/01234567/yes");
    let pressed = rig.ingress.next_message(LIMIT).await.expect("a press");
    let denial = Outgoing {
        private: true,
        ..rig.outgoing(&pressed, 2, "not yours")
    };
    rig.bot.send(denial).await.expect("nobody else reads it");
    rig.ended().await;
}

#[tokio::test]
async fn the_standing_of_whoever_presses_is_what_he_had_when_he_spoke_or_is_asked_for() {
    let rig = entitled().await;
    let role = async |person: u64| {
        rig.fake.press(Where::Group, person, "p/A1/01234567/yes");
        let pressed = rig.ingress.next_message(LIMIT).await.expect("a press");
        pressed.sender.role
    };
    let author = json!({ "id": member(7), "member_openid": member(7), "member_role": "admin" });
    let changes = json!({ "author": author });
    rig.fake.say(Where::Group, 7, "hi", &changes);
    rig.ingress.next_message(LIMIT).await.expect("heard");
    assert_eq!(role(7).await, PlatformRole::Admin);
    assert!(rig.fake.calls("moderate").is_empty());
    // A bot that was not chosen is told nothing, and asks no more for a while.
    assert_eq!(role(2).await, PlatformRole::Unknown);
    assert_eq!(role(2).await, PlatformRole::Unknown);
    assert_eq!(rig.fake.calls("moderate").len(), 1);
    rig.ended().await;
    let rig = entitled().await;
    rig.fake.allow(Policy {
        markdown: true,
        buttons: true,
        groups: true,
        ..Policy::default()
    });
    rig.fake.press(Where::Group, 2, "p/A1/01234567/yes");
    let pressed = rig.ingress.next_message(LIMIT).await.expect("a press");
    assert_eq!(pressed.sender.role, PlatformRole::Admin);
    rig.ended().await;
}

#[tokio::test]
async fn buttons_that_are_refused_are_left_out_from_then_on() {
    let rig = entitled().await;
    rig.fake.allow(Policy {
        markdown: true,
        ..Policy::default()
    });
    let heard = rig.hear(Where::Group, "do it").await;
    let refused = rig.bot.send(question(&rig, &heard, 1)).await;
    assert!(
        matches!(&refused, Err(SendError::Unavailable(why)) if why.contains("buttons: false")),
        "{refused:?}"
    );
    // The deliverer sends the part again.
    rig.bot.send(question(&rig, &heard, 1)).await.expect("sent");
    let shown = rig.fake.next_message(LIMIT).await.expect("seen");
    assert!(shown.said["keyboard"].is_null());
    assert_eq!(rig.bot.capabilities(&heard.conversation).buttons, None);
    // Channels never had any.
    let channel = rig.hear(Where::Channel, "do it").await;
    assert_eq!(rig.bot.capabilities(&channel.conversation).buttons, None);
    rig.ended().await;
}

#[tokio::test]
async fn a_press_that_is_posted_is_acknowledged_as_well() {
    let (rig, address) = webhook::webhook().await;
    let press = json!({
        "id": "30540ff7-9d8f", "type": 11, "user_openid": "U7",
        "data": { "resolved": { "button_data": "p/A1/01234567/yes" } },
    });
    let path = webhook::PATH;
    let posted = rig.fake.post(address, path, "INTERACTION_CREATE", &press);
    assert_eq!(posted.await.0, 200);
    assert_eq!(rig.fake.calls("interaction"), [json!({ "code": 0 })]);
    let pressed = rig.ingress.next_message(LIMIT).await.expect("a press");
    assert_eq!(pressed.via, Via::Button);
    rig.ended().await;
}
