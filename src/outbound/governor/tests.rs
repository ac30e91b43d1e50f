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
