//! Operating a gateway with the tools of the command line: what waits, what failed, and what is done
//! about it.
//!
//! Owns the questions, their answers, and the socket over which a running gateway is asked. Who may use it
//! is who may open the data folder: the socket lies in it and looks at the user of its caller. A gateway whose
//! database is on a server has a folder of its own for it.

pub mod ask;
pub mod audit;
pub mod client;
pub mod desk;
pub(crate) mod line;
pub mod row;
pub mod socket;

use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use crate::{
    config::{Config, Environment, data_home},
    hex::hex,
    store::config::Database,
};

/// The socket's name in the data folder.
const SOCKET: &str = "weirgate.sock";
/// The longest path of a socket that every system takes, in bytes.
const LONGEST: usize = 100;

/// Where the socket of a data folder is.
#[must_use]
pub fn socket_path(folder: &Path) -> PathBuf {
    folder.join(SOCKET)
}

/// The folder of the socket of a gateway: the data folder, or, where the database is on a server, one of its own
/// under the folder for a user's data, named after the database and the gateway's address. `None` if nobody says
/// where a user's data is.
#[must_use]
pub fn socket_folder(config: &Config, environment: &Environment<'_>) -> Option<PathBuf> {
    let url = match &config.storage.database {
        Database::Sqlite(_) => return config.storage.folder(),
        Database::Postgres(url) => url.expose(),
    };
    let mut hash = Sha256::new();
    hash.update(url);
    hash.update(config.http.listen.to_string());
    let hash = hash.finalize();
    let (name, _) = hash.split_at(8);
    let home = data_home(environment)?;
    let folder = Path::new(&home).join("weirgate");
    Some(folder.join(hex(name)))
}

/// Makes the folder of a socket, for its user alone, if it is not there.
///
/// # Errors
/// The system's.
pub fn make_socket_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Calls `act` with the folder under a name that is short enough for the address of a socket in it.
fn with_short<T>(folder: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    use std::os::fd::AsRawFd as _;

    if folder.as_os_str().len() + SOCKET.len() + 8 <= LONGEST {
        return act(folder);
    }
    // The system knows every open folder of a process under a short name too.
    let opened = std::fs::File::open(folder)?;
    act(Path::new(&format!("/proc/self/fd/{}", opened.as_raw_fd())))
}
