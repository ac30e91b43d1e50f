//! PostgreSQL plans well for a database that was empty a moment ago.

use std::{sync::Arc, time::Instant};

use weirgate::store::{Receipt, Store, Write};

use super::{Bed, Engine, NOW, finish, message, reply, sent};
use crate::gateway::LIMIT;

/// Has messages answered; gives the ids of the answers.
async fn answered(bed: &Bed, numbers: std::ops::Range<u32>) -> Vec<i64> {
    let messages = numbers.map(|number| message(&format!("e{number}")));
    let accepted = bed.accept(messages.collect()).await;
    let store = bed.store();
    for message in &accepted {
        let mut turn = finish(&[message.id]);
        turn.replies = vec![reply(message.id, "an answer")];
        let write = Write::Finish(Arc::new(turn), Box::new(|result| drop(result.unwrap())));
        store.write(write).await;
    }
    store.healthy().await.unwrap();
    accepted.iter().map(|message| message.id).collect()
}

/// Sends answers, some at a time.
async fn send(store: &Arc<dyn Store>, ids: &[i64]) {
    for some in ids.chunks(20) {
        for &id in some {
            let (part, then) = (0, Box::new(|_| {}));
            store.write(Write::Intent { id, part, then }).await;
        }
        store.healthy().await.unwrap();
        for &id in some {
            let receipt = Receipt {
                id,
                part: 0,
                outcome: sent("m", true),
                at: NOW,
            };
            store.write(Write::Receipt(receipt, Box::new(|_| {}))).await;
        }
        store.healthy().await.unwrap();
    }
}

#[tokio::test]
async fn rows_are_found_by_their_ids_however_fast_a_table_grows() {
    let bed = Bed::new(Engine::Postgres).await;
    let store = bed.store();
    // So often that the server would make a plan once and for all.
    let few = answered(&bed, 0..400).await;
    send(&store, &few).await;
    let many = answered(&bed, 400..4400).await;
    send(&store, &many[..1000]).await;
    store.close().await;
    let started = Instant::now();
    let read = loop {
        let read = "SELECT seq_tup_read::text FROM pg_stat_user_tables
                    WHERE schemaname = current_schema() AND relname = 'outbox' AND n_tup_ins = 4400";
        // The server tells a moment later.
        match bed.schema().texts(read).await.pop() {
            Some(read) => break read.parse::<u64>().unwrap(),
            None => assert!(started.elapsed() < LIMIT, "the server does not tell"),
        }
    };
    // Going through all of them takes 1,000 a batch at the very least.
    assert!(read < 100_000, "{read} rows were gone through");
}
