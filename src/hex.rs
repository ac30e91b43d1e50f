//! Bytes in hexadecimal: how digests and random names are written everywhere.
//!
//! Owns nothing else. Pure.

/// Two lower-case letters for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
