//! The layer that turns events into lines. Formatting comes first and holds no lock, since a value
//! that shows itself may log.

use super::super::config::LogFormat;
use super::super::metrics::{Metric, count};
use super::collect::{Collector, FIELD_BYTES, SPAN_FIELD_BYTES};
use super::entry::{Entry, Field};
use super::file::FileSink;
use super::repeat::{Limits, Message, Repeats, Summary};
use crate::clock::Zone;
use crate::security::redact::Redactor;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};
use tracing_subscriber::registry::LookupSpan;

/// Takes finished lines, line end included.
pub(super) type Sink = Box<dyn Fn(&str) + Send + Sync>;

/// What the layer and its handle share.
pub(super) struct Shared {
    format: RwLock<LogFormat>,
    redactor: RwLock<Redactor>,
    repeats: Mutex<Repeats>,
    started: Instant,
    sink: Sink,
    zone: RwLock<Zone>,
    file: RwLock<Option<FileSink>>,
}

impl Shared {
    /// Without secrets so far.
    pub(super) fn new(format: LogFormat, limits: Limits, sink: Sink) -> Self {
        Self {
            format: RwLock::new(format),
            redactor: RwLock::new(Redactor::default()),
            repeats: Mutex::new(Repeats::new(limits)),
            started: Instant::now(),
            sink,
            zone: RwLock::new(Zone::utc()),
            file: RwLock::new(None),
        }
    }

    pub(super) fn set_format(&self, format: LogFormat) {
        *self.format.write() = format;
    }

    pub(super) fn set_redactor(&self, redactor: Redactor) {
        *self.redactor.write() = redactor;
    }

    pub(super) fn set_zone(&self, zone: Zone) {
        *self.zone.write() = zone;
    }

    pub(super) fn set_file(&self, file: Option<FileSink>) {
        let before = std::mem::replace(&mut *self.file.write(), file);
        if let Some(before) = before {
            before.flush();
        }
    }

    /// Waits for the file, for a short time.
    pub(super) fn flush(&self) {
        if let Some(file) = &*self.file.read() {
            file.flush();
        }
    }

    fn redactor(&self) -> Redactor {
        self.redactor.read().clone()
    }

    /// Writes the summaries that are due, or all.
    pub(super) fn summarise(&self, all: bool) {
        let mut due = Vec::new();
        let now = self.started.elapsed();
        let mut repeats = self.repeats.lock();
        if all {
            repeats.end(now, &mut due);
        } else {
            repeats.due(now, &mut due);
        }
        drop(repeats);
        self.write_summaries(&due);
    }

    /// Whether the message is to be written; writes the summaries that became due.
    fn admit(&self, message: Message) -> bool {
        let mut due = Vec::new();
        let now = self.started.elapsed();
        let admitted = self.repeats.lock().admit(message, now, &mut due);
        self.write_summaries(&due);
        admitted
    }

    fn write_summaries(&self, due: &[Summary]) {
        for Summary {
            message,
            count,
            during,
        } in due
        {
            let seconds = during.as_secs().max(1);
            let text = format!("repeated {count} times in {seconds} s: {}", message.text);
            self.write(message.level, &message.target, &text, &[], &[]);
        }
    }

    fn write(
        &self,
        level: Level,
        target: &str,
        message: &str,
        fields: &[Field],
        context: &[Field],
    ) {
        let time = self.zone.read().stamp(SystemTime::now());
        let entry = Entry {
            time: &time,
            level,
            target,
            message,
            fields,
            context,
        };
        let mut line = entry.render(*self.format.read());
        // The values are redacted already. This catches what was collected before the secrets were
        // known, and what only the finished line spells.
        if let std::borrow::Cow::Owned(redacted) = self.redactor().redact(&line) {
            line = redacted;
        }
        line.push('\n');
        count(Metric::LogLines, &[level_name(level)], 1);
        (self.sink)(&line);
        if let Some(file) = &*self.file.read() {
            file.push(&line);
        }
    }
}

/// The level as a label.
fn level_name(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

/// The fields of a span, kept in the registry until it closes.
struct SpanFields(Vec<Field>);

/// Writes each event through [`Shared`].
pub(super) struct LogLayer {
    shared: Arc<Shared>,
}

impl LogLayer {
    /// A layer that writes through `shared`.
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

impl<S: Subscriber + for<'lookup> LookupSpan<'lookup>> Layer<S> for LogLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let redactor = self.shared.redactor();
        let mut collector = Collector::new(&redactor, SPAN_FIELD_BYTES);
        attributes.record(&mut collector);
        let fields = collector.fields;
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(SpanFields(fields));
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let redactor = self.shared.redactor();
        let mut collector = Collector::new(&redactor, SPAN_FIELD_BYTES);
        values.record(&mut collector);
        let fields = collector.fields;
        if let Some(span) = context.span(id)
            && let Some(known) = span.extensions_mut().get_mut::<SpanFields>()
        {
            fields
                .into_iter()
                .for_each(|field| put(&mut known.0, field));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let redactor = self.shared.redactor();
        let mut collector = Collector::new(&redactor, FIELD_BYTES);
        event.record(&mut collector);
        let level = *event.metadata().level();
        let target = collector
            .target
            .as_deref()
            .unwrap_or_else(|| event.metadata().target());
        let message = Message::new(level, target, &collector.message, collector.error());
        // People are told a turn's id as the reference of a fault: its line is written however many there are.
        let referred =
            level <= Level::WARN && collector.fields.iter().any(|field| field.name == "turn");
        if !referred && !self.shared.admit(message) {
            count(Metric::LogRepeats, &[level_name(level)], 1);
            return;
        }
        let mut around = Vec::new();
        for span in context
            .event_scope(event)
            .into_iter()
            .flat_map(|scope| scope.from_root())
        {
            if let Some(SpanFields(fields)) = span.extensions().get() {
                fields
                    .iter()
                    .for_each(|field| put(&mut around, field.clone()));
            }
        }
        self.shared.write(
            level,
            target,
            &collector.message,
            &collector.fields,
            &around,
        );
    }
}

/// Adds a field or replaces the one of the same name: the inner span and the later value hold.
fn put(fields: &mut Vec<Field>, field: Field) {
    match fields.iter_mut().find(|known| known.name == field.name) {
        Some(known) => *known = field,
        None => fields.push(field),
    }
}
