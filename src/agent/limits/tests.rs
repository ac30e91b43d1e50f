use std::time::Duration;

use super::*;

const SECOND: Tick = 1_000_000;

fn limits(quota: Quota) -> Limits {
    Limits {
        user: quota,
        ..Limits::default()
    }
}

#[test]
fn a_minute_has_its_limit_for_each_of_the_three() {
    let used = Used::default();
    let mut limits = limits(Quota {
        messages_per_minute: 3,
        commands_per_minute: 1,
        ..Quota::default()
    });
    let take =
        |person, wish, limits: &Limits, at| used.take(Whose::of(person, 7, 1), wish, limits, at);
    assert_eq!(take(1, Wish::Messages(3, 0), &limits, 0), Ok(()));
    assert_eq!(take(1, Wish::Messages(1, 0), &limits, 0), Err(3));
    assert_eq!(take(1, Wish::Command, &limits, 0), Ok(()));
    assert_eq!(take(1, Wish::Command, &limits, 0), Err(1));
    assert_eq!(take(2, Wish::Messages(1, 0), &limits, 0), Ok(()));
    assert_eq!(take(1, Wish::Messages(1, 0), &limits, 60 * SECOND), Err(3));
    assert_eq!(take(1, Wish::Messages(4, 0), &limits, 61 * SECOND), Err(3));
    assert_eq!(take(1, Wish::Messages(1, 0), &limits, 61 * SECOND), Ok(()));
    limits.conversation.messages_per_minute = 1;
    assert_eq!(take(3, Wish::Messages(1, 0), &limits, 0), Ok(()));
    assert_eq!(
        take(4, Wish::Messages(1, 0), &limits, 0),
        Err(1),
        "the conversation's"
    );
    limits.conversation.messages_per_minute = 0;
    limits.account.commands_per_minute = 1;
    assert_eq!(take(5, Wish::Command, &limits, 0), Ok(()));
    assert_eq!(take(6, Wish::Command, &limits, 0), Err(1), "the account's");
}

#[test]
fn tokens_count_for_a_day_and_over_a_restart() {
    let used = Used::default();
    let whose = Whose::User(1);
    let (today, tomorrow) = (20_000 * DAY + 5, 20_001 * DAY);
    assert_eq!(used.spent(whose), None);
    used.learn(whose, Spent::read(Some("20000 90")));
    let spent = used.spend(whose, (9, 0), today);
    assert_eq!(spent.encode(), "20000 99");
    assert!(Used::has_left(spent, 100, today) && !Used::has_left(spent, 99, today));
    assert!(Used::has_left(spent, 0, today), "no limit");
    assert!(Used::has_left(spent, 1, tomorrow));
    assert_eq!(used.spend(whose, (3, 7), tomorrow).encode(), "20001 3 7");
    let known = used.learn(whose, Spent::default());
    assert_eq!(
        (known, known.today(tomorrow)),
        (Spent::read(Some("20001 3 7")), (3, 7))
    );
    for wrong in ["", "x", "1", "1 x", "1 -2"] {
        assert_eq!(Spent::read(Some(wrong)), Spent::default(), "{wrong}");
    }
}

const LOOP: LoopLimit = LoopLimit {
    messages: 3,
    private: 5,
    window: Duration::from_secs(100),
    pause: Duration::from_secs(50),
};

const GROUP: (LoopLimit, ChatKind) = (LOOP, ChatKind::Group);

/// A partner who answers each answer a second later; tells what is done with each message.
fn talk(used: &Used, person: i64, from: Tick, count: u64) -> Vec<Heard> {
    let said = |index: u64| {
        let at = (from + 2 * index) * SECOND;
        let heard = used.heard((7, person), at, GROUP, at);
        if heard == Heard::Answer {
            used.answered(7, person, at + SECOND);
        }
        heard
    };
    (0..count).map(said).collect()
}

#[test]
fn who_answers_each_answer_is_not_answered_for_ever() {
    let used = Used::default();
    let heard = talk(&used, 1, 0, 6);
    let (answer, paused) = (Heard::Answer, Heard::Paused);
    assert_eq!(heard, [answer, answer, answer, Heard::Loop, paused, paused]);
    assert_eq!(
        used.heard((7, 2), 0, GROUP, 12 * SECOND),
        answer,
        "others are"
    );
    assert_eq!(used.heard((7, 1), 0, GROUP, 13 * SECOND), paused);
    assert_eq!(
        used.heard((8, 1), 0, GROUP, 13 * SECOND),
        answer,
        "elsewhere"
    );
    assert_eq!(
        talk(&used, 1, 100, 2),
        [answer, answer],
        "the pause is over"
    );
}

#[test]
fn people_who_take_turns_flood_or_take_their_time_are_no_loop() {
    let used = Used::default();
    for round in 0..20 {
        assert_eq!(
            talk(&used, round % 2, round.unsigned_abs() * 10, 2),
            [Heard::Answer; 2]
        );
    }
    let used = Used::default();
    for index in 0..20 {
        // All were there before the first answer.
        assert_eq!(used.heard((7, 1), 0, GROUP, index * SECOND), Heard::Answer);
        used.answered(7, 1, (index + 1) * SECOND);
    }
    for index in 0..20 {
        let at = (index + 1) * 60 * SECOND;
        assert_eq!(used.heard((7, 1), at, GROUP, at), Heard::Answer);
        used.answered(7, 1, at + SECOND);
    }
    let never = LoopLimit {
        messages: 0,
        private: 0,
        ..LOOP
    };
    for chat in [ChatKind::Group, ChatKind::Private] {
        for at in 0..20 {
            assert_eq!(used.heard((9, 1), at, (never, chat), at), Heard::Answer);
            used.answered(9, 1, at);
        }
    }
}

#[test]
fn a_private_chat_has_a_number_of_its_own_unless_programs_may_write_there() {
    let used = Used::default();
    let private = (LOOP, ChatKind::Private);
    let mut heard = Vec::new();
    for index in 0..7 {
        let at = index * SECOND;
        let one = used.heard((7, 1), at, private, at);
        if one == Heard::Answer {
            used.answered(7, 1, at);
        }
        heard.push(one);
    }
    let (answer, paused) = (Heard::Answer, Heard::Paused);
    assert_eq!(
        heard,
        [answer, answer, answer, answer, answer, Heard::Loop, paused]
    );
    let limits = Limits {
        loops: LOOP,
        ..Limits::default()
    };
    assert_eq!(limits.paced(true).loops, LOOP);
    let none = limits.paced(false).loops;
    assert_eq!((none.most(ChatKind::Private), none.messages), (0, 3));
}
