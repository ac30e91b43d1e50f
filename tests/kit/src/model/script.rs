//! What the fake provider does with one request.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

/// Pieces into which an echo or an answer is cut.
const PIECES: usize = 4;

/// How the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Properly.
    Complete,
    /// The connection is cut.
    BreakOff,
    /// Nothing more comes, and the connection stays.
    Hang,
}

/// In which format the provider is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    ChatCompletions,
    Messages,
    Responses,
}

/// What of a request shapes the answer.
#[derive(Debug)]
pub(super) struct Wanted {
    /// A stream of events.
    pub(super) stream: bool,
    /// Reasoning sealed for its model alone, in the responses format.
    pub(super) sealed: bool,
    /// The model, which signs what it thinks in the messages format.
    pub(super) model: String,
}

/// What to do with one request.
#[derive(Debug, Clone)]
pub struct Script {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content_type: Option<String>,
    pub(super) before_headers: Duration,
    pub(super) first: Duration,
    pub(super) between: Duration,
    pub(super) body: Body,
    pub(super) ending: Ending,
    /// What the model thought before it spoke, in pieces; empty if nothing.
    pub(super) thought: Vec<String>,
    /// Bytes of each slice of the body, whatever is in it.
    pub(super) size: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) enum Body {
    /// Words and calls of tools, framed as the request asks: a stream of events or one object.
    Words(Vec<String>, Vec<Called>),
    /// Bytes as they are; each slice is written by itself.
    Raw(Vec<Bytes>),
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub(super) struct Called {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

impl Script {
    fn with(body: Body) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            content_type: None,
            before_headers: Duration::ZERO,
            first: Duration::ZERO,
            between: Duration::ZERO,
            body,
            ending: Ending::Complete,
            thought: Vec::new(),
            size: None,
        }
    }

    /// Answers with the text in a few pieces.
    #[must_use]
    pub fn answer(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let size = chars.len().div_ceil(PIECES).max(1);
        let pieces: Vec<String> = chars
            .chunks(size)
            .map(|piece| piece.iter().collect())
            .collect();
        Self::with(Body::Words(pieces, Vec::new()))
    }

    /// Answers with these pieces, one event each.
    #[must_use]
    pub fn pieces(pieces: &[&str]) -> Self {
        Self::with(Body::Words(
            pieces.iter().map(|&piece| piece.to_owned()).collect(),
            Vec::new(),
        ))
    }

    /// Answers with calls of tools, each by name and arguments; their ids are `id0`, `id1` and so on.
    #[must_use]
    pub fn calls(calls: &[(&str, Value)]) -> Self {
        Self::pieces(&[]).and_calls(calls)
    }

    /// Calls tools behind the words.
    #[must_use]
    pub fn and_calls(mut self, calls: &[(&str, Value)]) -> Self {
        if let Body::Words(_, called) = &mut self.body {
            *called = calls
                .iter()
                .enumerate()
                .map(|(place, (name, arguments))| Called {
                    id: format!("id{place}"),
                    name: (*name).to_owned(),
                    arguments: arguments.to_string(),
                })
                .collect();
        }
        self
    }

    /// Thinks before the words. In the responses format that also comes sealed, where the request asks for it; in that of
    /// messages it is signed.
    #[must_use]
    pub fn thinking(self, thought: &str) -> Self {
        self.thinking_in(&[thought])
    }

    /// Thinks before the words in these pieces, one event each.
    #[must_use]
    pub fn thinking_in(mut self, pieces: &[&str]) -> Self {
        self.thought = pieces.iter().map(|&piece| piece.to_owned()).collect();
        self
    }

    /// Answers with these bytes as they are, each slice written by itself.
    #[must_use]
    pub fn raw<B: AsRef<[u8]>>(slices: impl IntoIterator<Item = B>) -> Self {
        let slices = slices
            .into_iter()
            .map(|slice| Bytes::copy_from_slice(slice.as_ref()));
        Self::with(Body::Raw(slices.collect()))
    }

    /// Answers with an error status and an error object.
    #[must_use]
    pub fn error(status: u16, message: &str) -> Self {
        let body = json!({"error": {"message": message, "type": "error", "code": null}});
        let mut script = Self::raw([body.to_string()]).content_type("application/json");
        script.status = status;
        script
    }

    /// Refuses a request that is not as the service wants it.
    pub(super) fn refused(refusal: &super::responses::Refusal) -> Self {
        let body = json!({"error": {"message": refusal.message, "type": "invalid_request_error",
            "param": refusal.param, "code": refusal.code}});
        let script = Self::raw([body.to_string()]).content_type("application/json");
        script.status(400)
    }

    /// Answers 429; `retry_after` is the header's value, if there shall be one.
    #[must_use]
    pub fn rate_limited(retry_after: Option<&str>) -> Self {
        let script = Self::error(429, "slow down");
        match retry_after {
            Some(value) => script.header("retry-after", value),
            None => script,
        }
    }

    /// Takes the request and never answers, not even with headers.
    #[must_use]
    pub fn hang() -> Self {
        Self::raw::<&[u8]>([]).before_headers(Duration::MAX)
    }

    /// Writes the body in slices of so many bytes, wherever that cuts it.
    #[must_use]
    pub fn sliced(mut self, size: usize) -> Self {
        self.size = Some(size.max(1));
        self
    }

    /// Sets the status.
    #[must_use]
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the content type in place of the proper one.
    #[must_use]
    pub fn content_type(mut self, value: &str) -> Self {
        self.content_type = Some(value.to_owned());
        self
    }

    /// Waits before even the headers are sent.
    #[must_use]
    pub fn before_headers(mut self, delay: Duration) -> Self {
        self.before_headers = delay;
        self
    }

    /// Waits between the headers and the first piece.
    #[must_use]
    pub fn first(mut self, delay: Duration) -> Self {
        self.first = delay;
        self
    }

    /// Waits before each further piece.
    #[must_use]
    pub fn between(mut self, delay: Duration) -> Self {
        self.between = delay;
        self
    }

    /// Sets how the body ends.
    #[must_use]
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Content type and slices for a request that wants a stream or not. A body of words that
    /// does not end properly has no end mark.
    pub(super) fn render(&self, format: Format, wanted: &Wanted) -> (&str, Vec<Bytes>) {
        let complete = self.ending == Ending::Complete;
        let &Wanted { stream, sealed, .. } = wanted;
        let (proper, slices) = match (&self.body, format) {
            (Body::Raw(slices), _) => ("text/event-stream", slices.clone()),
            (Body::Words(words, calls), Format::Messages) => (
                "text/event-stream",
                super::messages::events((&wanted.model, &self.thought), words, calls, complete),
            ),
            (Body::Words(words, calls), Format::Responses) => {
                let answer = super::responses::Answer {
                    thought: &self.thought,
                    sealed,
                    words,
                    calls,
                };
                match stream {
                    true => ("text/event-stream", answer.events(complete)),
                    false => ("application/json", vec![answer.whole()]),
                }
            }
            (Body::Words(words, calls), Format::ChatCompletions) if stream => {
                ("text/event-stream", self.events(words, calls))
            }
            (Body::Words(words, calls), Format::ChatCompletions) => {
                ("application/json", vec![whole(words, calls)])
            }
        };
        let slices = match self.size {
            Some(size) => slices
                .concat()
                .chunks(size)
                .map(Bytes::copy_from_slice)
                .collect(),
            None => slices,
        };
        (self.content_type.as_deref().unwrap_or(proper), slices)
    }

    fn events(&self, words: &[String], calls: &[Called]) -> Vec<Bytes> {
        let delta = |delta: Value| {
            event(
                &json!({"id": "fake", "object": "chat.completion.chunk", "choices":
                [{"index": 0, "delta": delta, "finish_reason": null}]}),
            )
        };
        let thought = self.thought.iter();
        let thought = thought.map(|piece| delta(json!({"reasoning_content": piece})));
        let words_of = words.iter().map(|word| delta(json!({"content": word})));
        let mut slices: Vec<Bytes> = thought.chain(words_of).collect();
        for (index, call) in calls.iter().enumerate() {
            slices.extend(call_events(index, call));
        }
        if self.ending == Ending::Complete {
            let reason = if calls.is_empty() {
                "stop"
            } else {
                "tool_calls"
            };
            let mut end = event(
                &json!({"id": "fake", "object": "chat.completion.chunk", "choices":
                [{"index": 0, "delta": {}, "finish_reason": reason}]}),
            )
            .to_vec();
            end.extend_from_slice(&event(&json!({"choices": [], "usage": usage(words)})));
            end.extend_from_slice(b"data: [DONE]\n\n");
            slices.push(Bytes::from(end));
        }
        slices
    }
}

fn event(value: &Value) -> Bytes {
    Bytes::from(format!("data: {value}\n\n"))
}

/// A call in three pieces: its name, then its arguments in two halves.
fn call_events(index: usize, call: &Called) -> [Bytes; 3] {
    let arguments: Vec<char> = call.arguments.chars().collect();
    let (one, two) = arguments.split_at(arguments.len() / 2);
    let half = |half: &[char]| half.iter().collect::<String>();
    let piece = |call: Value| {
        event(
            &json!({"id": "fake", "object": "chat.completion.chunk", "choices":
            [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": null}]}),
        )
    };
    [
        piece(json!({"index": index, "id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": ""}})),
        piece(json!({"index": index, "function": {"arguments": half(one)}})),
        piece(json!({"index": index, "function": {"arguments": half(two)}})),
    ]
}

fn whole(words: &[String], calls: &[Called]) -> Bytes {
    let call = |call: &Called| {
        json!({"id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": call.arguments}})
    };
    let mut message = json!({"role": "assistant", "content": words.concat()});
    if !calls.is_empty() {
        message["tool_calls"] = calls.iter().map(call).collect();
    }
    let reason = if calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    let choice = json!({"index": 0, "message": message, "finish_reason": reason});
    let body = json!({"id": "fake", "object": "chat.completion", "choices": [choice],
        "usage": usage(words)});
    Bytes::from(body.to_string())
}

/// One token for each piece, ten for the request: numbers that a test can foresee.
fn usage(words: &[String]) -> Value {
    json!({"prompt_tokens": 10, "completion_tokens": words.len(),
        "total_tokens": 10 + words.len()})
}
