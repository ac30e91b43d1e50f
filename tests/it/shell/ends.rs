//! When a command ends, with everything that it started.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::json;
use weirgate_testkit::model::Script;

use super::{Bed, OWNER, confines, is_there};
use crate::gateway::{Chat as _, LIMIT, until};

/// Starts what tries to stay, one in a session of its own, and writes down their numbers.
const STAYS: &str = "setsid sleep 300 & echo $! > a; sleep 300 & echo $! > b; (sleep 300 & echo $! > c); \
                     trap '' TERM HUP INT; echo $$ > d; ";

impl Bed {
    /// The processes that were written down.
    fn noted(&self) -> Vec<String> {
        let read = |name| fs::read_to_string(self.workspace().join(name)).unwrap();
        ["a", "b", "c", "d"].map(read).to_vec()
    }

    /// Has a command run that stays, until it has begun.
    async fn begin(&self) -> Vec<String> {
        let command = format!("{STAYS} echo begun > e; while :; do sleep 1; done");
        self.model
            .push(Script::calls(&[("shell", json!({ "command": command }))]));
        self.fake.send_private(OWNER, "run it").await;
        let workspaces = self.gateway.database().with_file_name("workspaces");
        let begun = || {
            let folders = fs::read_dir(&workspaces).into_iter().flatten().flatten();
            let mut files = folders.map(|folder| folder.path().join("e"));
            files.any(|file| fs::read_to_string(file).is_ok_and(|text| text == "begun\n"))
        };
        assert!(until(begun).await, "{}", self.gateway.log());
        let noted = self.noted();
        assert!(noted.iter().all(|id| is_there(id)), "{noted:?}");
        noted
    }
}

#[tokio::test]
async fn what_is_left_in_the_background_ends_with_the_command() {
    if !confines() {
        return;
    }
    let bed = Bed::new(json!({})).await;
    let told = bed.run(&format!("{STAYS} echo left")).await;
    assert!(told.contains("left\n[exit code 0"), "{told}");
    assert!(until(|| !bed.noted().iter().any(|id| is_there(id))).await);
}

#[tokio::test]
async fn a_command_whose_time_is_over_ends_with_everything_that_it_started() {
    if !confines() {
        return;
    }
    let bed = Bed::new(json!({ "timeout": 30 })).await;
    let command = format!("{STAYS} echo before; while :; do sleep 1; done");
    let started = Instant::now();
    let told = bed.call(json!({ "command": command, "timeout": 1 })).await;
    assert!(started.elapsed() < Duration::from_secs(15), "it was ended");
    assert!(
        told.contains("before\n[stopped after 1.") && told.contains("its time was over"),
        "{told}"
    );
    assert!(until(|| !bed.noted().iter().any(|id| is_there(id))).await);
    let why = bed.fake.ask(OWNER, "/why").await;
    assert!(why.contains("tool_failed"), "{why}");
}

#[tokio::test]
async fn a_stop_ends_it_at_once() {
    if !confines() {
        return;
    }
    let bed = Bed::new(json!({})).await;
    let noted = bed.begin().await;
    bed.fake.send_private(OWNER, "/stop").await;
    bed.fake.answer().await;
    let stopped = Instant::now();
    assert!(until(|| !noted.iter().any(|id| is_there(id))).await);
    // The answer and the end come side by side; a machine that tests is busy.
    assert!(
        stopped.elapsed() < Duration::from_secs(2),
        "{:?}",
        stopped.elapsed()
    );
}

#[tokio::test]
async fn nothing_outlives_a_gateway_that_is_killed() {
    if !confines() {
        return;
    }
    let mut bed = Bed::new(json!({})).await;
    let noted = bed.begin().await;
    bed.gateway.kill().await;
    assert!(
        until(|| !noted.iter().any(|id| is_there(id))).await,
        "{noted:?}"
    );
    // Nor is the command run again.
    fs::remove_file(bed.workspace().join("e")).unwrap();
    bed.gateway.up().await;
    assert!(bed.fake.connection_is(true, LIMIT).await);
    bed.fake.answer().await;
    assert!(bed.told().contains("may have been done"), "{}", bed.told());
    assert!(!bed.workspace().join("e").exists());
}

#[tokio::test]
async fn a_fork_bomb_ends_at_its_time() {
    if !confines() {
        return;
    }
    let bed = Bed::new(json!({ "approve": "never", "processes": 50 })).await;
    // As root the system counts nothing, so that this one has a bound of its own.
    let command = "f() { [ $1 -gt 0 ] && { f $(($1 - 1)) & f $(($1 - 1)) & }; sleep 300; }; f 6";
    let told = bed.call(json!({ "command": command, "timeout": 2 })).await;
    assert!(told.contains("its time was over"), "{told}");
    let left = || {
        let all = fs::read_dir("/proc").unwrap().flatten();
        let named = all.filter(|one| {
            fs::read(one.path().join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains("f $(($1 - 1))"))
        });
        named.count()
    };
    assert!(until(|| left() == 0).await, "{}", left());
}
