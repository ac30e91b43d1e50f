//! A tool of a server, or a way to its resources and prompts.
//!
//! Owns one call: the connection, the request, what the server asks in its middle, and the words for what goes wrong.
//! What it gives is somebody else's words, always.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::{
    Peer, RoleClient, ServiceError,
    model::{
        CallToolRequestParams, GetPromptRequestParams, PaginatedRequestParams,
        ReadResourceRequestParams,
    },
};
use serde_json::{Value, json};

use super::{
    files::{self, Notes},
    line::Line,
    render,
};
use crate::{
    agent::tool::{Call, Fault, Given, Spec, Tool},
    security::fence::Origin,
};

/// What a call asks of the server.
#[derive(Debug, Clone)]
pub(super) enum What {
    /// A tool.
    Tool {
        /// The server's own name for it.
        name: String,
        /// The files that it gives go out with the answer.
        sends: bool,
    },
    /// A page of its resources.
    ListResources,
    /// A resource.
    ReadResource,
    /// A page of its prompts.
    ListPrompts,
    /// A prompt.
    GetPrompt,
}

/// A tool of a server.
pub(super) struct Remote {
    spec: Spec,
    line: Arc<Line>,
    what: What,
}

/// What a server gives.
enum Answer {
    Done(String),
    /// A tool says that it did not work.
    Failed(String),
}

impl Remote {
    pub(super) fn new(spec: Spec, line: Arc<Line>, what: What) -> Self {
        Self { spec, line, what }
    }

    async fn request(
        &self,
        peer: &Peer<RoleClient>,
        call: &Call<'_>,
    ) -> Result<Answer, ServiceError> {
        let page = || {
            let cursor = Some(call.text("cursor")).filter(|cursor| !cursor.is_empty());
            let page = PaginatedRequestParams::default();
            Some(page.with_cursor(cursor.map(str::to_owned)))
        };
        let text = match &self.what {
            What::Tool { name, sends } => return tool(peer, (name, *sends), call).await,
            What::ListResources => {
                let listed = peer.list_resources(page()).await?;
                listing("resources", json!(listed.resources), listed.next_cursor)
            }
            What::ReadResource => {
                let uri = ReadResourceRequestParams::new(call.text("uri"));
                render::resource(&peer.read_resource(uri).await?.contents)
            }
            What::ListPrompts => {
                let listed = peer.list_prompts(page()).await?;
                listing("prompts", json!(listed.prompts), listed.next_cursor)
            }
            What::GetPrompt => {
                let mut prompt = GetPromptRequestParams::new(call.text("name"));
                if let Some(Value::Object(arguments)) = call.arguments.get("arguments") {
                    prompt = prompt.with_arguments(arguments.clone());
                }
                let found = peer.get_prompt_once(prompt).await?;
                match found {
                    rmcp::model::GetPromptResponse::Complete(prompt) => render::prompt(&prompt),
                    _ => return Err(ServiceError::UnexpectedResponse),
                }
            }
        };
        Ok(Answer::Done(text))
    }
}

async fn tool(
    peer: &Peer<RoleClient>,
    (name, sends): (&str, bool),
    call: &Call<'_>,
) -> Result<Answer, ServiceError> {
    let arguments = call.arguments.clone();
    let request = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
    let result = peer.call_tool(request).await?;
    if result.is_error == Some(true) {
        return Ok(Answer::Failed(render::call(&result, &Notes::new())));
    }
    let notes = files::taken(&result, call.sending.filter(|_| sends)).await;
    Ok(Answer::Done(render::call(&result, &notes)))
}

/// A page of what a server has, and how to get the next.
fn listing(what: &str, listed: Value, next: Option<String>) -> String {
    let next = next.filter(|next| !next.is_empty());
    let mut page = json!({ what: listed });
    if let (Some(next), Some(page)) = (next, page.as_object_mut()) {
        page.insert("next_cursor".to_owned(), json!(next));
    }
    page.to_string()
}

#[async_trait]
impl Tool for Remote {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let peer = self.line.peer().await.map_err(|error| {
            let server = &self.line.name;
            said(
                format!("The server {server} cannot be reached: {error}"),
                true,
            )
        })?;
        let _place = self.line.place().await;
        let asking = self.line.begin(call.consent);
        let answer = tokio::select! {
            biased;
            asked = asking.asked() => {
                let fault = Fault::lasting("A person has to answer what it asks.");
                return Err(Fault { asks: Some(Box::new(asked)), ..fault });
            }
            answer = self.request(&peer, &call) => answer,
        };
        match answer {
            Ok(Answer::Done(text)) => Ok(data(text)),
            Ok(Answer::Failed(text)) => Err(said(text, false)),
            Err(error) => Err(fault(&error)),
        }
    }
}

fn fault(error: &ServiceError) -> Fault {
    match error {
        ServiceError::McpError(error) => said(format!("{}", error.message), false),
        ServiceError::UnexpectedResponse => {
            said("What the server answered cannot be read.".to_owned(), false)
        }
        // The connection, at once where the server has ended.
        error => said(
            format!("The connection to the server failed: {error}"),
            true,
        ),
    }
}

/// What a server gave.
fn data(text: String) -> Given {
    Given {
        text,
        origin: Some(Origin::ToolResult),
    }
}

/// Why it gave nothing, in words that may be its own.
fn said(text: String, passing: bool) -> Fault {
    Fault::told(data(text), passing)
}
