//! The socket in the data folder over which a running gateway is asked.
//!
//! Owns the socket file, who may connect, and the limits: connections at once, bytes of a request, time of
//! a request and between two. It decides nothing about what is asked.

use std::{
    fs, io,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream},
    sync::Semaphore,
    task::JoinSet,
    time::timeout,
};
use weirgate_sdk::Stop;

use super::{
    ask::{LONGEST_REQUEST, Refusal, Request, Response, VERSION},
    desk::Desk,
    line, socket_path, with_short,
};

/// Connections at once; a further one is closed at once.
const CONNECTIONS: usize = 8;
/// The longest wait for the next request of a connection.
const SILENCE: Duration = Duration::from_secs(30);
/// The longest time of a request.
const REQUEST: Duration = Duration::from_secs(30);
/// The pause after the system could not give a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A bound socket. Dropping it removes the file.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// The user to whom the socket belongs.
    owner: u32,
}

impl Socket {
    /// Binds the socket of a data folder whose lock this process holds: what is there is left over from a
    /// process that was killed, and is replaced. Must be called inside of the runtime.
    ///
    /// # Errors
    /// The system's.
    pub fn bind(folder: &Path) -> io::Result<Self> {
        let path = socket_path(folder);
        let mut fresh = path.clone().into_os_string();
        fresh.push(".new");
        let fresh = PathBuf::from(fresh);
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // It gets its name when its mode is right, so that nobody connects before.
        let listener = with_short(folder, |folder| {
            let name = fresh.file_name().unwrap_or_default();
            UnixListener::bind(folder.join(name))
        })?;
        fs::set_permissions(&fresh, fs::Permissions::from_mode(0o600))?;
        let owner = fs::symlink_metadata(&fresh)?.uid();
        fs::rename(&fresh, &path)?;
        Ok(Self {
            listener,
            path,
            owner,
        })
    }

    /// Answers until `stop`; what is being answered then is cut off.
    pub async fn serve(self, desk: Arc<Desk>, stop: Stop) {
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        let mut tasks = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                Some(_) = tasks.join_next() => continue,
                () = stop.stopped() => return,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection to the control socket failed");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            if !self.may_ask(&stream) {
                continue;
            }
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                tracing::warn!("too many connections to the control socket");
                continue;
            };
            let desk = Arc::clone(&desk);
            tasks.spawn(async move {
                let _place = place;
                if let Err(error) = converse(stream, &desk).await {
                    tracing::debug!(%error, "a conversation over the control socket ended");
                }
            });
        }
    }

    /// Only the user of this process, and root, who may everything anyway.
    fn may_ask(&self, stream: &UnixStream) -> bool {
        match stream.peer_cred() {
            Ok(peer) if peer.uid() == self.owner || peer.uid() == 0 => true,
            Ok(peer) => {
                tracing::warn!(uid = peer.uid(), "refused at the control socket");
                false
            }
            Err(error) => {
                tracing::warn!(%error, "refused at the control socket: its user is not known");
                false
            }
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // It does no harm where it lies; the next start replaces it.
        let _ = fs::remove_file(&self.path);
    }
}

async fn converse(stream: UnixStream, desk: &Arc<Desk>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let next = timeout(SILENCE, line::read(&mut stream, LONGEST_REQUEST)).await;
        let (response, last) = match next {
            Err(_) | Ok(Ok(None)) => return Ok(()),
            Ok(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {
                (refused(error.to_string()), true)
            }
            Ok(Err(error)) => return Err(error),
            Ok(Ok(Some(line))) => (respond(&line, desk).await, false),
        };
        let mut bytes = serde_json::to_vec(&response)?;
        bytes.push(b'\n');
        timeout(REQUEST, stream.get_mut().write_all(&bytes))
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))?;
        if last {
            return Ok(());
        }
    }
}

async fn respond(line: &[u8], desk: &Arc<Desk>) -> Response {
    let request: Request = match serde_json::from_slice(line) {
        Ok(request) => request,
        Err(error) => return refused(error.to_string()),
    };
    if request.v != VERSION {
        let theirs = request.v;
        return refused(format!("version {theirs}: this gateway speaks {VERSION}"));
    }
    // In a task of its own, which ends what it began also when nobody waits any more.
    let desk = Arc::clone(desk);
    let answer = tokio::spawn(async move { desk.answer(request.ask).await });
    match timeout(REQUEST, answer).await {
        Ok(Ok(result)) => result.into(),
        Ok(Err(_)) => refused("the gateway failed over it".to_owned()),
        Err(_) => refused("it took too long".to_owned()),
    }
}

fn refused(error: String) -> Response {
    Err(Refusal::Protocol { error }).into()
}
