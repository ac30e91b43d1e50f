//! How much a confined program may use.
//!
//! Owns the limits of the system that are set. They hold for each process; how many there may be is one of them.

use std::{fs, io};

use rustix::process::{Resource, Rlimit, getuid, setrlimit};

/// What of the memory is addresses only: some programs reserve far more than they use.
const ADDRESSES: u64 = 16;

/// How much a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Seconds of a processor.
    pub cpu: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of a file that it writes.
    pub file: u64,
    /// Processes and threads that there may be beside those that the user has already.
    pub processes: u64,
    /// Open files.
    pub open_files: u64,
}

impl Limits {
    /// Sets them for this process and whatever it starts.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn set(self) -> io::Result<()> {
        let processes = self.processes.saturating_add(tasks_of_this_user());
        let set = |resource, most: u64| {
            let most = Some(most);
            let limit = Rlimit {
                current: most,
                maximum: most,
            };
            setrlimit(resource, limit).map_err(io::Error::from)
        };
        // Nothing of what it had in its memory stays on the disk.
        set(Resource::Core, 0)?;
        set(Resource::Cpu, self.cpu)?;
        set(Resource::Data, self.memory)?;
        set(Resource::As, self.memory.saturating_mul(ADDRESSES))?;
        set(Resource::Fsize, self.file)?;
        set(Resource::Nofile, self.open_files)?;
        set(Resource::Nproc, processes)
    }
}

/// Processes and threads of this user: the system counts them all together.
fn tasks_of_this_user() -> u64 {
    let user = getuid().as_raw().to_string();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let statuses = entries.filter_map(|entry| fs::read_to_string(entry.path().join("status")).ok());
    let threads = |status: String| {
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.split_whitespace().next().map(str::to_owned))
        };
        let own = field("Uid:").is_some_and(|real| real == user);
        let count = field("Threads:").and_then(|count| count.parse::<u64>().ok());
        count.filter(|_| own)
    };
    statuses.filter_map(threads).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_counted_with_its_threads() {
        assert!(tasks_of_this_user() >= 1);
    }
}
