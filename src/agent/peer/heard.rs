//! What of an answer has come so far, piece by piece.
//!
//! Owns how pieces become one text, and its bound. Pure.

use serde_json::Value;

/// The longest text that is kept, in bytes; the model gets less of it.
pub(super) const MAX_TEXT: usize = 256 * 1024;
/// Put behind a text that was cut.
const CUT: &str = "\n[…]";

/// An answer on its way.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Heard {
    text: String,
    cut: bool,
}

impl Heard {
    /// A piece of the text, or all of it anew.
    pub(super) fn event(&mut self, event: &Value) {
        let text = event["text"].as_str().unwrap_or_default();
        match event["type"].as_str() {
            Some("delta") => self.push(text),
            Some("replace") => self.replace(text),
            _ => {}
        }
    }

    /// One more piece.
    pub(super) fn push(&mut self, text: &str) {
        if self.cut {
            return;
        }
        let room = MAX_TEXT.saturating_sub(self.text.len());
        if text.len() <= room {
            self.text.push_str(text);
            return;
        }
        let end = text.floor_char_boundary(room);
        self.text.push_str(text.get(..end).unwrap_or_default());
        self.cut = true;
    }

    /// Another text in the place of what came so far.
    pub(super) fn replace(&mut self, text: &str) {
        *self = Self::default();
        self.push(text);
    }

    /// The whole text, as the final answer says it, or else as it came.
    pub(super) fn ended(mut self, answer: &Value) -> String {
        let whole = answer["text"].as_str().or(answer.as_str());
        match whole {
            Some(text) if !text.is_empty() => self.replace(text),
            // The answer of an agent that knows no text.
            None if self.text.is_empty() && !answer.is_null() => self.replace(&answer.to_string()),
            _ => {}
        }
        self.whole()
    }

    /// The text as it is.
    pub(super) fn whole(mut self) -> String {
        if self.cut {
            self.text.push_str(CUT);
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_are_joined_and_the_final_answer_counts() {
        let mut heard = Heard::default();
        heard.event(&json!({ "type": "delta", "text": "a" }));
        heard.event(&json!({ "type": "delta", "text": "b" }));
        heard.event(&json!({ "type": "other", "text": "x" }));
        heard.event(&json!(7));
        assert_eq!(heard.text, "ab");
        heard.event(&json!({ "type": "replace", "text": "c" }));
        assert_eq!(heard.ended(&json!({ "status": "done" })), "c");
        let heard = |answer: &Value| {
            let mut heard = Heard::default();
            heard.push("so far");
            heard.ended(answer)
        };
        assert_eq!(heard(&json!({ "text": "all" })), "all");
        assert_eq!(heard(&json!("all")), "all");
        assert_eq!(heard(&json!(null)), "so far");
        assert_eq!(Heard::default().ended(&json!({ "n": 1 })), r#"{"n":1}"#);
    }

    proptest! {
        #[test]
        fn a_text_never_grows_beyond_its_bound(pieces in prop::collection::vec("[a好]{0,9000}", 0..24)) {
            let mut heard = Heard::default();
            for piece in &pieces {
                heard.push(piece);
            }
            let all = pieces.concat();
            let whole = heard.whole();
            prop_assert!(whole.len() <= MAX_TEXT + CUT.len());
            let kept = whole.strip_suffix(CUT).unwrap_or(&whole);
            prop_assert!(all.starts_with(kept));
            prop_assert_eq!(kept == all, all.len() <= MAX_TEXT);
        }
    }
}
