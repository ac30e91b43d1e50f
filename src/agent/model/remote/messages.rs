//! The JSON of the messages format, which Anthropic's API speaks: requests.
//!
//! Owns how a conversation becomes messages of blocks: the system prompt apart, what one side says in a row in one
//! message, results in front. Reasoning is not played back: it would need the provider's signature.
//! Source: the API reference of `POST /v1/messages`, version 2023-06-01.

pub(super) mod answer;

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::{ChatRequest, Enclosed, Medium, Message, Offer, Role, calls::object};
use super::Dialect;

/// Tokens of an answer where nobody sets a limit: the format wants one.
const MAX_TOKENS: u32 = 8_192;

#[derive(Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    system: String,
    messages: Vec<RequestMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<RequestTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

#[derive(Serialize)]
struct RequestMessage<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        title: &'a str,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Map<String, Value>,
    },
    ToolResult {
        tool_use_id: &'a str,
        content: &'a str,
    },
}

/// The bytes of a file.
#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: &'a str,
}

/// A file that is loaded, if the format knows such.
fn encode_file(file: &Enclosed) -> Option<Block<'_>> {
    let source = Source {
        r#type: "base64",
        media_type: &file.mime,
        data: file.base64()?,
    };
    match file.medium {
        Medium::Picture => Some(Block::Image { source }),
        Medium::Document => Some(Block::Document {
            source,
            title: file.file_name(),
        }),
        Medium::Sound => None,
    }
}

#[derive(Serialize)]
struct RequestTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
struct ToolChoice {
    r#type: &'static str,
}

/// The body of a request.
pub(super) fn encode(
    request: &ChatRequest,
    model: &str,
    dialect: Dialect<'_>,
) -> serde_json::Result<Vec<u8>> {
    let offered = &request.offered;
    let system = request.messages.iter();
    let system: Vec<&str> = system
        .filter(|message| message.role == Role::System)
        .map(|message| message.text.as_str())
        .collect();
    serde_json::to_vec(&RequestBody {
        model,
        max_tokens: dialect.max_output_tokens.unwrap_or(MAX_TOKENS),
        system: system.join("\n\n"),
        messages: messages(&request.messages, dialect),
        // Calls in the conversation need the tools here, also when none may be called any more.
        tools: offered.tools.iter().map(tool).collect(),
        tool_choice: (!offered.callable && !offered.tools.is_empty())
            .then_some(ToolChoice { r#type: "none" }),
        stream: dialect.stream,
        // The scale of the format ends at 1.
        temperature: dialect.temperature.map(|degree| degree.min(1.0)),
    })
}

fn tool(offer: &Offer) -> RequestTool<'_> {
    RequestTool {
        name: &offer.name,
        description: &offer.description,
        input_schema: &offer.parameters,
    }
}

fn messages<'a>(said: &'a [Message], dialect: Dialect<'_>) -> Vec<RequestMessage<'a>> {
    let mut messages: Vec<RequestMessage<'a>> = Vec::new();
    for message in said {
        let role = match message.role {
            Role::System => continue,
            Role::User | Role::Tool => "user",
            Role::Assistant => "assistant",
        };
        let mut blocks = blocks(message, dialect);
        match messages.last_mut() {
            Some(last) if last.role == role => last.content.append(&mut blocks),
            // A message without blocks is refused.
            _ if blocks.is_empty() => {}
            _ => messages.push(RequestMessage {
                role,
                content: blocks,
            }),
        }
    }
    messages
}

fn blocks<'a>(message: &'a Message, dialect: Dialect<'_>) -> Vec<Block<'a>> {
    if let Some(id) = &message.answers {
        return vec![Block::ToolResult {
            tool_use_id: id,
            content: &message.text,
        }];
    }
    let mut blocks = Vec::with_capacity(1 + message.calls.len());
    let taken = message.enclosed.iter();
    let taken = taken.filter(|file| dialect.takes.has(file.medium));
    blocks.extend(taken.filter_map(encode_file));
    // Blank texts are refused.
    if !message.text.trim().is_empty() {
        blocks.push(Block::Text {
            text: &message.text,
        });
    }
    blocks.extend(message.calls.iter().map(|call| Block::ToolUse {
        id: &call.id,
        name: &call.name,
        input: object(&call.arguments).unwrap_or_default(),
    }));
    blocks
}
