//! The numbers of drafts, and which messages grow.

use super::*;

#[test]
fn a_turn_has_one_draft_and_its_number_is_never_zero() {
    assert_eq!(draft_id("t1"), draft_id("t1"));
    assert_ne!(draft_id("t1"), draft_id("t2"));
    for turn in 0..10_000 {
        assert!(draft_id(&format!("t{turn}")) > 0);
    }
}

#[test]
fn messages_are_found_in_their_place_and_only_so_many_are_kept() {
    let live = Live::default();
    let place = Place {
        chat: -5,
        topic: Some(77),
    };
    for message in 0..=1_024 {
        live.remember(Growing {
            turn: format!("t{message}").into(),
            place,
            message,
        });
    }
    assert_eq!(live.find("t0", place), None, "the oldest made room");
    assert_eq!(live.find("t7", place), Some(7));
    let general = Place {
        topic: None,
        ..place
    };
    assert_eq!(live.find("t7", general), None);
    live.forget("t7");
    assert_eq!(live.find("t7", place), None);
}
