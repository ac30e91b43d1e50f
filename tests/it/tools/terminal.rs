//! `init` at a real terminal: it asks, and what is secret is not shown.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    process::ExitStatus,
    sync::{Arc, Mutex},
};

use rustix::{
    fs::OFlags,
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, tcgetattr},
};
use tokio::process::Child;

use super::tool;
use crate::gateway::{Gateway, LIMIT, until};

const SECRET: &str = "sk-typed-at-a-terminal-1";

/// A program at a terminal of its own.
struct Terminal {
    keyboard: File,
    /// Keeps the terminal open, whoever else closes it.
    screen: File,
    shown: Arc<Mutex<String>>,
    /// Where in it the last answer was typed.
    answered: usize,
    child: Child,
}

impl Terminal {
    fn run(gateway: &Gateway, arguments: &[&str]) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let keyboard = openpt(flags).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let screen = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(i32::try_from(OFlags::NOCTTY.bits()).unwrap())
            .open(name.to_str().unwrap())
            .unwrap();
        let end = || screen.try_clone().unwrap();
        let child = gateway
            .command(arguments)
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let keyboard = File::from(keyboard);
        let shown = Arc::<Mutex<String>>::default();
        watch(keyboard.try_clone().unwrap(), Arc::clone(&shown));
        Self {
            keyboard,
            screen,
            shown,
            answered: 0,
            child,
        }
    }

    fn shown(&self) -> String {
        self.shown.lock().unwrap().clone()
    }

    fn echoes(&self) -> bool {
        let modes = tcgetattr(&self.screen).unwrap().local_modes;
        modes.contains(LocalModes::ECHO)
    }

    /// Waits for a question and types the answer; what is typed is shown, or not.
    async fn answer(&mut self, question: &str, answer: &str, echoes: bool) {
        let from = self.answered;
        let is_new = || {
            self.shown()
                .get(from..)
                .unwrap_or_default()
                .contains(question)
        };
        let asked = until(|| is_new() && self.echoes() == echoes).await;
        assert!(asked, "{question:?} is not asked: {}", self.shown());
        self.answered = self.shown().len();
        self.keyboard
            .write_all(format!("{answer}\n").as_bytes())
            .unwrap();
    }

    async fn ended(&mut self) -> ExitStatus {
        let ended = tokio::time::timeout(LIMIT, self.child.wait()).await;
        ended.expect("it ends").unwrap()
    }
}

/// Collects what the terminal shows, as long as it is there.
fn watch(mut keyboard: File, shown: Arc<Mutex<String>>) {
    std::thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(length @ 1..) = keyboard.read(&mut bytes) {
            let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
            shown.lock().unwrap().push_str(&text);
        }
    });
}

#[tokio::test]
async fn init_asks_and_does_not_show_the_key() {
    let mut gateway = Gateway::bare();
    gateway.set("LANG", "en_US.UTF-8");
    let mut terminal = Terminal::run(&gateway, &["init"]);
    terminal.answer("Language of", "en", true).await;
    terminal
        .answer("Address of", "https://models.example/v1", true)
        .await;
    terminal.answer("Name of the model", "", true).await;
    terminal
        .answer("Name of the model", "some/model", true)
        .await;
    terminal.answer("Its key", SECRET, false).await;
    terminal.answer("Where people", "qq, webchat", true).await;
    let status = terminal.ended().await;
    assert!(status.success(), "{}", terminal.shown());
    assert!(!terminal.shown().contains(SECRET), "{}", terminal.shown());
    assert!(until(|| terminal.shown().contains("weirgate doctor")).await);
    assert!(terminal.echoes(), "the terminal is as it was");

    let file = gateway.folder().join("agent.yaml");
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.contains(SECRET) && text.contains("some/model"),
        "{text}"
    );
    tool(&gateway, &["check"]).await.done();
}

#[tokio::test]
async fn the_end_of_the_input_writes_nothing() {
    let gateway = Gateway::bare();
    let mut terminal = Terminal::run(&gateway, &["init"]);
    terminal.answer("Language of", "en", true).await;
    // The end of the input, as somebody types it.
    terminal.answer("Address of", "\u{4}", true).await;
    let ended = terminal.ended().await;
    assert_eq!(ended.code(), Some(1), "{}", terminal.shown());
    assert!(!gateway.folder().join("agent.yaml").exists());
}
