//! The series behind the names. Handles are kept, so that a call costs a look-up in a small map
//! under a read lock and one atomic addition; reasons and metrics without labels not even the map.
//! The number of series of a metric is bounded.

use super::names::{Kind, Metric};
use super::{process, queues};
use crate::reason::Reason;
use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{
    Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder,
};
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Most series of one metric. Beyond it all label values are `other`.
pub(super) const MAX_SERIES: usize = 512;

/// Observations after which the histograms' buffers are emptied, also when nobody reads the metrics.
const UPKEEP_EVERY: u64 = 8192;

/// The label value of all series beyond the limit.
const OTHER: &str = "other";

/// Stands between label values in the key of a series.
const SEPARATOR: char = '\u{1f}';

const METADATA: Metadata<'static> = Metadata::new("weirgate", Level::INFO, None);

/// The series of one metric.
struct Family<H> {
    single: OnceLock<H>,
    by_labels: RwLock<HashMap<String, H>>,
}

/// The series of one metric, by kind.
enum Series {
    Counter(Family<Counter>),
    Gauge(Family<Gauge>),
    Histogram(Family<Histogram>),
}

/// All series of all metrics.
pub(super) struct Registry {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    /// By [`Metric::index`].
    series: Vec<Series>,
    /// By [`Reason::index`].
    reasons: Vec<Counter>,
    /// In the order of the enum of queues.
    pub(super) queues: Vec<queues::Series>,
    observations: AtomicU64,
}

impl Registry {
    /// Registers and describes all metrics.
    pub(super) fn new() -> Self {
        let recorder = builder().build_recorder();
        let handle = recorder.handle();
        for metric in Metric::ALL.iter().filter(|metric| !metric.is_read()) {
            let spec = metric.spec();
            let (name, help) = (spec.name.into(), spec.help.into());
            match spec.kind {
                Kind::Counter => recorder.describe_counter(name, None, help),
                Kind::Gauge => recorder.describe_gauge(name, None, help),
                Kind::Histogram(_) => recorder.describe_histogram(name, None, help),
            }
        }
        let series = Metric::ALL
            .iter()
            .map(|metric| Series::new(metric.spec().kind))
            .collect();
        let reasons = Reason::ALL.iter().map(|reason| {
            recorder.register_counter(&key(Metric::Reasons, &[reason.code()]), &METADATA)
        });
        let reasons = reasons.collect();
        let mut registry = Self {
            recorder,
            handle,
            series,
            reasons,
            queues: Vec::new(),
            observations: AtomicU64::new(0),
        };
        registry.queues = queues::Series::all(&registry);
        registry.start();
        registry
    }

    /// Sets what does not change any more, and shows counters without labels as 0 before they first
    /// count, so that rates have a beginning.
    fn start(&self) {
        self.gauge(Metric::BuildInfo, &[env!("CARGO_PKG_VERSION")], 1.0);
        if let Ok(now) = SystemTime::now().duration_since(UNIX_EPOCH) {
            self.gauge(Metric::ProcessStart, &[], now.as_secs_f64());
        }
        for &metric in Metric::ALL {
            let spec = metric.spec();
            if spec.kind == Kind::Counter && spec.labels.is_empty() && !metric.is_read() {
                self.count(metric, &[], 0);
            }
        }
    }

    pub(super) fn count(&self, metric: Metric, labels: &[&str], n: u64) {
        let Some(Series::Counter(family)) = self.series.get(metric.index()) else {
            return wrong_kind(metric);
        };
        let made = |labels: &[&str]| self.make_counter(metric, labels);
        if family.with(labels, made, |counter| counter.increment(n)) {
            self.refused(metric);
        }
    }

    pub(super) fn reason(&self, reason: Reason) {
        if let Some(counter) = self.reasons.get(reason.index()) {
            counter.increment(1);
        }
    }

    pub(super) fn gauge(&self, metric: Metric, labels: &[&str], value: f64) {
        self.with_gauge(metric, labels, |gauge| gauge.set(value));
    }

    pub(super) fn gauge_add(&self, metric: Metric, labels: &[&str], change: f64) {
        self.with_gauge(metric, labels, |gauge| gauge.increment(change));
    }

    fn with_gauge(&self, metric: Metric, labels: &[&str], apply: impl FnOnce(&Gauge)) {
        let Some(Series::Gauge(family)) = self.series.get(metric.index()) else {
            return wrong_kind(metric);
        };
        if family.with(labels, |labels| self.make_gauge(metric, labels), apply) {
            self.refused(metric);
        }
    }

    pub(super) fn observe(&self, metric: Metric, labels: &[&str], value: f64) {
        let Some(Series::Histogram(family)) = self.series.get(metric.index()) else {
            return wrong_kind(metric);
        };
        let made = |labels: &[&str]| self.make_histogram(metric, labels);
        if family.with(labels, made, |histogram| histogram.record(value)) {
            self.refused(metric);
        }
        self.observed();
    }

    /// Counts an observation, and empties the histograms' buffers when there are many.
    pub(super) fn observed(&self) {
        if self.observations.fetch_add(1, Ordering::Relaxed) % UPKEEP_EVERY == UPKEEP_EVERY - 1 {
            self.handle.run_upkeep();
        }
    }

    /// All metrics as text.
    pub(super) fn render(&self) -> String {
        let mut text = self.handle.render();
        process::append(&mut text);
        text
    }

    /// Tells that a measurement lost its labels.
    fn refused(&self, metric: Metric) {
        self.count(Metric::SeriesRefused, &[metric.spec().name], 1);
    }

    pub(super) fn make_counter(&self, metric: Metric, labels: &[&str]) -> Counter {
        self.recorder
            .register_counter(&key(metric, labels), &METADATA)
    }

    pub(super) fn make_histogram(&self, metric: Metric, labels: &[&str]) -> Histogram {
        self.recorder
            .register_histogram(&key(metric, labels), &METADATA)
    }

    fn make_gauge(&self, metric: Metric, labels: &[&str]) -> Gauge {
        self.recorder
            .register_gauge(&key(metric, labels), &METADATA)
    }
}

impl Series {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::Counter => Self::Counter(Family::new()),
            Kind::Gauge => Self::Gauge(Family::new()),
            Kind::Histogram(_) => Self::Histogram(Family::new()),
        }
    }
}

impl<H> Family<H> {
    fn new() -> Self {
        Self {
            single: OnceLock::new(),
            by_labels: RwLock::new(HashMap::new()),
        }
    }

    /// Applies `apply` to the series of these labels, which `make` registers the first time. True if
    /// the labels were replaced because there are too many series.
    fn with(&self, labels: &[&str], make: impl Fn(&[&str]) -> H, apply: impl FnOnce(&H)) -> bool {
        if labels.is_empty() {
            apply(self.single.get_or_init(|| make(labels)));
            return false;
        }
        let mut name = String::with_capacity(32);
        for label in labels {
            name.push_str(label);
            name.push(SEPARATOR);
        }
        if let Some(handle) = self.by_labels.read().get(&name) {
            apply(handle);
            return false;
        }
        let mut series = self.by_labels.write();
        if series.len() < MAX_SERIES || series.contains_key(&name) {
            apply(series.entry(name).or_insert_with(|| make(labels)));
            return false;
        }
        let others = vec![OTHER; labels.len()];
        apply(self.single.get_or_init(|| make(&others)));
        true
    }
}

/// The exporter with the buckets of all histograms.
fn builder() -> PrometheusBuilder {
    Metric::ALL
        .iter()
        .fold(PrometheusBuilder::new(), |builder, metric| {
            let spec = metric.spec();
            let Kind::Histogram(buckets) = spec.kind else {
                return builder;
            };
            let matcher = Matcher::Full(spec.name.to_owned());
            // The only error is an empty list; a test shows that every histogram has its buckets.
            builder
                .set_buckets_for_metric(matcher, buckets)
                .unwrap_or_default()
        })
}

/// The name and labels as the exporter takes them. A missing value is empty.
fn key(metric: Metric, values: &[&str]) -> Key {
    let spec = metric.spec();
    debug_assert_eq!(spec.labels.len(), values.len(), "labels of {}", spec.name);
    let values = values.iter().copied().chain(std::iter::repeat(""));
    let labels: Vec<Label> = spec
        .labels
        .iter()
        .zip(values)
        .map(|(name, value)| Label::new(*name, value.to_owned()))
        .collect();
    Key::from_parts(spec.name, labels)
}

/// A call that does not fit the metric's kind is a mistake of the program, not worth a crash.
fn wrong_kind(metric: Metric) {
    debug_assert!(false, "{} is not of this kind", metric.spec().name);
}

#[cfg(test)]
mod tests;
