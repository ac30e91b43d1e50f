//! The messages format, `POST /v1/messages`: what a request must be where it has to do with reasoning, and the events of an
//! answer.
//!
//! It refuses what the service refuses: reasoning that this model did not sign or that was changed, a turn with a budget
//! that did not begin with reasoning, a budget without room, a temperature beside it.

use bytes::Bytes;
use serde_json::{Value, json};

use super::responses::Refusal;
use super::script::Called;

/// The least budget.
const MIN_BUDGET: u64 = 1_024;

/// What a model signs a thought with.
fn signature(model: &str, thought: &str) -> String {
    format!("signed by {model}: {thought}")
}

fn refuse<T>(message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal {
        message: message.into(),
        param: String::new(),
        code: None,
    })
}

fn is_thought(block: &Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

/// Looks at the reasoning of a request as the service does.
pub(super) fn check(body: &Value) -> Result<(), Refusal> {
    let thinking = &body["thinking"];
    let budget = &thinking["budget_tokens"];
    match thinking["type"].as_str() {
        None if thinking.is_null() => {}
        Some("adaptive") if budget.is_null() => {}
        Some("enabled") if budget.as_u64() < Some(MIN_BUDGET) => {
            return refuse(
                "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
            );
        }
        Some("enabled") if budget.as_u64() >= body["max_tokens"].as_u64() => {
            return refuse("`max_tokens` must be greater than `thinking.budget_tokens`.");
        }
        Some("enabled") => {}
        _ => return refuse("thinking: Input tag is not of the expected ones"),
    }
    if !thinking.is_null() && !body["temperature"].is_null() {
        return refuse("`temperature` may only be set to 1 when thinking is enabled.");
    }
    let empty = Vec::new();
    let messages = body["messages"].as_array().unwrap_or(&empty);
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    let spoken = |message: &Value| message["role"] == "assistant";
    for message in messages.iter().filter(|one| spoken(one)) {
        let blocks = blocks(message);
        for block in &blocks {
            let thought = block["thinking"].as_str().unwrap_or_default();
            let model = body["model"].as_str().unwrap_or_default();
            if block["type"] == "thinking" && block["signature"] != signature(model, thought) {
                return refuse("Invalid `signature` in `thinking` block");
            }
        }
        if blocks.last().is_some_and(is_thought) {
            return refuse("The final block in an assistant message cannot be `thinking`.");
        }
    }
    let asks = |message: &Value| {
        let results = blocks(message);
        message["role"] == "user" && !results.iter().all(|one| one["type"] == "tool_result")
    };
    let turn = messages.iter().rposition(asks).unwrap_or(0);
    let first = messages.iter().skip(turn).find(|one| spoken(one));
    if thinking["type"] == "enabled"
        && first.is_some_and(|first| !blocks(first).first().is_some_and(is_thought))
    {
        return refuse("Expected `thinking` or `redacted_thinking`, but found `tool_use`.");
    }
    Ok(())
}

/// The thought, words and calls of an answer as events; without its end if it is not `complete`.
pub(super) fn events(
    (model, thought): (&str, &[String]),
    words: &[String],
    calls: &[Called],
    complete: bool,
) -> Vec<Bytes> {
    let start = json!({"type": "message_start", "message": {"id": "msg", "role": "assistant", "content": [],
        "usage": {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 1}}});
    let mut slices = vec![event(&start), event(&json!({"type": "ping"}))];
    if !thought.is_empty() {
        let block = json!({"type": "thinking", "thinking": "", "signature": ""});
        slices.push(event(
            &json!({"type": "content_block_start", "index": 0, "content_block": block}),
        ));
        for piece in thought {
            let delta = json!({"type": "thinking_delta", "thinking": piece});
            slices.push(event(
                &json!({"type": "content_block_delta", "index": 0, "delta": delta}),
            ));
        }
        let signed = signature(model, &thought.concat());
        let delta = json!({"type": "signature_delta", "signature": signed});
        slices.push(event(
            &json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        ));
        slices.push(event(&json!({"type": "content_block_stop", "index": 0})));
    }
    let place = usize::from(!thought.is_empty());
    if !words.is_empty() {
        let block = json!({"type": "text", "text": ""});
        slices.push(event(
            &json!({"type": "content_block_start", "index": place, "content_block": block}),
        ));
        for word in words {
            let delta = json!({"type": "text_delta", "text": word});
            slices.push(event(
                &json!({"type": "content_block_delta", "index": place, "delta": delta}),
            ));
        }
        slices.push(event(
            &json!({"type": "content_block_stop", "index": place}),
        ));
    }
    let place = place + usize::from(!words.is_empty());
    for (index, call) in (place..).zip(calls) {
        let block = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        slices.push(event(
            &json!({"type": "content_block_start", "index": index, "content_block": block}),
        ));
        let arguments: Vec<char> = call.arguments.chars().collect();
        for half in arguments.chunks(arguments.len().div_ceil(2).max(1)) {
            let half: String = half.iter().collect();
            let delta = json!({"type": "input_json_delta", "partial_json": half});
            slices.push(event(
                &json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
        }
        slices.push(event(
            &json!({"type": "content_block_stop", "index": index}),
        ));
    }
    if complete {
        let reason = if calls.is_empty() {
            "end_turn"
        } else {
            "tool_use"
        };
        slices.push(event(
            &json!({"type": "message_delta", "delta": {"stop_reason": reason},
            "usage": {"output_tokens": words.len()}}),
        ));
        slices.push(event(&json!({"type": "message_stop"})));
    }
    slices
}

fn event(value: &Value) -> Bytes {
    let name = value["type"].as_str().unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {value}\n\n"))
}
