//! Checks of what an adapter hands in.
//!
//! Owns keys, order, redelivery, refusal by the store and odd frames.

use std::{collections::HashSet, time::Duration};

use weirgate_sdk::{ChatKind, ConversationKey, Event, PlatformRole, SenderKind, UserKey};

use super::{LIMIT, Platform, connected, end, hear, heard, hostile_texts, is_up};

/// How many messages a burst has.
const BURST: usize = 300;
/// A while in which nothing may happen.
const QUIET: Duration = Duration::from_millis(100);

/// A person's message arrives as one, with keys that the store can keep.
pub async fn a_message_arrives_with_its_keys<P: Platform>() {
    let mut platform = connected::<P>().await;
    let id = platform.say(0, "hello").await;
    let message = heard(&platform).await;
    let adapter = platform.adapter();
    let key = &message.conversation;
    assert_eq!(message.own_text(), "hello");
    assert_eq!(
        (&key.platform, &key.account),
        (&adapter.platform(), &adapter.account())
    );
    assert!(
        !key.conversation.as_str().is_empty(),
        "the conversation has no id"
    );
    assert_ne!(
        key.thread.as_ref().map(|thread| thread.as_str()),
        Some(""),
        "an empty thread id"
    );
    assert_eq!(ConversationKey::decode(&key.encode()).as_ref(), Some(key));
    assert_eq!(message.chat, ChatKind::Private);
    let sender = &message.sender;
    assert_eq!(sender.key.platform, adapter.platform());
    assert!(!sender.key.id.as_str().is_empty(), "the sender has no id");
    assert_eq!(
        UserKey::decode(&sender.key.encode()).as_ref(),
        Some(&sender.key)
    );
    assert_eq!((sender.is_bot, sender.kind), (false, SenderKind::Person));
    // Nobody has a standing by himself, and none in private.
    assert!(
        matches!(sender.role, PlatformRole::Unknown | PlatformRole::Member),
        "{:?}",
        sender.role
    );
    assert!(sender.name.chars().count() <= 200, "the name is too long");
    assert_eq!(message.id.as_str(), id);
    assert!(!message.dedupe.key.is_empty() && message.dedupe.key.len() <= 200);
    assert!(message.dedupe.lifetime > Duration::ZERO);
    assert!(
        message.sent_at > 0 && message.received_at > 0,
        "a time is missing"
    );
    end(platform).await;
}

/// A person is the same in every message and nobody else.
pub async fn people_are_told_apart_and_stay_the_same<P: Platform>() {
    let mut platform = connected::<P>().await;
    let first = hear(&mut platform, 0, "one").await;
    let other = hear(&mut platform, 1, "two").await;
    let again = hear(&mut platform, 0, "three").await;
    assert_eq!(first.sender.key, again.sender.key);
    assert_eq!(first.conversation, again.conversation);
    assert_ne!(first.sender.key, other.sender.key);
    assert_ne!(first.conversation, other.conversation);
    end(platform).await;
}

/// What a person writes is text, whatever it looks like.
pub async fn hostile_words_arrive_as_they_are<P: Platform>() {
    let mut platform = connected::<P>().await;
    for text in hostile_texts() {
        let message = hear(&mut platform, 0, text).await;
        assert!(!message.mentions_bot, "{text}");
        assert_eq!(message.reply_to, None, "{text}");
    }
    end(platform).await;
}

/// An event that comes again is the same, and a new message with the same words is not.
pub async fn a_repeated_event_has_the_same_dedupe_key<P: Platform>() {
    let mut platform = connected::<P>().await;
    let first = hear(&mut platform, 0, "same").await;
    platform.repeat(0).await;
    let second = hear(&mut platform, 0, "same").await;
    assert_ne!(first.dedupe.key, second.dedupe.key);
    // The same words of somebody else are another message as well.
    let other = hear(&mut platform, 1, "same").await;
    assert_ne!(first.dedupe.key, other.dedupe.key);
    end(platform).await;
}

/// A new process makes the same key of the same event.
pub async fn a_repeated_event_is_known_after_a_restart<P: Platform>() {
    let mut platform = connected::<P>().await;
    let first = hear(&mut platform, 0, "before").await;
    platform
        .stop(LIMIT)
        .await
        .expect("ends")
        .expect("without an error");
    platform.restart().await;
    platform.connect().await;
    is_up(&platform).await;
    platform.repeat(0).await;
    let second = hear(&mut platform, 0, "after").await;
    assert_eq!(
        first.conversation, second.conversation,
        "the person is another after a restart"
    );
    assert_eq!(
        platform.gateway().duplicates(),
        1,
        "the repeated event had another key"
    );
    end(platform).await;
}

/// The order in which a person writes is the order of the events.
pub async fn a_burst_keeps_its_order<P: Platform>() {
    let mut platform = connected::<P>().await;
    let words: Vec<String> = (0..BURST).map(|number| format!("n{number}")).collect();
    for word in &words {
        platform.say(0, word).await;
    }
    let mut keys = HashSet::new();
    for word in &words {
        let message = heard(&platform).await;
        assert_eq!(&message.own_text(), word, "out of order");
        assert!(
            keys.insert(message.dedupe.key.clone()),
            "a key was used twice"
        );
    }
    end(platform).await;
}

/// An adapter does not wait for one receipt before it hands in the next message.
pub async fn many_receipts_may_be_open<P: Platform>() {
    let mut platform = connected::<P>().await;
    let gateway = platform.gateway();
    gateway.hold();
    for number in 0..20 {
        platform.say(0, &format!("n{number}")).await;
    }
    assert!(
        gateway.handed_in(20, LIMIT).await,
        "a message waits for another's receipt"
    );
    gateway.release();
    for number in 0..20 {
        assert_eq!(heard(&platform).await.own_text(), format!("n{number}"));
    }
    end(platform).await;
}

/// While the store is away nothing counts as accepted; afterwards everything is there, in order.
pub async fn nothing_is_acknowledged_or_lost_while_the_store_refuses<P: Platform>() {
    let mut platform = connected::<P>().await;
    let gateway = platform.gateway();
    gateway.hold();
    gateway.fail_store(usize::MAX);
    for number in 0..10 {
        platform.say(0, &format!("n{number}")).await;
    }
    assert!(gateway.handed_in(10, LIMIT).await, "not handed in");
    assert_eq!(
        platform.acknowledged(0, 1, QUIET).await,
        0,
        "acknowledged without a receipt"
    );
    gateway.release();
    assert_eq!(
        platform.acknowledged(0, 1, QUIET).await,
        0,
        "acknowledged what was refused"
    );
    assert!(gateway.accepted().is_empty());
    gateway.fail_store(0);
    for number in 0..10 {
        assert_eq!(
            heard(&platform).await.own_text(),
            format!("n{number}"),
            "lost or out of order"
        );
    }
    if P::ACKNOWLEDGES {
        assert_eq!(platform.acknowledged(0, 10, LIMIT).await, 10);
    }
    end(platform).await;
}

/// What is broken, unknown or odd ends no connection and hides no message.
pub async fn odd_frames_harm_nobody<P: Platform>() {
    let mut platform = connected::<P>().await;
    for number in 0..P::ODD_FRAMES {
        platform.odd(number).await;
        let word = format!("after {number}");
        platform.say(0, &word).await;
        let found = platform
            .gateway()
            .events_hold(LIMIT, |events| {
                let said = |event: &&Event| match event {
                    Event::Message(message) => message.own_text() == word,
                    _ => false,
                };
                events.iter().find(said).map(|_| ())
            })
            .await;
        assert!(
            found.is_some(),
            "nothing comes through after odd frame {number}"
        );
        assert!(
            platform.is_connected().await,
            "odd frame {number} ended the connection"
        );
    }
    end(platform).await;
}
