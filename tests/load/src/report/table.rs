//! The report as Markdown.
//!
//! Owns the one table: for each case the floor and the gateway, and how they compare.

use std::{fmt::Write, fs, time::Duration};

use crate::{run::Outcome, tally::percentile};

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// The bare bot.
    Floor,
    /// The gateway.
    Gateway,
}

impl System {
    /// As the table shows it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Gateway => "gateway",
        }
    }
}

/// One line of the table. What a case does not have is none.
#[derive(Debug, Clone)]
pub struct Row {
    case: String,
    system: System,
    rate: Option<f64>,
    /// Milliseconds: p50, p95, p99, max.
    latency: [Option<f64>; 4],
    cpu: Option<f64>,
    memory_max: Option<u64>,
    memory_last: Option<u64>,
    faults: Option<[usize; 4]>,
}

impl Row {
    fn new(case: &str, system: System) -> Self {
        Self {
            case: case.to_owned(),
            system,
            rate: None,
            latency: [None; 4],
            cpu: None,
            memory_max: None,
            memory_last: None,
            faults: None,
        }
    }

    /// A run of so many messages.
    #[must_use]
    pub fn run(case: &str, system: System, outcome: Outcome, messages: usize) -> Self {
        let (latency, counts) = (outcome.latency_ms, outcome.counts);
        Self {
            rate: Some(outcome.per_second),
            latency: [latency.p50, latency.p95, latency.p99, latency.max].map(Some),
            cpu: outcome.cpu_us,
            memory_max: outcome.memory_max,
            memory_last: outcome.memory_last,
            faults: Some([
                counts.missing,
                counts.duplicated,
                counts.out_of_order,
                counts.misrouted,
            ]),
            ..Self::new(&format!("{case} ({messages} messages)"), system)
        }
    }

    /// Sorted times of starts.
    #[must_use]
    pub fn start(system: System, times: &[Duration]) -> Self {
        let millis = |share| Some(percentile(times, share).as_secs_f64() * 1_000.0);
        Self {
            latency: [millis(500), None, None, millis(1_000)],
            ..Self::new(&format!("cold start ({} starts)", times.len()), system)
        }
    }

    /// Memory of a system that does nothing, in bytes.
    #[must_use]
    pub fn idle(system: System, memory: Option<u64>) -> Self {
        Self {
            memory_last: memory,
            ..Self::new("idle", system)
        }
    }

    fn line(&self, floor: Option<&Self>) -> String {
        let mebibytes = |bytes: Option<u64>| bytes.map(|bytes| bytes as f64 / 1_048_576.0);
        let ratio = |of: fn(&Self) -> Option<f64>| {
            let cell = floor.and_then(|floor| Some(of(self)? / of(floor)?));
            cell.filter(|ratio| ratio.is_finite())
                .map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}×"))
        };
        let [p50, p95, p99, max] = self.latency.map(|value| number(value, 2));
        let faults = self.faults.map_or_else(
            || "–".to_owned(),
            |faults| faults.map(|count| count.to_string()).join(" / "),
        );
        let cells = [
            self.case.clone(),
            self.system.name().to_owned(),
            number(self.rate, 0),
            p50,
            p95,
            p99,
            max,
            number(self.cpu, 0),
            number(mebibytes(self.memory_max), 1),
            number(mebibytes(self.memory_last), 1),
            faults,
            ratio(|row| row.rate),
            ratio(|row| row.latency.first().copied().flatten()),
            ratio(|row| row.cpu),
            ratio(|row| row.memory_last.map(|bytes| bytes as f64)),
        ];
        format!("| {} |", cells.join(" | "))
    }
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

/// The whole report.
#[must_use]
pub fn report(rows: &[Row], settings: &str, cores: usize, quick: bool, took: Duration) -> String {
    let mut lines = vec![
        "# Load report".to_owned(),
        String::new(),
        format!("- Date: {}", jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC")),
        format!("- Machine: {cores} cores; {}", machine()),
        format!("- Extent: {}, {} s", if quick { "quick" } else { "full" }, took.as_secs()),
        "- Load, model, floor and gateway share the cores; one of floor and gateway is loaded at a time."
            .to_owned(),
        String::new(),
        "| case | system | msg/s | p50 ms | p95 ms | p99 ms | max ms | CPU µs/msg | RSS max MiB \
         | RSS last MiB | missing / duplicated / out of order / misrouted | × floor msg/s \
         | × floor p50 | × floor CPU | × floor RSS |"
            .to_owned(),
        format!("|---|---|{}", "---:|".repeat(13)),
    ];
    for row in rows {
        let floor = rows.iter().find(|other| {
            row.system == System::Gateway && other.system == System::Floor && other.case == row.case
        });
        lines.push(row.line(floor));
    }
    let mut text = lines.join("\n");
    let _ = write!(
        text,
        "\n\n`agent.yaml` of the gateway:\n\n```yaml\n{settings}```\n"
    );
    text
}

/// What the system says of the machine.
fn machine() -> String {
    let value = |path: &str, name: &str| {
        let text = fs::read_to_string(path).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim_matches([' ', '\t', ':']).to_owned())
    };
    let facts = [
        value("/proc/cpuinfo", "model name"),
        value("/proc/meminfo", "MemTotal").map(|total| format!("memory {total}")),
        value("/proc/sys/kernel/osrelease", "").map(|release| format!("kernel {release}")),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests;
