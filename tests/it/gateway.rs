//! The real binary as a process: its folder, its configuration, its log, and ways to end it.
//!
//! Owns everything that a started gateway needs and takes it away on drop. What is said to it goes
//! through real sockets; nothing here looks into the process.

mod chat;
mod clock;
mod folder;
mod http;

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use weirgate_testkit::{
    model::FakeModel,
    onebot::{FakeOneBot, Options},
};

use crate::{engine::Engine, postgres::Schema};

pub use chat::{Chat, person};
pub use folder::{execute, free_port, merge, rows};
pub use http::Response;

/// The bot's number on the fake platform.
pub const BOT: u64 = 10_001;
/// The key that the gateway presents to the fake provider.
pub const KEY: &str = "key-of-the-tests-0123456789";
/// The longest wait for anything; generous, because machines that test are busy.
pub const LIMIT: Duration = Duration::from_secs(40);
/// The pause between two looks at something that gives no signal.
const LOOK: Duration = Duration::from_millis(10);

/// A gateway in a folder of its own, running or not.
pub struct Gateway {
    folder: TempDir,
    qq: u16,
    http: Option<SocketAddr>,
    env: Vec<(String, String)>,
    child: Option<Child>,
    starts: u32,
    schema: Option<Schema>,
}

impl Gateway {
    /// A gateway in front of a model, with one QQ account and web chat, all limits off, in English.
    /// `changes` are laid over that.
    pub async fn start(model: &FakeModel, changes: Value) -> Self {
        let mut gateway = Self::prepare(model, changes);
        gateway.up().await;
        gateway
    }

    /// Like [`Gateway::start`], without starting it.
    pub fn prepare(model: &FakeModel, changes: Value) -> Self {
        let gateway = Self::bare();
        gateway.configure(model, changes);
        gateway
    }

    /// Like [`Gateway::prepare`], on a database of this kind.
    pub async fn prepare_on(on: Engine, model: &FakeModel, mut changes: Value) -> Self {
        let schema = on.schema().await;
        if let Some(schema) = &schema {
            merge(&mut changes, json!({ "storage": { "url": schema.url() } }));
        }
        Self {
            schema,
            ..Self::prepare(model, changes)
        }
    }

    /// A second process of a gateway on a server: the same database, and the same address for OneBot unless it
    /// is to have its own.
    pub fn beside(first: &Self, own_address: bool, model: &FakeModel, mut changes: Value) -> Self {
        let schema = first.schema.as_ref().expect("its database is on a server");
        merge(&mut changes, json!({ "storage": { "url": schema.url() } }));
        let mut gateway = Self::bare();
        if !own_address {
            gateway.qq = first.qq;
        }
        gateway.configure(model, changes);
        gateway
    }

    /// The first column of a query of the database, which is on a server.
    pub async fn stored(&self, query: &str) -> Vec<String> {
        let schema = self.schema.as_ref().expect("its database is on a server");
        schema.texts(query).await
    }

    /// The state of an account, as the readiness check tells it.
    pub async fn account(&self, name: &str) -> String {
        let report: Value = serde_json::from_str(&self.get("/readyz").await.body).unwrap();
        report["adapters"][name]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    /// A folder without a configuration.
    pub fn bare() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            qq: free_port(),
            http: None,
            env: Vec::new(),
            child: None,
            starts: 0,
            schema: None,
        }
    }

    /// Writes agent.yaml.
    pub fn configure(&self, model: &FakeModel, changes: Value) {
        self.write("agent.yaml", &self.configuration(model, changes));
    }

    /// What [`Gateway::configure`] writes.
    pub fn configuration(&self, model: &FakeModel, changes: Value) -> String {
        let off = json!({ "account_per_minute": 0, "conversation_interval": 0 });
        let qq = json!({ "listen": format!("127.0.0.1:{}", self.qq), "limits": off });
        let mut config = json!({
            "storage": { "url": format!("sqlite:{}", self.database().display()) },
            "http": { "listen": "127.0.0.1:0" },
            "flow_control": {
                "user": { "rate": 0 },
                "auto": { "api_rpm_limit": 0, "min_interval": 0 },
            },
            "error_recovery": { "max_backoff": 0.05 },
            "output": { "segmented": { "random_interval": "0,0" } },
            "providers": {
                "main": { "kind": "openai", "base_url": model.url(), "api_key": KEY },
            },
            "models": { "chat": ["main/test"] },
            "language": "en",
            "platforms": {
                "qq": { "accounts": { "main": qq } },
                "webchat": { "accounts": { "default": {} } },
            },
        });
        merge(&mut config, changes);
        // JSON is YAML.
        config.to_string()
    }

    /// Writes a file into the folder.
    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.folder().join(name), text).unwrap();
    }

    /// Sets a variable for the next start; an empty value takes it away.
    pub fn set(&mut self, name: &str, value: &str) {
        self.env.retain(|(known, _)| known != name);
        if !value.is_empty() {
            self.env.push((name.to_owned(), value.to_owned()));
        }
    }

    /// The working directory of the process, and its home.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The database file.
    pub fn database(&self) -> PathBuf {
        self.folder().join("data/weirgate/weirgate.db")
    }

    /// The texts of all messages that the journal holds.
    pub async fn journaled(&self) -> Vec<String> {
        match &self.schema {
            Some(schema) => {
                schema
                    .texts("SELECT coalesce(body::json ->> 't', '') FROM inbox ORDER BY id")
                    .await
            }
            None => rows(
                &self.database(),
                "SELECT json_extract(body, '$.t') FROM inbox ORDER BY id",
            ),
        }
    }

    /// The binary with arguments, in the folder, with a clean environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weirgate"));
        command
            .args(arguments)
            .current_dir(self.folder())
            .env_clear()
            .env("HOME", self.folder())
            .env("XDG_DATA_HOME", self.folder().join("data"))
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }

    /// Starts the process without waiting for anything.
    pub fn spawn(&mut self) {
        self.starts += 1;
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder().join("log"));
        let out = fs::File::create(self.said_file()).unwrap();
        let mut command = self.command(&[]);
        command.stdout(out).stderr(log.unwrap());
        self.child = Some(command.spawn().unwrap());
        self.http = None;
    }

    /// Starts the process and waits until it is ready.
    pub async fn up(&mut self) {
        self.spawn();
        self.ready().await;
    }

    /// Waits until a started process is ready.
    pub async fn ready(&mut self) {
        let started = Instant::now();
        loop {
            if self.is_ready().await {
                return;
            }
            if let Some(status) = self.child.as_mut().unwrap().try_wait().unwrap() {
                panic!("ended with {status}: {}", self.log());
            }
            assert!(started.elapsed() < LIMIT, "not ready: {}", self.log());
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn is_ready(&mut self) -> bool {
        let said = fs::read_to_string(self.said_file()).unwrap_or_default();
        let address = said.split_once("http://").and_then(|(_, rest)| {
            // The page, or, without web chat, the probe.
            let (address, _) = rest.split_once('/')?;
            address.parse().ok()
        });
        self.http = address;
        match address {
            Some(_) => self.get("/readyz").await.status == 200,
            None => false,
        }
    }

    fn said_file(&self) -> PathBuf {
        self.folder().join(format!("said.{}", self.starts))
    }

    /// What the process printed for its operator since the last start.
    pub fn said(&self) -> String {
        fs::read_to_string(self.said_file()).unwrap()
    }

    /// Everything that all starts have logged.
    pub fn log(&self) -> String {
        let bytes = fs::read(self.folder().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until the log holds a text.
    pub async fn logged(&self, text: &str) {
        let found = until(|| self.log().contains(text)).await;
        assert!(found, "{text:?} is not in the log: {}", self.log());
    }

    /// Kills the process without a word.
    pub async fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().await.unwrap();
        }
    }

    /// The number of the process.
    pub fn process(&self) -> u32 {
        self.child.as_ref().unwrap().id().expect("it runs")
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let id = self.process();
        // The shell's own kill is everywhere; the program is not.
        let done = std::process::Command::new("sh")
            .args(["-c", &format!("kill -{name} {id}")])
            .status();
        assert!(done.unwrap().success());
    }

    /// Waits until the process has ended by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        let mut child = self.child.take().expect("it runs");
        match tokio::time::timeout(LIMIT, child.wait()).await {
            Ok(status) => status.unwrap(),
            Err(_) => panic!("it does not end: {}", self.log()),
        }
    }

    /// Asks the process to stop and waits until it has.
    pub async fn term(&mut self) -> ExitStatus {
        self.signal("TERM");
        self.ended().await
    }

    /// The address of the web server.
    pub fn http(&self) -> SocketAddr {
        self.http.expect("it is ready")
    }

    /// Where OneBot implementations connect to.
    pub fn onebot_url(&self) -> String {
        format!("ws://127.0.0.1:{}/onebot/v11/ws", self.qq)
    }

    /// Listens for OneBot implementations on another port from the next configuration on.
    pub fn move_onebot(&mut self) {
        self.qq = free_port();
    }

    /// A OneBot implementation that connects and comes back whenever the connection breaks.
    pub async fn onebot(&self) -> FakeOneBot {
        self.onebot_with(Options::default()).await
    }

    /// Like [`Gateway::onebot`], with options of one's own.
    pub async fn onebot_with(&self, options: Options) -> FakeOneBot {
        let options = Options {
            reconnect: Some(Duration::from_millis(20)),
            ..options
        };
        let started = Instant::now();
        loop {
            match FakeOneBot::connect_with(&self.onebot_url(), BOT, options.clone()).await {
                Ok(fake) => return fake,
                Err(error) => assert!(started.elapsed() < LIMIT, "{error:?}: {}", self.log()),
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Waits until something is so; says whether it came in time.
pub async fn until(condition: impl Fn() -> bool) -> bool {
    let started = Instant::now();
    while !condition() {
        if started.elapsed() > LIMIT {
            return false;
        }
        tokio::time::sleep(LOOK).await;
    }
    true
}

/// Whether the long form of the tests was asked for.
pub fn long() -> bool {
    std::env::var_os("WEIRGATE_LONG").is_some_and(|value| value == "1")
}

/// Whether no other test runs beside this one, so that figures of an idle machine hold.
pub fn alone() -> bool {
    std::env::var_os("WEIRGATE_ALONE").is_some_and(|value| value == "1")
}

/// The name behind which something waits, as the question tells it: what stands behind /approve.
pub fn to_approve(question: &str) -> String {
    let (_, rest) = question.split_once("/approve ").expect("how to say yes");
    rest.chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect()
}
