//! Messages that an operator had accepted anew: queued like any others.
//!
//! Owns nothing. It runs on the journal's thread, so that their order is the journal's.

use std::sync::Arc;

use super::Intake;
use crate::{schedule::dispatch, store::Waiting};

impl Intake {
    /// Queues messages that are in the journal already; a full queue treats them like new ones. Called in
    /// the continuation of the operation that wrote them.
    pub fn again(&self, rows: &[Waiting]) {
        let parts = &self.shared.parts;
        for row in rows {
            let key = parts.keying.key(row.account, row.conversation, row.person);
            match dispatch::entry(row.clone(), key, false) {
                Some(entry) => {
                    self.shared.enqueue(entry, row.at);
                }
                None => {
                    let (agent, row) = (Arc::clone(&parts.agent), row.clone());
                    // At most as many as one operation holds.
                    self.shared
                        .runtime
                        .spawn(async move { agent.control(row).await });
                }
            }
        }
    }
}
