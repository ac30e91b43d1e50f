//! Who may do what: capabilities, roles, and the decision that yields a proof.
//!
//! Owns the nine capability bits, the built-in roles and the one function that decides. It never acts:
//! whatever needs a right takes the [`Proof`] as an argument, and a proof cannot be made elsewhere.

pub mod audit;
pub mod capability;
pub mod config;
pub mod decide;
pub mod role;

pub use audit::{AuditEvent, AuditRecord};
pub use capability::Capability;
pub use decide::{Actor, Denial, Proof, Scope, decide};
pub use role::{Role, role_of};
