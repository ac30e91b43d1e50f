//! The tool by which a model runs the steps of a skill.
//!
//! Owns its arguments. How the steps run is `run`'s; who may run them is decided before, with the skill's own rights.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use crate::agent::{
    skill::Skills,
    tool::{Access, Also, Call, Fault, Given, Spec, Tool},
};

/// Its name.
pub const NAME: &str = "run_skill";
/// Each skill ends in its own time, which is less; the turn has its own as well.
const LONGEST: Duration = Duration::from_secs(2 * 3_600);

/// The tool.
#[derive(Debug)]
pub struct RunSkill {
    spec: Spec,
    skills: Arc<Skills>,
}

impl RunSkill {
    /// The tool for these skills.
    #[must_use]
    pub fn new(skills: Arc<Skills>) -> Self {
        let about = "Runs a skill whose description begins with [steps]: the steps are fixed, and you get what the last one \
                     came to. Read it with the tool skill first to see its inputs. What a step may not do for the person who \
                     asks ends it.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 100, "description": "the skill"},
                "inputs": {"type": "object", "description": "its inputs, as it describes them"},
            },
            "required": ["name"],
            "additionalProperties": false,
        });
        Self {
            spec: Spec {
                // What its steps change is looked at and written down one by one.
                access: Access::Write,
                ..Spec::reading(NAME, about, parameters)
            },
            skills,
        }
    }
}

#[async_trait]
impl Tool for RunSkill {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn needs_also(&self, arguments: &Map<String, Value>) -> Option<Also> {
        let name = arguments.get("name")?.as_str()?;
        let skill = self.skills.named(name)?;
        Some(Also {
            rights: skill.rights,
            next: Vec::new(),
        })
    }

    fn gives_errands(&self) -> bool {
        true
    }

    fn has_steps(&self) -> bool {
        true
    }

    fn longest(&self) -> Option<Duration> {
        Some(LONGEST)
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let sorted = call.rules.tools.skills();
        let mut mine = sorted.of(call.proof.actor(), call.proof.scope(), call.now);
        let name = call.text("name");
        let found = mine.find(|skill| skill.name == name);
        let Some(errands) = call.errands else {
            return Err(Fault::lasting("Steps cannot be run here."));
        };
        let Some(template) = found.and_then(|skill| skill.steps.as_ref()) else {
            let why = match found {
                Some(_) => {
                    "This skill has no steps: read it with the tool skill, and do as it says."
                }
                None => {
                    "There is no skill of this name. Call skill without a name to see which there are."
                }
            };
            return Err(errands.broken_off(why.to_owned()));
        };
        let given = call.arguments.get("inputs").and_then(Value::as_object);
        let inputs = template.filled(given.unwrap_or(&Map::new()));
        let inputs = inputs.map_err(|what| {
            let form = template.form();
            errands.broken_off(format!(
                "The inputs do not fit: {what}. Their JSON Schema: {form}"
            ))
        })?;
        let brought = errands.run_steps(template, &inputs).await?;
        if let Some(sending) = call.sending {
            sending.taken.lock().extend(brought.files);
        }
        Ok(brought.given)
    }
}
