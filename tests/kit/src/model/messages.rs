//! The events of the messages format, `POST /v1/messages`.

use bytes::Bytes;
use serde_json::{Value, json};

use super::script::Called;

/// The thought, words and calls of an answer as events; without its end if it is not `complete`.
pub(super) fn events(
    thought: &[String],
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
        slices.push(event(&json!({"type": "content_block_stop", "index": 0})));
    }
    if !words.is_empty() {
        let block = json!({"type": "text", "text": ""});
        slices.push(event(
            &json!({"type": "content_block_start", "index": 0, "content_block": block}),
        ));
        for word in words {
            let delta = json!({"type": "text_delta", "text": word});
            slices.push(event(
                &json!({"type": "content_block_delta", "index": 0, "delta": delta}),
            ));
        }
        slices.push(event(&json!({"type": "content_block_stop", "index": 0})));
    }
    for (index, call) in (1..).zip(calls) {
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
