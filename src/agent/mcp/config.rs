//! `tools.mcp`: which servers there are, how each is reached, and who may use it.
//!
//! Owns the section's keys, defaults and limits. It starts nothing.

use std::{path::PathBuf, time::Duration};

use weirgate_sdk::settings::{Fields, Secret, Setting};

use crate::agent::tool::Access;

/// Most servers.
const MAX_SERVERS: usize = 64;
/// Most entries of the lists of a server.
const MAX_ENTRIES: usize = 1_000;
/// Parts of the names of variables whose values are secrets.
const SECRETS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL"];

/// The section `tools.mcp`.
#[derive(Debug, Clone, PartialEq)]
pub struct Mcp {
    /// Use them.
    pub enabled: bool,
    /// The servers, in the order in which they are written.
    pub servers: Vec<Server>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Link {
    /// A program that is started; it speaks on its standard input and output.
    Program {
        /// The program and its arguments.
        command: Vec<String>,
        /// What is added to its environment.
        env: Vec<(String, Secret)>,
    },
    /// A server that runs already.
    Http {
        /// Its address.
        url: String,
        /// What is sent with each request.
        headers: Vec<(String, Secret)>,
    },
}

/// When somebody has to say yes to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// As the tool says: those that may destroy something.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// One server.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// What it is called here.
    pub name: String,
    /// It is used.
    pub enabled: bool,
    /// How it is reached.
    pub link: Link,
    /// The gateway does not start without it.
    pub required: bool,
    /// The tools that are taken, by the server's own names; all if empty.
    pub tools: Vec<String>,
    /// Most tools that are taken.
    pub max_tools: usize,
    /// What its tools change; `None` for what each says itself.
    pub access: Option<Access>,
    /// Only global owners use it.
    pub global: bool,
    /// When somebody has to say yes.
    pub approval: Approval,
    /// Its resources can be listed and read.
    pub resources: bool,
    /// Its prompts can be listed and read.
    pub prompts: bool,
    /// Pictures, sounds and other files that its tools give go out with the answer.
    pub send_files: bool,
    /// Longest start.
    pub start_timeout: Duration,
    /// Its folder, the only root that it is told of; `None` for one of its own beside the workspaces.
    pub folder: Option<PathBuf>,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            enabled: true,
            servers: Vec::new(),
        }
    }
}

impl Mcp {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let enabled = fields.bool("enabled", true);
        let mut servers: Vec<Server> = Vec::new();
        for setting in fields.list("servers") {
            let Some(server) = Server::read(setting.fields()) else {
                continue;
            };
            if servers.len() >= MAX_SERVERS {
                setting.invalid(format!("more than {MAX_SERVERS} servers"), None);
            } else if servers.iter().any(|other| other.name == server.name) {
                setting.invalid("another server has this name", None);
            } else {
                servers.push(server);
            }
        }
        fields.finish();
        Self { enabled, servers }
    }

    /// Those that are used.
    pub fn running(&self) -> impl Iterator<Item = &Server> {
        let used = |server: &&Server| self.enabled && server.enabled;
        self.servers.iter().filter(used)
    }
}

impl Server {
    fn read(mut fields: Fields<'_>) -> Option<Self> {
        let (name, link) = (name(&mut fields), link(&mut fields));
        // All keys are read whatever is missing, so that all faults are told at once.
        let unnamed = Self {
            name: String::new(),
            link: Link::Program {
                command: Vec::new(),
                env: Vec::new(),
            },
            enabled: fields.bool("enabled", true),
            required: fields.bool("required", false),
            tools: fields.texts("tools", MAX_ENTRIES),
            max_tools: fields.usize("max_tools", 256, 1..=2_000),
            access: fields.choice("access", None, &ACCESS),
            global: fields.choice("scope", false, &[("conversation", false), ("global", true)]),
            approval: fields.choice("approval", Approval::Auto, &APPROVAL),
            resources: fields.bool("resources", true),
            prompts: fields.bool("prompts", true),
            send_files: fields.bool("send_files", true),
            start_timeout: fields.seconds("start_timeout", START, 0.5..=600.0),
            folder: folder(&mut fields),
        };
        fields.finish();
        let (name, link) = (name?, link?);
        Some(Self {
            name,
            link,
            ..unnamed
        })
    }
}

/// Longest start, unless the configuration says otherwise.
const START: Duration = Duration::from_secs(30);

const ACCESS: [(&str, Option<Access>); 4] = [
    ("auto", None),
    ("read", Some(Access::Read)),
    ("write", Some(Access::Write)),
    ("write_shared", Some(Access::WriteShared)),
];

const APPROVAL: [(&str, Approval); 3] = [
    ("auto", Approval::Auto),
    ("always", Approval::Always),
    ("never", Approval::Never),
];

/// The name: it becomes part of the names of tools.
pub(in crate::agent) fn name(fields: &mut Fields<'_>) -> Option<String> {
    let name = fields.required_text("name")?;
    let fits = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-');
    if name.len() <= 32 && name.chars().all(fits) {
        return Some(name);
    }
    // What the reference is made of fits nothing.
    fields.invalid(
        "name",
        "a name has letters, digits, _ and -, at most 32 of them",
        None,
    );
    None
}

fn link(fields: &mut Fields<'_>) -> Option<Link> {
    let command = fields.texts("command", MAX_ENTRIES);
    let env = pairs(fields.map("env"), is_secret);
    let url = fields.optional_text("url");
    let headers = pairs(fields.map("headers"), |_| true);
    match (command.is_empty(), url) {
        (false, None) => Some(Link::Program { command, env }),
        (true, Some(url)) if url.starts_with("http://") || url.starts_with("https://") => {
            Some(Link::Http { url, headers })
        }
        (true, Some(_)) => {
            fields.invalid("url", "an address begins with http:// or https://", None);
            None
        }
        (true, None) => {
            fields.missing("command", Some("a server has a command or a url"));
            None
        }
        (false, Some(_)) => {
            fields.invalid(
                "url",
                "command and url are both set",
                Some("keep one of them"),
            );
            None
        }
    }
}

/// Names with values, of which those that `is_secret` says are never shown.
fn pairs(
    entries: Vec<(&str, Setting<'_>)>,
    is_secret: impl Fn(&str) -> bool,
) -> Vec<(String, Secret)> {
    let pair = |(name, setting): (&str, Setting<'_>)| {
        let value = if is_secret(name) {
            setting.secret()?
        } else {
            Secret::new(setting.text()?)
        };
        Some((name.to_owned(), value))
    };
    entries.into_iter().filter_map(pair).collect()
}

/// Whether the value of a variable is a secret, by its name.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRETS.iter().any(|part| name.contains(part))
}

/// A folder, or `auto`.
fn folder(fields: &mut Fields<'_>) -> Option<PathBuf> {
    let path = fields.text("folder", "auto");
    (!matches!(path.as_str(), "auto" | "")).then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use weirgate_sdk::settings::Problems;

    use super::*;
    use crate::config::parse_for_tests;

    fn read(text: &str) -> (Mcp, Vec<String>, Problems) {
        let problems = Problems::new();
        let node = parse_for_tests(text, &problems);
        let read = Mcp::read(Fields::new(&node, "tools.mcp", &problems));
        let told = problems.take().iter().map(|one| one.path.clone()).collect();
        (read, told, problems)
    }

    #[test]
    fn a_server_is_a_program_or_an_address() {
        let (read, told, problems) = read(
            r#"
servers:
  - name: files
    command: [mcp-files, --quiet]
    env: {LOG: "1", API_KEY: a-long-secret-value}
    access: read
    approval: always
    scope: global
    tools: [read_file]
  - name: far
    url: https://mcp.example.com/mcp
    headers: {Authorization: Bearer abcdefgh}
    required: true
    start_timeout: 5
"#,
        );
        assert_eq!(told, [""; 0]);
        let files = &read.servers[0];
        assert!(files.global && files.approval == Approval::Always);
        assert_eq!(
            (files.access, &*files.tools),
            (Some(Access::Read), &["read_file".to_owned()][..])
        );
        let Link::Program { env, .. } = &files.link else {
            panic!("a program");
        };
        assert_eq!(env.len(), 2);
        let secrets: Vec<String> = problems.secrets().into_iter().map(|(at, _)| at).collect();
        assert_eq!(secrets.len(), 2, "{secrets:?}");
        assert!(secrets[0].contains("API_KEY"), "LOG is none: {secrets:?}");
        assert!(read.servers[1].required && read.servers[1].enabled);
    }

    #[test]
    fn what_is_no_server_is_reported_where_it_stands() {
        for text in [
            "servers: [{name: a}]",
            "servers: [{name: a, command: [x], url: 'http://a'}]",
            "servers: [{name: a, url: 'ftp://a'}]",
            "servers: [{name: 'a b', command: [x]}]",
            "servers: [{name: a, command: [x]}, {name: a, command: [y]}]",
            "servers: [{name: a, command: [x], acess: read}]",
        ] {
            let (_, told, _) = read(text);
            assert_eq!(told.len(), 1, "{text}: {told:?}");
        }
    }

    #[test]
    fn none_runs_where_all_are_off() {
        let (read, _, _) = read("enabled: false\nservers: [{name: a, command: [x]}]");
        assert_eq!(read.running().count(), 0);
    }
}
