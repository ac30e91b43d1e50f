//! Why a request is refused, as JSON-RPC tells it.
//!
//! Owns the codes. Those of `agent/call` and those of A2A are two lists: a code may stand in both.

/// A refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl Fault {
    // Of JSON-RPC.
    pub(crate) const NOT_JSON: i32 = -32_700;
    pub(crate) const NO_REQUEST: i32 = -32_600;
    pub(crate) const NO_METHOD: i32 = -32_601;
    pub(crate) const BAD_PARAMS: i32 = -32_602;
    pub(crate) const INTERNAL: i32 = -32_603;
    // Of agent/call.
    pub(crate) const UNKNOWN_CALLER: i32 = -32_001;
    pub(crate) const UNKNOWN_AGENT: i32 = -32_002;
    pub(crate) const REFUSED: i32 = -32_003;
    pub(crate) const CANCELLED: i32 = -32_800;
    // Of A2A.
    pub(crate) const UNKNOWN_TASK: i32 = -32_001;
    pub(crate) const NOT_CANCELABLE: i32 = -32_002;
    pub(crate) const NO_PUSH: i32 = -32_003;
    pub(crate) const NOT_SUPPORTED: i32 = -32_004;
    pub(crate) const CONTENT: i32 = -32_005;
    pub(crate) const VERSION: i32 = -32_009;

    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    /// A line that is too long to be read.
    pub(crate) fn too_long() -> Self {
        Self::new(Self::NO_REQUEST, "the line is too long")
    }

    /// Parameters that are not as they should be.
    pub(crate) fn params(message: impl Into<String>) -> Self {
        Self::new(Self::BAD_PARAMS, message)
    }
}
