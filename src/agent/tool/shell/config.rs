//! `tools.shell`: whether there is a shell, and what it may.
//!
//! Owns the section's keys, defaults and limits. It starts nothing.

use std::{path::PathBuf, time::Duration};

use weirgate_sdk::settings::Fields;

use super::danger;
use crate::sandbox::kernel::Isolation;

/// Most patterns and paths of the operator.
const MOST: usize = 100;
const MIB: u64 = 1 << 20;

/// When somebody has to say yes to a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approve {
    /// To those that a pattern names.
    Dangerous,
    /// To each.
    Always,
    /// To none.
    Never,
}

/// The section `tools.shell`.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Offer it.
    pub enabled: bool,
    /// Longest time of a command line.
    pub timeout: Duration,
    /// Most bytes of what it writes that are kept.
    pub max_output: usize,
    /// Most memory of a process, in bytes.
    pub memory: u64,
    /// Largest file that it writes, in bytes.
    pub max_file: u64,
    /// Most processes and threads at once.
    pub processes: u64,
    /// Most open files of a process.
    pub open_files: u64,
    /// It may use the network.
    pub network: bool,
    /// How much the kernel has to keep apart.
    pub isolation: Isolation,
    /// When somebody has to say yes.
    pub approve: Approve,
    /// The operator's patterns beside those of the gateway.
    pub dangerous: Vec<String>,
    /// What may be read beside the system's programs.
    pub read: Vec<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: false,
            timeout: Duration::from_secs(60),
            max_output: 65_536,
            memory: 1_024 * MIB,
            max_file: 100 * MIB,
            processes: 128,
            open_files: 256,
            network: false,
            isolation: Isolation::Full,
            approve: Approve::Dangerous,
            dangerous: Vec::new(),
            read: Vec::new(),
        }
    }
}

impl Settings {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let approve = [
            ("dangerous", Approve::Dangerous),
            ("always", Approve::Always),
            ("never", Approve::Never),
        ];
        let mut dangerous = Vec::new();
        for pattern in fields.list("dangerous") {
            let Some(text) = pattern.word() else { continue };
            match danger::compile(text) {
                Ok(_) if dangerous.len() < MOST => dangerous.push(text.to_owned()),
                Ok(_) => pattern.invalid(format!("more than {MOST} patterns"), None),
                Err(what) => pattern.invalid(what, None),
            }
        }
        let read = Self {
            enabled: fields.bool("enabled", default.enabled),
            timeout: fields.seconds("timeout", default.timeout, 1.0..=3_600.0),
            max_output: fields.usize("max_output", default.max_output, 1_024..=16_777_216),
            memory: fields.u64("memory", default.memory, 16 * MIB..=1 << 40),
            max_file: fields.u64("max_file", default.max_file, 1_024..=1 << 40),
            processes: fields.u64("processes", default.processes, 1..=100_000),
            open_files: fields.u64("open_files", default.open_files, 16..=100_000),
            network: fields.bool("network", default.network),
            isolation: fields.choice("isolation", default.isolation, &Isolation::WORDS),
            approve: fields.choice("approve", default.approve, &approve),
            dangerous,
            read: fields
                .texts("read", MOST)
                .into_iter()
                .map(PathBuf::from)
                .collect(),
        };
        fields.finish();
        read
    }
}
