//! The tool shell, and programs of tools: what they reach, what they may use, and when they end. Where the kernel cannot
//! confine them, what is tested is that nothing runs.

mod absent;
mod ends;
mod programs;
mod sandbox;

use std::{fs, path::PathBuf};

use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};
use weirgate::sandbox::kernel;
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
};

use crate::gateway::{Chat as _, Gateway, merge, rows, to_approve};

/// The owner of the gateway.
const OWNER: u64 = 1;
/// Somebody else.
const OTHER: u64 = 2;

/// Whether this kernel can confine a shell; says it, because that decides what is tested.
#[expect(
    clippy::print_stderr,
    reason = "whoever runs the tests has to know which of both was tested"
)]
fn confines() -> bool {
    let version = kernel::version();
    let can = version >= 6;
    let what = if can { "the sandbox" } else { "the refusal" };
    eprintln!("== shell: Landlock {version} here, so that {what} is tested");
    can
}

/// A gateway with a shell.
struct Bed {
    model: FakeModel,
    gateway: Gateway,
    fake: FakeOneBot,
}

impl Bed {
    /// With these settings of the shell, and with these changes beside.
    async fn with(shell: Value, more: Value) -> Self {
        let model = FakeModel::start().await;
        let mut all = json!({ "enabled": true });
        merge(&mut all, shell);
        let mut changes = json!({
            "tools": { "shell": all },
            "permissions": { "owners": { "qq": [OWNER.to_string()] } },
        });
        merge(&mut changes, more);
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        Self {
            model,
            gateway,
            fake,
        }
    }

    async fn new(shell: Value) -> Self {
        Self::with(shell, json!({})).await
    }

    /// Has the model run a command line for the owner; what it was told.
    async fn run(&self, command: &str) -> String {
        self.call(json!({ "command": command })).await
    }

    async fn call(&self, arguments: Value) -> String {
        self.model.push(Script::calls(&[("shell", arguments)]));
        let told = self.fake.ask(OWNER, "run it").await;
        assert_eq!(told, "re: run it", "{}", self.gateway.log());
        self.told()
    }

    /// The last result that the model was told, without the marks of what is no order.
    fn told(&self) -> String {
        let last = self.model.requests().pop().unwrap();
        let mut messages = last.body["messages"].as_array().unwrap().iter();
        let result = messages.rfind(|message| message["role"] == "tool");
        let content = result.unwrap()["content"].as_str().unwrap();
        let lines = content
            .lines()
            .map(|line| line.strip_prefix("> ").unwrap_or(line));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// The only workspace.
    fn workspace(&self) -> PathBuf {
        let all = self.gateway.database().with_file_name("workspaces");
        fs::read_dir(all).unwrap().next().unwrap().unwrap().path()
    }

    /// Whether any workspace has a file of this name.
    fn workspace_has(&self, name: &str) -> bool {
        let all = self.gateway.database().with_file_name("workspaces");
        let mut all = fs::read_dir(all).into_iter().flatten().flatten();
        all.any(|workspace| workspace.path().join(name).exists())
    }
}

/// Whether a process is there.
fn is_there(id: &str) -> bool {
    let id = id.trim().parse().ok().and_then(Pid::from_raw);
    test_kill_process(id.expect("a number")).is_ok()
}

#[tokio::test]
async fn it_is_off_by_default_and_an_owner_of_the_gateways_alone() {
    let model = FakeModel::start().await;
    let owners = json!({ "permissions": { "owners": { "qq": [OWNER.to_string()] } } });
    let gateway = Gateway::start(&model, owners).await;
    let fake = gateway.onebot().await;
    fake.ask(OWNER, "hello").await;
    let offered = model.requests().pop().unwrap().body["tools"].to_string();
    assert!(
        offered.contains("calculate") && !offered.contains("\"shell\""),
        "{offered}"
    );

    let bed = Bed::new(json!({})).await;
    let call = || Script::calls(&[("shell", json!({ "command": "echo hello" }))]);
    bed.model.push(call());
    bed.fake.ask(OTHER, "run it").await;
    let offered = bed.model.requests()[0].body["tools"].to_string();
    assert!(!offered.contains("\"shell\""), "{offered}");
    assert!(
        bed.told().contains("may not use this tool"),
        "{}",
        bed.told()
    );
    // The owner of a group is not one of the gateway.
    bed.model.push(call());
    bed.fake.ask_as("owner", 60, OTHER, "run it").await;
    assert!(
        bed.told().contains("may not use this tool"),
        "{}",
        bed.told()
    );
    // Both is accounted for, by the tool's name alone.
    let refused = rows(
        &bed.gateway.database(),
        "SELECT target || ' ' || result || ' ' || (operator > 0) || ' ' || details FROM audit
         WHERE event = 'permission_denied'",
    );
    let as_a = |role: &str| {
        format!(
            r#"shell denied 1 {{"capability":"Capability(0x0)","reason":"tool_refused","role":"{role}"}}"#
        )
    };
    assert_eq!(refused, [as_a("member"), as_a("owner")]);
}

#[tokio::test]
async fn a_command_runs_in_the_workspace_or_is_refused_with_the_reason() {
    let bed = Bed::new(json!({})).await;
    let told = bed
        .run("echo hello; echo oops >&2; test $PWD = $HOME && echo home; exit 3")
        .await;
    if !confines() {
        assert!(
            told.contains("The shell cannot run here: the kernel has"),
            "{told}"
        );
        bed.gateway.logged("cannot run anything").await;
        let doctor = crate::tools::tool(&bed.gateway, &["doctor", "--offline"]).await;
        assert!(
            doctor.out.contains("is not run: the kernel has"),
            "{doctor:?}"
        );
        return;
    }
    assert!(
        told.contains("hello\noops\nhome\n[exit code 3 after "),
        "{told}"
    );
    let doctor = crate::tools::tool(&bed.gateway, &["doctor", "--offline"]).await;
    assert!(
        doctor.out.contains("the kernel can confine it (Landlock 6"),
        "{doctor:?}"
    );
    // It shares the files with the other tools.
    let write = json!({ "path": "a/b.txt", "content": "from a tool" });
    bed.model.push(Script::calls(&[("write_file", write)]));
    bed.fake.ask(OWNER, "write").await;
    let told = bed.run("cat a/b.txt; echo from the shell > a/c.txt").await;
    assert!(told.contains("from a tool"), "{told}");
    bed.model.push(Script::calls(&[(
        "read_file",
        json!({ "path": "a/c.txt" }),
    )]));
    bed.fake.ask(OWNER, "read").await;
    assert!(bed.told().contains("from the shell"), "{}", bed.told());
    // Its folder for temporary files is its own, and gone behind it.
    let told = bed
        .run("echo x > $TMPDIR/x && cat $TMPDIR/x && echo $TMPDIR")
        .await;
    let folder = told.lines().find(|line| line.starts_with('/')).unwrap();
    assert!(
        told.contains("x\n") && !PathBuf::from(folder).exists(),
        "{told}"
    );
    // A program that is written there runs, and what it reads from nobody is nothing.
    let told = bed
        .run("printf '#!/bin/sh\\necho ran: $1; cat' > p; sh ./p it")
        .await;
    assert!(told.contains("ran: it\n[exit code 0"), "{told}");
}

#[tokio::test]
async fn what_is_dangerous_needs_a_yes_and_nothing_else_does() {
    if !confines() {
        return;
    }
    let bed = Bed::new(json!({ "dangerous": ["^make deploy"] })).await;
    for command in ["r''m -r$'\\x66' x", "make deploy"] {
        bed.model
            .push(Script::calls(&[("shell", json!({ "command": command }))]));
        let question = bed.fake.ask(OWNER, "run it").await;
        assert!(question.contains("May I run shell"), "{question}");
    }
    bed.run("mkdir -p x/y").await;
    bed.model.push(Script::calls(&[(
        "shell",
        json!({ "command": "rm -rf x; ls" }),
    )]));
    let question = bed.fake.ask(OWNER, "run it").await;
    let code = to_approve(&question);
    assert!(bed.workspace().join("x").exists());
    bed.fake
        .send_private(OWNER, &format!("/approve {code}"))
        .await;
    bed.fake.answers(2).await;
    assert!(bed.told().contains("[exit code 0"), "{}", bed.told());
    assert!(!bed.workspace().join("x").exists());

    let always = Bed::new(json!({ "approve": "always" })).await;
    always
        .model
        .push(Script::calls(&[("shell", json!({ "command": "ls" }))]));
    let question = always.fake.ask(OWNER, "run it").await;
    assert!(question.contains("May I run shell"), "{question}");
    let never = Bed::new(json!({ "approve": "never" })).await;
    assert!(
        never
            .run("rm -rf x; echo done")
            .await
            .contains("done\n[exit code 0")
    );
}

#[tokio::test]
async fn a_faulty_pattern_is_an_error_with_its_place() {
    let model = FakeModel::start().await;
    let shell = json!({ "enabled": true, "dangerous": ["("], "isolation": "none" });
    let gateway = Gateway::prepare(&model, json!({ "tools": { "shell": shell } }));
    let said = crate::tools::tool(&gateway, &["check"]).await;
    assert_eq!(said.code, 78, "{said:?}");
    let all = format!("{}{}", said.out, said.err);
    for key in ["tools.shell.dangerous[0]", "tools.shell.isolation"] {
        assert!(all.contains(key), "{key}: {said:?}");
    }
}
