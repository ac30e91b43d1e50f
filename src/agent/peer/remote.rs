//! What every protocol of agents by others has in common: a task, and how it can fail.
//!
//! Owns the choice of the protocol. It knows nothing of models and turns.

use std::fmt;

use serde_json::{Map, Value};

use super::{
    a2a, acp,
    card::Card,
    config::{Endpoint, Link},
};

/// What an agent is to do.
#[derive(Debug, Clone, Copy)]
pub(super) struct Task<'a> {
    /// Which agent, by its own name.
    pub(super) agent: &'a str,
    /// What of all that it can do; empty for what it does with a task.
    pub(super) action: &'a str,
    /// In words.
    pub(super) text: &'a str,
    /// What is given beside.
    pub(super) more: Option<&'a Map<String, Value>>,
    /// Calls of the same session belong together.
    pub(super) session: &'a str,
    /// The gateways through which it came, this one the last.
    pub(super) passed: &'a [String],
}

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failed {
    /// It could not be reached, or not be understood.
    Broken(String),
    /// It answered that it does not, in its own words.
    Said(String),
}

/// The longest complaint that is kept, in characters.
const MAX_SAID: usize = 1_000;

impl Failed {
    pub(super) fn broken(why: &str) -> Self {
        Self::Broken(why.to_owned())
    }

    pub(super) fn said(why: &str) -> Self {
        let why = if why.trim().is_empty() {
            "it failed and does not say why"
        } else {
            why
        };
        Self::Said(why.chars().take(MAX_SAID).collect())
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(why) | Self::Said(why) => f.write_str(why),
        }
    }
}

/// The agents of an endpoint; those that cannot be read are only counted.
///
/// # Errors
/// Why it does not tell.
pub(super) async fn list(endpoint: &Endpoint) -> Result<(Vec<Card>, usize), Failed> {
    let listed = async {
        match &endpoint.link {
            Link::Card(address) => Ok((vec![a2a::card(endpoint, address).await?], 0)),
            Link::Unix(_) | Link::Tcp(_) => {
                let listed = acp::list(endpoint).await?;
                let cards: Vec<Card> = listed.iter().filter_map(Card::read).collect();
                let odd = listed.len().saturating_sub(cards.len());
                Ok((cards, odd))
            }
        }
    };
    match tokio::time::timeout(endpoint.connect_timeout, listed).await {
        Ok(listed) => listed,
        Err(_) => Err(Failed::broken("it did not answer in time")),
    }
}

/// Has an agent of an endpoint do something. Dropping the future gives it up there too.
///
/// # Errors
/// Why it came to nothing.
pub(super) async fn call(endpoint: &Endpoint, task: Task<'_>) -> Result<String, Failed> {
    match &endpoint.link {
        Link::Card(address) => a2a::call(endpoint, address, task).await,
        Link::Unix(_) | Link::Tcp(_) => acp::call(endpoint, task).await,
    }
}
