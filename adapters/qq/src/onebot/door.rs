//! An address at which OneBot implementations connect, and the accounts that share it.
//!
//! Owns the listener, the handshakes, and which account a connection belongs to. An address is the whole
//! process's, and so is the table of addresses: it holds an address for as long as an account does.

use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{mpsc, oneshot},
    task::{AbortHandle, JoinSet},
    time::{sleep, timeout},
};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async_with_config,
    tungstenite::handshake::server::{ErrorResponse, Request, Response},
};
use weirgate_sdk::{AdapterError, text::line};

use super::{
    handshake::{Peer, Refusal, examine},
    session,
};
use crate::qq::Shared;

/// Handshakes at once; a further one ends the oldest, so that strangers who say nothing keep nobody out.
const MAX_HANDSHAKES: usize = 16;
/// The longest handshake.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(3);
/// Finished handshakes that wait for their account; a further one is ended.
const ARRIVALS: usize = 16;
/// Connections that the system holds until they are accepted.
const BACKLOG: u32 = 1_024;
/// Pause after the system refused to accept, for example for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Every address in use. Held over no wait: binding and listening do not block.
static DOORS: Mutex<Vec<Weak<Door>>> = Mutex::new(Vec::new());

/// A bound address.
struct Door {
    address: SocketAddr,
    guests: Arc<Mutex<Vec<Guest>>>,
    listener: Mutex<Option<TcpListener>>,
    accepting: Mutex<Option<AbortHandle>>,
}

impl Drop for Door {
    fn drop(&mut self) {
        if let Some(accepting) = self.accepting.lock().take() {
            accepting.abort();
        }
    }
}

/// An account at a door.
struct Guest {
    shared: Arc<Shared>,
    /// `None` until the account runs.
    arrivals: Option<mpsc::Sender<Arrival>>,
}

/// A connection after its handshake.
#[derive(Debug)]
pub struct Arrival {
    /// The connection.
    pub socket: WebSocketStream<TcpStream>,
    /// Who connected.
    pub peer: Peer,
}

/// An account's place at an address; dropping it gives it up, and the last one closes the address.
pub struct Place {
    door: Arc<Door>,
    shared: Arc<Shared>,
}

impl Place {
    /// Takes a place at the address, which is bound unless another account has done so. Must be called
    /// inside of the runtime.
    ///
    /// # Errors
    /// [`AdapterError::Config`] if the address is in use elsewhere or not this machine's, or if the
    /// accounts there could not be told apart.
    pub fn take(listen: SocketAddr, shared: &Arc<Shared>) -> Result<Self, AdapterError> {
        let mut doors = DOORS.lock();
        doors.retain(|door| door.strong_count() > 0);
        let known = doors
            .iter()
            .filter_map(Weak::upgrade)
            .find(|door| door.address == listen);
        let door = match known {
            Some(door) => door,
            None => {
                let door = Arc::new(Door::bind(listen)?);
                doors.push(Arc::downgrade(&door));
                door
            }
        };
        door.admit(shared)?;
        Ok(Self {
            door,
            shared: Arc::clone(shared),
        })
    }

    /// The address, with the real port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.door.address
    }

    /// Begins to take connections.
    #[must_use]
    pub fn open(&self) -> mpsc::Receiver<Arrival> {
        let (sender, arrivals) = mpsc::channel(ARRIVALS);
        for guest in self.door.guests.lock().iter_mut() {
            if Arc::ptr_eq(&guest.shared, &self.shared) {
                guest.arrivals = Some(sender.clone());
            }
        }
        if let Some(listener) = self.door.listener.lock().take() {
            let accepting = tokio::spawn(accept(listener, Arc::clone(&self.door.guests)));
            *self.door.accepting.lock() = Some(accepting.abort_handle());
        }
        arrivals
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut guests = self.door.guests.lock();
        guests.retain(|guest| !Arc::ptr_eq(&guest.shared, &self.shared));
    }
}

impl Door {
    fn bind(listen: SocketAddr) -> Result<Self, AdapterError> {
        let bind = || {
            let socket = match listen {
                SocketAddr::V4(_) => TcpSocket::new_v4()?,
                SocketAddr::V6(_) => TcpSocket::new_v6()?,
            };
            socket.set_reuseaddr(true)?;
            socket.bind(listen)?;
            let listener = socket.listen(BACKLOG)?;
            listener.local_addr().map(|address| (listener, address))
        };
        let (listener, address) = bind().map_err(|error| {
            let text = format!("cannot listen on {listen}: {error}");
            if is_fault_of_configuration(&error) {
                AdapterError::Config(text)
            } else {
                AdapterError::Failed(text)
            }
        })?;
        Ok(Self {
            address,
            guests: Arc::default(),
            listener: Mutex::new(Some(listener)),
            accepting: Mutex::default(),
        })
    }

    fn admit(&self, shared: &Arc<Shared>) -> Result<(), AdapterError> {
        let mut guests = self.guests.lock();
        for guest in guests.iter() {
            let (one, two) = (&guest.shared.settings.self_id, &shared.settings.self_id);
            if one.is_none() || two.is_none() || one == two {
                return Err(AdapterError::Config(format!(
                    "{} is in use by the account {}: accounts that listen at one address each need \
                     a self_id of their own",
                    self.address, guest.shared.account
                )));
            }
        }
        guests.push(Guest {
            shared: Arc::clone(shared),
            arrivals: None,
        });
        Ok(())
    }
}

/// An address that cannot be had by waiting.
fn is_fault_of_configuration(error: &io::Error) -> bool {
    use io::ErrorKind::{AddrInUse, AddrNotAvailable, PermissionDenied};
    matches!(
        error.kind(),
        AddrInUse | AddrNotAvailable | PermissionDenied
    )
}

/// Accepts until it is aborted, and the handshakes under way with it.
async fn accept(listener: TcpListener, guests: Arc<Mutex<Vec<Guest>>>) {
    let mut handshakes = Handshakes::default();
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let place = handshakes.begin();
                    let guests = Arc::clone(&guests);
                    tasks.spawn(async move {
                        tokio::select! {
                            biased;
                            _ = timeout(HANDSHAKE_LIMIT, shake(stream, &guests)) => {}
                            _ = place => {}
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            Some(_) = tasks.join_next() => {}
        }
    }
}

/// The handshakes under way, oldest first.
#[derive(Default)]
struct Handshakes(VecDeque<oneshot::Sender<()>>);

impl Handshakes {
    /// A place for a new one; it resolves when the handshake has to make room for a newer one. Dropping
    /// it gives the place back.
    fn begin(&mut self) -> oneshot::Receiver<()> {
        self.0.retain(|handshake| !handshake.is_closed());
        if self.0.len() >= MAX_HANDSHAKES {
            self.0.pop_front();
        }
        let (handshake, place) = oneshot::channel();
        self.0.push_back(handshake);
        place
    }
}

/// One handshake; hands the connection to its account.
async fn shake(stream: TcpStream, guests: &Mutex<Vec<Guest>>) {
    let _ = stream.set_nodelay(true);
    let mut found = None;
    #[expect(clippy::result_large_err, reason = "the signature is the library's")]
    let check = |request: &Request, response: Response| -> Result<Response, ErrorResponse> {
        match choose(&guests.lock(), request) {
            Ok(chosen) => {
                found = Some(chosen);
                Ok(response)
            }
            Err(refusal) => {
                tracing::warn!(?refusal, "connection refused");
                let mut response = ErrorResponse::new(None);
                *response.status_mut() = refusal.status();
                Err(response)
            }
        }
    };
    let config = Some(session::limits());
    let socket = match accept_hdr_async_with_config(stream, check, config).await {
        Ok(socket) => socket,
        Err(error) => {
            tracing::debug!(error = line(&error.to_string(), 120), "no handshake");
            return;
        }
    };
    if let Some((arrivals, peer)) = found
        && arrivals.try_send(Arrival { socket, peer }).is_err()
    {
        tracing::warn!("too many connections: one ended");
    }
}

fn choose(guests: &[Guest], request: &Request) -> Result<(mpsc::Sender<Arrival>, Peer), Refusal> {
    let accounts: Vec<&Shared> = guests.iter().map(|guest| &*guest.shared).collect();
    let (index, peer) = examine(&accounts, request.headers(), request.uri())?;
    let arrivals = guests.get(index).and_then(|guest| guest.arrivals.clone());
    Ok((arrivals.ok_or(Refusal::NotRunning)?, peer))
}

#[cfg(test)]
mod tests;
