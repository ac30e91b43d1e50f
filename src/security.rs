//! Security: what is looked for in texts that come in and in everything that leaves.

pub mod redact;
