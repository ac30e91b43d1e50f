//! Random settings and operations for the model.

use super::super::*;
use proptest::prelude::*;

#[derive(Debug, Clone)]
pub(super) enum Step {
    Push {
        person: i64,
        conversation: i64,
        kind: u8,
        lane: usize,
        priority: i8,
        single: bool,
    },
    Next {
        model_free: bool,
    },
    Done {
        nth: usize,
    },
    Pass {
        millis: Tick,
    },
    Remove {
        nth: usize,
    },
    Sweep {
        limit: usize,
    },
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let push = (
        0_i64..4,
        1_i64..4,
        0_u8..10,
        0_usize..5,
        -8_i8..9,
        prop::bool::weighted(0.05),
    );
    let push = push.prop_map(
        |(person, conversation, kind, lane, priority, single)| Step::Push {
            person,
            conversation,
            kind,
            lane,
            priority,
            single,
        },
    );
    let step = prop_oneof![
        8 => push,
        8 => prop::bool::weighted(0.8).prop_map(|model_free| Step::Next { model_free }),
        6 => (0_usize..4).prop_map(|nth| Step::Done { nth }),
        4 => (0_u64..3_000).prop_map(|millis| Step::Pass { millis }),
        1 => (0_usize..20).prop_map(|nth| Step::Remove { nth }),
        1 => (0_usize..4).prop_map(|limit| Step::Sweep { limit }),
    ];
    prop::collection::vec(step, 1..250)
}

pub(super) fn policies() -> impl Strategy<Value = Policy> {
    let rates = prop_oneof![
        Just(Rate::UNLIMITED),
        (prop::sample::select(vec![1.0, 2.0, 4.0]), 1_u32..5)
            .prop_map(|(per_second, burst)| Rate { per_second, burst }),
    ];
    let sizes = (1_u32..6, 4_u32..30, 1_u32..5, 1_u32..3, any::<bool>());
    let times = (
        0_u64..3,
        prop::bool::weighted(0.3),
        prop::bool::weighted(0.3),
        0_u32..8,
    );
    (sizes, rates, times).prop_map(|(sizes, user, (aging, ages, debounced, manual))| Policy {
        max_queue_size: sizes.0,
        max_total: if debounced { 10_000 } else { sizes.1 },
        messages_per_request: sizes.2,
        max_turns_per_user: sizes.3,
        overflow: if sizes.4 {
            Overflow::DropOldest
        } else {
            Overflow::DropNewest
        },
        user,
        manual: (manual > 5).then(|| Rate {
            per_second: 1.0,
            burst: manual - 4,
        }),
        aging_interval: Duration::from_secs(aging),
        max_age: Duration::from_secs(if ages { 8 } else { 0 }),
        debounce: Duration::from_secs(u64::from(debounced)),
        debounce_max: Duration::from_secs(2),
        ..policy()
    })
}
