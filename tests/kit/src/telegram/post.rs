//! Posts updates, as the service does when a webhook is set.
//!
//! Owns the order: the next update goes out when the one before was answered with a status of success.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use super::Shared;
use crate::exchange;

/// Between two tries.
const AGAIN: Duration = Duration::from_millis(50);

/// Posts to this address, which stands for the host of the webhook, until the task is ended.
pub(super) async fn run(shared: Arc<Shared>, address: SocketAddr) {
    let mut changed = shared.changed.subscribe();
    loop {
        changed.mark_unchanged();
        let next = {
            let state = shared.state.lock();
            state.webhook.clone().zip(state.updates.first())
        };
        let Some((webhook, (id, update))) = next else {
            if changed.changed().await.is_err() {
                return;
            }
            continue;
        };
        let status = post(address, &webhook.url, &webhook.secret, &update.to_string()).await;
        if (200..300).contains(&status) {
            shared.state.lock().updates.posted(id);
            shared.changed();
        } else {
            shared.state.lock().refused_posts.push(status);
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// The status of the answer; 0 without one.
pub(super) async fn post(address: SocketAddr, url: &str, secret: &str, body: &str) -> u16 {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let request = format!(
        "POST /{path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
         x-telegram-bot-api-secret-token: {secret}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    exchange::status(address, &request).await
}
