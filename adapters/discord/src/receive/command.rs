//! Commands of the platform's own menu into messages.
//!
//! Owns the text that such a command stands for: its name and what was filled in, in the order of the menu, as somebody
//! would have typed it, so that both lead to the same handler.

use serde_json::{Value, json};
use weirgate_sdk::{FieldKind, Menu, TIME_ENDS, Via};

use super::{content, interaction::Said};
use crate::{
    channels::id,
    places::{Snowflake, number},
};

/// A command of the application (Interaction Types).
const COMMAND: u64 = 2;
/// One that is typed behind a slash (Application Command Types).
const TYPED: u64 = 1;
/// Fields for words and for a person, and fields that hold further ones (Application Command Option Types).
const WORDS: u64 = 3;
const PERSON: u64 = 6;
const GROUPS: [u64; 2] = [1, 2];
/// Fields that are read; the platform allows so many, and three levels.
const MAX_FIELDS: usize = 25;
const MAX_DEPTH: usize = 3;

/// Whether an interaction is a command that somebody could have typed.
#[must_use]
pub fn is_command(event: &Value) -> bool {
    event["type"] == COMMAND && event["data"]["type"].as_u64().unwrap_or(TYPED) == TYPED
}

/// Reads a command; `None` if it has no name.
#[must_use]
pub fn read(event: &Value, bot: Snowflake, menu: &Menu) -> Option<Said> {
    let data = &event["data"];
    let name = data["name"].as_str()?;
    let mut text = format!("/{name}");
    let options = in_order(&data["options"], name, menu);
    let somebody = has_person(&options, MAX_DEPTH);
    fields(&options, MAX_DEPTH, somebody, &mut text);
    let mentions = mentions(&data["resolved"]);
    let words = json!({ "type": 0, "content": text, "mentions": mentions });
    Some(Said {
        id: id(&event["id"])?.to_string().into(),
        content: content::filled_in(&words, bot),
        via: Via::Command,
        reply_to: None,
    })
}

/// What was filled in, in the order in which the menu has it: people fill fields in as they like. Where a length of time
/// ends is marked, so that nothing else becomes one.
fn in_order(options: &Value, name: &str, menu: &Menu) -> Value {
    let commands = menu.languages.first().into_iter();
    let mut commands = commands.flat_map(|language| &language.commands);
    let command = commands.find(|command| command.name == name);
    let place = |option: &Value| {
        let fields = command.map(|command| &command.fields);
        let mut fields = fields.into_iter().flatten();
        fields.position(|field| option["name"] == *field.name)
    };
    let mut options: Vec<Value> = options.as_array().cloned().unwrap_or_default();
    options.truncate(MAX_FIELDS);
    // Fields that are not in the menu any more stand behind those that are.
    options.sort_by_key(|option| place(option).unwrap_or(MAX_FIELDS));
    let fields = command.map(|command| &command.fields);
    let mut fields = fields.into_iter().flatten();
    if let Some(span) = fields.position(|field| field.kind == FieldKind::Span) {
        let place = |option: &Value| place(option).unwrap_or(MAX_FIELDS);
        let behind = options.iter().position(|option| place(option) > span);
        let filled = options.iter().any(|option| place(option) == span);
        let end = behind.or_else(|| filled.then_some(options.len()));
        if let Some(end) = end {
            options.insert(end, json!({ "type": WORDS, "value": TIME_ENDS }));
        }
    }
    options.into()
}

/// Whether the field for a person is filled in.
fn has_person(options: &Value, depth: usize) -> bool {
    let mut options = options.as_array().into_iter().flatten().take(MAX_FIELDS);
    options.any(|option| match option["type"].as_u64() {
        Some(PERSON) => true,
        Some(kind) if GROUPS.contains(&kind) && depth > 0 => {
            has_person(&option["options"], depth - 1)
        }
        _ => false,
    })
}

/// Writes down what was filled in. With `somebody` in the field for a person, he alone is meant, whoever is mentioned in
/// other fields.
fn fields(options: &Value, depth: usize, somebody: bool, text: &mut String) {
    let options = options.as_array().into_iter().flatten();
    for option in options.take(MAX_FIELDS) {
        let kind = option["type"].as_u64().unwrap_or(0);
        if GROUPS.contains(&kind) && depth > 0 {
            text.push(' ');
            text.push_str(option["name"].as_str().unwrap_or_default());
            fields(&option["options"], depth - 1, somebody, text);
            continue;
        }
        let value = match &option["value"] {
            Value::String(value) if kind == PERSON => format!("<@{value}>"),
            Value::String(value) if somebody => without_mentions(value),
            Value::String(value) => value.clone(),
            Value::Number(value) => value.to_string(),
            Value::Bool(value) => value.to_string(),
            _ => continue,
        };
        text.push(' ');
        text.push_str(&value);
    }
}

/// A text whose mentions are words.
fn without_mentions(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, code)) = rest.split_once("<@") {
        plain.push_str(before);
        let inner = code.split_once('>').and_then(|(inner, after)| {
            let id = inner.strip_prefix('!').unwrap_or(inner);
            number(id).map(|_| (id, after))
        });
        match inner {
            Some((id, after)) => {
                plain.push('@');
                plain.push_str(id);
                rest = after;
            }
            None => {
                plain.push_str("<@");
                rest = code;
            }
        }
    }
    plain.push_str(rest);
    plain
}

/// The people whom the platform names beside the command, as a message has them.
fn mentions(resolved: &Value) -> Vec<Value> {
    let users = resolved["users"].as_object().into_iter().flatten();
    let users = users.filter(|(id, _)| number(id).is_some());
    users
        .take(MAX_FIELDS)
        .map(|(id, user)| {
            let mut user = user.clone();
            user["member"] = resolved["members"][id].clone();
            user
        })
        .collect()
}
