//! Outbound: from the text of an answer to what the platform has taken.
//!
//! Owns strategy, rendering, splitting, the queue of replies for each conversation, pace, delivery and
//! what becomes of it. It never makes up text and never decides whether something is answered.

pub mod activity;
pub mod blocks;
pub mod budget;
pub mod compose;
pub mod config;
pub mod deliver;
pub mod due;
pub mod governor;
pub mod markdown;
pub mod outbox;
pub mod post;
pub mod preview;
pub mod split;
pub mod strategy;
