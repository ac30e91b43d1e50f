//! The toolkit that reads agent.yaml: the core and every adapter read their sections with it.
//!
//! Owns the tree of what a file says ([`Node`]), the typed readers ([`Fields`], [`Setting`]), what can
//! be wrong ([`Problem`]) and [`Secret`]. Every fault becomes one problem and reading goes on with the
//! default, so that one run reports them all. It never parses YAML, expands a variable or opens a file.
//!
//! ```
//! use std::time::Duration;
//! use weirgate_sdk::settings::{Fields, Node, Problems};
//!
//! let node = Node::map([("url", Node::text("ws://127.0.0.1:3001")), ("timeuot", Node::text("5"))]);
//! let problems = Problems::new();
//! let mut fields = Fields::new(&node, "platforms.qq.accounts.main", &problems);
//! let url = fields.required_text("url");
//! let timeout = fields.seconds("timeout", Duration::from_secs(10), 0.1..=60.0);
//! fields.finish();
//! assert_eq!(url.as_deref(), Some("ws://127.0.0.1:3001"));
//! assert_eq!(timeout, Duration::from_secs(10));
//! assert_eq!(problems.take()[0].hint.as_deref(), Some("did you mean timeout?"));
//! ```

mod fields;
mod nearest;
mod node;
mod problem;
mod reference;
mod scalar;
mod secret;
mod setting;

pub use fields::Fields;
pub use nearest::nearest;
pub use node::{Entry, Node, Place, Scalar, Value, join};
pub use problem::{Kind, Problem, Problems, Severity};
pub use reference::{Described, Shape};
pub use secret::Secret;
pub use setting::Setting;

#[cfg(test)]
mod tests;
