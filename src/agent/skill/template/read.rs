//! steps.yaml: what a skill that runs by itself is given, and its steps.
//!
//! Owns the keys, their limits, and that every fault is found at once, each with its place. Other than SKILL.md it is written
//! for this gateway alone, so that a key that is not known is a fault. Pure.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use weirgate_sdk::settings::{Fields, Node, Problems, Setting, Value as Kind};

use super::{
    super::{Fault, Skill},
    Arg, Args, Does, MAX_STEPS, OnError, OnResult, Step, Template,
    pattern::{Names, Pattern},
    tool::NAME,
};
use crate::{
    agent::{
        front::{self, MAX_DESCRIPTION, MAX_NAME},
        peer,
        shelf::Rights,
        subagent,
        tool::schema::Schema,
    },
    config::{render_problems, tree},
    hex::hex,
};

/// The name of the file.
pub(in crate::agent::skill) const STEPS: &str = "steps.yaml";
/// Most faults that are told.
const MOST_TOLD: usize = 10;
/// The time that steps have if nothing is said, and the most.
const TIME: Duration = Duration::from_secs(300);
const MOST_TIME: f64 = 3_600.0;
/// What people are shown beside name and description.
const ABOUT: [&str; 3] = ["version", "license", "compatibility"];
const MAX_ABOUT: usize = 200;

/// Reads a steps.yaml that lies in `folder`.
///
/// # Errors
/// Why the skill is left out: everything that is wrong, each with its line and column.
pub(in crate::agent::skill) fn read(
    folder: Option<&Path>,
    folder_name: &str,
    text: &str,
) -> Result<Skill, Fault> {
    let problems = Problems::new();
    let skill = tree(text, &problems).and_then(|node| {
        let mut top = Fields::new(&node, "", &problems);
        let skill = whole(&mut top, folder, folder_name, text);
        top.finish();
        skill
    });
    match skill {
        Some(skill) if !problems.has_errors() => Ok(skill),
        _ => Err(Fault::Steps {
            problems: told(&problems),
        }),
    }
}

/// Each fault on a line of its own, of the first ones.
fn told(problems: &Problems) -> Vec<String> {
    let found = problems.take();
    let shown = found.iter().take(MOST_TOLD);
    let line = |problem| {
        let text = render_problems(STEPS, std::slice::from_ref(problem));
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let mut lines: Vec<String> = shown.map(line).collect();
    let more = found.len().saturating_sub(MOST_TOLD);
    if more > 0 {
        lines.push(format!("… {more}"));
    }
    lines
}

fn whole(
    top: &mut Fields<'_>,
    folder: Option<&Path>,
    folder_name: &str,
    text: &str,
) -> Option<Skill> {
    let name = top.required_text("name");
    if name.as_deref().is_some_and(|name| name != folder_name) {
        top.invalid("name", "the name is not that of the folder", None);
    }
    if !is_name(folder_name) {
        let what = format!("a name has letters, digits, - and _, at most {MAX_NAME} of them");
        top.invalid("name", what, None);
    }
    let description = top.required_text("description").unwrap_or_default();
    let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    if description.chars().count() > MAX_DESCRIPTION {
        let what = format!("it has more than {MAX_DESCRIPTION} characters");
        top.invalid("description", what, None);
    }
    let rights = rights(top);
    let about = about(top);
    let timeout = top.seconds("timeout", TIME, 1.0..=MOST_TIME);
    let form = schema(top);
    let read = form.as_ref().and_then(|form| inputs(top, form));
    let properties = form.as_ref().and_then(|form| form.get("properties"));
    let properties = properties.and_then(Value::as_object);
    let mut names = Names {
        inputs: properties
            .map(|map| map.keys().cloned().collect())
            .unwrap_or_default(),
        steps: Vec::new(),
    };
    let list = top.require("steps").and_then(|list| list.list());
    let list = list.unwrap_or_default();
    if list.is_empty() || list.len() > MAX_STEPS {
        top.invalid("steps", format!("there is 1 step to {MAX_STEPS}"), None);
    }
    let mut steps = Vec::with_capacity(list.len());
    for (at, setting) in list.iter().take(MAX_STEPS).enumerate() {
        let (id, step) = step(setting, at, &names);
        names.steps.push(id);
        steps.extend(step);
    }
    let mut tools = vec![NAME.to_owned()];
    for tool in steps.iter().filter_map(|step| step.does.tool()) {
        if !tools.iter().any(|known| known == tool) {
            tools.push(tool.to_owned());
        }
    }
    let (name, (schema, defaults)) = (name?, read?);
    let template = Template {
        name: name.clone(),
        inputs: form?,
        schema,
        defaults,
        steps,
        timeout,
        digest: hex(&Sha256::digest(text)),
    };
    Some(Skill {
        body: Arc::from(body(&template, text)),
        name,
        description,
        tools,
        rights: rights?,
        about,
        folder: folder.map(Path::to_owned),
        steps: Some(Arc::new(template)),
    })
}

/// What a model reads of it before it runs it.
fn body(template: &Template, text: &str) -> String {
    format!(
        "This skill runs by itself: call {NAME} with its name and its inputs.\n\nIts inputs, as a JSON Schema:\n{}\n\nWhat it \
         does, in {STEPS}:\n{}",
        template.form(),
        text.trim()
    )
}

fn rights(top: &mut Fields<'_>) -> Option<Rights> {
    let written = top.get("rights");
    let value = written.as_ref().map(|setting| json(setting.node()));
    match front::rights(value.as_ref()) {
        Ok(rights) => Some(rights),
        Err(_) => {
            let what = "it takes public, member, admin, owner, global, or names of capabilities";
            top.invalid("rights", what, None);
            None
        }
    }
}

fn about(top: &mut Fields<'_>) -> Vec<(&'static str, String)> {
    let mut of = |key: &'static str| {
        let line = weirgate_sdk::text::line(top.get(key)?.text()?, MAX_ABOUT);
        (!line.is_empty()).then_some((key, line))
    };
    ABOUT.into_iter().filter_map(&mut of).collect()
}

/// The schema of the inputs as it is meant.
fn schema(top: &mut Fields<'_>) -> Option<Value> {
    let written = top.get("inputs");
    let mut schema = match &written {
        None => json!({}),
        Some(setting) if setting.is_map() => json(setting.node()),
        Some(setting) => {
            setting.invalid("it takes a JSON Schema of type object", None);
            return None;
        }
    };
    let map = schema.as_object_mut()?;
    map.entry("type").or_insert_with(|| json!("object"));
    map.entry("additionalProperties")
        .or_insert_with(|| json!(false));
    Some(schema)
}

/// The compiled schema of the inputs, and what holds for those that are not given.
fn inputs(top: &Fields<'_>, schema: &Value) -> Option<(Schema, Map<String, Value>)> {
    let refused = |what: String| {
        let hint = "it takes a JSON Schema of type object";
        top.invalid("inputs", what, Some(hint));
    };
    let compiled = Schema::new(schema).map_err(&refused).ok()?;
    let properties = schema.get("properties").and_then(Value::as_object);
    let defaults = properties
        .into_iter()
        .flatten()
        .filter_map(|(name, about)| {
            let value = about.get("default")?;
            Some((name.clone(), value.clone()))
        });
    let defaults: Map<String, Value> = defaults.collect();
    let mut lax = schema.clone();
    if let Some(lax) = lax.as_object_mut() {
        // Only what holds by itself is looked at here.
        lax.retain(|key, _| matches!(key.as_str(), "type" | "properties" | "$defs"));
    }
    let fit = Schema::new(&lax).and_then(|lax| lax.check(&defaults));
    fit.map_err(|what| refused(format!("a default does not fit: {what}")))
        .ok()?;
    Some((compiled, defaults))
}

/// A step and its name, which it has also if it cannot be used.
fn step(setting: &Setting<'_>, at: usize, names: &Names) -> (String, Option<Step>) {
    let mut fields = setting.fields();
    let id = fields.optional_text("id");
    let id = id.unwrap_or_else(|| (at + 1).to_string());
    if !is_name(&id) {
        let what = format!("a name has letters, digits, - and _, at most {MAX_NAME} of them");
        fields.invalid("id", what, None);
    }
    if names.steps.contains(&id) {
        fields.invalid("id", format!("another step is called {id}"), None);
    }
    let read: Option<fn(&mut Fields<'_>, &Names) -> Option<Does>> =
        fields.require("type").and_then(|word| {
            word.choice::<fn(&mut Fields<'_>, &Names) -> Option<Does>>(&[
                ("tool", tool_step),
                ("agent", agent_step),
                ("llm", llm_step),
            ])
        });
    let does = read.and_then(|read| read(&mut fields, names));
    let results = [
        ("continue", OnResult::Continue),
        ("stop_if_success", OnResult::StopIfSuccess),
    ];
    let on_result = fields.choice("on_result", OnResult::Continue, &results);
    // Who stops at a success means the next as the other way.
    let otherwise = match on_result {
        OnResult::Continue => OnError::Stop,
        OnResult::StopIfSuccess => OnError::Continue,
    };
    let errors = [("stop", OnError::Stop), ("continue", OnError::Continue)];
    let on_error = fields.choice("on_error", otherwise, &errors);
    if read.is_some() {
        fields.finish();
    }
    let step = does.map(|does| Step {
        id: id.clone(),
        does,
        on_result,
        on_error,
    });
    (id, step)
}

fn tool_step(fields: &mut Fields<'_>, names: &Names) -> Option<Does> {
    let tool = fields.required_text("tool");
    let args = args(fields, names);
    let tool = tool?;
    if tool == NAME {
        fields.invalid("tool", "steps do not run the steps of a skill", None);
    }
    if tool == subagent::tool::NAME || tool.starts_with(peer::START) {
        fields.invalid("tool", "it is an agent", Some("write type: agent"));
    }
    Some(Does::Tool { tool, args: args? })
}

fn agent_step(fields: &mut Fields<'_>, names: &Names) -> Option<Does> {
    let agent = fields.optional_text("agent").unwrap_or_default();
    let by_others = agent.starts_with(peer::START);
    for key in ["action", "args"] {
        if fields.has(key) && !by_others {
            let what = format!("only agents by others ({}…) take it", peer::START);
            fields.invalid(key, what, Some("write it into task"));
        }
    }
    let task = required(fields, "task", names);
    let action = fields.get("action").map(|action| pattern(&action, names));
    let is_given = fields.has("args");
    let given = args(fields, names);
    Some(Does::Agent {
        agent,
        task: task?,
        action: action.map_or(Some(None), |action| action.map(Some))?,
        args: is_given.then_some(given?),
    })
}

fn llm_step(fields: &mut Fields<'_>, names: &Names) -> Option<Does> {
    let prompt = required(fields, "prompt", names);
    Some(Does::Llm { prompt: prompt? })
}

fn required(fields: &mut Fields<'_>, key: &str, names: &Names) -> Option<Pattern> {
    pattern(&fields.require(key)?, names)
}

/// A text with references that is not empty.
fn pattern(setting: &Setting<'_>, names: &Names) -> Option<Pattern> {
    let text = setting.word()?;
    let read = Pattern::read(text, names);
    read.map_err(|what| setting.invalid(what, None)).ok()
}

fn args(fields: &mut Fields<'_>, names: &Names) -> Option<Args> {
    let entries = fields.map("args");
    // All of them are looked at, so that all faults are told.
    let read: Vec<_> = entries
        .iter()
        .map(|(key, setting)| Some(((*key).to_owned(), arg(setting, names)?)))
        .collect();
    read.into_iter().collect()
}

fn arg(setting: &Setting<'_>, names: &Names) -> Option<Arg> {
    match &setting.node().value {
        Kind::Scalar(scalar) if scalar.text.contains("{{") => {
            let read = Pattern::read(&scalar.text, names);
            let read = read.map_err(|what| setting.invalid(what, None));
            read.ok().map(Arg::Text)
        }
        Kind::List(_) => {
            let read: Vec<_> = setting.list()?.iter().map(|one| arg(one, names)).collect();
            read.into_iter().collect::<Option<_>>().map(Arg::List)
        }
        Kind::Map(_) => {
            let entries = setting.map()?;
            let read: Vec<_> = entries
                .iter()
                .map(|(key, one)| Some(((*key).to_owned(), arg(one, names)?)))
                .collect();
            read.into_iter().collect::<Option<_>>().map(Arg::Map)
        }
        Kind::Failed => None,
        Kind::Scalar(_) | Kind::Null => Some(Arg::Plain(json(setting.node()))),
    }
}

/// A value as JSON: what is written without quotes is a number or a truth value if it looks like one in JSON.
fn json(node: &Node) -> Value {
    match &node.value {
        Kind::Null | Kind::Failed => Value::Null,
        Kind::List(list) => list.iter().map(json).collect(),
        Kind::Map(entries) => {
            let entries = entries.iter();
            let entries = entries.map(|entry| (entry.key.clone(), json(&entry.node)));
            Value::Object(entries.collect())
        }
        Kind::Scalar(scalar) => {
            let text = || Value::String(scalar.text.clone());
            let read = || serde_json::from_str(&scalar.text).ok();
            let plain = read().filter(|value: &Value| value.is_number() || value.is_boolean());
            if scalar.quoted {
                text()
            } else {
                plain.unwrap_or_else(text)
            }
        }
    }
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(fits)
}

impl Does {
    /// The tool that it calls.
    fn tool(&self) -> Option<&str> {
        match self {
            Self::Tool { tool, .. } => Some(tool),
            Self::Agent { agent, .. } if agent.starts_with(peer::START) => Some(agent),
            Self::Agent { .. } => Some(subagent::tool::NAME),
            Self::Llm { .. } => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
