//! The form of answers.

use serde_json::{Value, json};

/// A refusal.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Refusal {
    pub(super) code: u16,
    pub(super) description: String,
    pub(super) parameters: Value,
}

impl Refusal {
    /// A refusal of what was asked for.
    pub(super) fn bad(description: impl AsRef<str>) -> Self {
        Self {
            code: 400,
            description: format!("Bad Request: {}", description.as_ref()),
            parameters: Value::Null,
        }
    }

    /// A refusal of the bot.
    pub(super) fn forbidden(description: &str) -> Self {
        Self {
            code: 403,
            description: format!("Forbidden: {description}"),
            parameters: Value::Null,
        }
    }

    /// A refusal because of another request.
    pub(super) fn conflict(description: &str) -> Self {
        Self {
            code: 409,
            description: format!("Conflict: {description}"),
            parameters: Value::Null,
        }
    }

    /// Too much at once.
    pub(super) fn flood(seconds: u64) -> Self {
        Self {
            code: 429,
            description: format!("Too Many Requests: retry after {seconds}"),
            parameters: json!({ "retry_after": seconds }),
        }
    }

    /// The body of the answer.
    pub(super) fn body(&self) -> String {
        let mut body =
            json!({ "ok": false, "error_code": self.code, "description": self.description });
        if !self.parameters.is_null() {
            body["parameters"] = self.parameters.clone();
        }
        body.to_string()
    }
}
