//! Nobody starves: what a flood of others costs one person.
//!
//! Owns one calm world, in which nothing fails and everybody but one floods.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use weirgate_sdk::Event;

use super::world::{Process, World};

/// People who flood, and how many messages each of them sends at once.
const USERS: usize = 200;
const FLOOD: usize = 30;
/// Turns under way at once.
const SLOTS: usize = 16;
/// Longer than any turn here takes.
const TURN: Duration = Duration::from_secs(2);

#[test]
fn one_message_among_many_floods_waits_for_one_round_of_turns_at_most() {
    let mut world = World::calm(|config| {
        config.input_buffer.max_queue_size = 1_000;
        config.flow_control.user.rate = 0.0;
        config.flow_control.max_turns_in_flight = SLOTS;
        config.flow_control.auto.messages_per_request = 5;
    });
    let stage = world.stages[0].clone();
    let waited = world.quiet(async |process: Process| {
        stage.running().await;
        for user in 0..USERS {
            let (place, name) = (format!("p{user}"), format!("u{user}"));
            let events: Vec<Event> = (0..FLOOD)
                .map(|number| {
                    let text = format!("#{name}.{place}.{number} flood");
                    let id = format!("m{number}");
                    Event::Message(Box::new(stage.message(&place, &name, &id, &text)))
                })
                .collect();
            stage
                .feed(events)
                .await
                .expect("running")
                .await
                .expect("accepted");
        }
        sleep(Duration::from_secs(5)).await;
        let start = Instant::now();
        let text = "#one.pone.1 only this";
        let message = stage.message("pone", "one", "m1", text);
        let events = vec![Event::Message(Box::new(message))];
        stage
            .feed(events)
            .await
            .expect("running")
            .await
            .expect("accepted");
        while stage.texts("pone").is_empty() {
            sleep(Duration::from_millis(10)).await;
        }
        let waited = start.elapsed();
        let busy = process.is_busy();
        assert!(busy, "the flood was over before: nothing was shown");
        process.stop().await;
        waited
    });
    let rounds = u32::try_from(USERS / SLOTS + 2).expect("few");
    assert!(
        waited <= TURN * rounds,
        "waited {waited:?}, longer than {rounds} turns"
    );
    let watch = world.watch.lock();
    assert_eq!(watch.most, SLOTS, "not every slot was used, or too many");
    assert_eq!(watch.together, [""; 0], "two turns of one person at once");
}
