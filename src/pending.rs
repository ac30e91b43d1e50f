//! Pending actions: what is only done when somebody has said yes.
//!
//! Owns what can be waited for, how it is named to people and buttons, and who may answer. A turn that asks ends like
//! any other and holds nothing while it waits: what is to be done is a row of the store, and the answer is a turn of
//! its own that carries it out. It never acts by itself.

mod act;
mod answerer;
mod code;
pub mod expiry;
mod form;
mod parked;
pub mod resume;
mod retire;

pub use act::{Act, Ask, Asked};
pub use answerer::{NotYours, may_answer, may_refuse};
pub use code::{code, id_of};
pub use form::{Pressed, buttons, chosen, pressed};
pub use parked::{Elicited, MAX_CHOICES, Parked, Within};
pub use resume::Resumer;
pub use retire::retire;
