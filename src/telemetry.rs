//! Telemetry: what the process tells its operator about itself.

pub mod config;
pub mod logging;
pub mod metrics;
pub mod traces;
