//! Sends spans to a collector: OTLP over HTTP with protobuf bodies.
//!
//! Owns the batches, the retries and their limits. Spans are worth less than the gateway: what a
//! collector does not take in three tries is counted and dropped, and nobody waits for it.

use super::super::{config::Traces, metrics::Queue};
use super::encode::{Span, request};
use crate::security::redact::Redactor;
use parking_lot::RwLock;
use reqwest::{
    Client, StatusCode,
    header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot};

/// Spans that wait for the exporter; beyond that new ones are dropped.
pub(super) const QUEUED: usize = 4_096;
/// Most spans in one request.
const BATCH: usize = 512;
/// How long a span waits for others.
const GATHER: Duration = Duration::from_secs(1);
/// Longest time of a request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How often a batch is sent at most.
const TRIES: u32 = 3;
/// Longest pause before another try, whatever the collector asks for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Where a collector takes traces, below its address.
const PATH: &str = "/v1/traces";

/// What comes through the queue.
pub(super) enum Item {
    /// A span, and since when it waits.
    Span(Box<Span>, Instant),
    /// Everything before this is to be sent now; then tell.
    Flush(oneshot::Sender<()>),
}

/// The task's state.
pub(super) struct Exporter {
    client: Client,
    url: String,
    instance: String,
    redactor: Arc<RwLock<Redactor>>,
    failing: bool,
}

impl Exporter {
    /// An exporter to the collector of the settings.
    pub(super) fn new(settings: &Traces, redactor: Arc<RwLock<Redactor>>) -> Result<Self, String> {
        let mut headers = HeaderMap::new();
        for (name, value) in &settings.headers {
            let name = HeaderName::try_from(name).map_err(|error| error.to_string())?;
            let mut value = HeaderValue::try_from(value.expose())
                .map_err(|_| format!("the value of {name} cannot stand in a header"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/x-protobuf"),
        );
        let client = Client::builder()
            .default_headers(headers)
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| error.to_string())?;
        let url = if settings.endpoint.ends_with(PATH) {
            settings.endpoint.clone()
        } else {
            format!("{}{PATH}", settings.endpoint)
        };
        Ok(Self {
            client,
            url,
            instance: format!("{:016x}", rand::random::<u64>()),
            redactor,
            failing: false,
        })
    }

    /// Sends what comes through the queue, as long as there is somebody who may put something in.
    pub(super) async fn run(mut self, mut items: mpsc::Receiver<Item>) {
        let mut read = Vec::with_capacity(BATCH);
        while items.recv_many(&mut read, BATCH).await > 0 {
            let until = tokio::time::Instant::now() + GATHER;
            while read.len() < BATCH && !read.iter().any(|item| matches!(item, Item::Flush(_))) {
                let room = BATCH - read.len();
                let more = tokio::time::timeout_at(until, items.recv_many(&mut read, room)).await;
                if !more.is_ok_and(|more| more > 0) {
                    break;
                }
            }
            Queue::Traces.depth(items.len());
            let (mut spans, mut waiting) = (Vec::with_capacity(read.len()), Vec::new());
            for item in read.drain(..) {
                match item {
                    Item::Span(span, since) => {
                        Queue::Traces.waited(since.elapsed());
                        spans.push(*span);
                    }
                    Item::Flush(done) => waiting.push(done),
                }
            }
            if !spans.is_empty() {
                self.export(&spans).await;
            }
            for done in waiting {
                // Whoever asked may have stopped waiting.
                let _ = done.send(());
            }
        }
    }

    async fn export(&mut self, spans: &[Span]) {
        let redactor = self.redactor.read().clone();
        let body = request(spans, &self.instance, &redactor);
        let count = u64::try_from(spans.len()).unwrap_or(u64::MAX);
        let mut pause = Duration::from_secs(1);
        for attempt in 1..=TRIES {
            let error = match self.post(body.clone()).await {
                Ok(()) => {
                    Queue::Traces.sent(count);
                    if std::mem::take(&mut self.failing) {
                        tracing::info!("the trace collector takes spans again");
                    }
                    return;
                }
                Err(error) => error,
            };
            if attempt == TRIES || !error.again {
                Queue::Traces.lost("export_failed", count);
                if !std::mem::replace(&mut self.failing, true) {
                    let error = error.text;
                    tracing::warn!(
                        error,
                        "the trace collector does not take spans; they are dropped"
                    );
                }
                return;
            }
            tokio::time::sleep(error.after.unwrap_or(pause).min(LONGEST_PAUSE)).await;
            pause *= 2;
        }
    }

    async fn post(&self, body: Vec<u8>) -> Result<(), Refused> {
        let answer = self.client.post(&self.url).body(body).send().await;
        let answer = answer.map_err(|error| Refused {
            text: crate::telemetry::logging::causes(&error.without_url()),
            again: true,
            after: None,
        })?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        let after = answer
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        Err(Refused {
            text: format!("it answered {status}"),
            again: matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS
                    | StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
            ),
            after,
        })
    }
}

/// Why a batch was not taken.
struct Refused {
    text: String,
    /// Another try may help.
    again: bool,
    after: Option<Duration>,
}
