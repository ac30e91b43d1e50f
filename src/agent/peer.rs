//! Agents by others: endpoints that are asked which agents they have, and each agent as a tool.
//!
//! Owns the endpoints of a configuration: which there are, how each is reached (`remote`) and kept (`keep`), and what of
//! its agents is offered (`card`). To the rest of the gateway each agent is a tool like any other (`crate::agent::tool`):
//! rights, checks, limits and the fence stand around it.

mod a2a;
mod acp;
mod card;
pub mod config;
mod heard;
mod keep;
mod reach;
mod remote;
mod task;
mod tool;
pub(in crate::agent) mod trail;

use std::sync::Arc;

pub use keep::Peer;
pub use reach::probe;

use super::{kept::Kept, tool::registry::Entry};

/// What the names of all agents begin with, as tools.
pub const START: &str = "agent__";

/// The endpoints of a configuration.
#[derive(Debug, Clone, Default)]
pub struct Peers(Vec<Arc<Peer>>);

impl Peers {
    /// The agents of all of them, as they are now, in the order of the configuration.
    pub fn entries(&self) -> impl Iterator<Item = Arc<Entry>> {
        let each = self.0.iter().map(|peer| peer.entries());
        each.flat_map(|entries| entries.iter().cloned().collect::<Vec<_>>())
    }

    /// Each endpoint.
    pub fn each(&self) -> impl Iterator<Item = &Arc<Peer>> {
        self.0.iter()
    }
}

/// All endpoints that are kept, so that one whose settings stay is kept over a reload.
#[derive(Debug, Default)]
pub struct Pool(Kept<Peer>);

impl Pool {
    /// The endpoints that a configuration wants: those that are kept already with the same settings, and new ones.
    /// Outside of a runtime none is started.
    #[must_use]
    pub fn peers(&self, wanted: &config::Collaboration) -> Peers {
        if tokio::runtime::Handle::try_current().is_err() {
            return Peers::default();
        }
        let same = |peer: &Peer, settings: &config::Endpoint| peer.settings() == settings;
        let start = |settings: &config::Endpoint| Peer::start(settings.clone());
        Peers(self.0.wanted(wanted.running(), same, start))
    }
}
