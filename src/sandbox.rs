//! Programs that models have run: each is kept by a process of its own that ends with the gateway, and one that is not
//! trusted is confined before it begins.
//!
//! Owns what the helper subcommand `weirgate sandbox` does. Nothing here runs inside of the gateway but the look at
//! what the kernel can; what is run, and for whom, others decide.

mod confine;
mod descendants;
mod filter;
mod keep;
pub mod kernel;
mod limits;

pub use confine::{Confine, SYSTEM, Workspace, enter};
pub use keep::keep;
pub use limits::Limits;

/// The exit code of the helper when it could not begin: what it was to run has not run.
pub const NOT_BEGUN: u8 = 125;
