//! The audit log for an operator: whole records, so that he can verify them, with the keys behind their numbers.
//!
//! Owns the shape of such a record. Nothing is redacted in it, because it would not be the record any more: what is
//! written into the log holds no secrets.

use serde::{Deserialize, Serialize};

use super::{
    ask::{Answer, PAGE, Refusal},
    desk::{Desk, Keys},
};
use crate::store::{AuditFilter, audit::StoredAudit};

/// A record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRow {
    /// As it is stored.
    pub record: StoredAudit,
    /// The operator's key; none where it was the program itself or whoever may open the data folder.
    pub operator: Option<String>,
    /// The conversation's key, if it belongs to one.
    pub conversation: Option<String>,
}

impl Desk {
    /// Records behind an id, oldest first, with the head of the chain.
    pub(super) async fn audit(&self, after: i64, limit: usize) -> Result<Answer, Refusal> {
        let filter = AuditFilter::After(after);
        let page = self.store.audit(filter, limit.min(PAGE)).await?;
        let mut keys = Keys::default();
        let mut rows = Vec::with_capacity(page.rows.len());
        for record in page.rows {
            let (operator, conversation) = (record.operator, record.conversation);
            let operator = match operator {
                0 => None,
                id => Some(self.person(id, &mut keys).await?),
            };
            let conversation = match conversation {
                0 => None,
                id => Some(self.conversation(id, &mut keys).await?),
            };
            rows.push(AuditRow {
                record,
                operator,
                conversation,
            });
        }
        Ok(Answer::Audit {
            rows,
            seq: page.head.seq,
            head: page.head.hash.to_string(),
        })
    }
}
