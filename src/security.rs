//! Security: what is looked for in texts that come in and in everything that leaves.

pub mod bench;
pub mod config;
pub mod fence;
pub mod guard;
pub mod injection;
pub mod normalise;
pub mod paths;
pub mod redact;
pub mod words;
