//! Frames with an `act`: `system`, `setting` and `session`.
//!
//! Owns the names of the acts and what each may carry. Pure.

use serde_json::{Map, Value};
use weirgate_sdk::Change;

use super::{Act, SessionAct, Setting};
use crate::texts::Code;

/// Most keys that are set at once.
const MAX_CHANGES: usize = 32;

fn act(fields: &Map<String, Value>) -> Result<&str, Code> {
    let act = fields.get("content").and_then(|content| content.get("act"));
    act.and_then(Value::as_str).ok_or(Code::BadFrame)
}

pub(super) fn system(fields: &Map<String, Value>) -> Result<Act, Code> {
    match act(fields)? {
        "getVersion" => Ok(Act::Version),
        "getModels" => Ok(Act::Models),
        _ => Err(Code::UnknownAct),
    }
}

pub(super) fn session(fields: &Map<String, Value>) -> Result<SessionAct, Code> {
    let all = [SessionAct::New, SessionAct::Clear, SessionAct::Delete];
    let name = act(fields)?;
    let found = all.into_iter().find(|act| act.name() == name);
    found.ok_or(Code::UnknownAct)
}

pub(super) fn setting(fields: &Map<String, Value>) -> Result<Setting, Code> {
    match act(fields)? {
        "getConfig" => Ok(Setting::Running),
        "getDefaultConfig" => Ok(Setting::Default),
        "saveConfig" => {
            let data = fields
                .get("content")
                .and_then(|content| content.get("data"));
            let mut changes = Vec::new();
            match data {
                Some(Value::Object(data)) if !data.is_empty() => flatten("", data, &mut changes)?,
                _ => return Err(Code::BadFrame),
            }
            changes.sort_by(|one, other| one.key.cmp(&other.key));
            Ok(Setting::Save(changes))
        }
        _ => Err(Code::UnknownAct),
    }
}

/// Keys may be paths, or objects in each other; values are written as in agent.yaml, of which JSON is a part.
fn flatten(path: &str, data: &Map<String, Value>, changes: &mut Vec<Change>) -> Result<(), Code> {
    for (key, value) in data {
        let key = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        let value = match value {
            Value::Object(data) => {
                flatten(&key, data, changes)?;
                continue;
            }
            Value::Null => None,
            value => Some(value.to_string()),
        };
        if changes.len() >= MAX_CHANGES {
            return Err(Code::BadCount);
        }
        changes.push(Change { key, value });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(content: Value, expected: Result<Setting, Code>) {
        let frame = json!({ "content": content });
        assert_eq!(setting(frame.as_object().unwrap()), expected, "{content}");
    }

    #[test]
    fn changes_are_paths_however_they_are_written() {
        let change = |key: &str, value: Option<&str>| Change {
            key: key.to_owned(),
            value: value.map(str::to_owned),
        };
        let data = json!({ "flow_control.user": { "rate": 2, "burst": null }, "language": "en",
            "context": { "ambient": { "enable": true } } });
        let saved = vec![
            change("context.ambient.enable", Some("true")),
            change("flow_control.user.burst", None),
            change("flow_control.user.rate", Some("2")),
            change("language", Some("\"en\"")),
        ];
        check(
            json!({ "act": "saveConfig", "data": data }),
            Ok(Setting::Save(saved)),
        );
        check(json!({ "act": "getConfig" }), Ok(Setting::Running));
        check(json!({ "act": "getDefaultConfig" }), Ok(Setting::Default));
    }

    #[test]
    fn what_is_wrong_has_a_code() {
        check(json!({}), Err(Code::BadFrame));
        check(json!({ "act": "dropConfig" }), Err(Code::UnknownAct));
        for data in [json!(null), json!({}), json!([1]), json!("x")] {
            check(
                json!({ "act": "saveConfig", "data": data }),
                Err(Code::BadFrame),
            );
        }
        let many: Map<String, Value> = (0..33).map(|n| (format!("k{n}"), json!(1))).collect();
        check(
            json!({ "act": "saveConfig", "data": many }),
            Err(Code::BadCount),
        );
    }
}
