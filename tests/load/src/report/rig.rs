//! What a report runs: a model, the floor and the gateway.
//!
//! Owns the child processes, their temporary folder and the gateway's settings. A child ends with the
//! rig, however that ends.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    time::sleep,
};

use super::table::System;
use crate::{
    Fault,
    address::{Target, free},
    model::Pace,
    onebot,
    program::{alive, spawn, tail},
};

/// Time between two looks whether a program listens.
const PAUSE: Duration = Duration::from_millis(2);

/// A bot that runs.
pub struct Bot {
    /// Where it takes connections.
    pub target: Target,
    /// Its process.
    pub pid: u32,
    /// How long it took to accept the first connection.
    pub start: Duration,
    child: Child,
    log: PathBuf,
}

impl Bot {
    /// The end of what it logged, to be shown with a fault.
    #[must_use]
    pub fn log(&self) -> String {
        tail(&self.log)
    }
}

/// All that runs for one model.
pub struct Rig {
    /// The gateway's settings.
    pub settings: String,
    model: Child,
    floor: Bot,
    gateway: Bot,
    /// Removed when the programs have ended.
    folder: TempDir,
}

impl Rig {
    /// Starts a model of this pace, a floor and a gateway that ask it, in an empty folder.
    ///
    /// # Errors
    /// One of them does not start.
    pub async fn start(gateway: &Path, pace: Pace) -> Result<Self, Fault> {
        let folder = tempfile::tempdir()?;
        let own = std::env::current_exe()?;
        let (model_at, floor_at, gateway_at) = (free()?, free()?, free()?);
        let model_url = format!("http://{model_at}/v1");
        let mut command = Command::new(&own);
        command.args(["model", "--listen", &model_at.to_string()]);
        command.args(["--first-ms", &pace.first_ms.to_string()]);
        command.args(["--tokens", &pace.tokens.to_string()]);
        command.args(["--inter-ms", &pace.inter_ms.to_string()]);
        let log = folder.path().join("model.log");
        let mut model = spawn(command, &folder, &log)?;
        let began = Instant::now();
        while onebot::open(model_at).await.is_err() {
            alive(&mut model, began, &log)?;
            sleep(PAUSE).await;
        }
        let at = |address| Target {
            address,
            path: "/".to_owned(),
        };
        let mut command = Command::new(&own);
        command.args([
            "echo",
            "--listen",
            &floor_at.to_string(),
            "--model",
            &model_url,
        ]);
        let floor = bot(command, &folder, "floor.log", at(floor_at)).await?;
        let settings = settings(&gateway_at.to_string(), &free()?.to_string(), &model_url);
        fs::write(folder.path().join("agent.yaml"), &settings)?;
        let mut command = Command::new(gateway);
        command.args(["--config", "agent.yaml"]);
        let gateway = bot(command, &folder, "gateway.log", at(gateway_at)).await?;
        Ok(Self {
            settings,
            model,
            floor,
            gateway,
            folder,
        })
    }

    /// The floor, then the gateway.
    #[must_use]
    pub fn bots(&self) -> [(System, &Bot); 2] {
        [
            (System::Floor, &self.floor),
            (System::Gateway, &self.gateway),
        ]
    }

    /// Ends the programs and removes the folder.
    ///
    /// # Errors
    /// A program cannot be ended, or the folder not removed.
    pub async fn stop(mut self) -> Result<(), Fault> {
        self.gateway.child.kill().await?;
        self.floor.child.kill().await?;
        self.model.kill().await?;
        self.folder.close()?;
        Ok(())
    }
}

/// Without any limit of its own, for it is the limits of the code that are measured.
fn settings(listen: &str, http: &str, model: &str) -> String {
    format!(
        "\
platforms:
  qq:
    accounts:
      main:
        listen: {listen}
        limits: {{account_per_minute: 0, conversation_interval: 0}}
flow_control:
  user: {{rate: 0}}
  auto: {{api_rpm_limit: 0}}
providers:
  load: {{kind: openai, base_url: \"{model}\"}}
models:
  chat: [load/model]
storage:
  url: \"sqlite:weirgate.db\"
http:
  listen: {http}
observability:
  log: {{level: warn}}
"
    )
}

async fn bot(command: Command, folder: &TempDir, log: &str, target: Target) -> Result<Bot, Fault> {
    let log = folder.path().join(log);
    let began = Instant::now();
    let mut child = spawn(command, folder, &log)?;
    while onebot::connect(&target, None).await.is_err() {
        alive(&mut child, began, &log)?;
        sleep(PAUSE).await;
    }
    Ok(Bot {
        target,
        pid: child.id().ok_or("the program has ended")?,
        start: began.elapsed(),
        child,
        log,
    })
}
