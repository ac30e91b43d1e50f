//! What the system says about this process, read when somebody asks. Where it says nothing, the metric
//! is left out.
//!
//! The lines are written here and not by the exporter, whose counters are whole numbers: processor time
//! is not.

use super::names::Metric;
use std::fmt::Write;
use std::fs;

/// Ticks of processor time a second, as Linux reports them to programs; the same on every machine that
/// the gateway is built for.
const TICKS: f64 = 100.0;

/// Appends the metrics of the process as Prometheus text.
pub(super) fn append(out: &mut String) {
    let read = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
    let status = read("status");
    let limits = read("limits");
    let descriptors = fs::read_dir("/proc/self/fd").ok().map(Iterator::count);
    line(out, Metric::ProcessCpu, cpu_seconds(&read("stat")));
    // The look itself holds one open.
    let open = descriptors.map(|count| count.saturating_sub(1) as f64);
    line(out, Metric::ProcessFds, open);
    line(out, Metric::ProcessMaxFds, max_descriptors(&limits));
    line(out, Metric::ProcessVirtual, kibibytes(&status, "VmSize:"));
    line(out, Metric::ProcessMemory, kibibytes(&status, "VmRSS:"));
}

fn line(out: &mut String, metric: Metric, value: Option<f64>) {
    let Some(value) = value else { return };
    let spec = metric.spec();
    let (name, help, kind) = (spec.name, spec.help, spec.kind.name());
    // Writing to a string does not fail.
    let _ = write!(
        out,
        "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n\n"
    );
}

/// Reads a line such as `VmRSS:  1234 kB`, in bytes.
fn kibibytes(status: &str, name: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    // Exact up to 8 PiB.
    kibibytes.checked_mul(1024).map(|bytes| bytes as f64)
}

/// User and system time of `stat`. The second field is the program's name in parentheses and may hold
/// anything, so the fields are counted from behind it.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user.checked_add(system)? as f64 / TICKS)
}

/// The soft limit of `limits`; `None` if there is none.
fn max_descriptors(limits: &str) -> Option<f64> {
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    let soft: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(soft as f64)
}

#[cfg(test)]
mod tests;
