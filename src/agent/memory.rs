//! What outlives the words of a conversation.
//!
//! Owns the settings of it.

pub mod config;
