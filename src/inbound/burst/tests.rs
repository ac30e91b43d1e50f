//! What belongs to a word to the bot, what is only context, and that everything held is bounded.

use proptest::prelude::*;
use weirgate_sdk::Segment;

use super::*;
use crate::inbound::sample;

const PAUSE: Pause = Pause {
    silence: Duration::from_secs(1),
    longest: Duration::from_secs(4),
};
const SECOND: Tick = 1_000_000;

fn said(person: &str, id: &str) -> Box<InboundMessage> {
    Box::new(sample::said(person, id, &format!("words of {id}")))
}

fn ids(messages: &[InboundMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.id.as_str()).collect()
}

fn begins(aside: &Aside) -> Option<Tick> {
    match aside {
        Aside::Held { begins, .. } => *begins,
        Aside::Belongs(_) | Aside::Passed(_) => None,
    }
}

/// Ends the burst of a person; what was held.
fn ended(bursts: &mut Bursts, person: &str, now: Tick) -> Vec<InboundMessage> {
    match bursts.over(&speaker(&said(person, "")), now) {
        Over::Ended(held) => held,
        goes_on @ Over::GoesOn(_) => panic!("{goes_on:?}"),
    }
}

#[test]
fn what_is_said_around_a_word_to_the_bot_belongs_to_it() {
    let mut bursts = Bursts::default();
    assert_eq!(
        begins(&bursts.aside(said("1", "a"), 0, PAUSE)),
        Some(SECOND)
    );
    bursts.aside(said("2", "b"), 1, PAUSE);
    let half = SECOND / 2;
    let (earlier, end) = bursts.met(&said("1", "c"), half, PAUSE);
    assert_eq!(
        (ids(&earlier), end),
        (vec!["a"], None),
        "its end is asked for already"
    );
    bursts.taken(&speaker(&earlier[0]), &earlier[0].id);
    let after = bursts.aside(said("1", "d"), SECOND, PAUSE);
    assert!(matches!(&after, Aside::Belongs(message) if message.id.as_str() == "d"));
    let first = speaker(&earlier[0]);
    assert_eq!(bursts.over(&first, half + SECOND), Over::GoesOn(2 * SECOND));
    // Somebody else's words do not.
    assert!(matches!(
        bursts.aside(said("2", "e"), SECOND, PAUSE),
        Aside::Held { .. }
    ));
    assert_eq!(ended(&mut bursts, "1", 2 * SECOND), []);
    assert_eq!(ids(&ended(&mut bursts, "2", 2 * SECOND)), ["b", "e"]);
    assert_eq!((bursts.of.len(), bursts.bytes), (0, 0));
}

#[test]
fn a_silence_ends_it_and_so_does_its_longest_time() {
    let mut bursts = Bursts::default();
    bursts.aside(said("1", "a"), 0, PAUSE);
    // The burst is over, although nobody has asked for it yet.
    let late = SECOND + 1;
    assert_eq!(bursts.met(&said("1", "b"), late, PAUSE), (vec![], None));
    assert!(matches!(
        bursts.aside(said("1", "c"), late, PAUSE),
        Aside::Passed(_)
    ));
    assert_eq!(ids(&ended(&mut bursts, "1", late)), ["a"]);
    for at in 0..=4 {
        let (_, begins) = bursts.met(&said("1", "x"), late + at * SECOND, PAUSE);
        let end = (late + (at + 1) * SECOND).min(late + 4 * SECOND);
        assert_eq!(begins, (at == 0).then_some(end));
        let asked = bursts.over(&speaker(&said("1", "")), end - 1);
        assert_eq!(asked, Over::GoesOn(end));
    }
    let over = late + 4 * SECOND;
    assert!(matches!(
        bursts.aside(said("1", "y"), over + 1, PAUSE),
        Aside::Passed(_)
    ));
}

#[test]
fn held_messages_can_be_edited_and_taken_back() {
    let mut bursts = Bursts::default();
    bursts.aside(said("1", "a"), 0, PAUSE);
    bursts.aside(said("1", "b"), 0, PAUSE);
    let mut edited = said("1", "b");
    edited.segments = vec![Segment::Text("better words, and more of them".into())];
    assert!(bursts.edited(&edited) && !bursts.edited(&said("1", "z")));
    let place = edited.conversation.clone();
    assert!(bursts.recalled(&place, &"a".into()) && !bursts.recalled(&place, &"a".into()));
    let (earlier, _) = bursts.met(&said("1", "c"), 1, PAUSE);
    assert_eq!(earlier, [*edited]);
}

#[test]
fn what_was_given_is_given_again_until_it_is_in_the_journal() {
    let mut bursts = Bursts::default();
    bursts.aside(said("1", "a"), 0, PAUSE);
    for _ in 0..2 {
        assert_eq!(ids(&bursts.met(&said("1", "b"), 1, PAUSE).0), ["a"]);
    }
    bursts.taken(&speaker(&said("1", "")), &"a".into());
    assert_eq!(bursts.met(&said("1", "b"), 1, PAUSE).0, []);
}

#[test]
fn the_oldest_of_a_long_burst_gives_way() {
    let mut bursts = Bursts::default();
    for number in 0..MAX_OF_ONE + 2 {
        let aside = bursts.aside(said("1", &number.to_string()), 0, PAUSE);
        let Aside::Held { gives_way, .. } = aside else {
            panic!("{aside:?}");
        };
        let gone = number.checked_sub(MAX_OF_ONE).map(|gone| gone.to_string());
        assert_eq!(gives_way.map(|gone| gone.id.as_str().to_owned()), gone);
    }
}

#[test]
fn people_and_bytes_beyond_the_bounds_are_not_followed() {
    let mut bursts = Bursts::default();
    for person in 0..MAX_BURSTS {
        bursts.met(&said(&person.to_string(), "a"), 0, PAUSE);
    }
    assert!(matches!(
        bursts.aside(said("x", "a"), 0, PAUSE),
        Aside::Passed(_)
    ));
    assert_eq!(bursts.met(&said("x", "a"), 0, PAUSE), (vec![], None));
    let mut bursts = Bursts {
        bytes: MAX_BYTES,
        ..Bursts::default()
    };
    assert!(matches!(
        bursts.aside(said("x", "a"), 0, PAUSE),
        Aside::Passed(_)
    ));
}

proptest! {
    /// Every message ends in exactly one of three ways, in the order in which it was said.
    #[test]
    fn nothing_is_lost_and_nothing_comes_twice(
        steps in prop::collection::vec((0..3_u8, 0..3_u8, 0..2_000_000_u64), 1..60),
    ) {
        let mut bursts = Bursts::default();
        let (mut now, mut meant, mut context) = (0, [vec![], vec![], vec![]], vec![]);
        for (number, (person, kind, pause)) in steps.iter().enumerate() {
            now += pause;
            let message = said(&person.to_string(), &number.to_string());
            let meant = &mut meant[usize::from(*person)];
            if *kind > 0 {
                match bursts.aside(message, now, PAUSE) {
                    Aside::Belongs(_) => meant.push(number),
                    Aside::Held { gives_way, .. } => context.extend(gives_way.map(|gone| *gone)),
                    Aside::Passed(message) => context.push(*message),
                }
            } else {
                for earlier in bursts.met(&message, now, PAUSE).0 {
                    bursts.taken(&speaker(&earlier), &earlier.id);
                    meant.push(earlier.id.as_str().parse().unwrap());
                }
                meant.push(number);
            }
        }
        for person in 0..3 {
            context.extend(ended(&mut bursts, &person.to_string(), Tick::MAX));
        }
        prop_assert_eq!((bursts.of.len(), bursts.bytes), (0, 0));
        for meant in &meant {
            prop_assert!(meant.is_sorted(), "{:?}", meant);
        }
        let context = context.iter().map(|message| message.id.as_str().parse().unwrap());
        let mut all: Vec<usize> = meant.iter().flatten().copied().chain(context).collect();
        all.sort_unstable();
        prop_assert_eq!(all, (0..steps.len()).collect::<Vec<_>>());
    }
}
