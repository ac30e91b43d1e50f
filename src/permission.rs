//! Who may do what: capabilities, roles, and the decision that yields a proof.
//!
//! Owns the nine capability bits, the roles, who has which, and the one function that decides. It never acts:
//! whatever needs a right takes the [`Proof`] as an argument, and a proof cannot be made elsewhere.

pub mod assign;
pub mod audit;
pub mod capability;
pub mod config;
pub mod decide;
mod inherit;
pub mod level;
pub mod policy;
pub mod role;
pub mod standing;

pub use audit::{AuditEvent, AuditRecord};
pub use capability::Capability;
pub use config::Permissions;
pub use decide::{Actor, Denial, Proof, Scope, decide};
pub use level::Level;
pub use role::{BuiltIn, Role, Roles};
pub use standing::{Standing, standing};
