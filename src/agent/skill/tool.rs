//! The tool by which a model reads a skill: the list, what one says, and its further files.
//!
//! Owns what of a text is given at once. What it gives are the operator's words, so they need no fence; which skills
//! somebody may use is decided before it runs, and for the list with his proof.

use std::{fmt::Write as _, sync::Arc};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{Skill, Skills, folder::SKILL, reach, template::STEPS};
use crate::agent::tool::{Also, Call, Fault, Given, Spec, Tool, piece::piece};

/// Its name.
pub const NAME: &str = "skill";
/// Largest further file, in bytes.
const MAX_FILE: usize = 1024 * 1024;

/// The tool.
#[derive(Debug)]
pub struct SkillTool {
    spec: Spec,
    skills: Arc<Skills>,
}

impl SkillTool {
    /// The tool for these skills.
    #[must_use]
    pub fn new(skills: Arc<Skills>) -> Self {
        let about = "Reads a skill: how something is done here. Read it before you do what it is for. Give name for what it \
                     says, file as well for a further file of it; neither lists all.";
        let text = |about: &str| json!({"type": "string", "maxLength": 500, "description": about});
        let parameters = json!({
            "type": "object",
            "properties": {
                "name": text("the skill"),
                "file": text("the path of a file that the skill names"),
                "from": {"type": "integer", "minimum": 1, "description": "the first line, to go on with a long text"},
            },
            "additionalProperties": false,
        });
        Self {
            spec: Spec::reading(NAME, about, parameters),
            skills,
        }
    }

    /// The text of a skill or of one of its files, and what stands behind it.
    async fn text(&self, skill: &Arc<Skill>, file: &str) -> Result<(String, String), Fault> {
        let (skills, skill) = (Arc::clone(&self.skills), Arc::clone(skill));
        let file = file.to_owned();
        let read = tokio::task::spawn_blocking(move || {
            if file.is_empty() {
                let folder = skill.folder.as_deref();
                let files = folder.map(|folder| reach::list(folder, &skills.guard));
                return Ok((skill.body.to_string(), further(&files.unwrap_or_default())));
            }
            let text = match &skill.folder {
                Some(folder) => reach::read(folder, &file, MAX_FILE, &skills.guard),
                None => Err(reach::Error::Absent),
            };
            let text = text.map_err(|error| {
                Fault::lasting(format!("This file of the skill cannot be read: {error}."))
            });
            text.map(|text| (text, String::new()))
        });
        read.await
            .unwrap_or_else(|_| Err(Fault::lasting("The tool has a fault of its own.")))
    }
}

#[async_trait]
impl Tool for SkillTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn needs_also(&self, arguments: &Map<String, Value>) -> Option<Also> {
        let name = arguments.get("name")?.as_str()?;
        let skill = self.skills.named(name)?;
        Some(Also {
            rights: skill.rights,
            // Its steps call theirs whatever is offered.
            next: match skill.steps {
                None => skill.tools.clone(),
                Some(_) => Vec::new(),
            },
        })
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let sorted = call.rules.tools.skills();
        let mut mine = sorted.of(call.proof.actor(), call.proof.scope(), call.now);
        let name = call.text("name");
        if name.is_empty() {
            let lines = mine.map(|skill| format!("- {}: {}", skill.name, skill.summary()));
            let lines: Vec<String> = lines.collect();
            return Ok(Given::own(lines.join("\n")));
        }
        let Some(skill) = mine.find(|skill| skill.name == name) else {
            let text =
                "There is no skill of this name. Call without a name to see which there are.";
            return Err(Fault::lasting(text));
        };
        let (text, behind) = self.text(skill, call.text("file")).await?;
        let from = call.arguments.get("from").and_then(Value::as_u64);
        let from = usize::try_from(from.unwrap_or(1)).unwrap_or(usize::MAX);
        let most = call.rules.settings.tool_calling.max_result_tokens;
        Ok(Given::own(piece(&text, &behind, from, most)))
    }
}

/// What is told of the further files of a skill.
fn further(files: &[reach::File]) -> String {
    let mut text = String::new();
    let own = |path: &str| matches!(path, SKILL | STEPS);
    for file in files.iter().filter(|file| !own(&file.path)) {
        // Writing to a string does not fail.
        let _ = write!(text, "\n- {} ({} bytes)", file.path, file.bytes);
    }
    if text.is_empty() {
        text
    } else {
        format!("\n\n[further files of this skill, to be read with file]{text}")
    }
}
