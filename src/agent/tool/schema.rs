//! Whether arguments fit a tool's JSON Schema.
//!
//! Owns the compiled schema and what the model is told of a misfit. It loads nothing: a schema that names another
//! document is refused.

use std::fmt;

use boon::{Compiler, SchemaIndex, Schemas, UrlLoader};
use serde_json::{Map, Value};

/// Longest text about a misfit, in characters.
const MAX_MISFIT: usize = 600;
/// The name under which the schema is compiled; it is never opened.
const NAME: &str = "https://schema.invalid/arguments.json";

/// A compiled schema.
pub struct Schema {
    schemas: Schemas,
    root: SchemaIndex,
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

/// Opens nothing.
struct Nothing;

impl UrlLoader for Nothing {
    fn load(&self, url: &str) -> Result<Value, Box<dyn std::error::Error>> {
        Err(format!("{url} is another document").into())
    }
}

impl Schema {
    /// Compiles a schema, which must be one of objects.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(schema: &Value) -> Result<Self, String> {
        if schema.get("type").and_then(Value::as_str) != Some("object") {
            return Err("the schema of the arguments is not of type object".to_owned());
        }
        let mut compiler = Compiler::new();
        compiler.use_loader(Box::new(Nothing));
        let mut schemas = Schemas::new();
        let told = |error: boon::CompileError| format!("{error:#}");
        compiler.add_resource(NAME, schema.clone()).map_err(told)?;
        let root = compiler.compile(NAME, &mut schemas).map_err(told)?;
        Ok(Self { schemas, root })
    }

    /// Checks arguments.
    ///
    /// # Errors
    /// What does not fit, for the model.
    pub fn check(&self, arguments: &Map<String, Value>) -> Result<(), String> {
        let arguments = Value::Object(arguments.clone());
        let checked = self.schemas.validate(&arguments, self.root);
        checked.map_err(|error| {
            let text = error.to_string();
            // The first line names the schema, which the model knows.
            let lines: Vec<&str> = text.lines().skip(1).map(str::trim).collect();
            lines.join("; ").chars().take(MAX_MISFIT).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn checked(schema: &Value, arguments: &Value) -> Result<(), String> {
        Schema::new(schema)?.check(arguments.as_object().unwrap())
    }

    #[test]
    fn arguments_that_do_not_fit_are_told_with_their_place() {
        let schema = json!({"type": "object", "required": ["n"], "additionalProperties": false,
            "properties": {"n": {"type": "integer", "minimum": 1}}});
        assert_eq!(checked(&schema, &json!({"n": 2})), Ok(()));
        for wrong in [
            json!({}),
            json!({"n": "2"}),
            json!({"n": 0}),
            json!({"n": 1, "m": 1}),
        ] {
            let told = checked(&schema, &wrong).unwrap_err();
            assert!(
                told.contains('n') && !told.contains("schema.invalid"),
                "{told}"
            );
        }
    }

    #[test]
    fn a_schema_that_is_none_or_names_other_documents_is_refused() {
        for wrong in [
            json!({"type": "string"}),
            json!({}),
            json!({"type": "object", "properties": 5}),
            json!({"type": "object", "$ref": "file:///etc/hostname"}),
            json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/x"}}}),
        ] {
            assert!(Schema::new(&wrong).is_err(), "{wrong}");
        }
    }
}
