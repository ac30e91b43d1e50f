//! Nothing that was accepted is lost, however the process ends, and nothing is said twice without need.

#[cfg(feature = "failpoints")]
mod failpoints;
mod kills;
mod rounds;
mod stops;
#[cfg(feature = "failpoints")]
mod tools;
#[cfg(feature = "failpoints")]
mod writes;

use std::{fs, path::Path};

/// Numbers that look random and are the same for the same seed.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `from` up to, and without, `to`.
    pub fn within(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from)
    }
}

/// The seed of this run: `WEIRGATE_SEED`, or a new one. It is printed, so that a failure can be repeated.
pub fn seed(of: &str) -> u64 {
    let given = std::env::var("WEIRGATE_SEED").ok();
    let seed = given.and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        u64::from(now.unwrap().subsec_nanos())
    });
    report(&format!("{of}: WEIRGATE_SEED={seed}"));
    seed
}

/// Prints a figure of a run.
#[expect(
    clippy::print_stderr,
    reason = "figures of a run are shown with --nocapture or on failure"
)]
fn report(line: &str) {
    eprintln!("{line}");
}

/// The kinds of writes, as the store names them.
fn kinds(store: &str) -> Vec<&str> {
    let (_, names) = store.split_once("pub fn kind(&self)").expect("the names");
    let (names, _) = names.split_once("\n    }\n").expect("their end");
    let named = names.lines().filter_map(|line| line.split_once(" => \""));
    named
        .map(|(_, name)| name.trim_end_matches("\","))
        .collect()
}

#[test]
fn each_kind_of_write_is_aborted_before_and_after_its_commit() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let store = fs::read_to_string(root.join("src/store.rs")).unwrap();
    let tests: String = fs::read_dir(root.join("tests/it/durable"))
        .unwrap()
        .map(|file| fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    let kinds = kinds(&store);
    assert!(kinds.len() >= 16 && kinds.contains(&"accept"), "{kinds:?}");
    let points = kinds
        .iter()
        .flat_map(|kind| ["before", "after"].map(|moment| format!("\"{kind}.{moment}")));
    let missing: Vec<String> = points.filter(|point| !tests.contains(point)).collect();
    assert_eq!(missing, [""; 0], "fail points that no test arms");
}
