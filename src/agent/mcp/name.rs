//! What the tools of servers, and agents by others, are called.
//!
//! Owns the way from server and tool to a name that every provider takes: unique, the same after each start, and
//! independent of which server came first. Pure.

use sha2::{Digest as _, Sha256};

use crate::hex::hex;

/// Longest name that providers take.
const MOST: usize = 64;
/// Between server and tool.
const BETWEEN: &str = "__";

/// The name under which a tool of a server is offered: `server__tool` where that says it all, else with the beginning of
/// a hash of both behind it.
#[must_use]
pub(super) fn offered(server: &str, tool: &str) -> String {
    offered_in("", server, tool)
}

/// The same behind a beginning that a whole kind of names has.
#[must_use]
pub(in crate::agent) fn offered_in(start: &str, server: &str, tool: &str) -> String {
    let joined = format!("{start}{server}{BETWEEN}{tool}");
    let fits = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-');
    // Where the one ends and the other begins must be seen, or two pairs would share a name.
    let clear = !server.contains(BETWEEN) && !server.ends_with('_') && !tool.starts_with('_');
    if clear && joined.len() <= MOST && joined.chars().all(fits) {
        return joined;
    }
    let mut digest = Sha256::new();
    digest.update(server.as_bytes());
    digest.update([0]);
    digest.update(tool.as_bytes());
    let digest = digest.finalize();
    let hash = hex(digest.get(..4).unwrap_or_default());
    let clean = joined
        .chars()
        .map(|sign| if fits(sign) { sign } else { '_' });
    let start: String = clean.take(MOST - hash.len() - 1).collect();
    format!("{start}_{hash}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_short_whatever_servers_call_theirs() {
        let long = "x".repeat(70);
        let pairs = [
            ("files", "search"),
            ("wiki", "search"),
            ("files", "a.b"),
            ("files", "a_b"),
            ("files", "查天气"),
            ("files", "查地图"),
            ("files", &format!("{long}one")),
            ("files", &format!("{long}two")),
            ("a", "b__c"),
            ("a__b", "c"),
            ("a_", "b"),
            ("a", "_b"),
            ("files", ""),
        ];
        let names: BTreeSet<String> = pairs.iter().map(|(a, b)| offered(a, b)).collect();
        assert_eq!(names.len(), pairs.len(), "{names:?}");
        for name in &names {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            assert!(name.len() <= MOST && name.bytes().all(fits), "{name}");
        }
        assert_eq!(offered("files", "search"), "files__search");
        assert_eq!(offered("files", "a.b"), offered("files", "a.b"));
    }
}
