//! `agent/list` and `agent/call` over lines, for callers at a socket of this machine or at an address.
//!
//! Owns who is let in, and how many at once. What a line means is `wire`'s, what becomes of a caller `connection`'s.

mod connection;
mod line;
mod listen;
pub(crate) mod wire;

use std::{sync::Arc, time::Duration};

use tokio::{sync::Semaphore, task::JoinSet, time::sleep};
use weirgate_sdk::Stop;

pub(crate) use listen::Listener;

use crate::adapter::Shared;

/// The pause after the system could not give a connection.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves callers until `stop`; who is connected then is cut off.
pub(crate) async fn serve(listener: Listener, shared: &Arc<Shared>, stop: &Stop) {
    let places = Arc::new(Semaphore::new(shared.settings.max_connections));
    let mut tasks = JoinSet::new();
    let mut number = 0_u64;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = tasks.join_next() => continue,
            () = stop.stopped() => return,
        };
        let account = &shared.account;
        let (stream, caller) = match accepted {
            Ok(Some(accepted)) => accepted,
            Ok(None) => continue,
            Err(error) => {
                tracing::warn!(%account, %error, "a connection of a caller failed");
                sleep(PAUSE).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            tracing::warn!(%account, "too many connections of callers");
            continue;
        };
        number += 1;
        let shared = Arc::clone(shared);
        tasks.spawn(async move {
            let _place = place;
            connection::serve(stream, caller, number, shared).await;
        });
    }
}
