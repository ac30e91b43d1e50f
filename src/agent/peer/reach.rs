//! One look at an endpoint, for `weirgate doctor`.
//!
//! Owns nothing that stays: the endpoint is reached, asked for its agents, and left.

use std::sync::Arc;

use super::{card::offered_of, config::Endpoint, keep::Line, remote};

/// Reaches an endpoint; gives how many agents it offers, and how many of them are left out.
///
/// # Errors
/// Why it cannot be used.
pub async fn probe(endpoint: &Endpoint) -> Result<(usize, usize), String> {
    let (cards, odd) = remote::list(endpoint)
        .await
        .map_err(|failed| failed.to_string())?;
    let line = Arc::new(Line::default());
    let (entries, left_out) = offered_of(&Arc::new(endpoint.clone()), &line, &cards);
    Ok((entries.len(), left_out + odd))
}
