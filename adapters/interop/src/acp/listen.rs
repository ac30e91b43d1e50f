//! Where callers connect.
//!
//! Owns the socket file: nobody but its user and root may connect, what a killed process left is replaced, and what
//! another one listens at is left alone.

use std::{
    env, fs, io,
    net::SocketAddr,
    os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, UnixListener, UnixStream},
};
use weirgate_sdk::AccountName;

use crate::settings::{LOCAL, Listen};

/// A connection.
pub(super) type Stream = Box<dyn Both>;

/// What a connection does.
pub(super) trait Both: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Both for T {}

/// A bound address. Dropping it removes the file of a socket.
#[derive(Debug)]
pub(crate) enum Listener {
    Unix(Socket),
    Tcp(TcpListener),
}

/// A bound socket.
#[derive(Debug)]
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// The file, so that the one of a successor is not removed.
    file: (u64, u64),
    /// The user to whom it belongs.
    owner: u32,
}

impl Listener {
    /// Listens.
    ///
    /// # Errors
    /// The system's, or somebody listens there already.
    pub(crate) async fn bind(listen: &Listen, account: &AccountName) -> io::Result<Self> {
        match listen {
            Listen::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            Listen::Unix(path) => {
                let path = match path {
                    Some(path) => path.clone(),
                    None => runtime(account.as_str())?,
                };
                Ok(Self::Unix(Socket::bind(path).await?))
            }
        }
    }

    /// The address, if it has one.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Unix(_) => None,
            Self::Tcp(listener) => listener.local_addr().ok(),
        }
    }

    /// The next connection, with the caller whose it is where no token has to tell; `None` if it is nobody's.
    pub(super) async fn accept(&self) -> io::Result<Option<(Stream, Option<String>)>> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Some((Box::new(stream), None)))
            }
            Self::Unix(socket) => {
                let (stream, _) = socket.listener.accept().await?;
                let user = stream.peer_cred()?.uid();
                if user != socket.owner && user != 0 {
                    tracing::warn!(user, "refused at the socket of an agent");
                    return Ok(None);
                }
                Ok(Some((Box::new(stream), Some(LOCAL.to_owned()))))
            }
        }
    }
}

impl Socket {
    async fn bind(path: PathBuf) -> io::Result<Self> {
        match fs::symlink_metadata(&path) {
            Ok(there) if !there.file_type().is_socket() => {
                let what = format!("{} is there, and is no socket", path.display());
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
            }
            Ok(_) if UnixStream::connect(&path).await.is_ok() => {
                let what = format!("somebody listens at {}", path.display());
                return Err(io::Error::new(io::ErrorKind::AddrInUse, what));
            }
            // What a killed process left is replaced below.
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            fs::DirBuilder::new().mode(0o700).create(folder)?;
        }
        let mut fresh = path.clone().into_os_string();
        fresh.push(".new");
        let fresh = PathBuf::from(fresh);
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // It gets its name when its mode is right, so that nobody connects before.
        let listener = UnixListener::bind(&fresh)?;
        fs::set_permissions(&fresh, fs::Permissions::from_mode(0o600))?;
        let made = fs::symlink_metadata(&fresh)?;
        fs::rename(&fresh, &path)?;
        Ok(Self {
            listener,
            path,
            file: (made.dev(), made.ino()),
            owner: made.uid(),
        })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let own = fs::symlink_metadata(&self.path)
            .is_ok_and(|file| (file.dev(), file.ino()) == self.file);
        if own {
            // It does no harm where it lies; the next start replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The socket of an account under the runtime directory.
fn runtime(account: &str) -> io::Result<PathBuf> {
    let folder = ["RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"]
        .into_iter()
        .filter_map(env::var_os)
        .find(|folder| !folder.is_empty());
    let Some(folder) = folder else {
        let what = "nothing says where the runtime directory is (XDG_RUNTIME_DIR): write path";
        return Err(io::Error::new(io::ErrorKind::NotFound, what));
    };
    // An account's name is no path.
    let name: String = account
        .chars()
        .map(|sign| {
            if sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_') {
                sign
            } else {
                '_'
            }
        })
        .collect();
    Ok(Path::new(&folder)
        .join("weirgate")
        .join(format!("{name}.sock")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_socket_is_its_users_alone_and_replaces_what_is_left_over() {
        let folder = env::temp_dir().join(format!("weirgate-interop-{}", rand::random::<u64>()));
        let path = folder.join("a.sock");
        let socket = Socket::bind(path.clone()).await.unwrap();
        let mode = |path: &Path| fs::symlink_metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&path), mode(&folder)), (0o600, 0o700));
        let taken = Socket::bind(path.clone()).await.unwrap_err();
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
        // As a killed process leaves it.
        let Socket { file, .. } = &socket;
        let file = *file;
        let left = folder.join("left.sock");
        drop(std::os::unix::net::UnixListener::bind(&left).unwrap());
        let other = Socket::bind(left.clone()).await.unwrap();
        assert_ne!(other.file, file);
        drop(other);
        assert!(!left.exists());
        // Not that of a successor.
        fs::remove_file(&path).unwrap();
        let successor = Socket::bind(path.clone()).await.unwrap();
        drop(socket);
        assert!(path.exists());
        drop(successor);
        fs::write(&path, "mine").unwrap();
        assert!(Socket::bind(path.clone()).await.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        fs::remove_dir_all(&folder).unwrap();
    }
}
