//! What a process costs, as the system counts it.
//!
//! Owns reading processor time and resident memory under /proc. It changes nothing; where there is no
//! /proc, there are no figures.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::task::JoinHandle;

/// Ticks a second in which Linux shows processor time to programs.
const TICKS: u64 = 100;
/// Time between two looks at the memory.
const PAUSE: Duration = Duration::from_millis(50);

/// Processor time of all threads so far, in steps of 10 ms.
#[must_use]
pub fn cpu(pid: u32) -> Option<Duration> {
    cpu_of(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Resident memory in bytes.
#[must_use]
pub fn memory(pid: u32) -> Option<u64> {
    memory_of(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

/// The name of the program may hold spaces and brackets: what counts begins after the last bracket.
fn cpu_of(stat: &str) -> Option<Duration> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis(
        user.checked_add(system)?.checked_mul(1_000 / TICKS)?,
    ))
}

fn memory_of(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1_024)
}

/// Watches a process while a run lasts.
pub struct Watch {
    pid: u32,
    cpu: Option<Duration>,
    max: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

/// What a process used during a run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    /// Processor time.
    pub cpu: Option<Duration>,
    /// Most resident memory that was seen, in bytes.
    pub memory_max: Option<u64>,
    /// Resident memory at the end, in bytes.
    pub memory_last: Option<u64>,
}

impl Watch {
    /// Begins.
    #[must_use]
    pub fn start(pid: u32) -> Self {
        let max = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&max);
        let task = tokio::spawn(async move {
            while let Some(now) = memory(pid) {
                seen.fetch_max(now, Ordering::Relaxed);
                tokio::time::sleep(PAUSE).await;
            }
        });
        Self {
            pid,
            cpu: cpu(pid),
            max,
            task,
        }
    }

    /// Ends.
    #[must_use]
    pub fn stop(self) -> Usage {
        self.task.abort();
        let memory_last = memory(self.pid);
        let max = self.max.load(Ordering::Relaxed);
        Usage {
            cpu: self
                .cpu
                .and_then(|before| cpu(self.pid)?.checked_sub(before)),
            memory_max: memory_last.map(|last| last.max(max)),
            memory_last,
        }
    }
}

#[cfg(test)]
mod tests;
