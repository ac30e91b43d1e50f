//! What texts mean to the fake provider: words of one group point in one direction.
//!
//! It knows no language. Words that are in no group point in a direction of their own.

use serde_json::{Value, json};

/// Words that mean the same here.
const GROUPS: [&[&str]; 4] = [
    &["car", "automobile", "vehicle", "汽车"],
    &["dog", "puppy", "hound", "狗"],
    &["doctor", "physician", "医生"],
    &["holiday", "vacation", "假期"],
];
/// Directions.
const DIMENSIONS: usize = 64;

/// The answer of `POST /v1/embeddings` to a body.
pub(super) fn answer(body: &Value) -> Value {
    let text = body["input"].as_str().unwrap_or_default();
    json!({ "data": [{ "index": 0, "embedding": vector(text) }], "model": body["model"] })
}

fn vector(text: &str) -> Vec<f64> {
    let mut vector = vec![0.0; DIMENSIONS];
    let lower = text.to_lowercase();
    let words = lower.split(|sign: char| !sign.is_alphanumeric());
    for word in words.filter(|word| word.chars().count() > 2 || !word.is_ascii()) {
        let group = GROUPS.iter().position(|group| group.contains(&word));
        match group {
            Some(group) => vector[group] += 3.0,
            None => {
                let sum = word
                    .bytes()
                    .map(usize::from)
                    .fold(7, |sum, byte| (sum * 31 + byte) % 1_000_003);
                vector[GROUPS.len() + sum % (DIMENSIONS - GROUPS.len())] += 1.0;
            }
        }
    }
    vector
}
