//! `output`: how answers are shown, split and paced.
//!
//! Owns the section's keys, defaults and limits. It never reads a file and names no platform: what is
//! shipped for each platform stands in agent.yaml.

use std::{collections::BTreeMap, time::Duration};

use regex::RegexBuilder;
use weirgate_sdk::settings::{Fields, Setting, nearest};

use crate::inbound::config::OverflowStrategy;

/// Most bytes that a compiled `split_regex` may take.
pub const SPLIT_REGEX_BYTES: usize = 1 << 20;

/// How an answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// While it is written.
    Streaming,
    /// In several messages with pauses.
    Segmented,
    /// In one message, or as few as the platform's limit allows.
    Full,
}

impl Strategy {
    /// The words of agent.yaml.
    pub const WORDS: [(&'static str, Self); 3] = [
        ("streaming", Self::Streaming),
        ("segmented", Self::Segmented),
        ("full", Self::Full),
    ];
}

/// What to do with a send whose outcome nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnUnknown {
    /// Leave it: it may be missing, it is never there twice.
    Hold,
    /// Send it again: it may be there twice.
    Resend,
}

/// What becomes of what a model thinks before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reasoning {
    /// Nobody sees it.
    Hidden,
    /// It stands in front of the answer, marked as what it is.
    Shown,
}

impl Reasoning {
    /// The words of agent.yaml.
    pub const WORDS: [(&'static str, Self); 2] = [("hidden", Self::Hidden), ("shown", Self::Shown)];

    /// Reads a word, as it is stored for a conversation.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let found = Self::WORDS.iter().find(|(word, _)| *word == name);
        found.map(|(_, value)| *value)
    }
}

/// The section `output`.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The strategy where nothing else says one.
    pub default_strategy: Strategy,
    /// What to do with a send whose outcome nobody knows.
    pub on_unknown: OnUnknown,
    /// An answer of more messages than this goes out as the first of them and a file with all of it; 0 is never.
    pub long_as_file: usize,
    /// What becomes of what a model thinks, where a conversation says nothing else.
    pub reasoning: Reasoning,
    /// Answers while they are written.
    pub streaming: StreamingOutput,
    /// Answers in several messages.
    pub segmented: Segmented,
    /// Other rules for single platforms.
    pub platform_adaptation: PlatformAdaptation,
    /// Replies that wait to be sent.
    pub buffer: OutputBuffer,
}

/// The section `output.streaming`.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamingOutput {
    /// Allow it.
    pub enable: bool,
    /// The least that is worth a piece, in grapheme clusters.
    pub chunk_size: usize,
    /// Least time between two pieces.
    pub chunk_interval: Duration,
}

/// Where an answer in several messages is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentMode {
    /// After sentences.
    Sentence,
    /// After so many words; a CJK character is a word.
    WordCount,
    /// After each match of a regular expression.
    Regex,
}

/// The section `output.segmented`.
#[derive(Debug, Clone, PartialEq)]
pub struct Segmented {
    /// Allow it.
    pub enable: bool,
    /// Where cutting for pace begins: characters, or words with [`SegmentMode::WordCount`].
    pub threshold: usize,
    /// Where to cut.
    pub mode: SegmentMode,
    /// A shorter piece joins its neighbour while both fit, in characters.
    pub min_segment_length: usize,
    /// The regular expression of [`SegmentMode::Regex`]; it compiles and matches no empty text.
    pub split_regex: String,
    /// The pause between two messages is drawn from this.
    pub random_interval: RandomInterval,
    /// Mark pieces that go on with an ellipsis.
    pub add_ellipsis: bool,
}

/// Bounds of a random pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomInterval {
    /// Shortest.
    pub min: Duration,
    /// Longest, not under `min`.
    pub max: Duration,
}

/// The section `output.platform_adaptation`. A platform that a file does not name keeps what is shipped.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlatformAdaptation {
    /// The strategy of a platform.
    pub strategy_by_platform: BTreeMap<String, PlatformStrategy>,
    /// The longest message of a platform, in the platform's own unit; the adapter's own limit holds too.
    pub max_length_by_platform: BTreeMap<String, usize>,
    /// An answer of more messages than this is one that is opened to read it, where the platform has such.
    pub fold_by_platform: BTreeMap<String, usize>,
}

/// The strategies of one platform; `None` falls back to `default_strategy`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlatformStrategy {
    /// In private chats.
    pub private: Option<Strategy>,
    /// In groups.
    pub group: Option<Strategy>,
}

/// The section `output.buffer`.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputBuffer {
    /// Most replies that wait for one conversation.
    pub max_size: usize,
    /// How long a reply may wait; a stop of the gateway and a flood wait do not count.
    pub max_age: Duration,
    /// What gives way when it is full: a whole reply that has not begun.
    pub overflow_strategy: OverflowStrategy,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            default_strategy: Strategy::Streaming,
            on_unknown: OnUnknown::Hold,
            long_as_file: 0,
            reasoning: Reasoning::Hidden,
            streaming: StreamingOutput::default(),
            segmented: Segmented::default(),
            platform_adaptation: PlatformAdaptation::default(),
            buffer: OutputBuffer::default(),
        }
    }
}

impl Default for StreamingOutput {
    fn default() -> Self {
        Self {
            enable: true,
            chunk_size: 20,
            chunk_interval: Duration::from_millis(50),
        }
    }
}

impl Default for Segmented {
    fn default() -> Self {
        Self {
            enable: true,
            threshold: 500,
            mode: SegmentMode::Sentence,
            min_segment_length: 50,
            split_regex: "[。！？；\n]+".to_owned(),
            random_interval: RandomInterval {
                min: Duration::from_millis(500),
                max: Duration::from_secs(2),
            },
            add_ellipsis: true,
        }
    }
}

impl Default for OutputBuffer {
    fn default() -> Self {
        Self {
            max_size: 100,
            max_age: Duration::from_secs(300),
            overflow_strategy: OverflowStrategy::DropOldest,
        }
    }
}

impl Output {
    /// Reads the section. `shipped` is what holds for platforms that the file does not name; a platform
    /// that is not one of `platforms` draws a warning.
    #[must_use]
    pub fn read<'a>(
        mut fields: Fields<'a>,
        platforms: &[&'a str],
        shipped: &PlatformAdaptation,
    ) -> Self {
        let default = Self::default();
        let unknown = [("hold", OnUnknown::Hold), ("resend", OnUnknown::Resend)];
        let read = Self {
            default_strategy: fields.choice(
                "default_strategy",
                default.default_strategy,
                &Strategy::WORDS,
            ),
            on_unknown: fields.choice("on_unknown", default.on_unknown, &unknown),
            long_as_file: fields.usize("long_as_file", default.long_as_file, 0..=1_000),
            reasoning: fields.choice("reasoning", default.reasoning, &Reasoning::WORDS),
            streaming: StreamingOutput::read(fields.section("streaming")),
            segmented: Segmented::read(fields.section("segmented")),
            platform_adaptation: PlatformAdaptation::read(
                fields.section("platform_adaptation"),
                platforms,
                shipped.clone(),
            ),
            buffer: OutputBuffer::read(fields.section("buffer")),
        };
        fields.finish();
        read
    }
}

impl StreamingOutput {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            enable: fields.bool("enable", default.enable),
            chunk_size: fields.usize("chunk_size", default.chunk_size, 1..=10_000),
            chunk_interval: fields.seconds("chunk_interval", default.chunk_interval, 0.0..=60.0),
        };
        fields.finish();
        read
    }
}

impl Segmented {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let modes = [
            ("sentence", SegmentMode::Sentence),
            ("word_count", SegmentMode::WordCount),
            ("regex", SegmentMode::Regex),
        ];
        let read = Self {
            enable: fields.bool("enable", default.enable),
            threshold: fields.usize("threshold", default.threshold, 1..=1_000_000),
            mode: fields.choice("mode", default.mode, &modes),
            min_segment_length: fields.usize(
                "min_segment_length",
                default.min_segment_length,
                0..=1_000_000,
            ),
            split_regex: fields
                .get("split_regex")
                .and_then(|setting| split_regex(&setting))
                .unwrap_or(default.split_regex),
            random_interval: fields
                .get("random_interval")
                .and_then(|setting| random_interval(&setting))
                .unwrap_or(default.random_interval),
            add_ellipsis: fields.bool("add_ellipsis", default.add_ellipsis),
        };
        fields.finish();
        read
    }
}

/// A regular expression that compiles within limits and never cuts at an empty match.
fn split_regex(setting: &Setting<'_>) -> Option<String> {
    let pattern = setting.word()?;
    match RegexBuilder::new(pattern)
        .size_limit(SPLIT_REGEX_BYTES)
        .build()
    {
        Ok(regex) if regex.is_match("") => {
            setting.invalid(
                "the expression matches an empty text",
                Some("let it match one character"),
            );
            None
        }
        Ok(_) => Some(pattern.to_owned()),
        Err(error) => {
            // The last line names the fault; those before draw the pattern.
            let text = error.to_string();
            let reason = text.lines().last().unwrap_or_default().trim();
            let reason = reason.strip_prefix("error: ").unwrap_or(reason);
            setting.invalid(format!("not a regular expression: {reason}"), None);
            None
        }
    }
}

/// `"0.5,2.0"`: shortest and longest, in seconds.
fn random_interval(setting: &Setting<'_>) -> Option<RandomInterval> {
    const HINT: Option<&str> =
        Some("write the shortest and the longest pause, such as \"0.5,2.0\"");
    let seconds = |text: &str| {
        let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
        let value: f64 = text
            .parse()
            .ok()
            .filter(|v| plain && (0.0..=3600.0).contains(v))?;
        Duration::try_from_secs_f64(value).ok()
    };
    let (min, max) = setting.text()?.split_once(',').unwrap_or_default();
    let (Some(min), Some(max)) = (seconds(min.trim()), seconds(max.trim())) else {
        setting.invalid("expected two numbers of seconds up to 3600", HINT);
        return None;
    };
    if min > max {
        setting.invalid("the shortest pause is longer than the longest", HINT);
        return None;
    }
    Some(RandomInterval { min, max })
}

impl PlatformAdaptation {
    /// Reads the section over what is shipped.
    pub fn read<'a>(mut fields: Fields<'a>, platforms: &[&'a str], shipped: Self) -> Self {
        let Self {
            mut strategy_by_platform,
            mut max_length_by_platform,
            mut fold_by_platform,
        } = shipped;
        let mut of = |key| {
            let all = fields.get(key);
            let all = all.and_then(|all| all.map_of(platforms));
            all.unwrap_or_default()
        };
        for (platform, setting) in of("strategy_by_platform") {
            warn_unless_known(platform, &setting, platforms);
            if let Some(strategy) = PlatformStrategy::read(&setting) {
                strategy_by_platform.insert(platform.to_owned(), strategy);
            }
        }
        for (platform, setting) in of("max_length_by_platform") {
            warn_unless_known(platform, &setting, platforms);
            if let Some(length) = setting
                .u64(1..=1_000_000)
                .and_then(|n| usize::try_from(n).ok())
            {
                max_length_by_platform.insert(platform.to_owned(), length);
            }
        }
        for (platform, setting) in of("fold_by_platform") {
            warn_unless_known(platform, &setting, platforms);
            let messages = setting.u64(0..=1_000_000);
            if let Some(messages) = messages.and_then(|n| usize::try_from(n).ok()) {
                fold_by_platform.insert(platform.to_owned(), messages);
            }
        }
        fields.finish();
        Self {
            strategy_by_platform,
            max_length_by_platform,
            fold_by_platform,
        }
    }
}

fn warn_unless_known(platform: &str, setting: &Setting<'_>, platforms: &[&str]) {
    if platforms.contains(&platform) {
        return;
    }
    let note = "has no effect: this version has no such platform";
    match nearest(platform, platforms.iter().copied()) {
        Some(known) => setting.warn(format!("{note} (did you mean {known}?)")),
        None => setting.warn(note),
    }
}

impl PlatformStrategy {
    fn read(setting: &Setting<'_>) -> Option<Self> {
        if !setting.is_map() {
            let both = setting.choice(&Strategy::WORDS);
            if !setting.describes() {
                return both.map(|both| Self {
                    private: Some(both),
                    group: Some(both),
                });
            }
        }
        let mut fields = setting.fields();
        let mut one = |key| {
            fields
                .get(key)
                .and_then(|kind| kind.choice(&Strategy::WORDS))
        };
        let read = Self {
            private: one("private"),
            group: one("group"),
        };
        fields.finish();
        Some(read)
    }
}

impl OutputBuffer {
    fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            max_size: fields.usize("max_size", default.max_size, 1..=1_000_000),
            max_age: fields.seconds("max_age", default.max_age, 1.0..=31_536_000.0),
            // An answer that waits holds nobody up, so there is nothing to block.
            overflow_strategy: fields.choice(
                "overflow_strategy",
                default.overflow_strategy,
                &[
                    ("drop_oldest", OverflowStrategy::DropOldest),
                    ("drop_newest", OverflowStrategy::DropNewest),
                ],
            ),
        };
        fields.finish();
        read
    }
}
