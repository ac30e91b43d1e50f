//! The contract suite: what every adapter promises, as checks against a real peer of its platform.
//!
//! Owns the checks and the little that a platform's test has to bring ([`Platform`]). Each check starts
//! an adapter of its own and is one test, made by [`crate::contract_suite`]. It never looks inside of an
//! adapter: it sees what the gateway and what people see.

pub mod buttons;
pub mod inbound;
pub mod life;
pub mod media;
pub mod moderation;
pub mod outbound;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use weirgate_sdk::{
    Adapter, AdapterError, Capabilities, Connection, ConversationKey, InboundMessage, LengthUnit,
    Outgoing,
    answer::{Block, Inline, Rendered},
};

use crate::ingress::RecordingIngress;

pub use buttons::Presses;
pub use moderation::{Ground, Scene};

/// How long anything that must happen may take.
pub const LIMIT: Duration = Duration::from_secs(15);
/// How long an adapter may take to end after the signal.
pub const STOP_LIMIT: Duration = Duration::from_secs(5);

/// What people saw of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The text as the adapter gave it to the platform; equals [`Rendered::text`].
    pub form: String,
    /// The text that people read.
    pub visible: String,
}

/// An adapter that runs against a real peer, with two people who write to it in private.
#[async_trait]
pub trait Platform: Send + Sized {
    /// The platform tells its clients what was accepted, see [`Platform::acknowledged`].
    const ACKNOWLEDGES: bool;
    /// Files are named to people, who fetch them, and not sent themselves.
    const NAMES_FILES: bool = false;
    /// Somebody who writes what is no message, in the platform's own protocol, without meaning it.
    const ODD_FRAMES: usize;

    /// Starts the adapter with an ingress of its own, nobody connected.
    async fn start() -> Self;

    /// The running adapter.
    fn adapter(&self) -> Arc<dyn Adapter>;

    /// The gateway that it was given.
    fn gateway(&self) -> Arc<RecordingIngress>;

    /// Connects the peer (again), through which both people write and read.
    async fn connect(&mut self);

    /// Breaks the peer's connection without a word.
    async fn disconnect(&mut self);

    /// Whether the peer's connection of now is the one that [`Platform::connect`] made.
    async fn is_connected(&mut self) -> bool;

    /// A person (0 or 1) writes; gives the platform's id of the message.
    async fn say(&mut self, person: usize, text: &str) -> String;

    /// The platform delivers a person's last message again, unchanged.
    async fn repeat(&mut self, person: usize);

    /// How many messages of a person the adapter acknowledged so far, after waiting until they are at
    /// least `wanted`, but not longer than `limit`.
    async fn acknowledged(&mut self, person: usize, wanted: usize, limit: Duration) -> usize;

    /// The next text that a person sees, in order; `None` if none comes in time. Previews do not count.
    async fn seen(&mut self, person: usize, limit: Duration) -> Option<Seen>;

    /// The sizes of the files that a person sees in the next message with files, in order; `None` if none comes in time.
    /// Asked only where the capabilities have files.
    async fn seen_files(&mut self, _person: usize, _limit: Duration) -> Option<Vec<usize>> {
        None
    }

    /// Sends the odd frame of this number: broken, unknown, of an unexpected shape.
    async fn odd(&mut self, number: usize);

    /// Gives the stop signal and waits for the end of [`Adapter::run`], if it comes in time.
    async fn stop(&mut self, limit: Duration) -> Option<Result<(), AdapterError>>;

    /// Starts the adapter anew after [`Platform::stop`], as after a restart of the gateway.
    async fn restart(&mut self);

    /// Where the adapter moderates, if it does.
    fn ground(&mut self) -> Option<&mut dyn Ground> {
        None
    }

    /// What people do with buttons, if the platform has some.
    fn presses(&mut self) -> Option<&mut dyn Presses> {
        None
    }
}

/// Makes one test of each check for a [`Platform`]. Goes into a module of its own.
#[macro_export]
macro_rules! contract_suite {
    ($platform:ty) => {
        $crate::contract_suite!(@ $platform;
            inbound::a_message_arrives_with_its_keys,
            inbound::people_are_told_apart_and_stay_the_same,
            inbound::hostile_words_arrive_as_they_are,
            inbound::a_repeated_event_has_the_same_dedupe_key,
            inbound::a_repeated_event_is_known_after_a_restart,
            inbound::a_burst_keeps_its_order,
            inbound::many_receipts_may_be_open,
            inbound::nothing_is_acknowledged_or_lost_while_the_store_refuses,
            inbound::odd_frames_harm_nobody,
            outbound::people_see_exactly_what_was_rendered,
            outbound::the_longest_texts_arrive_whole,
            outbound::fits_agrees_with_the_capabilities,
            outbound::rendering_is_pure,
            outbound::parts_keep_their_order,
            outbound::conversations_do_not_mix,
            outbound::a_second_send_of_a_part_is_seen_as_promised,
            outbound::nobody_connected_is_classified,
            outbound::an_unknown_place_is_no_disaster,
            outbound::previews_are_offered_as_promised,
            media::files_arrive_as_promised,
            media::a_file_that_is_gone_is_refused,
            buttons::buttons_are_offered_as_promised,
            buttons::a_question_shows_its_buttons_until_it_is_settled,
            buttons::a_press_arrives_with_its_keys,
            buttons::who_pressed_is_answered,
            moderation::moderation_is_offered_as_promised,
            moderation::a_dry_run_says_what_comes_of_it,
            moderation::a_refusal_to_delete_is_the_acts_own,
            moderation::the_bot_knows_its_rights,
            life::capabilities_are_constant,
            life::the_connection_is_reported,
            life::run_ends_soon_after_the_signal,
            life::a_stopped_adapter_sends_nothing,
            life::sends_work_while_receipts_are_open,
        );
    };
    (@ $platform:ty; $($group:ident :: $check:ident,)*) => {
        $(
            #[tokio::test]
            async fn $check() {
                $crate::contract::$group::$check::<$platform>().await;
            }
        )*
    };
}

/// An adapter with a connected peer.
async fn connected<P: Platform>() -> P {
    let mut platform = P::start().await;
    platform.connect().await;
    is_up(&platform).await;
    platform
}

async fn is_up<P: Platform>(platform: &P) {
    let gateway = platform.gateway();
    let up = gateway
        .connection_is(LIMIT, |state| *state == Connection::Up)
        .await;
    assert!(up.is_some(), "never up: {:?}", gateway.connections());
}

/// The next message that the gateway gets.
async fn heard<P: Platform>(platform: &P) -> InboundMessage {
    platform
        .gateway()
        .next_message(LIMIT)
        .await
        .expect("a message reaches the gateway")
}

/// Lets a person write and gives what the gateway got.
async fn hear<P: Platform>(platform: &mut P, person: usize, text: &str) -> InboundMessage {
    platform.say(person, text).await;
    let message = heard(platform).await;
    assert_eq!(message.own_text(), text);
    message
}

/// The next text that a person must see.
async fn must_see<P: Platform>(platform: &mut P, person: usize) -> Seen {
    platform
        .seen(person, LIMIT)
        .await
        .expect("a text is seen in time")
}

/// Stops the adapter, which ends every check: nothing may be left hanging.
async fn end<P: Platform>(mut platform: P) {
    let ended = platform
        .stop(STOP_LIMIT)
        .await
        .expect("run() ends soon after the signal");
    assert_eq!(ended, Ok(()), "run() ended with an error");
}

fn paragraph(text: &str) -> Vec<Block> {
    vec![Block::Paragraph(vec![Inline::Text(text.to_owned())])]
}

/// One part of an answer to a message.
fn part(message: &InboundMessage, id: i64, rendered: Rendered, of: (u32, u32)) -> Outgoing {
    Outgoing {
        id,
        part: of.0,
        parts: of.1,
        conversation: message.conversation.clone(),
        turn: Some(format!("t{id}").into()),
        answers: vec![message.id.clone()],
        rendered,
        reply: None,
        reply_context: message.reply_context.clone(),
        buttons: Vec::new(),
        files: Vec::new(),
        private: false,
    }
}

fn whole(platform: &dyn Adapter, message: &InboundMessage, id: i64, text: &str) -> Outgoing {
    part(
        message,
        id,
        platform.render().render(&paragraph(text)),
        (0, 1),
    )
}

fn capabilities(adapter: &dyn Adapter, conversation: &ConversationKey) -> Capabilities {
    adapter.capabilities(conversation)
}

/// Text that has tried to be something else: codes, markup, links, directions, joined characters.
#[must_use]
pub fn hostile_texts() -> Vec<&'static str> {
    vec![
        "[CQ:at,qq=all] [CQ:image,file=file:///etc/hostname]",
        "&#91;CQ:at,qq=all&#93; &amp; &lt;b&gt;",
        "<script>alert(1)</script> <img src=x onerror=alert(1)> \"'`",
        "**bold** _it_ ~~no~~ `code` [text](javascript:alert(1)) ![](http://127.0.0.1/)",
        "@everyone @here <@1> <!here> @all @全体成员",
        "/help /stop !reset",
        "{\"type\":\"text\",\"content\":{\"text\":\"x\"}}",
        "line one\nline two\n\nline four",
        "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 👨‍👩‍👧‍👦 🏳️‍🌈 e\u{301} ｆｕｌｌ 日本語 \u{202e}desrever\u{202c}",
        "%s %n ${HOME} {{x}} \\n \\u0000 ' OR 1=1 --",
        "]]> --> */ #> ；。、",
    ]
}

/// A text of `length` units.
fn of_length(unit: LengthUnit, length: usize, character: char) -> String {
    let each = unit.measure(character.encode_utf8(&mut [0; 4])).max(1);
    std::iter::repeat_n(character, length / each).collect()
}
