//! The tool `save_page`: a page of the public web, kept in the conversation's workspace as Markdown.
//!
//! Owns the form of the file and what the model is shown of it. Which addresses are reached is `fetch_page`'s.

use std::{collections::BTreeSet, fmt::Write as _, sync::Arc};

use async_trait::async_trait;
use serde_json::{Map, Value, json};

use super::{FetchPage, readable};
use crate::{
    agent::tool::{Access, Call, Fault, Given, Spec, Tool, files::workspace::Workspaces},
    clock::minute_in,
    security::fence::{Origin, label},
};

/// The name.
pub const NAME: &str = "save_page";
/// What of a page the model is shown, in characters, and how many of its links.
const SHOWN: usize = 1_500;
const MAX_LINKS: usize = 40;

/// The tool.
pub(in crate::agent::tool) struct SavePage {
    spec: Spec,
    pages: Arc<FetchPage>,
    workspaces: Arc<Workspaces>,
}

impl SavePage {
    /// The tool, which reads with `pages` and writes into `workspaces`.
    pub(in crate::agent::tool) fn new(pages: Arc<FetchPage>, workspaces: Arc<Workspaces>) -> Self {
        let about = "Saves the text of a page of the public web, with its links, as a Markdown file of this chat's workspace. \
                     Gives its beginning and its links.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "maxLength": 2000, "description": "an http or https address"},
                "path": {"type": "string", "minLength": 1, "maxLength": 500, "description": "where to, such as pages/name.md"},
            },
            "required": ["url", "path"],
            "additionalProperties": false,
        });
        Self {
            spec: Spec {
                access: Access::WriteShared,
                ..Spec::reading(NAME, about, parameters)
            },
            pages,
            workspaces,
        }
    }
}

#[async_trait]
impl Tool for SavePage {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn resource(&self, arguments: &Map<String, Value>) -> Option<String> {
        arguments.get("path")?.as_str().map(str::to_owned)
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let page = self.pages.page(call.text("url")).await?;
        let read = if page.html {
            readable::read(&page.text, &page.url)
        } else {
            readable::Read {
                text: page.text.clone(),
                ..readable::Read::default()
            }
        };
        if read.text.trim().is_empty() {
            return Err(Fault::lasting(
                "The page has no text. It may be made by scripts, or want a login.",
            ));
        }
        let title = label(&read.title);
        let title = if title.is_empty() {
            page.url.as_str()
        } else {
            &title
        };
        let day = minute_in(call.now, call.zone);
        let mut file = format!("# {title}\n\n<{}>, {day}\n\n{}\n", page.url, read.text);
        if !page.whole {
            file.push_str("\n(the page is longer than what is read of one)\n");
        }
        let (workspaces, path) = (Arc::clone(&self.workspaces), call.text("path").to_owned());
        let (conversation, text) = (
            call.conversation.clone(),
            call.rules.composer.redactor().redact(&file).into_owned(),
        );
        let size = text.chars().count();
        let written =
            tokio::task::spawn_blocking(move || workspaces.of(&conversation)?.write(&path, &text));
        written
            .await
            .unwrap_or_else(|_| Err(Fault::lasting("The tool has a fault of its own.")))?;
        Ok(Given {
            text: shown(call.text("path"), title, size, &read),
            origin: Some(Origin::WebPage),
        })
    }
}

/// What the model is shown.
fn shown(path: &str, title: &str, size: usize, read: &readable::Read) -> String {
    let mut text = format!("Saved as {path} ({size} characters): {title}\n\n");
    text.extend(read.text.chars().take(SHOWN));
    if read.text.chars().count() > SHOWN {
        text.push_str(" […]");
    }
    let mut seen = BTreeSet::new();
    let mut links = read.links.iter().filter(|(_, to)| seen.insert(to.as_str()));
    let some: Vec<_> = links.by_ref().take(MAX_LINKS).collect();
    if !some.is_empty() {
        text.push_str("\n\nLinks:");
    }
    for (words, to) in some {
        // Writing to a string does not fail.
        let _ = write!(text, "\n- [{words}]({to})");
    }
    let more = links.count();
    if more > 0 {
        let _ = write!(text, "\n(and {more} more)");
    }
    text
}
