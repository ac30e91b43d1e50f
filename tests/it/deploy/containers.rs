//! The image and the compose file under a real container engine: built, started, talked to, killed,
//! stopped, and run with the mistakes that people make.
//!
//! `tests/run.sh --long` builds the program, starts an engine where that is possible and says so by
//! variables; without them what the files say is checked next door and nothing is run here.

use std::{
    collections::BTreeSet,
    env, fs,
    net::SocketAddr,
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;
use weirgate_testkit::webchat::WebChatClient;

use super::path;
use crate::gateway::free_port;

/// The image under test.
const IMAGE: &str = "weirgate:under-test";
/// A container may need this long to be up, stopped or healthy on a busy machine.
const LIMIT: Duration = Duration::from_secs(180);

fn text(output: &Output) -> String {
    let bytes = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn docker(arguments: &[&str]) -> Output {
    let mut command = Command::new("docker");
    command.args(arguments).stdin(Stdio::null());
    command.output().expect("docker is installed")
}

fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", text(output));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A copy of `deploy/` with a project of its own; everything of it is removed on drop.
struct Project {
    folder: TempDir,
    name: String,
    port: u16,
}

impl Project {
    /// Builds the image offline, from a program that was built before, and prepares the folder.
    fn new(program: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let copied = Command::new("cp")
            .arg("-r")
            .arg(path("deploy"))
            .arg(root)
            .status();
        assert!(copied.unwrap().success());
        fs::copy(path(".dockerignore"), root.join(".dockerignore")).unwrap();
        fs::create_dir(root.join("dist")).unwrap();
        fs::copy(program, root.join("dist/weirgate")).unwrap();
        import_builder(root);
        let file = root.join("deploy/Dockerfile").display().to_string();
        let builder = format!("BUILDER={IMAGE}-builder");
        let context = root.display().to_string();
        done(&docker(&[
            "build",
            "-f",
            &file,
            "--build-arg",
            &builder,
            "-t",
            IMAGE,
            &context,
        ]));
        let prepared = Command::new("sh")
            .arg(root.join("deploy/prepare.sh"))
            .status();
        assert!(prepared.unwrap().success());
        Self {
            name: format!("weirgate-test-{}", std::process::id()),
            port: free_port(),
            folder,
        }
    }

    fn compose(&self, arguments: &[&str]) -> Output {
        Command::new("docker-compose")
            .args(["-p", &self.name])
            .args(arguments)
            .current_dir(self.folder.path().join("deploy"))
            .env("WEIRGATE_VERSION", "under-test")
            .env("WEIRGATE_PORT", self.port.to_string())
            .stdin(Stdio::null())
            .output()
            .expect("docker-compose is installed")
    }

    /// The container of the gateway.
    fn container(&self) -> String {
        done(&self.compose(&["ps", "-q", "weirgate"]))
    }

    fn inspect(&self, form: &str) -> String {
        done(&docker(&["inspect", "--format", form, &self.container()]))
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port))
    }

    /// A client, as soon as the gateway in the container answers.
    async fn client(&self) -> WebChatClient {
        let started = Instant::now();
        loop {
            let ready = docker(&[
                "exec",
                &self.container(),
                "/usr/bin/weirgate",
                "healthcheck",
            ]);
            if ready.status.success() {
                return WebChatClient::connect(self.address()).await;
            }
            let log = text(&self.compose(&["logs", "--no-color", "weirgate"]));
            assert!(started.elapsed() < LIMIT, "{}\n{log}", text(&ready));
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        self.compose(&["down", "-v", "--timeout", "5"]);
        docker(&["rmi", "-f", IMAGE, &format!("{IMAGE}-builder")]);
    }
}

/// An image with a shell and nothing else, in place of the one with the toolchain: nothing is fetched.
fn import_builder(folder: &Path) {
    let rootfs = folder.join("rootfs");
    let script = "set -e; mkdir -p $1/bin $1/tmp; cp $(command -v busybox) $1/bin/busybox; \
                  for name in sh mkdir cp chmod cat dirname echo; do ln -s busybox $1/bin/$name; done; \
                  tar -C $1 -c . | docker import - $2; rm -r $1";
    let tag = format!("{IMAGE}-builder");
    let made = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(&rootfs)
        .arg(&tag)
        .output()
        .unwrap();
    done(&made);
}

/// The messages that a frame shows as answered.
fn answered(frame: &Value, names: &mut BTreeSet<String>) {
    match frame {
        Value::Object(map) => {
            if let Some(Value::Array(answers)) = map.get("answers") {
                names.extend(
                    answers
                        .iter()
                        .filter_map(|name| name.as_str().map(str::to_owned)),
                );
            }
            map.values().for_each(|value| answered(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| answered(item, names)),
        _ => {}
    }
}

/// Reads until all these messages are answered for good.
async fn all_answered(client: &mut WebChatClient, seen: &mut BTreeSet<String>, all: &[String]) {
    let started = Instant::now();
    while !all.iter().all(|name| seen.contains(name)) {
        assert!(started.elapsed() < LIMIT, "answered: {seen:?}, of {all:?}");
        let Some(frame) = client.next_within(Duration::from_secs(1)).await else {
            continue;
        };
        assert!(frame.get("closed").is_none(), "{frame}");
        if frame["final"] == true || frame["type"] == "history" {
            answered(&frame, seen);
        }
    }
}

/// Says some messages and waits until they are acknowledged.
async fn say(client: &mut WebChatClient, names: &[String], seen: &mut BTreeSet<String>) {
    for name in names {
        client.say(name, &format!("this is {name}")).await;
    }
    let mut open: BTreeSet<&String> = names.iter().collect();
    while !open.is_empty() {
        let frame = client.next_within(LIMIT).await.expect("an acknowledgement");
        if frame["final"] == true {
            answered(&frame, seen);
        }
        if frame["type"] == "ack" {
            open.retain(|name| frame["messageId"] != **name);
        }
    }
}

#[tokio::test]
async fn a_container_is_talked_to_killed_and_stopped_and_loses_nothing() {
    let Some(program) = env::var_os("WEIRGATE_CONTAINER_PROGRAM") else {
        return;
    };
    let project = Project::new(Path::new(&program));
    done(&project.compose(&["up", "-d", "--no-build"]));
    let mut client = project.client().await;
    client.enter(None).await;
    let mut seen = BTreeSet::new();
    let name = |number: u32| format!("m{number}");
    let first: Vec<String> = (0..3).map(name).collect();
    say(&mut client, &first, &mut seen).await;
    all_answered(&mut client, &mut seen, &first).await;

    assert_eq!(
        project.inspect("{{.HostConfig.ReadonlyRootfs}} {{.Config.User}}"),
        "true 10001:10001"
    );
    assert_eq!(project.inspect("{{.Config.StopTimeout}}"), "90");
    let healthy = || project.inspect("{{.State.Health.Status}}") == "healthy";
    let started = Instant::now();
    while !healthy() {
        assert!(
            started.elapsed() < LIMIT,
            "{}",
            project.inspect("{{json .State.Health}}")
        );
        tokio::time::sleep(Duration::from_millis(500)).await;
    }

    // Killed in the middle of what was acknowledged.
    let second: Vec<String> = (3..9).map(name).collect();
    say(&mut client, &second, &mut seen).await;
    done(&docker(&["kill", "--signal", "KILL", &project.container()]));
    done(&project.compose(&["up", "-d", "--no-build"]));
    let mut again = project.client().await;
    again.resume(&client).await;
    all_answered(&mut again, &mut seen, &second).await;

    // Stopped in the middle of an answer: PID 1 drains and ends well within its time.
    let third: Vec<String> = (9..12).map(name).collect();
    say(&mut again, &third, &mut seen).await;
    let stopping = Instant::now();
    done(&project.compose(&["stop"]));
    assert!(
        stopping.elapsed() < Duration::from_secs(85),
        "{:?}",
        stopping.elapsed()
    );
    let container = project.compose(&["ps", "-q", "-a", "weirgate"]);
    let container = done(&container);
    let code = done(&docker(&[
        "inspect",
        "--format",
        "{{.State.ExitCode}}",
        &container,
    ]));
    assert_eq!(code, "0");

    // A new container on the same volume.
    done(&project.compose(&["up", "-d", "--no-build", "--force-recreate"]));
    let mut last = project.client().await;
    last.resume(&again).await;
    all_answered(&mut last, &mut seen, &third).await;
    let everything: Vec<String> = (0..12).map(name).collect();
    assert_eq!(seen, everything.into_iter().collect());
    mistakes();
}

/// What a wrong mount, user, disk or zone leads to: one clear message and an exit code, no half a start.
fn mistakes() {
    let run = |arguments: &[&str]| {
        let mut all = vec!["run", "--rm", "--read-only"];
        all.extend(arguments);
        let output = Command::new("timeout")
            .arg("15")
            .arg("docker")
            .args(&all)
            .output()
            .unwrap();
        (output.status.code(), text(&output))
    };
    let check = |mount: &str, user: &str| {
        let program = ["--user", user, "--tmpfs", mount, IMAGE];
        run(&program)
    };
    let (code, told) = check("/var/lib/weirgate:uid=0,gid=0", "10001:10001");
    assert_eq!(code, Some(1), "{told}");
    for word in ["/var/lib/weirgate", "uid 10001", "chown"] {
        assert!(told.contains(word), "{word} in {told}");
    }
    let (code, told) = check(
        "/var/lib/weirgate:size=32k,uid=10001,gid=10001",
        "10001:10001",
    );
    assert!(code.is_some_and(|code| code != 0 && code != 124), "{told}");
    assert!(told.contains("/var/lib/weirgate"), "{told}");
    // Another user works where the volume is his.
    let (code, told) = check("/var/lib/weirgate:uid=12345,gid=12345", "12345:12345");
    assert_eq!(code, Some(124), "it was to run until it is ended: {told}");
    assert!(told.contains("Weirgate is ready"), "{told}");
    let zone = |zone: &str| {
        run(&[
            "--env",
            &format!("TZ={zone}"),
            "--tmpfs",
            "/var/lib/weirgate:uid=10001,gid=10001",
            IMAGE,
        ])
    };
    let (_, told) = zone("Asia/Shanghai");
    assert!(told.contains("+08:00"), "{told}");
    let (code, told) = zone("Mars/Base");
    assert_eq!(code, Some(78), "{told}");
}
