//! Records spans: one function for each thing that is traced, called when it has ended.
//!
//! Owns the process's tracer. A call costs a hash of the turn's id, and nothing waits: a span for which
//! the queue to the exporter has no room is counted and forgotten.

use super::super::{config::Traces, metrics::Queue};
use super::encode::{Kind, Span, Value};
use super::export::{self, Item, QUEUED};
use super::ids::{Ids, SpanId, TraceId, fresh};
use super::{EndedRequest, EndedTurn, FINISH, SentPart};
use crate::{security::redact::Redactor, trace::turn_id};
use parking_lot::RwLock;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::{mpsc, oneshot};

/// Most other messages of a turn that are linked.
const LINKS: usize = 32;
static TRACER: OnceLock<Tracer> = OnceLock::new();

struct Tracer {
    ids: Ids,
    queue: mpsc::Sender<Item>,
    redactor: Arc<RwLock<Redactor>>,
}

/// The running export.
#[derive(Debug)]
pub struct Tracing(());

impl Tracing {
    /// Sends what is still queued, for at most three seconds.
    pub async fn finish(self) {
        let Some(tracer) = TRACER.get() else { return };
        let (done, sent) = oneshot::channel();
        let flush = async {
            if tracer.queue.send(Item::Flush(done)).await.is_ok() {
                let _ = sent.await;
            }
        };
        let _ = tokio::time::timeout(FINISH, flush).await;
    }
}

/// Starts the export, if there is one. `seed` is the store's own key. Must be called inside of the
/// runtime, once in a process.
///
/// # Errors
/// Why no client could be made.
pub fn install(
    settings: Option<&Traces>,
    seed: &[u8; 32],
    redactor: Redactor,
) -> Result<Option<Tracing>, String> {
    let Some(settings) = settings else {
        return Ok(None);
    };
    let redactor = Arc::new(RwLock::new(redactor));
    let (queue, items) = mpsc::channel(QUEUED);
    let exporter = export::Exporter::new(settings, Arc::clone(&redactor))?;
    let tracer = Tracer {
        ids: Ids::new(seed, settings.sample_ratio),
        queue,
        redactor,
    };
    if TRACER.set(tracer).is_ok() {
        tokio::spawn(exporter.run(items));
    }
    Ok(Some(Tracing(())))
}

/// Redacts attributes with these secrets from now on.
pub fn set_redactor(redactor: Redactor) {
    if let Some(tracer) = TRACER.get() {
        *tracer.redactor.write() = redactor;
    }
}

/// The message became durable, `took` after it was handed in. A message that is answered with an earlier
/// one has a trace of its own, which the turn links to.
pub fn accepted(message: i64, took: Duration) {
    with(
        || turn_id(message),
        |place, turn| {
            let mut span = place.child("accept", Kind::Producer, took);
            span.attributes.push((TURN, Value::Text(turn)));
            span
        },
    );
}

/// The message left its queue for a turn after it had waited for so long.
pub fn queued(turn: i64, message: i64, waited: Duration) {
    with(
        || turn_id(turn),
        |place, turn| {
            let mut span = place.child("queue", Kind::Internal, waited);
            span.attributes = vec![
                (TURN, Value::Text(turn)),
                ("weirgate.message", Value::Text(turn_id(message))),
            ];
            span
        },
    );
}

/// A turn ended: the root of its trace.
pub fn turn_ended(ended: &EndedTurn<'_>) {
    with(
        || turn_id(ended.turn),
        |place, turn| {
            let mut span = place.child("turn", Kind::Consumer, ended.took);
            span.id = place.root;
            span.parent = None;
            let merged = ended.merged.iter().take(LINKS);
            span.links = merged
                .filter_map(|message| TRACER.get()?.ids.of(&turn_id(*message)))
                .collect();
            let messages = i64::try_from(ended.merged.len()).unwrap_or(i64::MAX);
            span.attributes = vec![
                (TURN, Value::Text(turn)),
                ("weirgate.platform", Value::Text(ended.account.0.to_owned())),
                ("weirgate.account", Value::Text(ended.account.1.to_owned())),
                ("weirgate.command", Value::Flag(ended.command)),
                (
                    "weirgate.messages",
                    Value::Number(messages.saturating_add(1)),
                ),
                ("weirgate.outcome", Value::Text(ended.outcome.to_owned())),
            ];
            span.error = ended.failed.then_some(ended.outcome);
            span
        },
    );
}

/// A request to a model ended. Names of attributes are those of the conventions for generative AI.
pub fn model_request(ended: &EndedRequest<'_>) {
    with(
        || ended.turn.to_owned(),
        |place, turn| {
            let mut span = place.child("model request", Kind::Client, ended.took);
            let model = ended
                .model
                .split_once('/')
                .map_or(ended.model, |(_, name)| name);
            span.attributes = vec![
                (TURN, Value::Text(turn)),
                ("gen_ai.operation.name", Value::Text("chat".to_owned())),
                (
                    "gen_ai.provider.name",
                    Value::Text(ended.provider.to_owned()),
                ),
                ("gen_ai.request.model", Value::Text(model.to_owned())),
                ("weirgate.attempt", Value::Number(i64::from(ended.attempt))),
            ];
            if let Some((input, output)) = ended.tokens {
                let count = |tokens| Value::Number(i64::try_from(tokens).unwrap_or(i64::MAX));
                span.attributes
                    .push(("gen_ai.usage.input_tokens", count(input)));
                span.attributes
                    .push(("gen_ai.usage.output_tokens", count(output)));
            }
            if let Some(error) = ended.error {
                span.attributes
                    .push(("error.type", Value::Text(error.to_owned())));
                span.error = Some(error);
            }
            span
        },
    );
}

/// One attempt to send a part ended.
pub fn sent(part: &SentPart<'_>) {
    with(
        || turn_id(part.turn),
        |place, turn| {
            let mut span = place.child("deliver", Kind::Client, part.took);
            span.attributes = vec![
                (TURN, Value::Text(turn)),
                ("weirgate.platform", Value::Text(part.platform.to_owned())),
                ("weirgate.part", Value::Number(i64::from(part.part.0))),
                ("weirgate.parts", Value::Number(i64::from(part.part.1))),
                ("weirgate.outcome", Value::Text(part.outcome.to_owned())),
            ];
            if part.outcome != "sent" {
                span.attributes
                    .push(("error.type", Value::Text(part.outcome.to_owned())));
                span.error = Some(part.outcome);
            }
            span
        },
    );
}

/// The attribute that every span has: the turn, as in the log and in /why.
const TURN: &str = "weirgate.turn";

/// Where a span belongs.
#[derive(Debug, Clone, Copy)]
struct Place {
    trace: TraceId,
    root: SpanId,
}

impl Place {
    /// A span under the root that ends now.
    fn child(self, name: &'static str, kind: Kind, took: Duration) -> Span {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Span {
            trace: self.trace,
            id: fresh(),
            parent: Some(self.root),
            name,
            kind,
            start: nanos(now.saturating_sub(took)),
            end: nanos(now),
            attributes: Vec::new(),
            links: Vec::new(),
            error: None,
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Makes and queues a span, if there is a tracer and the turn is traced.
fn with(turn: impl FnOnce() -> String, make: impl FnOnce(Place, String) -> Span) {
    let Some(tracer) = TRACER.get() else { return };
    let turn = turn();
    let Some((trace, root)) = tracer.ids.of(&turn) else {
        return;
    };
    let span = make(Place { trace, root }, turn);
    Queue::Traces.received(1);
    if tracer
        .queue
        .try_send(Item::Span(Box::new(span), Instant::now()))
        .is_err()
    {
        Queue::Traces.lost("queue_full", 1);
    }
}
