//! What is made of the schemas that servers send.
//!
//! Owns the repair of what is odd and harmless; what is neither is reported, and its tool alone left out. Pure.

use serde_json::{Map, Value, json};

/// Deepest schema that is looked into.
const MAX_DEPTH: usize = 32;
/// Largest schema, in bytes of its JSON: one must not fill the context.
const MAX_BYTES: usize = 32 * 1024;

/// A schema that providers take.
///
/// # Errors
/// What is wrong with it.
pub(super) fn repaired(schema: Option<&Value>) -> Result<Value, String> {
    let mut object = match schema {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(object)) => object.clone(),
        Some(_) => return Err("its schema is no object".to_owned()),
    };
    match object.get("type") {
        None | Some(Value::Null) => {
            object.insert("type".to_owned(), json!("object"));
        }
        Some(Value::String(kind)) if kind == "object" => {}
        Some(kind) => return Err(format!("its arguments are {kind} and no object")),
    }
    if !object.get("properties").is_some_and(Value::is_object) {
        object.insert("properties".to_owned(), json!({}));
    }
    let mut schema = Value::Object(object);
    repair(&mut schema, MAX_DEPTH);
    let bytes = schema.to_string().len();
    if bytes > MAX_BYTES {
        return Err(format!(
            "its schema has {bytes} bytes, more than {MAX_BYTES}"
        ));
    }
    Ok(schema)
}

/// Repairs a schema and what stands below it.
fn repair(schema: &mut Value, depth: usize) {
    let (Value::Object(object), Some(below)) = (schema, depth.checked_sub(1)) else {
        return;
    };
    // A list of names, and nothing else; older drafts had it at each property.
    if object
        .get("required")
        .is_some_and(|required| !required.is_array())
    {
        object.remove("required");
    }
    if object.get("type") == Some(&json!("array")) && !object.contains_key("items") {
        object.insert("items".to_owned(), json!({}));
    }
    for key in ["properties", "$defs", "definitions"] {
        match object.get_mut(key) {
            Some(Value::Object(parts)) => parts.values_mut().for_each(|part| repair(part, below)),
            Some(Value::Null) => {
                object.remove(key);
            }
            _ => {}
        }
    }
    for key in ["items", "additionalProperties", "not"] {
        if let Some(part) = object.get_mut(key) {
            repair(part, below);
        }
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(parts)) = object.get_mut(key) {
            parts.iter_mut().for_each(|part| repair(part, below));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tool::schema::Schema;

    #[test]
    fn what_is_odd_is_repaired_and_what_is_wrong_reported() {
        let empty = json!({"type": "object", "properties": {}});
        for odd in [
            Value::Null,
            json!({}),
            json!({"type": "object"}),
            json!({"type": "object", "required": null}),
            json!({"type": null, "properties": null}),
        ] {
            assert_eq!(repaired(Some(&odd)).as_ref(), Ok(&empty), "{odd}");
        }
        assert_eq!(repaired(None), Ok(empty));
        let property = json!({"type": "object", "properties": {
            "a": {"type": "string", "required": true}, "b": {"type": "array"} }});
        let repaired_one = repaired(Some(&property)).unwrap();
        assert_eq!(
            repaired_one["properties"],
            json!({"a": {"type": "string"}, "b": {"type": "array", "items": {}}})
        );
        assert!(Schema::new(&repaired_one).is_ok());
        for wrong in [json!({"type": "string"}), json!(["object"]), json!(7)] {
            assert!(repaired(Some(&wrong)).is_err(), "{wrong}");
        }
        let large = json!({"type": "object", "description": "x".repeat(MAX_BYTES)});
        assert!(repaired(Some(&large)).is_err());
    }
}
