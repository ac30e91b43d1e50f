//! `tools` and `tool_calling`: which tools there are, and how a turn uses them.
//!
//! Owns the sections' keys, defaults and limits. It opens nothing.

use std::{path::PathBuf, time::Duration};

use weirgate_sdk::settings::{Fields, nearest};

use super::{fetch, files, registry::built_in_names, search, shell, usage::Most, weather};
use crate::agent::{mcp::config::Mcp, skill};

/// Most names under `tools.approval`.
const MAX_APPROVALS: usize = 200;

/// The section `tools`.
#[derive(Debug, Clone, PartialEq)]
pub struct Tools {
    /// The tools of the gateway itself.
    pub internal: Internal,
    /// Servers of tools.
    pub mcp: Mcp,
    /// Skills.
    pub skills: skill::config::Settings,
    /// Names of tools of which each call needs somebody's yes; a `*` at the end stands for any.
    pub approval: Vec<String>,
    /// Where programs are; `None` for a folder beside the database.
    pub folder: Option<PathBuf>,
    /// How pages are read.
    pub fetch: fetch::Settings,
    /// Who searches the web.
    pub search: search::Settings,
    /// Who knows the weather.
    pub weather: weather::Settings,
    /// Where files are.
    pub files: files::Settings,
    /// Command lines.
    pub shell: shell::Settings,
}

/// The section `tools.internal`.
#[derive(Debug, Clone, PartialEq)]
pub struct Internal {
    /// Offer them. Skills and errands have keys of their own.
    pub enabled: bool,
    /// Most tools that one request offers; of more, the fitting ones.
    pub max_per_request: usize,
    /// Those that are not offered, by name.
    pub disabled: Vec<String>,
}

impl Internal {
    /// Whether a tool is not offered because it is named so.
    #[must_use]
    pub fn disables(&self, name: &str) -> bool {
        self.disabled.iter().any(|disabled| disabled == name)
    }
}

/// In which order the calls of one answer run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// All at once.
    Eager,
    /// One after the other.
    Sequential,
    /// Those that only look at once; those that change something, or concern the same thing, in order.
    Smart,
}

/// The section `tool_calling`.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCalling {
    /// In which order calls run.
    pub strategy: Strategy,
    /// Most requests to the model in a turn; the last one offers no tools.
    pub max_steps: usize,
    /// Most calls in a turn.
    pub max_calls_per_request: usize,
    /// Most searches of the web in a turn, and in each errand of one.
    pub max_searches: usize,
    /// Longest time of a call.
    pub timeout: Duration,
    /// How often a call that failed is made again, if it is safe to repeat.
    pub max_retries: u32,
    /// Whether calls run at the same time at all.
    pub parallel_calls: bool,
    /// Most calls at the same time.
    pub max_parallel_calls: usize,
    /// Most tokens of a result.
    pub max_result_tokens: usize,
    /// Show which tools run.
    pub stream_intermediate: bool,
}

impl Default for Tools {
    fn default() -> Self {
        Self {
            internal: Internal {
                enabled: true,
                max_per_request: 128,
                disabled: Vec::new(),
            },
            mcp: Mcp::default(),
            skills: skill::config::Settings::default(),
            approval: Vec::new(),
            folder: None,
            fetch: fetch::Settings::default(),
            search: search::Settings::default(),
            weather: weather::Settings::default(),
            files: files::Settings::default(),
            shell: shell::Settings::default(),
        }
    }
}

impl Default for ToolCalling {
    fn default() -> Self {
        Self {
            strategy: Strategy::Smart,
            max_steps: 11,
            max_calls_per_request: 128,
            max_searches: 5,
            timeout: Duration::from_secs(60),
            max_retries: 3,
            parallel_calls: true,
            max_parallel_calls: 5,
            max_result_tokens: 4096,
            stream_intermediate: true,
        }
    }
}

impl Tools {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let read = Self {
            internal: Internal::read(fields.section("internal"), default.internal),
            mcp: Mcp::read(fields.section("mcp")),
            skills: skill::config::Settings::read(fields.section("skills")),
            approval: fields.texts("approval", MAX_APPROVALS),
            folder: folder(&mut fields, "folder"),
            fetch: read_fetch(fields.section("fetch"), &default.fetch),
            search: search::Settings::read(fields.section("search")),
            weather: weather::Settings::read(fields.section("weather")),
            files: read_files(fields.section("files"), default.files),
            shell: shell::Settings::read(fields.section("shell")),
        };
        fields.finish();
        read
    }
}

fn read_fetch(mut fields: Fields<'_>, default: &fetch::Settings) -> fetch::Settings {
    let read = fetch::Settings {
        max_bytes: fields.usize("max_bytes", default.max_bytes, 1_024..=64 * 1024 * 1024),
        allow: fields.texts("allow", 100),
    };
    fields.finish();
    read
}

/// A folder, or `auto`.
fn folder(fields: &mut Fields<'_>, key: &str) -> Option<PathBuf> {
    let path = fields.text(key, "auto");
    (!matches!(path.as_str(), "auto" | "")).then(|| PathBuf::from(path))
}

fn read_files(mut fields: Fields<'_>, default: files::Settings) -> files::Settings {
    let read = files::Settings {
        workspaces: folder(&mut fields, "workspaces"),
        max_bytes: fields.u64("max_bytes", default.max_bytes, 1_024..=1 << 40),
    };
    fields.finish();
    read
}

impl Internal {
    fn read(mut fields: Fields<'_>, default: Self) -> Self {
        let disabled = fields.list("disabled").into_iter().filter_map(|setting| {
            let name = setting.word()?;
            if built_in_names().any(|known| known == name) {
                return Some(name.to_owned());
            }
            let hint =
                nearest(name, built_in_names()).map(|known| format!("did you mean {known}?"));
            setting.invalid("there is no tool of this name", hint.as_deref());
            None
        });
        let disabled = disabled.collect();
        let read = Self {
            enabled: fields.bool("enabled", default.enabled),
            max_per_request: fields.usize("max_per_request", default.max_per_request, 1..=128),
            disabled,
        };
        fields.finish();
        read
    }
}

impl ToolCalling {
    /// How much a turn, or an errand of one, may call.
    #[must_use]
    pub fn most(&self) -> Most {
        Most {
            calls: self.max_calls_per_request,
            searches: self.max_searches,
        }
    }

    /// The same for the steps of a skill: how often they search was decided by who wrote them.
    #[must_use]
    pub fn most_in_steps(&self) -> Most {
        Most {
            searches: usize::MAX,
            ..self.most()
        }
    }

    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let default = Self::default();
        let strategies = [
            ("eager", Strategy::Eager),
            ("sequential", Strategy::Sequential),
            ("smart", Strategy::Smart),
        ];
        let read = Self {
            strategy: fields.choice("strategy", default.strategy, &strategies),
            max_steps: fields.usize("max_steps", default.max_steps, 1..=100),
            max_calls_per_request: fields.usize(
                "max_calls_per_request",
                default.max_calls_per_request,
                0..=1000,
            ),
            max_searches: fields.usize("max_searches", default.max_searches, 0..=1000),
            timeout: fields.seconds("timeout", default.timeout, 0.1..=3600.0),
            max_retries: fields.u32("max_retries", default.max_retries, 0..=100),
            parallel_calls: fields.bool("parallel_calls", default.parallel_calls),
            max_parallel_calls: fields.usize(
                "max_parallel_calls",
                default.max_parallel_calls,
                1..=64,
            ),
            max_result_tokens: fields.usize(
                "max_result_tokens",
                default.max_result_tokens,
                64..=1_000_000,
            ),
            stream_intermediate: fields.bool("stream_intermediate", default.stream_intermediate),
        };
        fields.finish();
        read
    }
}

#[cfg(test)]
mod tests {
    use weirgate_sdk::settings::Problems;

    use super::*;
    use crate::config::parse_for_tests;

    #[test]
    fn the_sources_blocks_load_as_they_stand() {
        let text = r#"
internal: {enabled: true, max_per_request: 128}
mcp: {enabled: true, servers: []}
skills: {enabled: true, registry_path: "/x"}
"#;
        let problems = Problems::new();
        let node = parse_for_tests(text, &problems);
        let read = Tools::read(Fields::new(&node, "tools", &problems));
        let skills = skill::config::Settings {
            registry_path: Some(PathBuf::from("/x")),
            ..skill::config::Settings::default()
        };
        let expected = Tools {
            skills,
            ..Tools::default()
        };
        assert_eq!(read, expected);
        assert_eq!(problems.take().len(), 0, "each key has its effect");
        let text = r#"
strategy: "smart"
max_calls_per_request: 128
timeout: 60
max_retries: 3
parallel_calls: true
max_parallel_calls: 5
max_result_tokens: 4096
stream_intermediate: true
"#;
        let node = parse_for_tests(text, &problems);
        let read = ToolCalling::read(Fields::new(&node, "tool_calling", &problems));
        assert_eq!((read, problems.take().len()), (ToolCalling::default(), 0));
    }

    #[test]
    fn a_tool_that_is_not_there_cannot_be_disabled() {
        let problems = Problems::new();
        let node = parse_for_tests("internal: {disabled: [calculat, date_time]}\n", &problems);
        let read = Tools::read(Fields::new(&node, "tools", &problems));
        assert_eq!(read.internal.disabled, ["date_time"]);
        let told = problems.take();
        assert_eq!(told[0].hint.as_deref(), Some("did you mean calculate?"));
    }
}
