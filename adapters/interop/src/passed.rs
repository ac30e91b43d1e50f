//! Through which gateways a task came, as its caller says.
//!
//! Owns the form and the bounds of the list. What follows from it is the gateway's.

use serde_json::Value;

use crate::{acp::wire::is_label, fault::Fault};

/// Its name among the metadata of a message in A2A.
pub(crate) const METADATA: &str = "weirgate/passed";
/// Most gateways that a caller may name.
const MOST: usize = 32;

/// Reads the list; empty where there is none.
///
/// # Errors
/// It is something else. A caller that speaks of it at all is to speak of it rightly.
pub(crate) fn passed(said: &Value) -> Result<Vec<String>, Fault> {
    let fault = || Fault::params(format!("passed is a list of at most {MOST} marks"));
    let marks = match said {
        Value::Null => return Ok(Vec::new()),
        Value::Array(marks) if marks.len() <= MOST => marks.iter(),
        _ => return Err(fault()),
    };
    let mark = |mark: &Value| {
        let mark = mark.as_str().filter(|mark| is_label(mark));
        mark.map(str::to_owned).ok_or_else(fault)
    };
    marks.map(mark).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_of_marks_is_read_and_nothing_else() {
        assert_eq!(passed(&Value::Null), Ok(Vec::new()));
        assert_eq!(
            passed(&json!(["a-1", "b"])),
            Ok(vec!["a-1".into(), "b".into()])
        );
        for odd in [
            json!("a"),
            json!([7]),
            json!(["a b"]),
            json!([""]),
            json!(vec!["x"; 33]),
        ] {
            assert_eq!(passed(&odd).unwrap_err().code, Fault::BAD_PARAMS, "{odd}");
        }
    }
}
