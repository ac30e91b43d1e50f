//! The JSON of the messages format, which Anthropic's API speaks: requests.
//!
//! Owns how a conversation becomes messages of blocks: the system prompt apart, what one side says in a row in one
//! message, results in front. Signed reasoning goes back unchanged within a turn, at its place; other reasoning does not.
//! Source: the API reference of `POST /v1/messages`, version 2023-06-01.

pub(super) mod answer;
mod sealed;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

use super::super::{ChatRequest, Enclosed, Medium, Message, Offer, Role, calls::object};
use super::{Dialect, assemble::kind};

/// Tokens of an answer where nobody sets a limit: the format wants one.
const MAX_TOKENS: u32 = 8_192;

#[derive(Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<RequestMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<RequestTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
}

/// How the model is to reason.
#[derive(Serialize)]
struct Thinking {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display: Option<&'static str>,
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
        text: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Kept>,
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
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Kept>,
    },
    /// As it came.
    #[serde(untagged)]
    Sealed(&'a RawValue),
}

/// The provider keeps what stands before the end of a block, and the block, for some minutes.
#[derive(Serialize)]
struct Kept {
    r#type: &'static str,
}

const KEPT: Kept = Kept {
    r#type: "ephemeral",
};

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
        .filter(|message| message.role == Role::System && !message.text.trim().is_empty())
        .map(|message| message.text.as_str())
        .collect();
    // With it the tools are kept, which stand before it.
    let system = (!system.is_empty()).then(|| Block::Text {
        text: system.join("\n\n").into(),
        cache_control: dialect.caches.then_some(KEPT),
    });
    let budget = dialect.reasoning_budget.unwrap_or(0);
    let usual = MAX_TOKENS.saturating_add(budget);
    let max_tokens = dialect.max_output_tokens.unwrap_or(usual);
    let thinking = thinking(&request.messages, max_tokens, dialect);
    let suspended = thinking.is_none() && dialect.reasoning_budget.is_some();
    serde_json::to_vec(&RequestBody {
        model,
        max_tokens,
        system: system.into_iter().collect(),
        messages: messages(&request.messages, dialect, !suspended),
        // Calls in the conversation need the tools here, also when none may be called any more.
        tools: offered.tools.iter().map(tool).collect(),
        tool_choice: (!offered.callable && !offered.tools.is_empty())
            .then_some(ToolChoice { r#type: "none" }),
        stream: dialect.stream,
        // The scale of the format ends at 1. Whoever reasons takes none.
        temperature: dialect
            .temperature
            .filter(|_| thinking.is_none())
            .map(|degree| degree.min(1.0)),
        thinking,
    })
}

/// How the model is to reason in this request. With a budget, a turn that goes on must have begun with its own reasoning:
/// one that another model began, or whose reasoning had no room, goes on without.
fn thinking(said: &[Message], max_tokens: u32, dialect: Dialect<'_>) -> Option<Thinking> {
    let display = dialect.summarises_reasoning.then_some("summarized");
    if let Some(budget) = dialect.reasoning_budget {
        let turn = said.iter().rev().take_while(|one| one.role != Role::User);
        let first = turn.filter(|one| one.role == Role::Assistant).last();
        let begun = |first: &Message| {
            let items = sealed(first, dialect);
            items.first().is_some_and(|item| is_thought(kind(item)))
        };
        let fits = budget < max_tokens && first.is_none_or(begun);
        return fits.then_some(Thinking {
            r#type: "enabled",
            budget_tokens: Some(budget),
            display,
        });
    }
    dialect.seals_reasoning.then_some(Thinking {
        r#type: "adaptive",
        budget_tokens: None,
        display,
    })
}

/// What a model of this name gave in an answer, in order: its signed reasoning, and a mark for each other block.
fn sealed<'a>(message: &'a Message, dialect: Dialect<'_>) -> Vec<&'a RawValue> {
    let own = message.sealed.as_ref();
    let own = own.filter(|sealed| sealed.model == dialect.name);
    let items = own.and_then(|sealed| serde_json::from_str(&sealed.items).ok());
    items.unwrap_or_default()
}

fn is_thought(kind: &str) -> bool {
    matches!(kind, "thinking" | "redacted_thinking")
}

fn tool(offer: &Offer) -> RequestTool<'_> {
    RequestTool {
        name: &offer.name,
        description: &offer.description,
        input_schema: &offer.parameters,
    }
}

/// `thoughts`: signed reasoning goes along.
fn messages<'a>(
    said: &'a [Message],
    dialect: Dialect<'_>,
    thoughts: bool,
) -> Vec<RequestMessage<'a>> {
    let mut messages: Vec<RequestMessage<'a>> = Vec::new();
    let kept = kept(said);
    for (place, message) in said.iter().enumerate() {
        let role = match message.role {
            Role::System => continue,
            Role::User | Role::Tool => "user",
            Role::Assistant => "assistant",
        };
        let mut blocks = blocks(message, dialect, thoughts);
        match messages.last_mut() {
            Some(last) if last.role == role => last.content.append(&mut blocks),
            // A message without blocks is refused.
            _ if blocks.is_empty() => {}
            _ => messages.push(RequestMessage {
                role,
                content: blocks,
            }),
        }
        if dialect.caches && kept.contains(&Some(place)) {
            messages.last_mut().into_iter().for_each(keep);
        }
    }
    messages
}

/// Behind which messages a request begins in the same way as the one that will follow: behind what was said before the
/// newest question, which comes again with the next one, and behind the newest result of the turn. Together with the system
/// prompt that is one less than the provider takes.
fn kept(said: &[Message]) -> [Option<usize>; 2] {
    let question = said.iter().rposition(|one| one.role == Role::User);
    let before = question.and_then(|place| place.checked_sub(1));
    let earlier = |place: &usize| said.get(*place).is_some_and(|one| one.role != Role::System);
    let results = said.last().filter(|last| last.role == Role::Tool);
    [
        before.filter(earlier),
        results.and(said.len().checked_sub(1)),
    ]
}

/// Marks the end of a message, if it ends with a block that can be marked.
fn keep(message: &mut RequestMessage<'_>) {
    if let Some(Block::Text { cache_control, .. } | Block::ToolResult { cache_control, .. }) =
        message.content.last_mut()
    {
        *cache_control = Some(KEPT);
    }
}

fn blocks<'a>(message: &'a Message, dialect: Dialect<'_>, thoughts: bool) -> Vec<Block<'a>> {
    if let Some(id) = &message.answers {
        return vec![Block::ToolResult {
            tool_use_id: id,
            content: &message.text,
            cache_control: None,
        }];
    }
    let mut blocks = Vec::with_capacity(1 + message.calls.len());
    let taken = message.enclosed.iter();
    let taken = taken.filter(|file| dialect.takes.has(file.medium));
    blocks.extend(taken.filter_map(encode_file));
    // Blank texts are refused.
    let text = (!message.text.trim().is_empty()).then(|| Block::Text {
        text: message.text.as_str().into(),
        cache_control: None,
    });
    let mut text = text.into_iter();
    let mut calls = message.calls.iter().map(|call| Block::ToolUse {
        id: &call.id,
        name: &call.name,
        input: object(&call.arguments).unwrap_or_default(),
    });
    let items = if thoughts {
        sealed(message, dialect)
    } else {
        Vec::new()
    };
    for item in items {
        match kind(item) {
            "text" => blocks.extend(text.next()),
            "tool_use" => blocks.extend(calls.next()),
            kind if is_thought(kind) => blocks.push(Block::Sealed(item)),
            _ => {}
        }
    }
    blocks.extend(text);
    blocks.extend(calls);
    blocks
}
