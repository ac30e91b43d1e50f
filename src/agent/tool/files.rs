//! The tools for files in the conversation's workspace: read, write, edit, list, find, look for text, and send.
//!
//! Owns what each does and its limits. How a file is reached is `workspace`'s; nothing else on the machine is.

mod send;
pub(super) mod workspace;

use std::{fmt::Write as _, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use regex::RegexBuilder;
use serde_json::{Map, Value, json};

use self::workspace::{Workspace, Workspaces};
use super::{Access, Call, Fault, Given, Spec, Tool};
use crate::security::{
    fence::Origin,
    paths::{PathGuard, glob},
};

/// The names.
pub const NAMES: [&str; 7] = [
    "read_file",
    "write_file",
    "edit_file",
    "list_files",
    "find_files",
    "search_files",
    send::NAME,
];
/// Most lines that a list or a search gives.
const MAX_LINES: usize = 200;
/// Longest line that a search shows, in characters.
const MAX_LINE: usize = 300;

/// What they are told by the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Where the workspaces are; `None` for a folder beside the database.
    pub workspaces: Option<PathBuf>,
    /// Most bytes of all files of one.
    pub max_bytes: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            workspaces: None,
            max_bytes: 100 * 1024 * 1024,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Deed {
    Read,
    Write,
    Edit,
    List,
    Find,
    Search,
}

/// One of the tools.
#[derive(Debug)]
struct FileTool {
    spec: Spec,
    deed: Deed,
    workspaces: Arc<Workspaces>,
}

/// The workspaces in a folder.
///
/// # Errors
/// What is wrong with a pattern for blocked files; those that were read are right.
pub(super) fn workspaces(
    root: PathBuf,
    settings: &Settings,
    blocked: &[String],
) -> Result<Arc<Workspaces>, String> {
    Ok(Arc::new(Workspaces {
        root,
        guard: PathGuard::new(blocked)?,
        max_bytes: settings.max_bytes,
    }))
}

/// All of them, on these workspaces.
pub(super) fn tools(workspaces: &Arc<Workspaces>) -> Vec<Arc<dyn Tool>> {
    let deeds = [
        Deed::Read,
        Deed::Write,
        Deed::Edit,
        Deed::List,
        Deed::Find,
        Deed::Search,
    ];
    let tool = |(deed, name): (Deed, &str)| -> Arc<dyn Tool> {
        Arc::new(FileTool {
            spec: spec(deed, name),
            deed,
            workspaces: Arc::clone(workspaces),
        })
    };
    let send: Arc<dyn Tool> = Arc::new(send::SendFile::new(Arc::clone(workspaces)));
    let texts = deeds.into_iter().zip(NAMES).map(tool);
    texts.chain([send]).collect()
}

fn spec(deed: Deed, name: &str) -> Spec {
    let path = json!({"type": "string", "minLength": 1, "maxLength": 500, "description": "a path in the workspace"});
    let folder =
        json!({"type": "string", "maxLength": 500, "description": "a folder; left out: all of it"});
    let text = |about: &str| json!({"type": "string", "description": about});
    let number = |about: &str| json!({"type": "integer", "minimum": 1, "description": about});
    let (about, properties, required) = match deed {
        Deed::Read => (
            "Reads a text file of this chat's workspace, with numbered lines.",
            json!({"path": path, "from": number("the first line"), "lines": number("how many")}),
            json!(["path"]),
        ),
        Deed::Write => (
            "Writes a text file of this chat's workspace whole, and makes its folders. What was in it is lost.",
            json!({"path": path, "content": text("the whole text")}),
            json!(["path", "content"]),
        ),
        Deed::Edit => (
            "Replaces a passage of a text file of this chat's workspace.",
            json!({"path": path, "old": {"type": "string", "minLength": 1,
                "description": "the passage exactly as it is there, with enough around it to be the only one"},
                "new": text("what is to stand there")}),
            json!(["path", "old", "new"]),
        ),
        Deed::List => (
            "Lists files and folders of this chat's workspace.",
            json!({"folder": folder}),
            json!([]),
        ),
        Deed::Find => (
            "Finds files of this chat's workspace by name: * and ? inside of a name, ** for folders.",
            json!({"pattern": {"type": "string", "minLength": 1, "maxLength": 200}}),
            json!(["pattern"]),
        ),
        Deed::Search => (
            "Finds lines in the text files of this chat's workspace by a regular expression.",
            json!({"expression": {"type": "string", "minLength": 1, "maxLength": 500}, "folder": folder}),
            json!(["expression"]),
        ),
    };
    let parameters = json!({"type": "object", "properties": properties, "required": required,
        "additionalProperties": false});
    let access = match deed {
        Deed::Write | Deed::Edit => Access::WriteShared,
        _ => Access::Read,
    };
    Spec {
        access,
        // A passage that was replaced is not there a second time.
        repeatable: !matches!(deed, Deed::Edit),
        ..Spec::reading(name, about, parameters)
    }
}

#[async_trait]
impl Tool for FileTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn resource(&self, arguments: &Map<String, Value>) -> Option<String> {
        arguments.get("path")?.as_str().map(str::to_owned)
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let workspaces = Arc::clone(&self.workspaces);
        let conversation = call.conversation.clone();
        let (deed, arguments) = (self.deed, call.arguments.clone());
        // The system decides how long a file takes; a turn that is stopped does not wait for it.
        let done = tokio::task::spawn_blocking(move || {
            act(deed, &workspaces.of(&conversation)?, &arguments)
        });
        done.await
            .unwrap_or_else(|_| Err(Fault::lasting("The tool has a fault of its own.")))
    }
}

fn act(
    deed: Deed,
    workspace: &Workspace<'_>,
    arguments: &Map<String, Value>,
) -> Result<Given, Fault> {
    let text = |name: &str| {
        arguments
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let number = |name: &str, default: usize| {
        let given = arguments.get(name).and_then(Value::as_u64);
        given.map_or(default, |given| {
            usize::try_from(given).unwrap_or(usize::MAX)
        })
    };
    let data = |text: String| {
        Ok(Given {
            text,
            origin: Some(Origin::ToolResult),
        })
    };
    match deed {
        Deed::Read => data(lines(
            &workspace.read(text("path"))?,
            number("from", 1),
            number("lines", 2_000),
        )),
        Deed::Write => {
            workspace.write(text("path"), text("content"))?;
            Ok(Given::own("Written."))
        }
        Deed::Edit => {
            let (old, new) = (text("old"), text("new"));
            let before = workspace.read(text("path"))?;
            match before.matches(old).count() {
                1 => {}
                0 => return Err(Fault::lasting("The passage is not in the file.")),
                count => {
                    return Err(Fault::lasting(format!(
                        "The passage is there {count} times: give more of it."
                    )));
                }
            }
            workspace.write(text("path"), &before.replacen(old, new, 1))?;
            Ok(Given::own("Replaced."))
        }
        Deed::List => data(listed(workspace, text("folder"), |_| true)?),
        Deed::Find => {
            let pattern = glob(text("pattern")).map_err(Fault::lasting)?;
            data(listed(workspace, "", |path| pattern.is_match(path))?)
        }
        Deed::Search => data(found(workspace, text("folder"), text("expression"))?),
    }
}

/// So many lines of a text, each with its number.
fn lines(text: &str, from: usize, count: usize) -> String {
    let numbered = text
        .lines()
        .enumerate()
        .skip(from.saturating_sub(1))
        .take(count);
    let mut out = String::new();
    for (index, line) in numbered {
        // Writing to a string does not fail.
        let _ = writeln!(out, "{}\t{line}", index + 1);
    }
    if out.is_empty() {
        "(nothing)".to_owned()
    } else {
        out
    }
}

fn listed(
    workspace: &Workspace<'_>,
    folder: &str,
    wanted: impl Fn(&str) -> bool,
) -> Result<String, Fault> {
    let files = workspace.list(folder)?;
    let mut files = files.iter().filter(|file| wanted(&file.path));
    let mut out = String::new();
    for file in files.by_ref().take(MAX_LINES) {
        let _ = if file.folder {
            writeln!(out, "{}/", file.path)
        } else {
            writeln!(out, "{} ({} bytes)", file.path, file.bytes)
        };
    }
    Ok(ended(out, files.count()))
}

/// The lines that match, as `path:line: text`.
fn found(workspace: &Workspace<'_>, folder: &str, expression: &str) -> Result<String, Fault> {
    let expression = RegexBuilder::new(expression).size_limit(1 << 20).build();
    let expression = expression.map_err(|error| Fault::lasting(error.to_string()))?;
    let mut out = String::new();
    let (mut shown, mut more) = (0, 0);
    for file in workspace.list(folder)?.iter().filter(|file| !file.folder) {
        // What is no text, or is gone by now, has no lines.
        let Ok(text) = workspace.read(&file.path) else {
            continue;
        };
        for (index, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| expression.is_match(line))
        {
            if shown == MAX_LINES {
                more += 1;
                continue;
            }
            shown += 1;
            let line: String = line.chars().take(MAX_LINE).collect();
            let _ = writeln!(out, "{}:{}: {line}", file.path, index + 1);
        }
    }
    Ok(ended(out, more))
}

fn ended(mut out: String, more: usize) -> String {
    if out.is_empty() {
        return "(nothing)".to_owned();
    }
    if more > 0 {
        let _ = write!(out, "(and {more} more)");
    }
    out
}
