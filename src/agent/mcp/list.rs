//! What servers list, page after page.
//!
//! Owns the pages and their limits. Each tool is kept as it came: one that is odd must not hide the others.

use rmcp::{
    Peer, RoleClient, ServiceError,
    model::{
        ClientRequest, ErrorCode, ListToolsRequest, PaginatedRequestParams, RequestOptionalParam,
    },
};
use serde_json::Value;

/// Most pages that are read.
const MAX_PAGES: usize = 100;

/// The tools of a server, at most so many.
///
/// # Errors
/// Why it does not list them.
pub(super) async fn tools(
    peer: &Peer<RoleClient>,
    most: usize,
) -> Result<Vec<Value>, ServiceError> {
    let has = peer.peer_info();
    if has.is_some_and(|info| info.capabilities.tools.is_none()) {
        return Ok(Vec::new());
    }
    let (mut tools, mut cursor): (Vec<Value>, Option<String>) = (Vec::new(), None);
    for _ in 0..MAX_PAGES {
        let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
        let request: ListToolsRequest = RequestOptionalParam::with_param(params);
        let page = match peer
            .send_request(ClientRequest::ListToolsRequest(request))
            .await
        {
            Ok(page) => serde_json::to_value(&page).unwrap_or_default(),
            // It has none, whatever it said before.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                break;
            }
            Err(error) => return Err(error),
        };
        let listed = page["tools"].as_array().cloned();
        tools.extend(listed.unwrap_or_default());
        let next = page["nextCursor"].as_str().filter(|next| !next.is_empty());
        let next = next.map(str::to_owned);
        if next.is_none() || next == cursor || tools.len() >= most {
            break;
        }
        cursor = next;
    }
    Ok(tools)
}
