//! The JSON of the responses format, OpenAI's newer one: requests.
//!
//! Owns how a conversation becomes items: instructions apart, a call and its result each an item of its own, and
//! reasoning that only its model can read in front of what it led to. Nothing is left with the provider: each request
//! says everything. Source: the API reference of `POST /v1/responses`.

pub(super) mod answer;
mod calls;

use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::super::{ChatRequest, Enclosed, Medium, Message, Offer, Role};
use super::{Dialect, assemble::kind};

#[derive(Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "String::is_empty")]
    instructions: String,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<RequestTool<'a>>,
    stream: bool,
    /// The provider keeps nothing.
    store: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

#[derive(Serialize)]
struct Reasoning {
    summary: &'static str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'a> {
    Message {
        role: &'static str,
        content: Said<'a>,
    },
    FunctionCall {
        call_id: &'a str,
        name: &'a str,
        arguments: &'a str,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: &'a str,
    },
    /// As it came.
    #[serde(untagged)]
    Sealed(&'a RawValue),
}

/// What a message says: words alone, or words and files.
#[derive(Serialize)]
#[serde(untagged)]
enum Said<'a> {
    Words(&'a str),
    Parts(Vec<SaidPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type")]
enum SaidPart<'a> {
    #[serde(rename = "input_text")]
    Text { text: &'a str },
    #[serde(rename = "input_image")]
    Image { image_url: &'a str },
    #[serde(rename = "input_file")]
    File {
        filename: &'a str,
        file_data: &'a str,
    },
}

#[derive(Serialize)]
struct RequestTool<'a> {
    r#type: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
    /// On would forbid schemas in which something may be left out.
    strict: bool,
}

/// The body of a request.
pub(super) fn encode(
    request: &ChatRequest,
    model: &str,
    dialect: Dialect<'_>,
) -> serde_json::Result<Vec<u8>> {
    let system = request.messages.iter();
    let system: Vec<&str> = system
        .filter(|message| message.role == Role::System)
        .map(|message| message.text.as_str())
        .collect();
    let mut input = Vec::with_capacity(request.messages.len());
    for message in &request.messages {
        push_items(message, dialect, &mut input);
    }
    serde_json::to_vec(&RequestBody {
        model,
        instructions: system.join("\n\n"),
        input,
        // Without the tools nobody calls one: not every server knows `tool_choice`.
        tools: match request.offered.callable {
            true => request.offered.tools.iter().map(tool).collect(),
            false => Vec::new(),
        },
        stream: dialect.stream,
        store: false,
        include: dialect
            .seals_reasoning
            .then_some(["reasoning.encrypted_content"]),
        reasoning: dialect
            .summarises_reasoning
            .then_some(Reasoning { summary: "auto" }),
        max_output_tokens: dialect.max_output_tokens,
        temperature: dialect.temperature,
    })
}

fn tool(offer: &Offer) -> RequestTool<'_> {
    RequestTool {
        r#type: "function",
        name: &offer.name,
        description: &offer.description,
        parameters: &offer.parameters,
        strict: false,
    }
}

fn push_items<'a>(message: &'a Message, dialect: Dialect<'_>, items: &mut Vec<Item<'a>>) {
    let role = match message.role {
        Role::System => return,
        Role::Tool => {
            items.push(Item::FunctionCallOutput {
                call_id: message.answers.as_deref().unwrap_or_default(),
                output: &message.text,
            });
            return;
        }
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let sealed = message.sealed.as_ref();
    let sealed = sealed.filter(|sealed| dialect.seals_reasoning && sealed.model == dialect.name);
    let sealed = sealed.and_then(|sealed| serde_json::from_str(&sealed.items).ok());
    let sealed: Vec<&RawValue> = sealed.unwrap_or_default();
    // The provider may have been of another kind when it gave it.
    let sealed = sealed.into_iter().filter(|item| kind(item) == "reasoning");
    items.extend(sealed.map(Item::Sealed));
    if let Some(content) = said(message, dialect) {
        items.push(Item::Message { role, content });
    }
    items.extend(message.calls.iter().map(|call| Item::FunctionCall {
        call_id: &call.id,
        name: &call.name,
        arguments: &call.arguments,
    }));
}

/// What a message says, if anything.
fn said<'a>(message: &'a Message, dialect: Dialect<'_>) -> Option<Said<'a>> {
    let taken = message.enclosed.iter();
    let taken = taken.filter(|file| dialect.takes.has(file.medium));
    let files: Vec<SaidPart<'_>> = taken.filter_map(encode_file).collect();
    let text = message.text.as_str();
    let words = (!text.trim().is_empty()).then_some(text);
    if files.is_empty() {
        return words.map(Said::Words);
    }
    let words = words.map(|text| SaidPart::Text { text });
    Some(Said::Parts(words.into_iter().chain(files).collect()))
}

/// A file that is loaded, if the format knows such.
fn encode_file(file: &Enclosed) -> Option<SaidPart<'_>> {
    let url = file.url.as_deref()?;
    match file.medium {
        Medium::Picture => Some(SaidPart::Image { image_url: url }),
        Medium::Document => Some(SaidPart::File {
            filename: file.file_name(),
            file_data: url,
        }),
        Medium::Sound => None,
    }
}
