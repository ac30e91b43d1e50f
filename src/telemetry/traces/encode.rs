//! Spans as the OpenTelemetry protocol's protobuf (`ExportTraceServiceRequest`). Pure.
//!
//! Owns the field numbers. The messages are few and flat and are only written, never read, so they are
//! written by hand; a test of the whole gateway reads them with the published definitions.

use super::ids::{SpanId, TraceId};
use crate::security::redact::Redactor;

/// Most bytes of a text that is exported.
const TEXT_BYTES: usize = 512;

/// What a span stands for, by its number in the protocol.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Work inside of the gateway.
    Internal = 1,
    /// A call to somebody else.
    Client = 3,
    /// Something put into a queue.
    Producer = 4,
    /// Something taken from a queue and worked on.
    Consumer = 5,
}

/// A value of an attribute.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Text(String),
    Number(i64),
    Flag(bool),
}

/// A finished span.
#[derive(Debug, Clone)]
pub(super) struct Span {
    pub(super) trace: TraceId,
    pub(super) id: SpanId,
    pub(super) parent: Option<SpanId>,
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Nanoseconds since 1970.
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) attributes: Vec<(&'static str, Value)>,
    /// Other traces that belong to it.
    pub(super) links: Vec<(TraceId, SpanId)>,
    /// What went wrong, in a word.
    pub(super) error: Option<&'static str>,
}

/// One request with these spans, all texts redacted.
pub(super) fn request(spans: &[Span], instance: &str, redactor: &Redactor) -> Vec<u8> {
    let mut resource = Vec::new();
    for (key, text) in [
        ("service.name", "weirgate"),
        ("service.version", env!("CARGO_PKG_VERSION")),
        ("service.instance.id", instance),
    ] {
        attribute(
            &mut resource,
            1,
            key,
            &Value::Text(text.to_owned()),
            redactor,
        );
    }
    let mut scope = Vec::new();
    bytes(&mut scope, 1, b"weirgate");
    bytes(&mut scope, 2, env!("CARGO_PKG_VERSION").as_bytes());
    let mut scope_spans = Vec::new();
    bytes(&mut scope_spans, 1, &scope);
    for span in spans {
        bytes(&mut scope_spans, 2, &encoded(span, redactor));
    }
    let mut resource_spans = Vec::new();
    bytes(&mut resource_spans, 1, &resource);
    bytes(&mut resource_spans, 2, &scope_spans);
    let mut request = Vec::new();
    bytes(&mut request, 1, &resource_spans);
    request
}

fn encoded(span: &Span, redactor: &Redactor) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    bytes(&mut out, 1, &span.trace);
    bytes(&mut out, 2, &span.id);
    if let Some(parent) = &span.parent {
        bytes(&mut out, 4, parent);
    }
    bytes(&mut out, 5, span.name.as_bytes());
    number(&mut out, 6, span.kind as u64);
    fixed(&mut out, 7, span.start);
    fixed(&mut out, 8, span.end);
    for (key, value) in &span.attributes {
        attribute(&mut out, 9, key, value, redactor);
    }
    for (trace, id) in &span.links {
        let mut link = Vec::new();
        bytes(&mut link, 1, trace);
        bytes(&mut link, 2, id);
        bytes(&mut out, 13, &link);
    }
    if let Some(error) = span.error {
        let mut status = Vec::new();
        bytes(&mut status, 2, error.as_bytes());
        number(&mut status, 3, STATUS_ERROR);
        bytes(&mut out, 15, &status);
    }
    out
}

/// The protocol's number of an error.
const STATUS_ERROR: u64 = 2;

fn attribute(out: &mut Vec<u8>, field: u64, key: &str, value: &Value, redactor: &Redactor) {
    let mut any = Vec::new();
    match value {
        Value::Text(text) => {
            // Redacted first: a cut secret would not be recognised.
            let text = redactor.redact(text);
            let end = text.floor_char_boundary(TEXT_BYTES);
            bytes(&mut any, 1, text.as_bytes().get(..end).unwrap_or_default());
        }
        Value::Flag(flag) => number(&mut any, 2, u64::from(*flag)),
        // The protocol writes a negative number as its two's complement.
        Value::Number(whole) => number(&mut any, 3, whole.cast_unsigned()),
    }
    let mut pair = Vec::new();
    bytes(&mut pair, 1, key.as_bytes());
    bytes(&mut pair, 2, &any);
    bytes(out, field, &pair);
}

/// A field of bytes, text or a message.
fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, u64::try_from(value.len()).unwrap_or(u64::MAX));
    out.extend_from_slice(value);
}

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

fn fixed(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3 | 1);
    out.extend_from_slice(&value.to_le_bytes());
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}
