//! The tool `shell`: a command line in the conversation's workspace, confined.
//!
//! Owns one run: its time, what it writes, and when it is ended. How it is confined is the helper's
//! (`crate::sandbox`), which of the commands need a yes `danger`'s. It is off by default, and an owner of the gateway's
//! alone.

mod config;
mod danger;
mod helper;
mod output;
mod parse;

use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio::{io::AsyncReadExt as _, net::unix::pipe, time::Instant};

pub use self::config::{Approve, Settings};
use self::{danger::Danger, output::Output};
use super::{
    Access, Call, Fault, Given, Spec, Tool,
    family::Family,
    files::workspace::{Granted, Workspaces},
};
use crate::{sandbox::kernel, security::fence::Origin};

/// Its name.
pub const NAME: &str = "shell";
/// Longest command line, in characters.
const MAX_COMMAND: usize = 8_000;
/// Between two looks at how much the workspace holds.
const LOOK: Duration = Duration::from_secs(2);
/// How long what was ended may take to be gone.
const LAST: Duration = Duration::from_secs(5);
/// What this takes beside the command's own time.
const AROUND: Duration = Duration::from_secs(15);
/// Bytes that are taken at once.
const PIECE: usize = 16 * 1024;
/// Names of closed files that are told.
const TOLD: usize = 3;

/// The tool.
#[derive(Debug)]
pub struct Shell {
    spec: Spec,
    settings: Settings,
    danger: Danger,
    workspaces: Arc<Workspaces>,
    /// Folders and files of the gateway that no program may see.
    private: Vec<PathBuf>,
}

/// Why a run ended.
enum End {
    /// By itself.
    Done,
    /// Its time was over.
    Late,
    /// It wrote more than the workspace may hold.
    Full,
}

/// What a run needs of the disk.
struct Place {
    folder: PathBuf,
    granted: Granted,
}

impl Shell {
    /// The tool, if it is wanted.
    ///
    /// # Errors
    /// What is wrong with the settings; those that were read are right.
    pub(super) fn new(
        settings: &Settings,
        workspaces: &Arc<Workspaces>,
        private: Vec<PathBuf>,
    ) -> Result<Option<Self>, String> {
        if !settings.enabled {
            return Ok(None);
        }
        if let Some(lacks) = kernel::lacks(settings.isolation, kernel::version()) {
            tracing::warn!(%lacks, "the tool shell is switched on and cannot run anything");
        }
        let about = format!(
            "Runs a command line in bash or sh, in this chat's workspace and nowhere else: a sandbox without the machine's \
             files{}. Nothing is typed into it, and everything that it started ends with it.",
            if settings.network {
                ""
            } else {
                " and without a network"
            }
        );
        let most = settings.timeout.as_secs().max(1);
        let parameters = json!({
            "type": "object",
            "properties": {
                "command": {"type": "string", "minLength": 1, "maxLength": MAX_COMMAND},
                "timeout": {"type": "integer", "minimum": 1, "maximum": most,
                    "description": format!("seconds; {most} if left out")},
            },
            "required": ["command"],
            "additionalProperties": false,
        });
        Ok(Some(Self {
            spec: Spec {
                global: true,
                access: Access::WriteShared,
                repeatable: false,
                approval: settings.approve == Approve::Always,
                ..Spec::reading(NAME, &about, parameters)
            },
            danger: Danger::new(&settings.dangerous)?,
            settings: settings.clone(),
            workspaces: Arc::clone(workspaces),
            private,
        }))
    }

    /// The workspace of a conversation, and what of it may be seen.
    async fn place(&self, call: &Call<'_>) -> Result<Place, Fault> {
        let (workspaces, conversation) = (Arc::clone(&self.workspaces), call.conversation.clone());
        let (private, read) = (self.private.clone(), self.settings.read.clone());
        let look = move || {
            shuts(&private, &read)?;
            let workspace = workspaces.of(&conversation)?;
            Ok(Place {
                folder: workspace.path().to_owned(),
                granted: workspace.granted()?,
            })
        };
        blocking(look).await
    }

    /// How much the workspace holds now.
    async fn used(&self, call: &Call<'_>) -> Result<u64, Fault> {
        let (workspaces, conversation) = (Arc::clone(&self.workspaces), call.conversation.clone());
        blocking(move || Ok(workspaces.of(&conversation)?.granted()?.bytes)).await
    }
}

/// What may be read must not lead to what is the gateway's alone.
fn shuts(private: &[PathBuf], read: &[PathBuf]) -> Result<(), Fault> {
    let opens = |private: &&PathBuf| {
        let private = private.canonicalize();
        let mut read = helper::readable(read);
        private.is_ok_and(|private| read.any(|path| private.starts_with(path)))
    };
    match private.iter().find(opens) {
        None => Ok(()),
        Some(private) => {
            tracing::error!(path = %private.display(), "the shell would see what is the gateway's alone: move it");
            Err(Fault::lasting(
                "The shell is not run: it would see files of the gateway. Its log says which.",
            ))
        }
    }
}

async fn blocking<T: Send + 'static>(
    look: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    let done = tokio::task::spawn_blocking(look).await;
    done.unwrap_or_else(|_| Err(Fault::lasting("The tool has a fault of its own.")))
}

#[async_trait]
impl Tool for Shell {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn asks(&self, arguments: &Map<String, Value>) -> bool {
        let command = arguments.get("command").and_then(Value::as_str);
        let found = command.and_then(|command| self.danger.of(command));
        if let Some(rule) = found {
            tracing::info!(rule, "a command line needs a yes");
        }
        self.settings.approve == Approve::Dangerous && found.is_some()
    }

    fn longest(&self) -> Option<Duration> {
        Some(self.settings.timeout + AROUND)
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        if let Some(lacks) = kernel::lacks(self.settings.isolation, kernel::version()) {
            return Err(Fault::lasting(format!(
                "The shell cannot run here: {lacks}."
            )));
        }
        let place = self.place(&call).await?;
        let wanted = call.arguments.get("timeout").and_then(Value::as_u64);
        let wanted = wanted.map_or(self.settings.timeout, Duration::from_secs);
        let time = wanted.min(self.settings.timeout);
        let started = Instant::now();
        let (mut family, mut from) =
            self.start(&place, call.text("command"), time)
                .map_err(|error| {
                    tracing::warn!(%error, "the shell cannot be started");
                    Fault::lasting("The shell cannot be started.")
                })?;
        let mut output = Output::new(self.settings.max_output);
        let most = self.workspaces.max_bytes.max(place.granted.bytes);
        let end = self
            .follow(&call, &mut from, &mut output, (started + time, most))
            .await?;
        let took = started.elapsed();
        let status = if matches!(end, End::Done) {
            let status = tokio::time::timeout(LAST, family.0.wait()).await;
            status.ok().and_then(Result::ok)
        } else {
            drop(family);
            // What it wrote last is still in the pipe.
            let rest = drain(&mut from, &mut output);
            let _ = tokio::time::timeout(LAST, rest).await;
            None
        };
        let text = told(output, &end, status, took, &place.granted);
        match end {
            End::Done => Ok(data(text)),
            End::Late | End::Full => Err(Fault::told(data(text), false)),
        }
    }
}

impl Shell {
    /// Starts the helper with the shell behind it; what they write comes from one pipe, in its order.
    fn start(
        &self,
        place: &Place,
        command: &str,
        time: Duration,
    ) -> io::Result<(Family, pipe::Receiver)> {
        let (reader, writer) = io::pipe()?;
        let mut helper = helper::command(&self.settings, &place.folder, &place.granted, time);
        helper
            .args([shell(), "-c", command])
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer);
        let child = helper.spawn()?;
        let reader = pipe::Receiver::from_owned_fd(OwnedFd::from(reader));
        Ok((Family(child), reader?))
    }

    /// Takes what it writes, until it ends or has to be ended.
    async fn follow(
        &self,
        call: &Call<'_>,
        from: &mut pipe::Receiver,
        output: &mut Output,
        (until, most): (Instant, u64),
    ) -> Result<End, Fault> {
        let mut looks = tokio::time::interval_at(Instant::now() + LOOK, LOOK);
        let mut buffer = vec![0; PIECE];
        loop {
            tokio::select! {
                read = from.read(&mut buffer) => match read {
                    Ok(count @ 1..) => output.push(buffer.get(..count).unwrap_or_default()),
                    _ => return Ok(End::Done),
                },
                () = tokio::time::sleep_until(until) => return Ok(End::Late),
                _ = looks.tick() => if self.used(call).await? > most {
                    return Ok(End::Full);
                },
            }
        }
    }
}

async fn drain(from: &mut pipe::Receiver, output: &mut Output) {
    let mut buffer = vec![0; PIECE];
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        output.push(buffer.get(..count).unwrap_or_default());
    }
}

/// What the model is told: what was written, and how it ended.
fn told(
    output: Output,
    end: &End,
    status: Option<ExitStatus>,
    took: Duration,
    granted: &Granted,
) -> String {
    let mut text = output.text();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let took = took.as_secs_f64();
    let code = status.and_then(|status| status.code());
    let how = match (end, code) {
        (End::Late, _) => format!("stopped after {took:.1} s: its time was over"),
        (End::Full, _) => format!("stopped after {took:.1} s: the workspace is full"),
        (End::Done, Some(code)) => format!("exit code {code} after {took:.1} s"),
        (End::Done, None) => format!("it was lost after {took:.1} s"),
    };
    text.push_str(&format!("[{how}]"));
    if !granted.closed.is_empty() {
        let names: Vec<String> = granted
            .closed
            .iter()
            .take(TOLD)
            .map(|path| path.display().to_string())
            .collect();
        text.push_str(&format!(
            "\n[closed to it, and nothing new can be made beside: {}{}]",
            names.join(", "),
            if granted.closed.len() > TOLD {
                ", …"
            } else {
                ""
            }
        ));
    }
    text
}

fn data(text: String) -> Given {
    Given {
        text,
        origin: Some(Origin::ToolResult),
    }
}

/// The shell that is there.
fn shell() -> &'static str {
    const BASH: &str = "/bin/bash";
    if Path::new(BASH).exists() {
        BASH
    } else {
        "/bin/sh"
    }
}
