//! Keys by which events are known again, within their bound.
//!
//! Owns how what a platform calls something becomes short enough: it is never cut, for two may begin alike.

use ring::digest::{SHA256, digest};

use crate::official::sign::to_hex;

/// The longest key, in bytes, as the sdk has it.
const MAX_KEY: usize = 200;

/// The key itself, or its digest if it is too long.
pub(crate) fn bounded(key: String) -> String {
    if key.len() <= MAX_KEY {
        return key;
    }
    to_hex(digest(&SHA256, key.as_bytes()).as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_keys_that_begin_alike_are_told_apart() {
        assert_eq!(bounded("short".to_owned()), "short");
        let [one, other] = ["1", "2"].map(|end| bounded("x".repeat(1_000) + end));
        assert!(one.len() <= MAX_KEY && one != other);
    }
}
