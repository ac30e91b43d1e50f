//! The tool that sends a file into the chat: one of the workspace, or one that somebody sent there.
//!
//! Owns what can be asked for. What a file goes out as, and whether it does, is `sending`'s.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::stream;
use serde_json::json;
use tokio::io::AsyncReadExt as _;
use weirgate_sdk::{Download, DownloadError};

use super::workspace::Workspaces;
use crate::agent::tool::{Call, Fault, Given, Spec, Tool, sending::Form};

/// Its name.
pub(super) const NAME: &str = "send_file";
/// Bytes that are read at once.
const PIECE: usize = 64 << 10;

/// The tool.
#[derive(Debug)]
pub(super) struct SendFile {
    spec: Spec,
    workspaces: Arc<Workspaces>,
}

impl SendFile {
    pub(super) fn new(workspaces: Arc<Workspaces>) -> Self {
        let about = "Sends a file into this chat, together with your answer: a picture, recording, video or any other file. \
                     Give path for a file of the workspace, or received for one that somebody sent here.";
        let text = |about: &str| json!({"type": "string", "minLength": 1, "maxLength": 500, "description": about});
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": text("a path in the workspace"),
                "received": text("the name of a file that somebody sent here, or its kind for the newest of it: \
                                  image, audio, video, file"),
                "name": text("what people see it called; left out: its own name"),
                "as": {"type": "string", "enum": ["auto", "file", "sticker", "voice"],
                    "description": "auto (default): shown as what it is; file: to be saved, unchanged"},
            },
            "additionalProperties": false,
        });
        Self {
            spec: Spec::reading(NAME, about, parameters),
            workspaces,
        }
    }

    /// A file of the workspace, with its name.
    async fn own(&self, call: &Call<'_>, path: &str) -> Result<(String, Download), Fault> {
        let workspaces = Arc::clone(&self.workspaces);
        let (conversation, wanted) = (call.conversation.clone(), path.to_owned());
        let opened =
            tokio::task::spawn_blocking(move || workspaces.of(&conversation)?.opened(&wanted));
        let opened = opened.await;
        let (file, size) =
            opened.unwrap_or_else(|_| Err(Fault::lasting("The tool has a fault of its own.")))?;
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        Ok((name, pieces(file, size)))
    }
}

#[async_trait]
impl Tool for SendFile {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let Some(sending) = call.sending.filter(|sending| sending.is_possible()) else {
            return Err(Fault::lasting("Files cannot be sent in this chat."));
        };
        let form = match call.text("as") {
            "file" => Form::File,
            "sticker" => Form::Sticker,
            "voice" => Form::Voice,
            _ => Form::Auto,
        };
        let (own, file) = match (call.text("path"), call.text("received")) {
            ("", "") => return Err(Fault::lasting("Give path or received.")),
            ("", wanted) => sending.received(wanted).await?,
            (path, "") => self.own(&call, path).await?,
            _ => return Err(Fault::lasting("Give path or received, not both.")),
        };
        let name = match call.text("name") {
            "" => own,
            name => name.to_owned(),
        };
        let told = sending.take(&name, file, form).await?;
        Ok(Given::own(told))
    }
}

/// An open file, piece by piece.
fn pieces(file: std::fs::File, size: u64) -> Download {
    let file = tokio::fs::File::from_std(file);
    let stream = stream::try_unfold(file, |mut file| async move {
        let mut piece = bytes::BytesMut::with_capacity(PIECE);
        let read = file.read_buf(&mut piece).await;
        let read = read.map_err(|error| DownloadError::Unavailable(error.to_string()))?;
        Ok((read > 0).then(|| (piece.freeze(), file)))
    });
    Download::of(Some(size), Box::pin(stream))
}
