use super::*;
use proptest::prelude::*;

#[test]
fn a_priority_orders_inside_its_lane_only() {
    assert_eq!(level(Lane::Background, -8), 0);
    assert_eq!(level(Lane::Control, 8), TOP);
    for pair in Lane::ALL.windows(2) {
        assert!(level(pair[0], -8) > level(pair[1], 8));
        assert!(level(pair[0], 1) > level(pair[0], 0));
    }
    assert_eq!(level(Lane::Direct, i8::MAX), level(Lane::Direct, 8));
    assert_eq!(level(Lane::Direct, i8::MIN), level(Lane::Direct, -8));
}

#[test]
fn who_enters_again_keeps_his_claim_to_within_one_interval() {
    for (level, came, now) in [(0, 0, 0), (3, 100, 1_099), (34, 5, 9_999), (10, 50, 20)] {
        let again = claim(now, aged(level, came, now, 1_000), 1_000);
        let before = claim(came, level, 1_000);
        assert!((before..before + 1_000).contains(&again) || now < came);
    }
    assert_eq!(aged(3, 0, u64::MAX, 1), TOP);
    assert_eq!(aged(3, 0, 1_000, 0), 3, "no ageing, no rise");
}

proptest! {
    #[test]
    fn the_ladder_agrees_with_a_scan(
        aging in 0_u64..50,
        steps in prop::collection::vec((0_u8..4, 0_u8..=TOP, 0_u64..20), 1..400),
    ) {
        let mut ladder = Ladder::default();
        // (claim, rung from the top, number): the first of the smallest is next.
        let mut model: Vec<(Tick, u8, u32, u32)> = Vec::new();
        let mut now = 0;
        for (item, (action, level, step)) in (0_u32..).zip(steps) {
            now += step;
            if action < 2 {
                let place = ladder.enter(item, level, now);
                model.push((claim(now, level, aging), TOP - level, item, place));
            } else if action == 2 && !model.is_empty() {
                let at = usize::from(level) % model.len();
                ladder.leave(model.swap_remove(at).3);
            } else if let Some(&(claim, _, item, place)) = model.iter().min() {
                prop_assert_eq!(ladder.best(aging), Some((claim, item)));
                ladder.leave(place);
                model.retain(|waiter| waiter.2 != item);
            }
            prop_assert_eq!(ladder.len(), model.len());
        }
    }
}
