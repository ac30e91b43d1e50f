//! The JSON of the chat-completions format, both ways.
//!
//! What comes in is read leniently and borrows from the event: a field of an unexpected type
//! counts as absent, since compatible servers differ and one odd field must not cost the answer.

pub(super) mod answer;

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::super::{
    ChatRequest, Enclosed, Medium, Message, Offer, Role, ToolCall, Usage, config::ReasoningBack,
};
use super::Dialect;

/// Stands where a model that wants reasoning back gave none, or another model answered.
const NO_REASONING: &str = "(not kept)";
/// Longest speaker's name that providers take, in characters.
const MAX_NAME_CHARS: usize = 64;

#[derive(Serialize)]
struct RequestBody<'a> {
    model: &'a str,
    messages: Vec<RequestMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<RequestTool<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct RequestMessage<'a> {
    role: &'static str,
    /// Null beside calls without words: an empty text is refused there by some.
    content: Option<Said<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<RequestCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
}

#[derive(Serialize)]
struct RequestCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct RequestTool<'a> {
    r#type: &'static str,
    function: OfferedFunction<'a>,
}

#[derive(Serialize)]
struct OfferedFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

/// What a message says: words alone, or words and files.
#[derive(Serialize)]
#[serde(untagged)]
enum Said<'a> {
    Words(&'a str),
    Parts(Vec<SaidPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum SaidPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl<'a> },
    InputAudio { input_audio: InputAudio<'a> },
    File { file: SaidFile<'a> },
}

#[derive(Serialize)]
struct InputAudio<'a> {
    data: &'a str,
    format: &'static str,
}

#[derive(Serialize)]
struct SaidFile<'a> {
    filename: &'a str,
    file_data: &'a str,
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: &'a str,
}

/// The body of a request.
pub(super) fn encode(
    request: &ChatRequest,
    model: &str,
    dialect: Dialect<'_>,
) -> serde_json::Result<Vec<u8>> {
    let limit = dialect.max_output_tokens;
    let messages = request
        .messages
        .iter()
        .map(|message| encode_message(message, dialect));
    serde_json::to_vec(&RequestBody {
        model,
        messages: messages.collect(),
        // Without the tools nobody calls one: not every server knows `tool_choice`.
        tools: match request.offered.callable {
            true => request.offered.tools.iter().map(encode_tool).collect(),
            false => Vec::new(),
        },
        stream: dialect.stream,
        stream_options: dialect.stream.then_some(StreamOptions {
            include_usage: true,
        }),
        max_tokens: limit.filter(|_| !dialect.completion_limit),
        max_completion_tokens: limit.filter(|_| dialect.completion_limit),
        temperature: dialect.temperature,
    })
}

fn encode_message<'a>(message: &'a Message, dialect: Dialect<'_>) -> RequestMessage<'a> {
    RequestMessage {
        role: match message.role {
            Role::System => "system",
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        },
        content: (message.calls.is_empty() || !message.text.is_empty())
            .then(|| said(message, dialect)),
        tool_calls: message.calls.iter().map(encode_call).collect(),
        tool_call_id: message.answers.as_deref(),
        name: message.name.as_deref().filter(|name| is_plain_name(name)),
        reasoning_content: reasoning(message, dialect),
    }
}

/// The reasoning that goes back with a message.
fn reasoning<'a>(message: &'a Message, dialect: Dialect<'_>) -> Option<&'a str> {
    if message.role != Role::Assistant {
        return None;
    }
    let came = message.reasoning.as_deref();
    match dialect.reasoning_back {
        ReasoningBack::Never => None,
        ReasoningBack::AsItCame => came,
        ReasoningBack::Always => came.or(Some(NO_REASONING)),
    }
}

fn encode_call(call: &ToolCall) -> RequestCall<'_> {
    RequestCall {
        id: &call.id,
        r#type: "function",
        function: CalledFunction {
            name: &call.name,
            arguments: &call.arguments,
        },
    }
}

fn encode_tool(offer: &Offer) -> RequestTool<'_> {
    RequestTool {
        r#type: "function",
        function: OfferedFunction {
            name: &offer.name,
            description: &offer.description,
            parameters: &offer.parameters,
        },
    }
}

fn said<'a>(message: &'a Message, dialect: Dialect<'_>) -> Said<'a> {
    let taken = message.enclosed.iter();
    let taken = taken.filter(|file| dialect.takes.has(file.medium));
    let mut files = taken.filter_map(encode_file).peekable();
    if files.peek().is_none() {
        return Said::Words(&message.text);
    }
    let text = SaidPart::Text {
        text: &message.text,
    };
    Said::Parts(std::iter::once(text).chain(files).collect())
}

/// A file that is loaded.
fn encode_file(file: &Enclosed) -> Option<SaidPart<'_>> {
    let url = file.url.as_deref()?;
    Some(match file.medium {
        Medium::Picture => SaidPart::ImageUrl {
            image_url: ImageUrl { url },
        },
        Medium::Sound => SaidPart::InputAudio {
            input_audio: InputAudio {
                data: file.base64()?,
                format: if file.mime == "audio/mpeg" {
                    "mp3"
                } else {
                    "wav"
                },
            },
        },
        Medium::Document => SaidPart::File {
            file: SaidFile {
                filename: file.file_name(),
                file_data: url,
            },
        },
    })
}

/// Providers refuse the whole request for any other name.
fn is_plain_name(name: &str) -> bool {
    (1..=MAX_NAME_CHARS).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// One event of a stream, or a whole answer.
#[derive(DeriveDeserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub object: Text<'a>,
    #[serde(borrow, default)]
    pub choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub error: Option<&'a RawValue>,
}

/// One alternative of the answer; only the first is ever asked for.
#[derive(DeriveDeserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub index: Option<i64>,
    #[serde(borrow, default)]
    pub delta: Option<Part<'a>>,
    #[serde(borrow, default)]
    pub message: Option<Part<'a>>,
    #[serde(borrow, default)]
    pub finish_reason: Text<'a>,
}

/// What a choice says.
#[derive(DeriveDeserialize)]
pub(super) struct Part<'a> {
    #[serde(borrow, default)]
    pub content: Text<'a>,
    #[serde(borrow, default)]
    pub reasoning_content: Text<'a>,
    #[serde(borrow, default)]
    pub reasoning: Text<'a>,
    #[serde(borrow, default)]
    pub refusal: Text<'a>,
    #[serde(borrow, default)]
    pub tool_calls: Option<Vec<Call<'a>>>,
    /// The older form, of one call.
    #[serde(borrow, default)]
    pub function_call: Option<Function<'a>>,
}

/// A piece of a call.
#[derive(DeriveDeserialize)]
pub(super) struct Call<'a> {
    #[serde(default)]
    pub index: Option<i64>,
    #[serde(borrow, default)]
    pub id: Text<'a>,
    #[serde(borrow, default)]
    pub function: Option<Function<'a>>,
}

/// What is called.
#[derive(DeriveDeserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow, default)]
    pub name: Text<'a>,
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
}

impl Function<'_> {
    /// The arguments: JSON in a string, as it should be, or the object itself.
    pub(super) fn arguments(&self) -> Cow<'_, str> {
        let Some(raw) = self.arguments.map(RawValue::get) else {
            return Cow::Borrowed("");
        };
        match serde_json::from_str::<Option<Cow<'_, str>>>(raw) {
            Ok(text) => Cow::Owned(text.unwrap_or_default().into_owned()),
            Err(_) => Cow::Borrowed(raw),
        }
    }
}

/// Text that may be absent, a string, or a list of parts with text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Text<'a>(pub Option<Cow<'a, str>>);

impl Text<'_> {
    /// The text; empty when absent.
    pub(super) fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Text)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut all: Option<Cow<'de, str>> = None;
        while let Some(Text(part)) = list.next_element()? {
            all = match (all, part) {
                (Some(before), Some(part)) => Some(Cow::Owned(before.into_owned() + &part)),
                (before, part) => before.or(part),
            };
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut text = None;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == "text" {
                text = map.next_value::<Text<'de>>()?.0;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(text)
    }
}

#[derive(DeriveDeserialize)]
struct WireUsage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    total_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<WireDetails>,
}

#[derive(DeriveDeserialize)]
struct WireDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

/// The cost of a request; none when the object makes no sense.
pub(super) fn usage(raw: &RawValue) -> Option<Usage> {
    let wire: WireUsage = serde_json::from_str(raw.get()).ok()?;
    let prompt = wire.prompt_tokens.unwrap_or(0);
    let completion = wire.completion_tokens.unwrap_or(0);
    let total = wire
        .total_tokens
        .unwrap_or_else(|| prompt.saturating_add(completion));
    let details = wire.prompt_tokens_details;
    Some(Usage {
        prompt,
        completion,
        total,
        cached: details.and_then(|one| one.cached_tokens).unwrap_or(0),
        cache_written: 0,
    })
}
