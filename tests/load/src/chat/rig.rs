//! What a measurement of the web chat runs: a model and the gateway.
//!
//! Owns the child processes, their temporary folder, the gateway's settings, and the sign by which silent sockets are
//! told that the measurement is over.

use std::{fs, time::Duration, time::Instant};

use tempfile::TempDir;
use tokio::{
    process::{Child, Command},
    sync::watch,
    time::sleep,
};

use super::Plan;
use crate::{
    Fault,
    address::{Target, free},
    model::Pace,
    onebot,
    program::{alive, spawn},
};

/// Time between two looks whether a program listens.
const PAUSE: Duration = Duration::from_millis(10);

/// All that runs.
pub struct Rig {
    /// Where the socket of the chat is.
    pub chat: Target,
    /// The gateway's process.
    pub pid: u32,
    /// Turns true when the measurement is over.
    pub end: watch::Receiver<bool>,
    over: watch::Sender<bool>,
    model: Child,
    gateway: Child,
    /// Removed when the programs have ended.
    folder: TempDir,
}

impl Rig {
    /// Starts a model and a gateway that asks it, in an empty folder.
    ///
    /// # Errors
    /// One of them does not start.
    pub async fn start(plan: &Plan) -> Result<Self, Fault> {
        let folder = tempfile::tempdir()?;
        let (model_at, gateway_at) = (free()?, free()?);
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["model", "--listen", &model_at.to_string(), "--stamped"]);
        let Pace {
            first_ms,
            tokens,
            inter_ms,
            ..
        } = plan.pace;
        command.args(["--first-ms", &first_ms.to_string()]);
        command.args(["--tokens", &tokens.to_string()]);
        command.args(["--inter-ms", &inter_ms.to_string()]);
        let mut programs = Vec::new();
        let settings = settings(
            plan,
            &gateway_at.to_string(),
            &format!("http://{model_at}/v1"),
        );
        fs::write(folder.path().join("agent.yaml"), settings)?;
        let mut gateway = Command::new(fs::canonicalize(&plan.gateway)?);
        gateway.args(["--config", "agent.yaml"]);
        for (command, name, address) in [
            (command, "model.log", model_at),
            (gateway, "gateway.log", gateway_at),
        ] {
            let log = folder.path().join(name);
            let mut child = spawn(command, &folder, &log)?;
            let began = Instant::now();
            while onebot::open(address).await.is_err() {
                alive(&mut child, began, &log)?;
                sleep(PAUSE).await;
            }
            programs.push(child);
        }
        let (Some(gateway), Some(model)) = (programs.pop(), programs.pop()) else {
            return Err("a program is missing".into());
        };
        let (over, end) = watch::channel(false);
        Ok(Self {
            chat: Target {
                address: gateway_at,
                path: "/ws".to_owned(),
            },
            pid: gateway.id().ok_or("the gateway has ended")?,
            end,
            over,
            model,
            gateway,
            folder,
        })
    }

    /// Lets the silent sockets go.
    pub fn stop_listening(&self) {
        self.over.send_replace(true);
    }

    /// Ends the programs and removes the folder.
    ///
    /// # Errors
    /// A program cannot be ended, or the folder not removed.
    pub async fn stop(mut self) -> Result<(), Fault> {
        self.gateway.kill().await?;
        self.model.kill().await?;
        self.folder.close()?;
        Ok(())
    }
}

/// Everybody comes from one address, and all are answered at once.
fn settings(plan: &Plan, listen: &str, model: &str) -> String {
    let sockets = plan.idle + plan.streams + 16;
    let turns = plan.streams;
    format!(
        "\
platforms:
  webchat:
    accounts:
      default: {{max_sockets: {sockets}, max_sockets_per_address: 0}}
flow_control:
  user: {{rate: 0}}
  max_turns_in_flight: {turns}
  auto: {{api_rpm_limit: 0, min_interval: 0}}
providers:
  load: {{kind: openai, base_url: \"{model}\"}}
models:
  chat: [load/model]
storage:
  url: \"sqlite:weirgate.db\"
http:
  listen: {listen}
observability:
  log: {{level: warn}}
"
    )
}
