//! What is asked of an implementation when it is connected: what it is, and what was said meanwhile.
//!
//! Owns the order of those questions. Nothing depends on the answers; an implementation that knows
//! neither question is as good as before.

use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;

use super::{history, intake::Parcel, send::Call, version};
use crate::qq::Shared;

/// How long an implementation may take to say what it is.
const VERSION_LIMIT: Duration = Duration::from_secs(5);

/// Asks. `since` is the time of the newest message that was read before; `None` if there was none.
pub async fn ask(shared: &Shared, bot: &str, since: Option<i64>, events: &mpsc::Sender<Parcel>) {
    // Events about roles may have been missed.
    shared.admins.forget();
    let call = Call {
        action: version::VERSION,
        params: json!({}),
    };
    match shared.request(&call, VERSION_LIMIT).await {
        Ok(data) => {
            let found = version::Implementation::read(data.raw());
            let (account, name) = (&shared.account, &found.name);
            if found.is_foreign() {
                let protocol = &found.protocol;
                tracing::warn!(%account, name, protocol, "the other side does not speak OneBot v11");
            } else {
                tracing::info!(%account, name, "the OneBot implementation");
            }
            *shared.implementation.lock() = Some(found);
            shared.typing.begin();
        }
        Err(error) => tracing::debug!(account = %shared.account, %error, "no version is told"),
    }
    if let Some(since) = since {
        history::catch_up(shared, bot, since, events).await;
    }
}
