//! MCP: tools, resources and prompts of servers by others, over a program's pipes or HTTP.
//!
//! Owns the servers of a configuration: which there are, how each is reached and kept (`server`), what its tools are
//! called (`name`) and what is made of their schemas (`schema`) and results (`render`). To the rest of the gateway each
//! tool is a tool like any other (`crate::agent::tool`): rights, checks, limits and the fence stand around it. The
//! protocol itself is a library's.

pub mod config;
mod connect;
mod files;
mod handler;
mod http;
mod line;
mod list;
pub(in crate::agent) mod name;
mod offer;
mod reach;
mod render;
mod schema;
mod server;
mod tool;

use std::{path::Path, sync::Arc};

pub use reach::probe;
pub use server::{Server, State};

use super::{kept::Kept, tool::registry::Entry};

/// The servers of a configuration.
#[derive(Debug, Clone, Default)]
pub struct Servers(Vec<Arc<Server>>);

impl Servers {
    /// The tools of all of them, as they are now, in the order of the configuration.
    pub fn entries(&self) -> impl Iterator<Item = Arc<Entry>> {
        let each = self.0.iter().map(|server| server.entries());
        each.flat_map(|entries| entries.iter().cloned().collect::<Vec<_>>())
    }

    /// Each server.
    pub fn each(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.0.iter()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Waits for those that a start needs.
    ///
    /// # Errors
    /// The first that cannot be used, and why.
    pub async fn required(&self) -> Result<(), String> {
        for server in self.0.iter().filter(|server| server.settings().required) {
            let ready = server.ready().await;
            ready.map_err(|error| format!("{}: {error}", server.settings().name))?;
        }
        Ok(())
    }
}

/// All servers that run, so that one whose settings stay is kept over a reload.
#[derive(Debug, Default)]
pub struct Pool(Kept<Server>);

impl Pool {
    /// The servers that a configuration wants: those that run already with the same settings, and new ones. `folders`
    /// is where each has a folder of its own. Outside of a runtime none is started.
    #[must_use]
    pub fn servers(&self, wanted: &config::Mcp, folders: &Path) -> Servers {
        if tokio::runtime::Handle::try_current().is_err() {
            return Servers::default();
        }
        let same = |server: &Server, settings: &config::Server| server.settings() == settings;
        let start = |settings: &config::Server| {
            Server::start(settings.clone(), folders.join(&settings.name))
        };
        Servers(self.0.wanted(wanted.running(), same, start))
    }
}
