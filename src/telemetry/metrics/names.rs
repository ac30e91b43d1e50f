//! The one list of metrics: name, kind, labels, buckets and what each means.

/// Buckets for durations, in seconds.
const LATENCY: &[f64] = &[
    0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0,
    300.0,
];

/// Buckets for how many things are done at once.
const BATCH: &[f64] = &[
    1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0,
];

/// What a metric measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A number that only grows.
    Counter,
    /// A number as it is now.
    Gauge,
    /// A distribution, with the upper bounds of its buckets.
    Histogram(&'static [f64]),
}

impl Kind {
    /// Name of the kind, as in the reference.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram(_) => "histogram",
        }
    }
}

/// All that is fixed about a metric.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// Full name with prefix and unit.
    pub name: &'static str,
    /// What it means, in one sentence.
    pub help: &'static str,
    /// What it measures.
    pub kind: Kind,
    /// Names of its labels, in the order in which calls give their values.
    pub labels: &'static [&'static str],
}

/// Writes the enum and its table from one list; the help text is the doc comment as well.
macro_rules! metrics {
    ($($name:ident = $text:literal, $kind:expr, [$($label:literal),*], $help:literal;)+) => {
        /// Every metric of the process.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Metric {
            $(#[doc = $help] $name,)+
        }

        impl Metric {
            /// All metrics, in the order of the reference.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Name, help, kind and labels.
            #[must_use]
            pub const fn spec(self) -> Spec {
                match self {
                    $(Self::$name => Spec { name: $text, help: $help, kind: $kind, labels: &[$($label),*] },)+
                }
            }
        }
    };
}

metrics! {
    InboundEvents = "weirgate_inbound_events_total", Kind::Counter, ["platform", "outcome"],
        "Events that platforms delivered, by what became of them.";
    AcceptedMessages = "weirgate_accepted_messages_total", Kind::Counter, [],
        "Messages taken into the journal.";
    Reasons = "weirgate_reasons_total", Kind::Counter, ["reason"],
        "Drops, waits, refusals, changes, retries and failures by reason code.";
    QueueDepth = "weirgate_queue_depth", Kind::Gauge, ["queue", "lane"],
        "What waits in a queue now; messages for a turn by lane.";
    QueueReceived = "weirgate_queue_received_total", Kind::Counter, ["queue"],
        "What was put into a queue.";
    QueueSent = "weirgate_queue_sent_total", Kind::Counter, ["queue"],
        "What went on from a queue to whoever works on it.";
    QueueDropped = "weirgate_queue_dropped_total", Kind::Counter, ["queue", "reason"],
        "What left a queue, or was not let in, without being worked on.";
    QueueBytes = "weirgate_queue_bytes", Kind::Gauge, [],
        "Size of the messages that wait for a turn, in bytes.";
    QueueWait = "weirgate_queue_wait_seconds", Kind::Histogram(LATENCY), ["queue"],
        "Time in a queue: until it is durable (intake), until the turn (inbound), until the first send (outbound).";
    Turns = "weirgate_turns_total", Kind::Counter, ["outcome"],
        "Turns that ended, by how.";
    TurnsInFlight = "weirgate_turns_in_flight", Kind::Gauge, [],
        "Turns that run now.";
    TurnTime = "weirgate_turn_seconds", Kind::Histogram(LATENCY), [],
        "Time from the start of a turn to its answer in the outbox.";
    ModelRequests = "weirgate_model_requests_total", Kind::Counter, ["provider", "outcome"],
        "Requests to models, by how they ended.";
    ModelTime = "weirgate_model_request_seconds", Kind::Histogram(LATENCY), ["provider"],
        "Time from a request to the end of its answer, or to its failure.";
    ModelFirstToken = "weirgate_model_first_token_seconds", Kind::Histogram(LATENCY), [],
        "Time from a request to the first piece of its answer.";
    ModelTokens = "weirgate_model_tokens_total", Kind::Counter, ["provider", "kind"],
        "Tokens that models counted, by kind.";
    ToolCalls = "weirgate_tool_calls_total", Kind::Counter, ["tool", "outcome"],
        "Calls of tools, by how they ended.";
    ToolTime = "weirgate_tool_seconds", Kind::Histogram(LATENCY), ["tool"],
        "Time that a tool took.";
    ModelRateInterval = "weirgate_model_rate_interval_seconds", Kind::Gauge, ["provider"],
        "Shortest time between two requests that the rate limiter allows now.";
    OutboxSends = "weirgate_outbox_sends_total", Kind::Counter, ["platform", "outcome"],
        "Attempts to send a part, by how they ended.";
    OutboxResends = "weirgate_outbox_resends_total", Kind::Counter, [],
        "Parts sent again whose earlier send may have arrived.";
    SendTime = "weirgate_send_seconds", Kind::Histogram(LATENCY), [],
        "Time of one attempt to send a part.";
    JournalCommit = "weirgate_journal_commit_seconds", Kind::Histogram(LATENCY), [],
        "Time of one commit of the journal.";
    JournalOperations = "weirgate_journal_operations_total", Kind::Counter, ["kind"],
        "Changes written to the journal, by kind.";
    JournalBatch = "weirgate_journal_batch_size", Kind::Histogram(BATCH), [],
        "Changes in one commit of the journal.";
    JournalFailures = "weirgate_journal_failures_total", Kind::Counter, [],
        "Commits of the journal that failed.";
    DatabaseBytes = "weirgate_database_size_bytes", Kind::Gauge, [],
        "Size of the database in bytes: its files, or on a server its tables with their indexes.";
    MediaBytes = "weirgate_media_size_bytes", Kind::Gauge, [],
        "Size of the files in the media store, in bytes.";
    MediaFiles = "weirgate_media_files_total", Kind::Counter, ["outcome"],
        "Files that people sent, by what became of them: kept, reused, too_large, failed; and files that went: expired, evicted, deleted, unknown.";
    AdaptersUp = "weirgate_adapters_up", Kind::Gauge, ["platform", "account"],
        "1 while the account is connected to its platform, else 0.";
    AdapterChanges = "weirgate_adapter_state_changes_total", Kind::Counter, ["platform", "account", "state"],
        "Changes of an account's connection, by what it changed to.";
    LeasesHeld = "weirgate_leases_held", Kind::Gauge, [],
        "Accounts for which this process receives and sends now.";
    LeasesTaken = "weirgate_leases_taken_total", Kind::Counter, ["outcome"],
        "Accounts that this process took: for the first time (first), after another process had stopped (clean), or after one was lost (unclean).";
    Redactions = "weirgate_redactions_total", Kind::Counter, [],
        "Places where a secret of the configuration was replaced in something that goes out.";
    ConfigReloads = "weirgate_config_reloads_total", Kind::Counter, ["outcome"],
        "Times that the configuration was read again: applied, unchanged or refused.";
    LogLines = "weirgate_log_lines_total", Kind::Counter, ["level"],
        "Lines written to the log.";
    LogRepeats = "weirgate_log_repeats_total", Kind::Counter, ["level"],
        "Repeated log entries that were counted instead of written.";
    SeriesRefused = "weirgate_metric_series_refused_total", Kind::Counter, ["metric"],
        "Measurements put under the label value other, because the metric has too many series.";
    BuildInfo = "weirgate_build_info", Kind::Gauge, ["version"],
        "Always 1; the version is in the label.";
    ProcessCpu = "process_cpu_seconds_total", Kind::Counter, [],
        "Processor time of the process, user and system.";
    ProcessFds = "process_open_fds", Kind::Gauge, [],
        "Open file descriptors.";
    ProcessMaxFds = "process_max_fds", Kind::Gauge, [],
        "Most file descriptors that may be open.";
    ProcessVirtual = "process_virtual_memory_bytes", Kind::Gauge, [],
        "Virtual memory of the process, in bytes.";
    ProcessMemory = "process_resident_memory_bytes", Kind::Gauge, [],
        "Resident memory of the process, in bytes.";
    ProcessStart = "process_start_time_seconds", Kind::Gauge, [],
        "Start of the process, in seconds since 1970.";
}

/// What bounds the values of a label. Every label of a metric is in this list.
pub const LABELS: &[(&str, usize, &str)] = &[
    ("account", 64, "names of the accounts in agent.yaml"),
    (
        "kind",
        16,
        "fixed: kinds of tokens, of changes to the journal",
    ),
    ("lane", 6, "fixed: the lanes, or empty"),
    ("level", 5, "fixed: the levels of the log"),
    ("metric", 64, "names of metrics"),
    ("outcome", 32, "fixed"),
    ("platform", 8, "the platforms of this build"),
    ("provider", 64, "ids of the providers in agent.yaml"),
    ("queue", 5, "fixed: intake, inbound, outbound, log, traces"),
    (
        "reason",
        100,
        "reason codes; queue_full, write_failed, export_failed for the log and traces",
    ),
    ("state", 4, "fixed: up, degraded, down, waiting"),
    ("tool", 64, "names of the tools; unknown for what is none"),
    ("version", 1, "the version"),
];

impl Metric {
    /// Whether it is read from the system when somebody asks, and never counted.
    #[must_use]
    pub const fn is_read(self) -> bool {
        matches!(
            self,
            Self::ProcessCpu
                | Self::ProcessFds
                | Self::ProcessMaxFds
                | Self::ProcessVirtual
                | Self::ProcessMemory
        )
    }

    /// Position in [`Metric::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}
