//! OneBot v11 over reverse WebSocket: the wire format, the connections, the way in and the way out.
//!
//! Owns the list of its parts. `wire`, `cq`, `card`, `segment`, `receive`, `send` and `answer` are pure;
//! `connect`, `session`, `links`, `call` and `intake` do the work on sockets.

pub mod answer;
pub mod call;
pub mod card;
pub mod connect;
pub mod cq;
pub mod intake;
pub mod life;
pub mod links;
pub mod places;
pub mod receive;
pub mod segment;
pub mod send;
pub mod sent;
pub mod session;
pub mod wire;
