//! Pace, pauses and the reserve for final texts, in virtual time.

use super::*;

const SECOND: Tick = 1_000_000;

const RATES: Rates = Rates {
    account: 2.0,
    account_burst: 2,
    conversation: 1.0,
    conversation_burst: 1,
};

#[test]
fn a_conversation_has_its_own_pace() {
    let mut governor = Governor::default();
    assert_eq!(governor.take(1, RATES, 0), Ok(()));
    assert_eq!(governor.take(1, RATES, 0), Err(Wait::Pace(SECOND)));
    assert_eq!(governor.take(2, RATES, 0), Ok(()));
    assert_eq!(
        governor.take(3, RATES, 0),
        Err(Wait::Pace(SECOND / 2)),
        "the account's burst is used up"
    );
    assert_eq!(governor.take(1, RATES, SECOND), Ok(()));
}

#[test]
fn a_pause_holds_for_its_scope() {
    let mut governor = Governor::default();
    governor.freeze(1, Freeze::Conversation, Duration::from_secs(7), 0);
    assert_eq!(
        governor.take(1, RATES, SECOND),
        Err(Wait::Frozen(7 * SECOND))
    );
    assert_eq!(governor.take(2, RATES, SECOND), Ok(()));
    governor.freeze(2, Freeze::Account, Duration::from_secs(9), SECOND);
    assert_eq!(
        governor.take(3, RATES, 2 * SECOND),
        Err(Wait::Frozen(10 * SECOND))
    );
    governor.freeze(1, Freeze::Account, Duration::from_secs(1), SECOND);
    assert_eq!(
        governor.take(3, RATES, 3 * SECOND),
        Err(Wait::Frozen(10 * SECOND)),
        "never shortened"
    );
}

#[test]
fn previews_leave_a_token_for_the_answer() {
    let rates = Rates {
        account: 0.0,
        account_burst: 1,
        conversation: 1.0,
        conversation_burst: 3,
    };
    let mut governor = Governor::default();
    assert!(governor.take_cosmetic(1, rates, 0));
    assert!(governor.take_cosmetic(1, rates, 0));
    assert!(
        !governor.take_cosmetic(1, rates, 0),
        "the last token is not for previews"
    );
    assert_eq!(governor.take(1, rates, 0), Ok(()));
}

#[test]
fn idle_conversations_are_forgotten_and_frozen_ones_are_not() {
    let rates = Rates {
        account: 0.0,
        account_burst: 1,
        conversation: 10.0,
        conversation_burst: 1,
    };
    let mut governor = Governor::default();
    governor.freeze(-1, Freeze::Conversation, Duration::from_secs(10_000), 0);
    for conversation in 0..100_000 {
        let now = u64::try_from(conversation).unwrap() * 1_000;
        assert_eq!(governor.take(conversation, rates, now), Ok(()));
    }
    assert!(
        governor.conversations.len() <= 2 * SWEEP_AT,
        "{}",
        governor.conversations.len()
    );
    assert!(matches!(
        governor.take(-1, rates, 100 * SECOND),
        Err(Wait::Frozen(_))
    ));
}

#[test]
fn without_rates_nothing_is_kept() {
    let mut governor = Governor::default();
    for conversation in 0..10_000 {
        assert_eq!(governor.take(conversation, Rates::UNLIMITED, 0), Ok(()));
    }
    assert!(governor.conversations.is_empty());
}

#[test]
fn other_rates_hold_at_once_and_forget_nothing() {
    let mut governor = Governor::default();
    assert_eq!(governor.take(1, RATES, 0), Ok(()));
    governor.freeze(2, Freeze::Conversation, Duration::from_secs(7), 0);
    let slower = Rates {
        account: 0.0,
        account_burst: 1,
        conversation: 0.5,
        conversation_burst: 1,
    };
    // What was spent at the old rate is paid back by then; from there on the new one holds.
    assert_eq!(governor.take(1, slower, SECOND), Ok(()));
    assert_eq!(
        governor.take(1, slower, SECOND),
        Err(Wait::Pace(3 * SECOND))
    );
    assert_eq!(
        governor.take(2, slower, SECOND),
        Err(Wait::Frozen(7 * SECOND))
    );
    assert_eq!(
        governor.take(3, slower, SECOND),
        Ok(()),
        "no limit on the account"
    );
}

#[test]
fn conversations_of_one_account_may_differ() {
    let slow = Rates {
        account: 0.0,
        conversation: 0.25,
        ..RATES
    };
    let fast = Rates {
        conversation: 4.0,
        ..slow
    };
    let mut governor = Governor::default();
    assert_eq!(governor.take(1, slow, 0), Ok(()));
    assert_eq!(governor.take(2, fast, 0), Ok(()));
    assert_eq!(governor.take(1, slow, 0), Err(Wait::Pace(4 * SECOND)));
    assert_eq!(governor.take(2, fast, 0), Err(Wait::Pace(SECOND / 4)));
}

/// The pace of an account alone.
fn of_account(per_second: f64, burst: u32) -> Rates {
    Rates {
        account: per_second,
        account_burst: burst,
        ..Rates::UNLIMITED
    }
}

#[test]
fn nobody_gets_a_second_token_before_all_who_wait_have_one() {
    const COUNT: usize = 20;
    for burst in [1, 3] {
        let rates = of_account(10.0, burst);
        let mut governor = Governor::default();
        let mut due = [0; COUNT];
        let (mut served, mut asked, mut now) = (Vec::new(), 0, 0);
        while served.len() < 400 {
            // Of those who ask at one moment always the same one is first.
            let first = (0..COUNT).min_by_key(|index| due[*index]).unwrap();
            now = due[first];
            asked += 1;
            match governor.take(i64::try_from(first).unwrap(), rates, now) {
                Ok(()) => served.push(first),
                Err(Wait::Pace(until)) => {
                    assert!(until > now, "asked again at once");
                    due[first] = until;
                }
                Err(Wait::Frozen(_)) => unreachable!("nothing was frozen"),
            }
        }
        let settled = &served[COUNT * 2..];
        for round in settled.windows(COUNT) {
            let all: std::collections::HashSet<_> = round.iter().collect();
            assert_eq!(all.len(), COUNT, "{round:?}");
        }
        let spent = 400 - u64::from(burst);
        assert_eq!(now, spent * SECOND / 10, "a token was left lying");
        assert!(asked < 400 * 6, "{asked} questions for 400 tokens");
    }
}

#[test]
fn those_ahead_who_leave_hold_nobody_up() {
    let rates = of_account(1.0, 1);
    let mut governor = Governor::default();
    assert_eq!(governor.take(0, rates, 0), Ok(()));
    for conversation in 1..=9 {
        assert!(governor.take(conversation, rates, 0).is_err());
    }
    // Its token would come after nine seconds; it looks half-way.
    let again = 9 * SECOND / 2;
    assert_eq!(governor.take(9, rates, 0), Err(Wait::Pace(again)));
    for conversation in 1..=8 {
        governor.leave(conversation);
    }
    assert_eq!(governor.take(9, rates, again), Ok(()));
    assert!(governor.line.is_empty());
}

#[test]
fn a_place_that_cannot_take_anything_holds_nobody_up() {
    let rates = of_account(1.0, 1);
    let mut governor = Governor::default();
    assert_eq!(governor.take(0, rates, 0), Ok(()));
    assert_eq!(governor.take(1, rates, 0), Err(Wait::Pace(SECOND)));
    assert_eq!(governor.take(2, rates, 0), Err(Wait::Pace(2 * SECOND)));
    let long = Duration::from_secs(900);
    governor.freeze(1, Freeze::Conversation, long, 0);
    assert_eq!(
        governor.take(1, rates, SECOND),
        Err(Wait::Frozen(900 * SECOND))
    );
    assert_eq!(governor.take(2, rates, SECOND), Ok(()));
    assert!(governor.line.is_empty());
}

#[test]
fn a_preview_takes_no_token_that_somebody_waits_for() {
    let rates = of_account(1.0, 3);
    let mut governor = Governor::default();
    for conversation in 0..3 {
        assert_eq!(governor.take(conversation, rates, 0), Ok(()));
    }
    assert_eq!(governor.take(3, rates, 0), Err(Wait::Pace(SECOND)));
    let later = 2 * SECOND;
    assert!(!governor.take_cosmetic(4, rates, later));
    assert_eq!(governor.take(3, rates, later), Ok(()));
    assert!(!governor.take_cosmetic(4, rates, later), "one is left");
    assert!(governor.take_cosmetic(4, rates, later + SECOND));
}

#[test]
fn a_pause_says_by_how_much_longer_it_is() {
    let mut governor = Governor::default();
    let freeze = |governor: &mut Governor, scope, seconds, now| {
        governor.freeze(1, scope, Duration::from_secs(seconds), now)
    };
    assert_eq!(
        freeze(&mut governor, Freeze::Conversation, 35, 0),
        35 * SECOND
    );
    assert_eq!(freeze(&mut governor, Freeze::Conversation, 34, SECOND), 0);
    assert_eq!(
        freeze(&mut governor, Freeze::Conversation, 149, 35 * SECOND),
        149 * SECOND
    );
    assert_eq!(
        freeze(&mut governor, Freeze::Account, 7, SECOND),
        7 * SECOND
    );
}
