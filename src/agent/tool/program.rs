//! Tools that are programs: folders with a `module.json` in the folder of tools.
//!
//! Owns how a program is run: its arguments as JSON on its standard input, what it writes as the result. What its
//! manifest says is `manifest`'s, when it is found `folder`'s. It is run without a shell.

pub mod folder;
mod manifest;

use std::{io, path::PathBuf};

use async_trait::async_trait;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
};

use super::{
    Call, Fault, Given, Spec, Tool,
    family::{self, Family},
};
use crate::security::fence::Origin;

/// Most bytes that are taken of what a program writes.
const MAX_OUTPUT: usize = 256 * 1024;
/// Most bytes of what it complains.
const MAX_COMPLAINT: usize = 2 * 1024;
/// A program that a model may have run.
#[derive(Debug)]
pub struct Program {
    spec: Spec,
    folder: PathBuf,
    command: Vec<String>,
}

impl Program {
    fn command(&self) -> io::Result<Command> {
        let (program, arguments) = self.command.split_first().ok_or(io::ErrorKind::NotFound)?;
        // What is written with a slash is in the folder; else it is looked for in PATH.
        let program = if program.contains('/') {
            self.folder.join(program)
        } else {
            PathBuf::from(program)
        };
        let mut command = family::command(program, &self.folder)?;
        command.args(arguments);
        Ok(command)
    }
}

#[async_trait]
impl Tool for Program {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let child = self.command().and_then(|mut command| command.spawn());
        let mut child = child.map_err(|error| {
            tracing::warn!(tool = %self.spec.name, %error, "a program cannot be started");
            Fault::lasting("The program cannot be started.")
        })?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut family = Family(child);
        let arguments = Value::Object(call.arguments.clone()).to_string();
        let write = async {
            if let Some(mut stdin) = stdin {
                // A program that does not read its arguments is none of our business.
                let _ = stdin.write_all(arguments.as_bytes()).await;
            }
        };
        let ((), out, complaint) = tokio::join!(
            write,
            taken(stdout, MAX_OUTPUT),
            taken(stderr, MAX_COMPLAINT)
        );
        let status = family.0.wait().await;
        let status = status.map_err(|_| Fault::lasting("The program was lost."))?;
        if status.success() {
            return Ok(data(out));
        }
        let told = format!("The program ended with {status}.\n{complaint}");
        Err(Fault::told(data(told), false))
    }
}

fn data(text: String) -> Given {
    Given {
        text,
        origin: Some(Origin::ToolResult),
    }
}

/// The beginning of what is written; the rest is read and dropped, so that the program can end.
async fn taken(from: Option<impl AsyncRead + Unpin>, most: usize) -> String {
    let Some(mut from) = from else {
        return String::new();
    };
    let mut kept = Vec::new();
    let mut buffer = [0; 8 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        let room = most.saturating_sub(kept.len()).min(count);
        kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
mod tests;
