//! A Redis server of the tests' own.
//!
//! Owns its process, which ends with the value or with the tests, and its folder. `tests/run.sh` installs the program.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::LazyLock,
};

use tempfile::TempDir;

use crate::gateway::free_port;

/// A server.
pub struct Redis {
    port: u16,
    folder: TempDir,
    child: Option<Child>,
}

/// The one that tests share, each with a prefix of its own.
static SHARED: LazyLock<Redis> = LazyLock::new(Redis::start);

/// The port of the one that tests share.
pub fn shared() -> u16 {
    SHARED.port
}

impl Redis {
    /// Starts one.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Self {
            port: free_port(),
            folder,
            child: None,
        };
        server.up();
        server
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts it again where it was, with what it had kept.
    pub fn up(&mut self) {
        // It ends with its standard input, so that it outlives no test.
        let script =
            "redis-server \"$@\" & server=$!; read -r _ || true; kill -KILL $server; wait $server";
        let child = Command::new("sh")
            .args([
                "-c",
                script,
                "sh",
                "--port",
                &self.port.to_string(),
                "--bind",
                "127.0.0.1",
            ])
            .args([
                "--save",
                "",
                "--appendonly",
                "yes",
                "--appendfsync",
                "always",
            ])
            .arg("--dir")
            .arg(self.folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.expect("a shell");
        // It says when it is there.
        let said = BufReader::new(child.stdout.take().unwrap());
        let mut lines = said.lines().map_while(Result::ok);
        let ready = lines.any(|line| line.contains("Ready to accept connections"));
        self.child = Some(child);
        assert!(
            ready,
            "no Redis server: run tests/run.sh as root, or install Debian's package redis-server"
        );
    }

    /// Kills it.
    pub fn kill(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        drop(child.stdin.take());
        child.wait().unwrap();
    }

    /// The first line that it answers to a command.
    pub fn ask(&self, command: &str) -> Option<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.write_all(format!("{command}\r\n").as_bytes()).ok()?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).ok()?;
        Some(line.trim_end().to_owned())
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}
