//! Reverse WebSocket: the OneBot implementation connects to the gateway.
//!
//! Owns the tasks of one account's connections, and how they end. Who is let in is `door`'s business.

use std::sync::Arc;

use tokio::{sync::mpsc, task::JoinSet, time::timeout};
use weirgate_sdk::Stop;

use super::{
    CALLS_LIMIT, CLOSE_LIMIT,
    door::{Arrival, Place},
    intake::Parcel,
    session::Session,
};
use crate::qq::Shared;

/// Connections at once after their handshake, those that were replaced and still drain included.
const MAX_SESSIONS: usize = 16;

/// Takes connections until `stop`, then lets calls under way end and closes.
pub async fn run(shared: &Arc<Shared>, place: Place, events: mpsc::Sender<Parcel>, stop: &Stop) {
    let mut arrivals = place.open();
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.stopped() => break,
            Some(arrival) = arrivals.recv() => {
                if tasks.len() >= MAX_SESSIONS {
                    tracing::warn!(account = %shared.account, "too many connections: one ended");
                    continue;
                }
                let (shared, events, stop) = (Arc::clone(shared), events.clone(), stop.clone());
                tasks.spawn(async move { session(&shared, arrival, &events, &stop).await });
            }
            Some(_) = tasks.join_next() => {}
        }
    }
    drop((place, arrivals, events));
    let _ = timeout(CALLS_LIMIT, shared.calls.idle()).await;
    shared.links.close();
    let _ = timeout(CLOSE_LIMIT, async {
        while tasks.join_next().await.is_some() {}
    })
    .await;
    tasks.shutdown().await;
}

async fn session(shared: &Shared, arrival: Arrival, events: &mpsc::Sender<Parcel>, stop: &Stop) {
    let Arrival { socket, peer } = arrival;
    let Some(joined) = shared.links.join(peer.role, &peer.bot) else {
        return;
    };
    let (bot, role) = (&*peer.bot, peer.role);
    tracing::info!(account = %shared.account, bot, ?role, "connected");
    let session = Session {
        shared,
        id: joined.id,
        role,
        bot,
        events,
    };
    session.attend(socket, joined, Vec::new(), stop).await;
}
