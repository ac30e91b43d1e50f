//! What a process holds, looked at again and again.
//!
//! Owns the samples and what is too much of them. It never looks into the process.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use crate::gateway::rows;

/// Growth of memory that is no growth: what one more connection or a fuller cache may take, in KiB.
const SLACK: u64 = 4 * 1_024;
/// The same of files: a log of the database that is moved a little later, in KiB.
const FILE_SLACK: u64 = 2 * 1_024;
/// What it takes to know one person or one conversation for good, in bytes: a row and its index.
const KNOWN: u64 = 160;

/// One look.
#[derive(Clone, Copy)]
struct Look {
    seconds: u64,
    /// Resident memory, in KiB.
    resident: u64,
    descriptors: u64,
    threads: u64,
    /// Everything below the data folder, in KiB.
    files: u64,
    /// People and conversations that the gateway has met; they stay.
    known: u64,
}

/// The looks at one process and its folder.
pub struct Figures {
    process: u32,
    folder: PathBuf,
    database: PathBuf,
    begun: Instant,
    looks: Vec<Look>,
}

impl Figures {
    pub fn new(process: u32, folder: &Path, database: &Path) -> Self {
        Self {
            process,
            folder: folder.to_owned(),
            database: database.to_owned(),
            begun: Instant::now(),
            looks: Vec::new(),
        }
    }

    /// Looks once more.
    pub fn take(&mut self) {
        let of = |name: &str| PathBuf::from(format!("/proc/{}/{name}", self.process));
        let status = fs::read_to_string(of("status")).expect("the process runs");
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let value = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            value.expect("a figure")
        };
        self.looks.push(Look {
            seconds: self.begun.elapsed().as_secs(),
            resident: field("VmRSS:"),
            descriptors: fs::read_dir(of("fd")).unwrap().count() as u64,
            threads: field("Threads:"),
            files: size(&self.folder) / 1_024,
            known: known(&self.database),
        });
    }

    /// Prints the looks, a dozen of them.
    #[expect(clippy::print_stderr, reason = "the figures are for whoever runs it")]
    pub fn tell(&self, what: &str) {
        let mut text =
            format!("soak: {what}\n  seconds  RSS KiB  descriptors  threads  files KiB    known\n");
        let every = self.looks.len().div_ceil(12).max(1);
        for look in self.looks.iter().rev().step_by(every).rev() {
            let Look {
                seconds,
                resident,
                descriptors,
                threads,
                files,
                known,
            } = look;
            writeln!(
                text,
                "  {seconds:7}  {resident:7}  {descriptors:11}  {threads:7}  {files:9}  {known:7}"
            )
            .unwrap();
        }
        eprintln!("{text}");
    }

    /// Nothing is larger in the last third than it was in the second one, but for what it takes to know those who came
    /// meanwhile; files and memory count only where rows were already removed in the first (`settled`).
    pub fn judge(&self, settled: bool) {
        let third = self.looks.len() / 3;
        let (before, last) = (&self.looks[third..2 * third], &self.looks[2 * third..]);
        let most =
            |looks: &[Look], of: fn(&Look) -> u64| looks.iter().map(of).max().expect("a look");
        let grew = |name: &str, of: fn(&Look) -> u64, slack: u64| {
            let (before, last) = (most(before, of), most(last, of));
            assert!(
                last <= before + slack,
                "{name} grew from {before} to {last}"
            );
        };
        // A connection may be open twice while it is renewed.
        grew("the number of descriptors", |look| look.descriptors, 6);
        grew("the number of threads", |look| look.threads, 4);
        if settled {
            grew("resident memory", |look| look.resident, SLACK);
            let met = |looks: &[Look]| most(looks, |look| look.known);
            let met = met(last) - met(before);
            grew(
                "the folder",
                |look| look.files,
                FILE_SLACK + met * KNOWN / 1_024,
            );
        }
    }
}

/// How many people and conversations the gateway has met.
fn known(database: &Path) -> u64 {
    let count = "SELECT (SELECT count(*) FROM person) + (SELECT count(*) FROM conversation)";
    let found = rows(database, count).pop();
    found.and_then(|count| count.parse().ok()).expect("a count")
}

/// Bytes of all files below a folder. One that goes away meanwhile counts nothing.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.map(|entry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    });
    sizes.sum()
}
