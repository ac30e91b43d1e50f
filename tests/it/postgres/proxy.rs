//! A proxy in front of the server, that breaks connections at the moment that matters.
//!
//! Owns its listener and the connections through it; all end with it. It knows of the protocol only what a
//! commit looks like.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, tcp},
    task::JoinSet,
};

/// What the proxy does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// Lets everything through.
    Open = 0,
    /// Breaks the connection instead of asking for the next commit, then lets everything through.
    BeforeCommit = 1,
    /// Breaks the connection instead of answering the next commit, then lets everything through.
    AfterCommit = 2,
    /// The same, and then lets nobody in.
    AfterCommitThenDown = 3,
    /// Lets nobody in.
    Down = 4,
    /// Leaves out the settings of each session, as poolers do.
    WithoutOptions = 5,
}

impl Mode {
    const ALL: [Self; 6] = [
        Self::Open,
        Self::BeforeCommit,
        Self::AfterCommit,
        Self::AfterCommitThenDown,
        Self::Down,
        Self::WithoutOptions,
    ];
}

/// The proxy.
pub struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
    _task: JoinSet<()>,
}

struct State {
    mode: AtomicU8,
    refused: AtomicUsize,
}

impl State {
    fn mode(&self) -> Mode {
        let mode = self.mode.load(Ordering::SeqCst);
        Mode::ALL[usize::from(mode)]
    }

    fn set(&self, mode: Mode) {
        self.mode.store(mode as u8, Ordering::SeqCst);
    }
}

impl Proxy {
    pub async fn start(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            mode: AtomicU8::new(0),
            refused: AtomicUsize::new(0),
        });
        let mut task = JoinSet::new();
        task.spawn(serve(listener, server.to_owned(), Arc::clone(&state)));
        Self {
            address,
            state,
            _task: task,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn set(&self, mode: Mode) {
        self.state.set(mode);
    }

    /// What it does now.
    pub fn mode(&self) -> Mode {
        self.state.mode()
    }

    /// How many connections were not let in.
    pub fn refused(&self) -> usize {
        self.state.refused.load(Ordering::SeqCst)
    }
}

async fn serve(listener: TcpListener, server: String, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        if state.mode() == Mode::Down {
            state.refused.fetch_add(1, Ordering::SeqCst);
            continue;
        }
        let (server, state) = (server.clone(), Arc::clone(&state));
        connections.spawn(async move {
            let Ok(mut server) = TcpStream::connect(server).await else {
                return;
            };
            let mut client = client;
            if state.mode() == Mode::WithoutOptions {
                introduce(&mut client, &mut server).await;
            }
            let (from_client, to_client) = client.into_split();
            let (from_server, to_server) = server.into_split();
            let last = AtomicBool::new(false);
            // Whichever way ends first, both ends are closed.
            tokio::select! {
                () = ask(from_client, to_server, &state, &last) => {}
                () = answer(from_server, to_client, &last) => {}
            }
        });
    }
}

/// Hands on the first message of a session, pairs of texts, without its `options`.
async fn introduce(client: &mut TcpStream, server: &mut TcpStream) {
    let length = client.read_i32().await.unwrap();
    let mut body = vec![0; usize::try_from(length).unwrap() - 4];
    client.read_exact(&mut body).await.unwrap();
    let (version, pairs) = body.split_at(4);
    let texts: Vec<&[u8]> = pairs.split(|byte| *byte == 0).collect();
    let mut message = version.to_vec();
    for pair in texts.chunks_exact(2).filter(|pair| !pair[0].is_empty()) {
        if pair[0] != b"options" {
            message.extend(pair.iter().flat_map(|text| [text, &b"\0"[..]].concat()));
        }
    }
    message.push(0);
    let length = i32::try_from(message.len() + 4).unwrap();
    server.write_i32(length).await.unwrap();
    server.write_all(&message).await.unwrap();
}

async fn ask(
    mut from: tcp::OwnedReadHalf,
    mut to: tcp::OwnedWriteHalf,
    state: &State,
    last: &AtomicBool,
) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let Ok(read @ 1..) = from.read(&mut bytes).await else {
            return;
        };
        let said = &bytes[..read];
        let commit = said.windows(7).any(|word| word == b"COMMIT\0");
        match (commit, state.mode()) {
            (true, Mode::BeforeCommit) => {
                state.set(Mode::Open);
                return;
            }
            (true, Mode::AfterCommit | Mode::AfterCommitThenDown) => {
                let down = state.mode() == Mode::AfterCommitThenDown;
                // The way back ends at the answer.
                state.set(if down { Mode::Down } else { Mode::Open });
                last.store(true, Ordering::SeqCst);
            }
            _ => {}
        }
        if to.write_all(said).await.is_err() {
            return;
        }
    }
}

async fn answer(mut from: tcp::OwnedReadHalf, mut to: tcp::OwnedWriteHalf, last: &AtomicBool) {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let Ok(read @ 1..) = from.read(&mut bytes).await else {
            return;
        };
        if last.load(Ordering::SeqCst) || to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
}
