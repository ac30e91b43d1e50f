//! Scheduling: which queue is served next, and when the model may be asked.
//!
//! Owns lanes, fairness between users, token buckets, the limiters of the model providers, and the
//! dispatcher that starts turns. What a turn does is none of its business.

pub mod bucket;
pub mod config;
pub mod dispatch;
pub mod fair;
pub mod lane;
pub mod limiter;
pub mod permits;
