//! The description of the interface over HTTP, as OpenAPI 3.1.
//!
//! Owns the description, from which `docs/openapi.json` is written; a test compares them.

use serde_json::{Value, json};

/// The parts of a path below a site, with their methods.
const PATHS: [&str; 10] = [
    "",
    "/visitors",
    "/messages",
    "/files",
    "/sessions",
    "/sessions/{session}",
    "/sessions/{session}/clear",
    "/press",
    "/stop",
    "/events",
];

/// The whole description.
#[must_use]
pub fn document(version: &str) -> Value {
    let site = json!({ "name": "site", "in": "path", "required": true, "schema": { "type": "string" },
        "description": "The name of the account of platforms.webchat." });
    let mut paths = json!({});
    for (path, item) in PATHS.iter().zip(items()) {
        let mut item = item;
        item["parameters"] = json!([site]);
        paths[format!("/api/chat/{{site}}{path}")] = item;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Weirgate web chat", "version": version,
            "description": "The web chat for clients without a WebSocket. docs/protocol.md explains the frames that the answers and events are.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "paths": paths,
        "security": [{ "visitor": [] }],
        "components": {
            "securitySchemes": { "visitor": { "type": "http", "scheme": "bearer",
                "description": "A visitor's token, or a signed identity." } },
            "schemas": schemas(),
            "responses": responses(),
        },
    })
}

fn items() -> [Value; 10] {
    [
        json!({ "get": open("What a site says of itself", answer("200", "About")) }),
        json!({ "post": open("Become a visitor: a token to be kept", answer("201", "Token")) }),
        json!({
            "get": asks("Past messages, oldest first", &json!([
                query("sessionId", &json!({ "type": "string", "pattern": SESSION })),
                query("before", &json!({ "type": "integer", "format": "int64" })),
                query("limit", &json!({ "type": "integer", "minimum": 0, "format": "int64" })),
            ]), None, answer("200", "History")),
            "post": asks("Say something: it is stored when the answer comes, and answered by events", &json!([]),
                Some("Message"), answer("202", "Ack")),
        }),
        json!({ "post": upload() }),
        json!({
            "get": asks("The visitor's conversations, the one that he wrote in last first", &json!([]), None,
                answer("200", "Sessions")),
            "post": asks("A label for a new conversation, which begins with its first message", &json!([]), None,
                answer("201", "Session")),
        }),
        json!({ "delete": asks("Delete a conversation: what was said and what was set in it", &json!([session()]), None,
            json!({ "204": { "description": "Nothing of it is left." } })) }),
        json!({ "post": asks("Empty a conversation: what was said in it goes", &json!([session()]), None,
            json!({ "204": { "description": "It is empty." } })) }),
        json!({ "post": asks("Press a button under an answer: it is stored when the answer comes, and answered by events",
            &json!([]), Some("Press"), answer("202", "Ack")) }),
        json!({ "post": asks("End the answer that is being written", &json!([]), Some("Stop"),
            json!({ "204": { "description": "It is ended." } })) }),
        json!({ "get": asks("The frames of a conversation as they come", &json!([
            query("sessionId", &json!({ "type": "string", "pattern": SESSION })),
            { "name": "Last-Event-ID", "in": "header", "schema": { "type": "string" },
              "description": "The id of the last event that the client has." },
        ]), None, json!({ "200": { "description": "Server-sent events without an end.",
            "content": { "text/event-stream": { "schema": { "type": "string" } } } } })) }),
    ]
}

/// A file on its way.
fn upload() -> Value {
    let header = |name: &str, schema: Value, what: &str| json!({ "name": name, "in": "header", "schema": schema, "description": what });
    let parameters = json!([
        header(
            "X-Session",
            json!({ "type": "string", "pattern": SESSION }),
            "The conversation that the file belongs to; main without it."
        ),
        header(
            "X-File-Name",
            json!({ "type": "string", "pattern": "^[A-Za-z0-9_.%-]{1,200}$" }),
            "What it is called, in percent-encoded UTF-8."
        ),
    ]);
    let mut item = asks(
        "Send a file, which a message then names",
        &parameters,
        None,
        answer("200", "File"),
    );
    for (status, _) in FAULTS {
        item["responses"][status] = json!({ "$ref": "#/components/responses/NoFile" });
    }
    item["responses"]["415"] = json!({ "$ref": "#/components/responses/NoFile" });
    item["requestBody"] = json!({ "required": true, "content": { "application/octet-stream": {
        "schema": { "type": "string", "format": "binary" } } } });
    item
}

fn session() -> Value {
    json!({ "name": "session", "in": "path", "required": true, "schema": { "type": "string", "pattern": SESSION },
        "description": "The label of the conversation." })
}

/// What may be in a label of a conversation.
const SESSION: &str = "^[A-Za-z0-9_-]{1,64}$";

fn query(name: &str, schema: &Value) -> Value {
    json!({ "name": name, "in": "query", "schema": schema })
}

fn answer(status: &str, schema: &str) -> Value {
    json!({ status: { "description": schema, "content": { "application/json": {
        "schema": { "$ref": format!("#/components/schemas/{schema}") } } } } })
}

/// What anybody may ask.
fn open(summary: &str, answers: Value) -> Value {
    let mut item = asks(summary, &json!([]), None, answers);
    item["security"] = json!([]);
    item
}

/// What a visitor may ask.
fn asks(summary: &str, parameters: &Value, body: Option<&str>, mut answers: Value) -> Value {
    for (status, name) in FAULTS {
        answers[status] = json!({ "$ref": format!("#/components/responses/{name}") });
    }
    let mut item = json!({ "summary": summary, "parameters": parameters, "responses": answers });
    if let Some(schema) = body {
        let schema = json!({ "$ref": format!("#/components/schemas/{schema}") });
        item["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    item
}

const FAULTS: [(&str, &str); 8] = [
    ("400", "Wrong"),
    ("401", "Unknown"),
    ("403", "Foreign"),
    ("404", "Missing"),
    ("409", "Refused"),
    ("413", "TooLong"),
    ("429", "TooMuch"),
    ("503", "Later"),
];

fn responses() -> Value {
    let fault = |what: &str| {
        json!({ "description": what, "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/Fault" } } } })
    };
    json!({
        "Wrong": { "description": "Something in the request is wrong." },
        "Unknown": fault("No visitor is shown, or none that is good."),
        "Foreign": { "description": "The page or the host is not of the site, or the visitor may not." },
        "Missing": { "description": "A file that the message names is not there." },
        "NoFile": { "description": "The file is not taken.", "content": { "application/json": { "schema": {
            "type": "object", "required": ["error"], "properties": {
                "error": { "type": "string" }, "limit": { "type": "integer", "format": "int64" } } } } } },
        "Refused": fault("The gateway does not take the message. Do not send it again."),
        "TooLong": { "description": "The text or the body is too long." },
        "TooMuch": fault("The visitor is over a limit."),
        "Later": fault("Not done. Ask again later."),
    })
}

fn schemas() -> Value {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "integer", "format": "int64" });
    let session = json!({ "type": ["string", "null"], "pattern": SESSION });
    json!({
        "About": { "type": "object", "required": ["title", "suggestions", "maxMessage"], "properties": {
            "title": text, "greeting": text, "placeholder": text, "color": text, "maxMessage": number,
            "position": { "enum": ["left"] },
            "files": { "type": "boolean" }, "suggestions": { "type": "array", "items": text },
            "maxFile": { "type": "object", "description": "The largest files in bytes, by kind; absent if none are taken.",
                "additionalProperties": number } } },
        "Token": { "type": "object", "required": ["token"], "properties": { "token": text } },
        "Message": { "type": "object", "required": ["messageId", "text"], "properties": {
            "sessionId": session, "text": { "type": "string", "pattern": "\\S",
                "description": "May be left out beside files." },
            "files": { "type": ["array", "null"], "maxItems": 10, "items": { "type": "string", "pattern": "^[A-Za-z0-9]{1,64}$" },
                "description": "Names of files that were sent before." },
            "messageId": { "type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,64}$",
                "description": "New for each message; sent again with the same one, a message is taken once." } } },
        "Press": press(&session),
        "Stop": { "type": "object", "properties": { "sessionId": session } },
        "Ack": { "type": "object", "required": ["messageId", "sessionId"], "properties": {
            "messageId": text, "sessionId": text, "id": number, "duplicate": { "type": "boolean" } } },
        "History": { "type": "object", "required": ["messages", "more", "sessionId"], "properties": {
            "sessionId": text, "more": { "type": "boolean" }, "before": number,
            "messages": { "type": "array", "items": past() } } },
        "Button": button(),
        "SentFile": sent_file(),
        "Session": { "type": "object", "required": ["sessionId"], "properties": { "sessionId": text } },
        "File": { "type": "object", "required": ["file", "kind", "size"], "properties": { "file": text,
            "kind": { "enum": ["image", "audio", "video", "file"] }, "name": { "type": ["string", "null"] },
            "size": number } },
        "Sessions": { "type": "object", "required": ["sessions"], "properties": { "sessions": { "type": "array",
            "items": { "type": "object", "required": ["sessionId", "title", "at"],
                "properties": { "sessionId": text, "title": text, "at": number } } } } },
        "Fault": { "type": "object", "required": ["code", "text"], "properties": { "code": text, "text": text } },
    })
}

/// A message of the history.
fn past() -> Value {
    let text = json!({ "type": "string" });
    let list = |name: &str| json!({ "type": "array", "items": { "$ref": format!("#/components/schemas/{name}") } });
    json!({ "type": "object", "required": ["id", "at", "role", "html"], "properties": {
        "id": { "type": "integer", "format": "int64" }, "at": { "type": "integer", "format": "int64" },
        "role": { "enum": ["user", "assistant"] }, "html": text, "turn": text, "messageId": text,
        "pending": { "type": "boolean" }, "pressed": { "type": "boolean" }, "files": list("SentFile"),
        "buttons": list("Button"), "open": { "type": "boolean" }, "chosen": text,
        "answers": { "type": "array", "items": text } } })
}

fn press(session: &Value) -> Value {
    json!({ "type": "object", "required": ["messageId", "id", "button"], "properties": {
        "sessionId": session, "id": { "type": "integer", "format": "int64", "description": "The answer." },
        "button": { "type": "string", "pattern": "^[!-~]{1,64}$" },
        "messageId": { "type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,64}$",
            "description": "New for each press; sent again with the same one, it is taken once." } } })
}

fn button() -> Value {
    let text = json!({ "type": "string" });
    json!({ "type": "object", "required": ["id", "label", "style"], "properties": {
        "id": text, "label": text, "style": { "enum": ["plain", "positive", "negative"] } } })
}

fn sent_file() -> Value {
    let text = json!({ "type": "string" });
    json!({ "type": "object", "required": ["kind"], "properties": {
        "kind": text, "file": text, "name": { "type": ["string", "null"] }, "mime": text,
        "size": { "type": ["integer", "null"], "format": "int64" } } })
}
