//! Metrics in the Prometheus text format.
//! Owns the names ([`Metric`]), the series and their bounds. It opens no port and runs no task: the
//! HTTP part asks the [`Exporter`] for the text. Before [`install`] all calls do nothing.

mod names;
mod process;
mod queues;
mod record;
mod registry;

use crate::reason::Reason;
use crate::security::redact::Redactor;
pub use names::{Kind, LABELS, Metric, Spec};
use parking_lot::RwLock;
pub use queues::Queue;
pub use record::{
    SendTimer, accepted, adapter_state, cost, event, first_token, journal_commit, journal_failed,
    lease_taken, leases_held, media_bytes, media_file, model_request, queue_bytes, queue_depth,
    rate_interval, redacted, resent, send_timer, sent, tokens, tool_call, turn_ended, turn_seconds,
    turns_in_flight,
};
use registry::Registry;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The process's registry.
static REGISTRY: OnceLock<Registry> = OnceLock::new();

/// Starts counting. A second call gives another handle to the same numbers.
pub fn install() -> Exporter {
    let registry = REGISTRY.get_or_init(Registry::new);
    Exporter {
        registry,
        redactor: Arc::default(),
        files: Arc::default(),
    }
}

/// Adds `n` to a counter. `labels` are the values in the order of the metric's [`Spec::labels`].
pub fn count(metric: Metric, labels: &[&str], n: u64) {
    if let Some(registry) = REGISTRY.get() {
        registry.count(metric, labels, n);
    }
}

/// Counts one reason; the cheapest of all calls.
pub fn reason(reason: Reason) {
    if let Some(registry) = REGISTRY.get() {
        registry.reason(reason);
    }
}

/// Sets a gauge.
pub fn gauge(metric: Metric, labels: &[&str], value: f64) {
    if let Some(registry) = REGISTRY.get() {
        registry.gauge(metric, labels, value);
    }
}

/// Adds to a gauge, or takes from it when negative.
pub fn gauge_add(metric: Metric, labels: &[&str], change: f64) {
    if let Some(registry) = REGISTRY.get() {
        registry.gauge_add(metric, labels, change);
    }
}

/// Adds an observation to a histogram, in the unit that its name says.
pub fn observe(metric: Metric, labels: &[&str], value: f64) {
    if let Some(registry) = REGISTRY.get() {
        registry.observe(metric, labels, value);
    }
}

/// Handle for reading the metrics. Cheap to clone.
#[derive(Clone)]
pub struct Exporter {
    registry: &'static Registry,
    redactor: Arc<RwLock<Redactor>>,
    files: Arc<RwLock<Vec<PathBuf>>>,
}

impl Exporter {
    /// All metrics as Prometheus text, redacted.
    #[must_use]
    pub fn render(&self) -> String {
        self.measure_files();
        let text = self.registry.render();
        let redactor = self.redactor.read().clone();
        redactor.redact(&text).into_owned()
    }

    /// The files of the database, whose sizes are shown from now on.
    pub fn set_files(&self, files: Vec<PathBuf>) {
        *self.files.write() = files;
    }

    fn measure_files(&self) {
        let files = self.files.read();
        let sizes = files
            .iter()
            .filter_map(|file| Some(std::fs::metadata(file).ok()?.len()));
        let sum: u64 = sizes.sum();
        if sum > 0 {
            // Exact up to 8 PiB.
            gauge(Metric::DatabaseBytes, &[], sum as f64);
        }
    }

    /// Redacts label values with these secrets from now on.
    pub fn set_redactor(&self, redactor: Redactor) {
        *self.redactor.write() = redactor;
    }
}

impl std::fmt::Debug for Exporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exporter").finish_non_exhaustive()
    }
}

/// The reference of all metrics and of their labels, as Markdown tables.
#[must_use]
pub fn docs() -> String {
    let mut out = String::from("| Name | Kind | Labels | Meaning |\n|---|---|---|---|\n");
    for metric in Metric::ALL {
        let Spec {
            name,
            help,
            kind,
            labels,
        } = metric.spec();
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "| `{name}` | {} | {} | {help} |",
            kind.name(),
            labels.join(", ")
        );
    }
    out.push_str("\n| Label | Values |\n|---|---|\n");
    for (label, _, values) in LABELS {
        let _ = writeln!(out, "| `{label}` | {values} |");
    }
    out
}

#[cfg(test)]
mod tests;
