//! The tools for office documents: what one says, as Markdown, and simple ones that are made.
//!
//! Owns which kinds there are and how a document is told from another. Documents are in the conversation's workspace, or
//! were sent into the chat; how they are reached is `files`'s and `sending`'s. A document is data: its formulas, macros and
//! links are never followed.

mod dates;
mod make_sheet;
mod make_slides;
mod make_word;
mod markdown;
mod package;
mod parts;
mod relations;
mod sheet;
mod slides;
mod word;
mod xml;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use self::{
    package::{Error, MAX_BYTES, Package, packed},
    xml::{Piece, Pieces},
};
use super::{Access, Call, Fault, Given, Spec, Tool, files::workspace::Workspaces, piece::piece};
use crate::security::fence::Origin;

/// The names.
pub const NAMES: [&str; 2] = ["office_read", "office_write"];
/// Most bytes of what a document says.
const MAX_TEXT: usize = 4 << 20;
/// Documents that are unfolded at the same time.
const PLACES: usize = 2;

/// One of the tools.
struct Office {
    spec: Spec,
    writes: bool,
    workspaces: Arc<Workspaces>,
    places: Arc<Semaphore>,
}

/// Both of them.
#[must_use]
pub(super) fn tools(workspaces: &Arc<Workspaces>) -> Vec<Arc<dyn Tool>> {
    let places = Arc::new(Semaphore::new(PLACES));
    let tool = |(spec, writes): (Spec, bool)| -> Arc<dyn Tool> {
        Arc::new(Office {
            spec,
            writes,
            workspaces: Arc::clone(workspaces),
            places: Arc::clone(&places),
        })
    };
    [(reading(), false), (writing(), true)]
        .into_iter()
        .map(tool)
        .collect()
}

fn text(about: &str) -> Value {
    json!({"type": "string", "maxLength": 500, "description": about})
}

fn reading() -> Spec {
    let about = "Reads a document (docx, xlsx, pptx) and gives what it says as Markdown. Give path for one of this chat's \
                 workspace, or received for one that somebody sent here. Long ones come in parts.";
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": text("a path in the workspace"),
            "received": text("the name of a file that somebody sent here, or file for the newest"),
            "sheet": text("only this sheet of a workbook"),
            "from": {"type": "integer", "minimum": 1, "description": "the first line, to go on with a long one"},
        },
        "additionalProperties": false,
    });
    let [name, _] = NAMES;
    Spec::reading(name, about, parameters)
}

fn writing() -> Spec {
    let about = "Makes a document in this chat's workspace; the ending of path says which: docx (markdown), xlsx (sheets, or \
                 csv for one), pptx (slides, or markdown in which each heading begins one). What was in it is lost.";
    let cell = json!({"type": ["string", "number", "boolean", "null"]});
    let sheet = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "rows": {"type": "array", "items": {"type": "array", "items": cell}, "description": "the first one is the head"},
        },
        "required": ["rows"],
    });
    let slide = json!({
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "bullets": {"type": "array", "items": {"type": "string"}, "description": "two spaces before one put it below"},
        },
        "required": ["title"],
    });
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "maxLength": 500, "pattern": "\\.(docx|xlsx|pptx)$"},
            "markdown": {"type": "string"},
            "csv": {"type": "string"},
            "sheets": {"type": "array", "items": sheet},
            "slides": {"type": "array", "items": slide},
        },
        "required": ["path"],
        "additionalProperties": false,
    });
    let [_, name] = NAMES;
    Spec {
        access: Access::WriteShared,
        ..Spec::reading(name, about, parameters)
    }
}

#[async_trait]
impl Tool for Office {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn resource(&self, arguments: &Map<String, Value>) -> Option<String> {
        arguments.get("path")?.as_str().map(str::to_owned)
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let received = if self.writes {
            None
        } else {
            received(&call).await?
        };
        let workspaces = Arc::clone(&self.workspaces);
        let (conversation, arguments) = (call.conversation.clone(), call.arguments.clone());
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_| Fault::lasting("Documents cannot be read now."))?;
        if self.writes {
            return apart(move || {
                let _place = place;
                let path = word_of(&arguments, "path");
                let bytes = made(path, &arguments).map_err(Fault::lasting)?;
                workspaces
                    .of(&conversation)?
                    .write_bytes(path, &bytes, MAX_BYTES)?;
                let told = format!(
                    "Written: {path} ({} bytes). send_file sends it.",
                    bytes.len()
                );
                Ok(Given::own(told))
            })
            .await;
        }
        let from = call.arguments.get("from").and_then(Value::as_u64);
        let from = usize::try_from(from.unwrap_or(1)).unwrap_or(usize::MAX);
        let most = call.rules.settings.tool_calling.max_result_tokens;
        apart(move || {
            let _place = place;
            let bytes = match received {
                Some(bytes) => bytes,
                None => workspaces
                    .of(&conversation)?
                    .read_bytes(word_of(&arguments, "path"), MAX_BYTES)?,
            };
            let said = said(&bytes, word_of(&arguments, "sheet"))?;
            Ok(Given {
                text: piece(&said, "", from, most),
                origin: Some(Origin::File),
            })
        })
        .await
    }
}

fn word_of<'a>(arguments: &'a Map<String, Value>, name: &str) -> &'a str {
    arguments
        .get(name)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// Runs what takes the processor, or waits for the disk, where nothing else waits for it.
async fn apart(
    work: impl FnOnce() -> Result<Given, Fault> + Send + 'static,
) -> Result<Given, Fault> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(Fault::lasting("The tool has a fault of its own.")))
}

/// The bytes of a document that somebody sent, if one of those is meant.
async fn received(call: &Call<'_>) -> Result<Option<Vec<u8>>, Fault> {
    let wanted = call.text("received");
    match (call.text("path"), wanted) {
        ("", "") => return Err(Fault::lasting("Give path or received.")),
        (_, "") => return Ok(None),
        ("", _) => {}
        _ => return Err(Fault::lasting("Give path or received, not both.")),
    }
    let sending = call.sending;
    let sending = sending.ok_or_else(|| Fault::lasting("No files are kept of this chat."))?;
    let (_, mut file) = sending.received(wanted).await?;
    let mut bytes = Vec::new();
    let gone = |_| Fault::passing("The file cannot be read now.");
    while let Some(piece) = file.content.next().await.map_err(gone)? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MAX_BYTES {
            return Err(Fault::lasting("The file is too large to be read."));
        }
    }
    Ok(Some(bytes))
}

/// What a document says.
fn said(bytes: &[u8], sheet: &str) -> Result<String, Fault> {
    let said = read(bytes, sheet).map_err(|error| Fault::lasting(error.told()))?;
    match said {
        None => Err(Fault::lasting("There is no sheet of this name.")),
        Some(said) if said.trim().is_empty() => Ok("(no text)".to_owned()),
        Some(said) => Ok(said),
    }
}

/// Reads a document by what it is, whatever it is called; `None` if it has no such sheet.
fn read(bytes: &[u8], wanted: &str) -> Result<Option<String>, Error> {
    let mut package = Package::open(bytes)?;
    let main = relations::main_part(&mut package)?.ok_or(Error::Unknown)?;
    if !package.has(&main) || main.ends_with(".bin") {
        return Err(Error::Unknown);
    }
    let text = package.part(&main)?.ok_or(Error::Unknown)?;
    let mut pieces = Pieces::of(&text);
    let root = loop {
        match pieces.next()? {
            Some(Piece::Open(element)) => break element.name,
            Some(_) => {}
            None => return Err(Error::Damaged),
        }
    };
    match root.as_str() {
        "document" => word::read(&mut package, &main).map(Some),
        "workbook" => sheet::read(&mut package, &main, wanted),
        "presentation" => slides::read(&mut package, &main).map(Some),
        _ => Err(Error::Unknown),
    }
}

/// Makes a document of what was given, by the ending of its path.
fn made(path: &str, arguments: &Map<String, Value>) -> Result<Vec<u8>, String> {
    let parts = match path.rsplit('.').next() {
        Some("docx") => match arguments.get("markdown").and_then(Value::as_str) {
            Some(markdown) => make_word::parts(markdown),
            None => return Err("Give markdown for a docx.".to_owned()),
        },
        Some("xlsx") => make_sheet::parts(&make_sheet::sheets(arguments)?),
        Some("pptx") => make_slides::parts(&make_slides::slides(arguments)?),
        _ => return Err("The path has to end in .docx, .xlsx or .pptx.".to_owned()),
    };
    packed(&parts).map_err(|error| error.told().to_owned())
}

#[cfg(test)]
mod tests;
