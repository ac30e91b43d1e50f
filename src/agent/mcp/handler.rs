//! What a server may ask of the gateway: which folder is its own, and a person's answer.
//!
//! Owns the answers. It never lets a model be asked for a server, and gives no answer that no person has given.

use std::sync::Arc;

#[expect(
    deprecated,
    reason = "servers of the protocol's present versions ask for roots and log"
)]
use rmcp::model::{ListRootsResult, LoggingMessageNotificationParam, Root};
use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ElicitRequestParams, ElicitResult, ElicitationAction, Implementation,
        InitializeRequestParams, ProtocolVersion,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::{Map, Value, json};

use super::line::{Answer, Line};
use crate::{agent::tool::park::MAX_SHOWN, pending::Elicited};

/// Longest question, in characters.
const MAX_QUESTION: usize = 2_000;

/// The gateway's end of a connection.
#[derive(Clone)]
pub(super) struct Client(pub(super) Arc<Line>);

#[expect(
    deprecated,
    reason = "servers of the protocol's present versions ask for roots and log"
)]
impl ClientHandler for Client {
    fn get_info(&self) -> InitializeRequestParams {
        let can = json!({ "roots": {}, "elicitation": { "form": {} } });
        // Its form is the protocol's own.
        let can: ClientCapabilities = serde_json::from_value(can).unwrap_or_default();
        let who = Implementation::new("weirgate", env!("CARGO_PKG_VERSION"));
        // The newest that begins with a greeting, as servers know it.
        let version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        InitializeRequestParams::new(can, who).with_protocol_version(version)
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        let root = file_url(&self.0.folder.to_string_lossy());
        Ok(ListRootsResult::new(vec![Root::new(root)]))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let decline = || Ok(ElicitResult::new(ElicitationAction::Decline));
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = request
        else {
            tracing::info!(
                server = self.0.name,
                "a server wants a page opened; declined"
            );
            return decline();
        };
        let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
        let Some(content) = content(&schema) else {
            tracing::info!(
                server = self.0.name,
                "a server asks what a yes does not answer; declined"
            );
            return decline();
        };
        let text = Value::Object(content.clone()).to_string();
        if text.chars().count() > MAX_SHOWN {
            tracing::info!(
                server = self.0.name,
                "a server asks for a yes to more than can be shown; declined"
            );
            return decline();
        }
        let asked = Elicited::new(message.chars().take(MAX_QUESTION).collect(), text);
        match self.0.ask(asked) {
            Answer::Yes => {
                Ok(ElicitResult::new(ElicitationAction::Accept)
                    .with_content(Value::Object(content)))
            }
            Answer::Later => Ok(ElicitResult::new(ElicitationAction::Cancel)),
            Answer::Unknown => {
                tracing::warn!(
                    server = self.0.name,
                    "a server asks for no call in particular; declined"
                );
                decline()
            }
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.changed.notify_one();
    }

    async fn on_logging_message(
        &self,
        said: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        tracing::debug!(server = self.0.name, said = %said.data, "a server logs");
    }
}

/// What a yes means for a form: true where it has to be said whether, and else its defaults. Nothing if it wants to know more.
fn content(schema: &Value) -> Option<Map<String, Value>> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut content = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let value = match (property.get("default"), property["type"].as_str()) {
            // What need not be said nobody said yes to.
            (_, Some("boolean")) if required.contains(&name.as_str()) => Some(json!(true)),
            (Some(default), _) => Some(default.clone()),
            (None, _) => None,
        };
        match value {
            Some(value) => {
                content.insert(name.clone(), value);
            }
            None if required.contains(&name.as_str()) => return None,
            None => {}
        }
    }
    Some(content)
}

/// A folder as an address.
fn file_url(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let mut url = "file://".to_owned();
    for byte in path.bytes() {
        if plain(byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_yes_answers_what_can_be_answered_with_one() {
        let confirm = json!({"type": "object", "properties": {"confirm": {"type": "boolean"}},
            "required": ["confirm"]});
        assert_eq!(
            content(&confirm).map(Value::Object),
            Some(json!({"confirm": true}))
        );
        let beside = json!({"type": "object", "required": ["sure"], "properties": {
            "sure": {"type": "boolean", "default": false}, "force": {"type": "boolean", "default": false},
            "quietly": {"type": "boolean"}}});
        assert_eq!(
            content(&beside).map(Value::Object),
            Some(json!({"sure": true, "force": false})),
            "what need not be said nobody said yes to"
        );
        let defaults = json!({"type": "object", "required": ["n"], "properties":
            {"n": {"type": "integer", "default": 3}, "note": {"type": "string"}}});
        assert_eq!(content(&defaults).map(Value::Object), Some(json!({"n": 3})));
        let open = json!({"type": "object", "required": ["name"], "properties":
            {"name": {"type": "string"}}});
        assert_eq!(content(&open), None);
        assert_eq!(
            content(&json!({"type": "object", "properties": {}})),
            Some(Map::new())
        );
    }

    #[test]
    fn a_folder_becomes_an_address() {
        assert_eq!(file_url("/a b/好"), "file:///a%20b/%E5%A5%BD");
    }
}
