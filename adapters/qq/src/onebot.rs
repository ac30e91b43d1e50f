//! OneBot v11: the wire format, the ways to reach an implementation, the way in and the way out.
//!
//! Owns the list of its parts. `wire`, `cq`, `card`, `segment`, `receive`, `request`, `send`, `folded`, `answer`, `version`,
//! `handshake`, `uploads` is pure; `reverse` (with `door`), `forward` (with `dial`) and `http` are the three
//! ways; `session`, `links`, `call`, `welcome`, `history` and `intake` do the work that they share,
//! `moderate` (with `members`) and `leave` what is done in groups, `typing` what is shown in private chats.

use std::time::Duration;

pub mod answer;
pub mod call;
pub mod card;
pub mod cq;
pub mod dial;
pub mod door;
pub mod download;
pub mod folded;
pub mod forward;
pub mod handshake;
pub mod history;
pub mod http;
pub mod intake;
pub mod leave;
pub mod life;
pub mod links;
pub mod members;
pub mod moderate;
pub mod places;
pub mod quote;
pub mod receive;
pub mod request;
pub mod reverse;
pub mod seen;
pub mod segment;
pub mod send;
pub mod sent;
pub mod session;
pub mod typing;
pub mod upload;
pub mod uploads;
pub mod version;
pub mod welcome;
pub mod wire;

/// At the end: how long calls under way may still be answered.
pub const CALLS_LIMIT: Duration = Duration::from_secs(2);
/// At the end: how long connections may take to close.
pub const CLOSE_LIMIT: Duration = session::DRAIN_LIMIT.saturating_add(Duration::from_millis(500));
