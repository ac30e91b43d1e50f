//! One look at a server, for `weirgate doctor`.
//!
//! Owns nothing that stays: the server is reached, asked for its tools, and left.

use std::{path::Path, sync::Arc};

use super::{config::Server, connect::connect, line::Line, list, offer::offered_of};

/// Reaches a server; gives how many tools it offers, and how many of them are left out.
///
/// # Errors
/// Why it cannot be used.
pub async fn probe(server: &Server, folders: &Path) -> Result<(usize, usize), String> {
    let folder = server.folder.clone();
    let folder = folder.unwrap_or_else(|| folders.join(&server.name));
    let line = Arc::new(Line::new(server.name.clone(), folder));
    let look = async {
        let connection = connect(server, &line).await?;
        let peer = connection.service.peer();
        let most = server.max_tools.saturating_add(1);
        let listed = list::tools(peer, most).await;
        let listed = listed.map_err(|error| error.to_string())?;
        let offered = offered_of(server, &line, &listed, (false, false));
        Ok((offered.tools, offered.left_out))
    };
    match tokio::time::timeout(server.start_timeout, look).await {
        Ok(found) => found,
        Err(_) => Err("it did not answer in time".to_owned()),
    }
}
