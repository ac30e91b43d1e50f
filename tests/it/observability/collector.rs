//! A collector of traces: a real web server that takes OTLP requests and reads them with the published
//! definitions of the protocol, not with the gateway's own code.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, http::StatusCode, routing::post};
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::Span,
};
use parking_lot::Mutex;
use prost::Message as _;
use tokio::{net::TcpListener, sync::watch, task::JoinHandle};

use crate::gateway::until;

/// What a request brought.
#[derive(Debug, Clone)]
pub struct Export {
    pub headers: HeaderMap,
    pub bytes: Bytes,
    pub request: ExportTraceServiceRequest,
}

struct Shared {
    exports: Mutex<Vec<Export>>,
    /// The status of each answer; `None` never answers.
    status: watch::Sender<Option<StatusCode>>,
}

/// A running collector.
pub struct Collector {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Collector {
    /// Takes everything.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            exports: Mutex::default(),
            status: watch::Sender::new(Some(StatusCode::OK)),
        });
        let router = Router::new()
            .route("/v1/traces", post(take))
            .with_state(Arc::clone(&shared));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            address,
            shared,
            task,
        }
    }

    /// For `observability.traces.endpoint`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers with another status from now on; `None` never answers.
    pub fn answer(&self, status: Option<StatusCode>) {
        self.shared.status.send_replace(status);
    }

    /// The requests so far.
    pub fn exports(&self) -> Vec<Export> {
        self.shared.exports.lock().clone()
    }

    /// All spans so far.
    pub fn spans(&self) -> Vec<Span> {
        let exports = self.exports();
        let resources = exports
            .into_iter()
            .flat_map(|export| export.request.resource_spans);
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    /// Waits until the spans are as wanted.
    pub async fn until(&self, wanted: impl Fn(&[Span]) -> bool) -> Vec<Span> {
        let came = until(|| wanted(&self.spans())).await;
        let spans = self.spans();
        assert!(
            came,
            "{:#?}",
            spans.iter().map(|span| &span.name).collect::<Vec<_>>()
        );
        spans
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn take(State(shared): State<Arc<Shared>>, headers: HeaderMap, bytes: Bytes) -> StatusCode {
    let Some(status) = *shared.status.borrow() else {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        return StatusCode::OK;
    };
    if status == StatusCode::OK {
        let request = ExportTraceServiceRequest::decode(bytes.clone()).unwrap();
        shared.exports.lock().push(Export {
            headers,
            bytes,
            request,
        });
    }
    status
}

/// An attribute as text; empty if there is none of this name.
pub fn attribute(attributes: &[KeyValue], key: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    let value = found.and_then(|attribute| attribute.value.clone()?.value);
    match value {
        Some(Value::StringValue(text)) => text,
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::BoolValue(flag)) => flag.to_string(),
        _ => String::new(),
    }
}
