//! A kernel that cannot confine anything: nothing runs there, and everybody is told why.
//!
//! The kernel of the tests usually can. So these run in a thread that is told there is no such call, which every program
//! that it starts inherits: the gateway, the helper and the doctor meet what an older kernel would say.

use std::{collections::BTreeMap, env::consts::ARCH, fs, future::Future, thread};

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter};
use serde_json::json;

use super::{Bed, OWNER};
use crate::gateway::Chat as _;

/// What the kernel says of a call that it does not have.
const ABSENT: u32 = 38;
/// The call with which everything begins; the number is the same everywhere.
const CREATE_RULESET: i64 = 444;

/// Runs something where the kernel has no Landlock.
fn without_landlock<F: Future<Output = ()>>(test: impl FnOnce() -> F + Send + 'static) {
    let run = move || {
        let rules = BTreeMap::from([(CREATE_RULESET, Vec::new())]);
        let (pass, absent) = (SeccompAction::Allow, SeccompAction::Errno(ABSENT));
        let architecture = TargetArch::try_from(ARCH).unwrap();
        let filter = SeccompFilter::new(rules, pass, absent, architecture).unwrap();
        apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(test());
    };
    thread::spawn(run).join().unwrap();
}

#[test]
fn where_the_kernel_cannot_confine_a_shell_nothing_runs_and_everybody_is_told() {
    without_landlock(|| async {
        let bed = Bed::new(json!({ "approve": "never" })).await;
        bed.gateway.logged("cannot run anything").await;
        let told = bed.run("echo it ran > proof; echo it ran").await;
        assert!(
            told.contains("The shell cannot run here: the kernel has"),
            "{told}"
        );
        assert!(!told.contains("it ran"), "{told}");
        assert!(!bed.workspace_has("proof"), "not even in the workspace");
        // It is no reason to answer less.
        assert_eq!(bed.fake.ask(OWNER, "hello").await, "re: hello");
        let doctor = crate::tools::tool(&bed.gateway, &["doctor", "--offline"]).await;
        assert!(
            doctor.out.contains("is not run: the kernel has"),
            "{doctor:?}"
        );
    });
}

#[test]
fn the_helper_by_itself_runs_nothing_there_either() {
    without_landlock(|| async {
        let folder = tempfile::tempdir().unwrap();
        for isolation in ["full", "files"] {
            let helper = std::process::Command::new(env!("CARGO_BIN_EXE_weirgate"))
                .args(["sandbox", "enter", "--isolation", isolation, "--workspace"])
                .arg(folder.path())
                .args(["--", "/bin/sh", "-c", "echo it ran > proof"])
                .current_dir(folder.path())
                .output()
                .unwrap();
            let said = String::from_utf8(helper.stderr).unwrap();
            assert_eq!(helper.status.code(), Some(125), "{said}");
            assert!(said.contains("the kernel has"), "{said}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    });
}
