//! A model provider on this machine: a real HTTP server that does what a test tells it to.
//!
//! It runs on a thread and a runtime of its own, so that a test's clock and load do not touch it
//! and everything it started ends when it is dropped. It serves `POST /v1/chat/completions`, `POST /v1/messages`
//! and `POST /v1/responses`, streamed or whole, and `POST /v1/embeddings`, and remembers what it was asked. It never
//! decides anything by chance.

mod asked;
mod meaning;
mod messages;
mod responses;
mod script;
mod serve;

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{oneshot, watch};

pub use script::{Ending, Script};

/// Requests that are remembered; the oldest are forgotten first.
pub const MAX_RECORDS: usize = 4096;

/// Makes the answer to a request for which no script waits, from the last user message.
pub type Responder = dyn Fn(&str) -> Script + Send + Sync;

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// Header names in lower case and their values.
    pub headers: Vec<(String, String)>,
    /// The JSON body; null if it was none.
    pub body: Value,
}

impl RecordedRequest {
    /// The value of a header, by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The text of the last user message; empty if there is none.
    #[must_use]
    pub fn last_user_text(&self) -> &str {
        asked::last_user_text(&self.body)
    }

    /// The messages as `role: text`, in whatever format it was asked; without calls and their results.
    #[must_use]
    pub fn spoken(&self) -> Vec<String> {
        asked::spoken(&self.body)
    }

    /// The results of calls as `id: text`, in whatever format it was asked.
    #[must_use]
    pub fn results(&self) -> Vec<String> {
        asked::results(&self.body)
    }

    /// The results of calls without their ids, in whatever format it was asked.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        let results = self.results().into_iter();
        let text = |result: String| result.split_once(": ").map(|(_, text)| text.to_owned());
        results.filter_map(text).collect()
    }

    /// The calls that the model made as `id: name arguments`, in whatever format it was asked.
    #[must_use]
    pub fn called(&self) -> Vec<String> {
        asked::called(&self.body)
    }

    /// The files that it carries, each with its media type, in whatever format it was asked.
    ///
    /// # Panics
    /// One of them is no base64, or empty.
    #[must_use]
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        asked::files(&self.body)
    }

    /// The names of the tools that may be called, in whatever format it was asked.
    #[must_use]
    pub fn offered(&self) -> Vec<String> {
        asked::offered(&self.body)
    }
}

/// The running provider.
pub struct FakeModel {
    address: SocketAddr,
    state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

struct State {
    scripts: Mutex<VecDeque<Script>>,
    responder: Box<Responder>,
    records: Mutex<VecDeque<RecordedRequest>>,
    count: watch::Sender<usize>,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    now: usize,
    most: usize,
    connections: usize,
}

impl FakeModel {
    /// Starts a provider that echoes: `re: <last user message>`.
    pub async fn start() -> Self {
        Self::start_with(|text| Script::answer(&format!("re: {text}"))).await
    }

    /// Starts a provider whose answers come from `responder` while no script waits.
    pub async fn start_with(responder: impl Fn(&str) -> Script + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener
            .set_nonblocking(true)
            .expect("a listener that does not block");
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(State {
            scripts: Mutex::default(),
            responder: Box::new(responder),
            records: Mutex::default(),
            count: watch::Sender::new(0),
            running: Mutex::default(),
        });
        let (stop, stopped) = oneshot::channel();
        let served = state.clone();
        let thread = std::thread::Builder::new()
            .name("fake-model".to_owned())
            .spawn(move || serve::run(listener, served, stopped))
            .expect("a thread");
        Self {
            address,
            state,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Root of the API, for `base_url`: `http://127.0.0.1:<port>/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Adds a script for one request; scripts are used in the order of the requests.
    pub fn push(&self, script: Script) {
        self.state.scripts.lock().push_back(script);
    }

    /// The requests so far, oldest first; at most the newest [`MAX_RECORDS`].
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.records.lock().iter().cloned().collect()
    }

    /// How many requests have arrived.
    #[must_use]
    pub fn count(&self) -> usize {
        *self.state.count.borrow()
    }

    /// Returns once at least `count` requests have arrived.
    pub async fn wait_for(&self, count: usize) {
        let mut counter = self.state.count.subscribe();
        counter
            .wait_for(|seen| *seen >= count)
            .await
            .expect("the provider is running");
    }

    /// How many requests are being answered at this moment.
    #[must_use]
    pub fn running(&self) -> usize {
        self.state.running.lock().now
    }

    /// The most requests that were being answered at once.
    #[must_use]
    pub fn max_concurrency(&self) -> usize {
        self.state.running.lock().most
    }

    /// How many connections were accepted.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.state.running.lock().connections
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic in there was printed; the test fails by what it did not get.
            let _ = thread.join();
        }
    }
}
