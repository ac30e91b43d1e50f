//! Who calls, by the token that he shows.
//!
//! Owns the comparison: it takes as long for a wrong token as for a good one. Pure.

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use weirgate_sdk::settings::Secret;

/// The longest token that is looked at, in bytes.
const MAX_TOKEN: usize = 4_096;

/// Those who may call.
pub(crate) struct Callers(Vec<(String, [u8; 32])>);

impl Callers {
    pub(crate) fn new(callers: &[(String, Secret)]) -> Self {
        let one = |(name, token): &(String, Secret)| (name.clone(), digest(token.expose()));
        Self(callers.iter().map(one).collect())
    }

    /// The name of whom a token is; `None` if it is nobody's.
    pub(crate) fn find(&self, token: &str) -> Option<String> {
        if token.is_empty() || token.len() > MAX_TOKEN {
            return None;
        }
        let shown = digest(token);
        let mut found = None;
        for (name, own) in &self.0 {
            if bool::from(own.ct_eq(&shown)) {
                found = Some(name);
            }
        }
        found.cloned()
    }
}

/// Of equal length, whatever the token is.
fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_callers_or_nobodys() {
        let callers = [("a", "first-token"), ("b", "second-token")];
        let callers = callers.map(|(name, token)| (name.to_owned(), Secret::new(token)));
        let callers = Callers::new(&callers);
        assert_eq!(callers.find("first-token").as_deref(), Some("a"));
        assert_eq!(callers.find("second-token").as_deref(), Some("b"));
        let long = "x".repeat(MAX_TOKEN + 1);
        for wrong in ["", "first", "first-token ", "a", long.as_str()] {
            assert_eq!(callers.find(wrong), None, "{wrong}");
        }
    }
}
