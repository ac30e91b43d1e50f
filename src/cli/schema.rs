//! `weirgate schema`.

use std::process::ExitCode;

use super::say;
use crate::{app::adapters, config::schema::schema};

/// Prints the JSON Schema of agent.yaml.
pub(super) fn schema_of_configuration() -> ExitCode {
    // A value of JSON always has a text.
    let text = serde_json::to_string_pretty(&schema(&adapters::known())).unwrap_or_default();
    say(&text);
    ExitCode::SUCCESS
}
