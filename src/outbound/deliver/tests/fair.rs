//! Conversations that compete for the pace of their account.

use weirgate_sdk::Rates;

use super::*;

fn paced(rates: Rates) -> Rig {
    let mut output = Output::default();
    output.buffer.max_size = 1_000;
    output.buffer.max_age = DAY;
    let options = Options {
        rates,
        ..Options::default()
    };
    Rig::with(output, vec![options])
}

impl Rig {
    /// When each part of a conversation was shown, in milliseconds since `start`.
    fn shown_in(&self, conversation: &str, start: Instant) -> Vec<u128> {
        let shown = self.stage().shown();
        let there = shown
            .iter()
            .filter(|shown| shown.conversation == conversation);
        there
            .map(|shown| shown.at.duration_since(start).as_millis())
            .collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_conversation_with_much_to_say_delays_nobody() {
    let rig = paced(Rates {
        account: 25.0,
        account_burst: 1,
        conversation: 1.0,
        conversation_burst: 1,
    });
    let start = Instant::now();
    for _ in 0..300 {
        rig.answer("noisy", &["a"]).await;
    }
    let others: Vec<String> = (0..50).map(|number| format!("c{number}")).collect();
    for other in &others {
        rig.answer(other, &["b"]).await;
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    rig.answer("late", &["c"]).await;
    rig.settled().await;
    // One token is forty milliseconds: behind each who waits already, and before any second message.
    let late = rig.shown_in("late", start);
    assert!(late[0] <= 100 + 51 * 40, "{late:?}");
    for other in &others {
        let shown = rig.shown_in(other, start);
        assert!(shown[0] <= 51 * 40, "{other}: {shown:?}");
    }
    let noisy = rig.shown_in("noisy", start);
    assert_eq!(noisy.len(), 300);
    assert!(noisy.windows(2).all(|two| two[1] - two[0] >= 1_000));
    assert!(noisy[299] <= 299_000 + 51 * 40, "{}", noisy[299]);
}

#[tokio::test(start_paused = true)]
async fn who_comes_late_waits_one_round_whatever_the_others_still_have() {
    let rig = paced(Rates {
        account: 10.0,
        account_burst: 1,
        ..Rates::UNLIMITED
    });
    let start = Instant::now();
    let others: Vec<String> = (0..10).map(|number| format!("c{number}")).collect();
    for other in &others {
        for _ in 0..30 {
            rig.answer(other, &["a", "b"]).await;
        }
    }
    tokio::time::sleep(Duration::from_millis(20_050)).await;
    rig.answer("late", &["c"]).await;
    rig.settled().await;
    let late = rig.shown_in("late", start);
    assert!(late[0] <= 20_100 + 10 * 100, "{late:?}");
    for other in &others {
        let shown = rig.shown_in(other, start);
        let longest = shown.windows(2).map(|two| two[1] - two[0]).max();
        assert!(longest <= Some(11 * 100), "{other}: {longest:?}");
    }
    assert_eq!(start.elapsed().as_millis(), 600 * 100, "tokens were left");
}
