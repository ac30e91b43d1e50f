//! Operating a gateway with the tools of the command line: what waits, what failed, and what is done
//! about it.
//!
//! Owns the questions, their answers, and the socket over which a running gateway is asked. Who may use it
//! is who may open the data folder: the socket lies in it and looks at the user of its caller.

pub mod ask;
pub mod client;
pub mod desk;
mod line;
pub mod row;
pub mod socket;

use std::path::{Path, PathBuf};

/// The socket's name in the data folder.
const SOCKET: &str = "weirgate.sock";
/// The longest path of a socket that every system takes, in bytes.
const LONGEST: usize = 100;

/// Where the socket of a data folder is.
#[must_use]
pub fn socket_path(folder: &Path) -> PathBuf {
    folder.join(SOCKET)
}

/// Calls `act` with the folder under a name that is short enough for the address of a socket in it.
fn with_short<T>(
    folder: &Path,
    act: impl FnOnce(&Path) -> std::io::Result<T>,
) -> std::io::Result<T> {
    use std::os::fd::AsRawFd as _;

    if folder.as_os_str().len() + SOCKET.len() + 8 <= LONGEST {
        return act(folder);
    }
    // The system knows every open folder of a process under a short name too.
    let opened = std::fs::File::open(folder)?;
    act(Path::new(&format!("/proc/self/fd/{}", opened.as_raw_fd())))
}
