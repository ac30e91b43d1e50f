//! A real browser, driven over WebDriver: Debian's chromium with its chromedriver.
//!
//! Owns one chromedriver process and one window in it; both end when it is dropped. Everything is asked until it is
//! so, within a limit: nothing sleeps for a guessed time. It never leaves this machine.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    time::{sleep, timeout},
};

/// How long one thing may take to become so.
const WAIT: Duration = Duration::from_secs(30);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(40);

/// An open window.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// The browser's profile, its own.
    _profile: TempDir,
}

impl Browser {
    /// A window of this size on `about:blank`, in this language; `None` if there is no chromedriver here.
    pub async fn start(width: u32, height: u32, language: &str) -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .unwrap()
            .port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .env("HOME", profile.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            _profile: profile,
        };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            assert!(started.elapsed() < WAIT, "chromedriver does not listen");
            sleep(LOOK).await;
        }
        let size = format!("--window-size={width},{height}");
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            "--force-device-scale-factor=1",
            // A microphone that hums, and nobody who has to allow it.
            "--use-fake-device-for-media-stream",
            "--use-fake-ui-for-media-stream",
            &size,
        ];
        let options = json!({ "args": arguments, "prefs": { "intl.accept_languages": language } });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options,
        } } });
        let made = browser.ask("POST", "/session", &wanted).await;
        browser.session = made["sessionId"].as_str().unwrap().to_owned();
        Some(browser)
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = timeout(WAIT, self.exchange(method, path, body)).await;
        let answer = answer.expect("chromedriver does not answer").unwrap();
        let value = answer["value"].clone();
        assert!(
            value.get("error").is_none(),
            "{path}: {}",
            value["message"].as_str().unwrap_or_default()
        );
        value
    }

    async fn exchange(&self, method: &str, path: &str, body: &Value) -> std::io::Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await?;
        let body = body.to_string();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        );
        stream.write_all(request.as_bytes()).await?;
        // The browser that the driver starts keeps the connection open, so only its length says where the answer ends.
        let mut reader = BufReader::new(stream);
        let (mut length, mut line) = (0, String::new());
        while reader.read_line(&mut line).await? > 2 {
            let (name, value) = line.split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).await?;
        serde_json::from_slice(&body).map_err(std::io::Error::other)
    }

    async fn command(&self, name: &str, body: Value) -> Value {
        let path = format!("/session/{}/{name}", self.session);
        self.ask("POST", &path, &body).await
    }

    /// Goes to an address and waits until it is loaded.
    pub async fn go(&self, url: &str) {
        self.command("url", json!({ "url": url })).await;
    }

    /// Loads the page again.
    pub async fn reload(&self) {
        self.command("refresh", json!({})).await;
    }

    /// What a script gives: the body of a function, which may be asynchronous.
    pub async fn run(&self, script: &str) -> Value {
        let script = format!("return (async () => {{ {script} }})()");
        self.command("execute/sync", json!({ "script": script, "args": [] }))
            .await
    }

    /// Waits until a script gives something that counts as true, and gives it.
    pub async fn until(&self, script: &str) -> Value {
        let started = Instant::now();
        loop {
            let found = self.run(script).await;
            let so = !matches!(&found, Value::Null | Value::Bool(false));
            let empty = found.as_str().is_some_and(str::is_empty) || found == json!(0);
            if so && !empty {
                return found;
            }
            if started.elapsed() > WAIT {
                self.picture("failed").await;
                panic!("it did not become so: {script}");
            }
            sleep(LOOK).await;
        }
    }

    /// Clicks as a mouse does on the element that a script gives.
    pub async fn click(&self, script: &str) {
        let found = self.until(script).await;
        let id = found.as_object().and_then(|it| it.values().next()).unwrap();
        let path = format!("element/{}/click", id.as_str().unwrap());
        self.command(&path, json!({})).await;
    }

    /// Chooses files in the field for files that a script gives, as a visitor does in the window of his system.
    pub async fn choose(&self, script: &str, files: &[&Path]) {
        let found = self.until(script).await;
        let id = found.as_object().and_then(|it| it.values().next()).unwrap();
        let path = format!("element/{}/value", id.as_str().unwrap());
        let names: Vec<_> = files.iter().map(|file| file.to_string_lossy()).collect();
        self.command(&path, json!({ "text": names.join("\n") }))
            .await;
    }

    /// Presses and releases keys, one after another, wherever the focus is. WebDriver's codes stand for keys that write
    /// nothing.
    pub async fn keys(&self, keys: &str) {
        let events: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
            .collect();
        let actions = json!([{ "type": "key", "id": "keyboard", "actions": events }]);
        self.command("actions", json!({ "actions": actions })).await;
    }

    /// A command of the browser's own protocol, such as `Network.emulateNetworkConditions`.
    pub async fn devtools(&self, name: &str, parameters: Value) -> Value {
        self.command(
            "goog/cdp/execute",
            json!({ "cmd": name, "params": parameters }),
        )
        .await
    }

    /// Opens another tab and goes to it; gives the handle of the one before.
    pub async fn tab(&self) -> Value {
        let path = format!("/session/{}/window", self.session);
        let before = self.ask("GET", &path, &json!({})).await;
        let made = self.command("window/new", json!({ "type": "tab" })).await;
        self.command("window", json!({ "handle": made["handle"] }))
            .await;
        before
    }

    /// Goes to a tab.
    pub async fn to_tab(&self, handle: &Value) {
        self.command("window", json!({ "handle": handle })).await;
    }

    /// Keeps what the window shows among the tests' output, under `browser/NAME.png`.
    pub async fn picture(&self, name: &str) {
        let taken = self
            .devtools("Page.captureScreenshot", json!({ "format": "png" }))
            .await;
        let bytes = STANDARD.decode(taken["data"].as_str().unwrap()).unwrap();
        let folder = output();
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver ends the browser that it started when its session is deleted; there is no time to wait here.
        if let Ok(mut stream) = std::net::TcpStream::connect(("127.0.0.1", self.port)) {
            use std::io::{Read as _, Write as _};
            let path = format!("/session/{}", self.session);
            let request =
                format!("DELETE {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            let _ = stream.set_read_timeout(Some(Duration::from_secs(5)));
            let _ = stream.write_all(request.as_bytes());
            let _ = stream.read_to_end(&mut Vec::new());
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Where pictures go: beside what cargo builds.
fn output() -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    target.join("browser")
}
