//! Checks of buttons: what is shown under a message, and what a press becomes.
//!
//! Owns what every adapter promises that has them ([`Presses`] is what its platform brings). Where the capabilities have
//! none, the first check sees that nothing else has, and the others have nothing to see.

use std::time::Duration;

use async_trait::async_trait;
use weirgate_sdk::{
    Button, ButtonLimits, ButtonStyle, InboundMessage, MessageId, Outgoing, SendError, Via,
    button::MAX_BUTTON_ID,
};

use super::{LIMIT, Platform, capabilities, connected, end, hear, heard, must_see, whole};

/// Between two looks at what is shown.
const LOOK: Duration = Duration::from_millis(10);

/// What a platform with buttons brings beside the rest.
#[async_trait]
pub trait Presses: Send {
    /// The buttons that a person sees now under a message, as label and id, in order.
    async fn shown(&mut self, person: usize, message: &MessageId) -> Vec<(String, String)>;

    /// A person presses the button with this id under a message, or a client of his own making says so.
    async fn press(&mut self, person: usize, message: &MessageId, id: &str);

    /// The next text that whoever pressed is shown alone; `None` if none comes in time. Where only he reads the
    /// conversation it may stand there.
    async fn told(&mut self, person: usize, limit: Duration) -> Option<String>;
}

/// Buttons exist exactly where the capabilities say so.
pub async fn buttons_are_offered_as_promised<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    let limits = capabilities(&*adapter, &message.conversation).buttons;
    assert_eq!(adapter.buttons().is_some(), limits.is_some());
    assert_eq!(platform.presses().is_some(), limits.is_some());
    if let Some(ButtonLimits { most, label }) = limits {
        assert!(most >= 1 && label >= 20, "{limits:?}");
    }
    end(platform).await;
}

/// As many and as long as the capabilities say are shown as they are, until the question is settled; a press that comes
/// all the same is handed in.
pub async fn a_question_shows_its_buttons_until_it_is_settled<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    let Some(limits) = capabilities(&*adapter, &message.conversation).buttons else {
        return end(platform).await;
    };
    let buttons = full(limits);
    let asked = ask(&mut platform, &message, 1, buttons.clone()).await;
    let wanted: Vec<_> = buttons
        .iter()
        .map(|it| (it.label.clone(), it.id.clone()))
        .collect();
    assert!(shows(&mut platform, &asked, &wanted).await, "the buttons");
    let retires = adapter.buttons().expect("promised");
    let retired = retires.retire(&message.conversation, &asked).await;
    // Nothing depends on it, so a platform that cannot says so.
    if retired.is_ok() {
        assert!(shows(&mut platform, &asked, &[]).await, "they go");
    }
    press(&mut platform, &asked, &buttons[0].id).await;
    let late = heard(&platform).await;
    assert_eq!(
        (late.via, late.own_text()),
        (Via::Button, buttons[0].id.clone())
    );
    let words = whole(&*adapter, &message, 2, "words without buttons");
    let sent = adapter.send(words).await.expect("sent");
    assert_eq!(
        must_see(&mut platform, 0).await.visible,
        "words without buttons"
    );
    let plain = sent.message.expect("a message has an id");
    assert!(shows(&mut platform, &plain, &[]).await, "it has none");
    end(platform).await;
}

/// A press is a message of whoever pressed, in its place among his others; what it says is handed on as it came.
pub async fn a_press_arrives_with_its_keys<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    if capabilities(&*adapter, &message.conversation)
        .buttons
        .is_none()
    {
        return end(platform).await;
    }
    let yes = button("Yes", "p/00000000/yes");
    let asked = ask(&mut platform, &message, 1, vec![yes.clone()]).await;
    platform.say(0, "before").await;
    press(&mut platform, &asked, &yes.id).await;
    press(&mut platform, &asked, &yes.id).await;
    press(&mut platform, &asked, "/stop").await;
    platform.say(0, "after").await;
    assert_eq!(heard(&platform).await.own_text(), "before");
    let mut presses = Vec::new();
    for id in [&*yes.id, &yes.id, "/stop"] {
        let press = heard(&platform).await;
        assert_eq!((press.via, &*press.own_text()), (Via::Button, id));
        assert_eq!(press.conversation, message.conversation);
        assert_eq!(press.chat, message.chat);
        let who = |message: &InboundMessage| (message.sender.key.clone(), message.sender.role);
        assert_eq!(who(&press), who(&message));
        // Some platforms do not say under which message the button stands.
        if let Some(under) = &press.reply_to {
            assert_eq!((&under.message, under.to_bot), (&asked, Some(true)));
        }
        presses.push(press);
    }
    assert_eq!(heard(&platform).await.own_text(), "after");
    for (number, press) in presses.iter().enumerate() {
        let others = presses[..number].iter().chain([&message]);
        for other in others {
            assert!(
                press.id != other.id && press.dedupe.key != other.dedupe.key,
                "{press:?}"
            );
        }
    }
    end(platform).await;
}

/// What is meant for whoever pressed alone is shown to him, and what all may see stands in the conversation.
pub async fn who_pressed_is_answered<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    if capabilities(&*adapter, &message.conversation)
        .buttons
        .is_none()
    {
        return end(platform).await;
    }
    let yes = button("Yes", "p/00000000/yes");
    let asked = ask(&mut platform, &message, 1, vec![yes.clone()]).await;
    press(&mut platform, &asked, &yes.id).await;
    let pressed = heard(&platform).await;
    let alone = Outgoing {
        private: true,
        ..whole(&*adapter, &pressed, 2, "not yours")
    };
    match adapter.send(alone).await {
        Ok(_) => {
            let presses = platform.presses().expect("promised");
            assert_eq!(presses.told(0, LIMIT).await.as_deref(), Some("not yours"));
        }
        // The platform cannot tell him alone.
        Err(error) => assert_eq!(error, SendError::Expired),
    }
    press(&mut platform, &asked, &yes.id).await;
    let pressed = heard(&platform).await;
    let open = whole(&*adapter, &pressed, 3, "done");
    adapter.send(open).await.expect("sent");
    assert_eq!(must_see(&mut platform, 0).await.visible, "done");
    end(platform).await;
}

/// Sends a question to the first person and gives the id of its message.
async fn ask<P: Platform>(
    platform: &mut P,
    message: &InboundMessage,
    id: i64,
    buttons: Vec<Button>,
) -> MessageId {
    let adapter = platform.adapter();
    let question = Outgoing {
        buttons,
        ..whole(&*adapter, message, id, "really?")
    };
    let sent = adapter.send(question).await.expect("sent");
    assert_eq!(must_see(platform, 0).await.visible, "really?");
    sent.message.expect("a question has an id")
}

async fn press<P: Platform>(platform: &mut P, message: &MessageId, id: &str) {
    let presses = platform.presses().expect("promised");
    presses.press(0, message, id).await;
}

/// Whether the first person sees exactly these buttons in time.
async fn shows<P: Platform>(
    platform: &mut P,
    message: &MessageId,
    wanted: &[(String, String)],
) -> bool {
    let presses = platform.presses().expect("promised");
    let look = async {
        while presses.shown(0, message).await != wanted {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(LIMIT, look).await.is_ok()
}

fn button(label: &str, id: &str) -> Button {
    Button {
        label: label.to_owned(),
        id: id.to_owned(),
        style: ButtonStyle::Plain,
    }
}

/// As many buttons as there may be, with labels and ids as long as they may be, of every style.
fn full(limits: ButtonLimits) -> Vec<Button> {
    let styles = [
        ButtonStyle::Plain,
        ButtonStyle::Positive,
        ButtonStyle::Negative,
    ];
    let styles = styles.into_iter().cycle();
    let numbers = (0..limits.most).zip(styles);
    numbers
        .map(|(number, style)| Button {
            label: format!("{number:字<width$}", width = limits.label),
            id: format!("p/._-{number:a<width$}", width = MAX_BUTTON_ID - 5),
            style,
        })
        .collect()
}
