//! What adapters share that reach their platform over the network.
//!
//! Owns the client for HTTP calls and what a failure below HTTP means (`http`), the WebSocket over which frames come
//! (`socket`), sessions of events over it (`session`), and the word of how the connection stands (`report`). It knows no
//! platform: what differs between them is an argument, or a method of [`session::Gateway`]. It never repeats a call and
//! never shows an address, of which a secret may be a part.

pub mod http;
pub mod report;
pub mod session;
pub mod socket;
