//! Settings of one account, read from agent.yaml.
//!
//! Owns their defaults and limits. It never opens a file or a socket.

use std::path::PathBuf;

use weirgate_sdk::settings::{Fields, Secret, Setting};

/// Most callers with a token of their own.
const MAX_CALLERS: usize = 256;
/// Most skills of a card, and most tags of one.
const MAX_SKILLS: usize = 64;
const MAX_TAGS: usize = 32;
/// Longest description, in characters.
const MAX_DESCRIPTION: usize = 1_000;
/// Longest name of the agent or a caller, in characters.
const MAX_NAME: usize = 64;
/// The caller at a socket of this machine who shows no token.
pub(crate) const LOCAL: &str = "local";
/// The caller whose token stands beside the address.
pub(crate) const REMOTE: &str = "remote";

/// What one agent is like.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What it is called.
    pub name: String,
    /// What it says it is good for.
    pub description: String,
    /// Who may call it, each by name with his token.
    pub callers: Vec<(String, Secret)>,
    /// Where it listens for lines.
    pub acp: Option<Listen>,
    /// It speaks A2A on the gateway's web server.
    pub a2a: Option<A2a>,
    /// Longest task, in characters.
    pub max_task: usize,
    /// Most connections at once.
    pub max_connections: usize,
}

/// What its agent card says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct A2a {
    /// What it can do; without any, that is what it is good for.
    pub skills: Vec<Skill>,
}

/// Something that it can do.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// Its id, unique in the card.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// Words by which it is found.
    pub tags: Vec<String>,
}

/// Where it listens.
#[derive(Debug, Clone, PartialEq)]
pub enum Listen {
    /// At a socket of this machine; `None` for one under the runtime directory.
    Unix(Option<PathBuf>),
    /// At an address, as host:port.
    Tcp(String),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: "weirgate".to_owned(),
            description: "Answers questions and works on tasks, in words.".to_owned(),
            callers: Vec::new(),
            acp: None,
            a2a: None,
            max_task: 32_000,
            max_connections: 64,
        }
    }
}

impl Settings {
    /// Reads the account.
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let default = Self::default();
        let mut callers = callers(fields);
        let acp = fields
            .get("acp")
            .and_then(|setting| listen(&setting, &mut callers));
        let a2a = fields
            .get("a2a")
            .map(|setting| card(&setting, &mut callers));
        if !(fields.has("acp") || fields.has("a2a")) {
            let hint = "write where it listens: acp: {} is a socket, a2a the web server";
            fields.missing("acp", Some(hint));
        }
        Self {
            name: word(fields, "name", &default.name, MAX_NAME),
            description: word(fields, "description", &default.description, MAX_DESCRIPTION),
            acp,
            a2a,
            max_task: fields.usize("max_task", default.max_task, 100..=60_000),
            max_connections: fields.usize("max_connections", default.max_connections, 1..=4_096),
            callers,
        }
    }
}

fn word(fields: &mut Fields<'_>, key: &str, default: &str, most: usize) -> String {
    let text = fields.text(key, default);
    if text.trim().is_empty() || text.chars().count() > most {
        let what = format!("write 1 to {most} characters");
        fields.invalid(key, what, None);
        return default.to_owned();
    }
    text
}

/// Who has a token of his own.
fn callers(fields: &mut Fields<'_>) -> Vec<(String, Secret)> {
    let mut callers: Vec<(String, Secret)> = Vec::new();
    for (name, setting) in fields.map("callers") {
        let mut caller = setting.fields();
        let token = caller.secret("token");
        if token.is_none() {
            caller.missing("token", Some("or token_file"));
        }
        caller.finish();
        let fits = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-' | '.');
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(fits) {
            let what =
                format!("a name has letters, digits, _, - and ., at most {MAX_NAME} of them");
            setting.invalid(what, None);
        } else if [LOCAL, REMOTE].contains(&name) {
            setting.invalid("this name is taken: choose another", None);
        } else if callers.len() >= MAX_CALLERS {
            setting.invalid(format!("more than {MAX_CALLERS} callers"), None);
        } else if let Some(token) = token {
            let same = callers
                .iter()
                .any(|(_, other)| other.expose() == token.expose());
            if same {
                setting.invalid("another caller has this token", None);
            } else {
                callers.push((name.to_owned(), token));
            }
        }
    }
    callers
}

/// Where it listens; a token that stands there is that of one more caller.
fn listen(setting: &Setting<'_>, callers: &mut Vec<(String, Secret)>) -> Option<Listen> {
    let mut fields = setting.fields();
    let tcp = fields.choice("type", false, &[("unix", false), ("tcp", true)]);
    let path = fields.text("path", "auto");
    let path = (!matches!(path.as_str(), "auto" | "")).then(|| PathBuf::from(path));
    let address = fields.optional_text("address");
    if let Some(token) = fields.secret("token") {
        callers.push((REMOTE.to_owned(), token));
    }
    let found = match (tcp, address) {
        (true, Some(address)) if is_address(&address) => Some(Listen::Tcp(address)),
        (true, Some(_)) => {
            fields.invalid("address", "write it as host:port", None);
            None
        }
        (true, None) => {
            fields.missing("address", Some("such as 127.0.0.1:7420"));
            None
        }
        (false, address) => {
            if address.is_some() {
                let hint = "write type: tcp, or leave it out";
                fields.invalid("address", "a socket has no address", Some(hint));
            }
            Some(Listen::Unix(path))
        }
    };
    if tcp && callers.is_empty() {
        let hint = "write a token here, or callers with tokens";
        fields.missing("token", Some(hint));
    }
    fields.finish();
    found
}

/// What is wrong between accounts: two cannot listen at one place.
#[must_use]
pub fn conflicts(accounts: &[(&str, &Settings)]) -> Vec<String> {
    let mut problems = Vec::new();
    for (at, (name, settings)) in accounts.iter().enumerate() {
        let place = match &settings.acp {
            None | Some(Listen::Unix(None)) => continue,
            place => place,
        };
        let before = accounts.iter().take(at);
        let mut same = before.filter(|(_, other)| other.acp == *place);
        if let Some((other, _)) = same.next() {
            problems.push(format!(
                "the accounts {other} and {name} listen at one place"
            ));
        }
    }
    problems
}

/// What the card says; a token that stands there is that of one more caller.
fn card(setting: &Setting<'_>, callers: &mut Vec<(String, Secret)>) -> A2a {
    let mut fields = setting.fields();
    if let Some(token) = fields.secret("token") {
        callers.push((REMOTE.to_owned(), token));
    }
    if callers.is_empty() {
        let hint = "write a token here, or callers with tokens";
        fields.missing("token", Some(hint));
    }
    let mut skills: Vec<Skill> = Vec::new();
    for item in fields.list("skills") {
        let mut skill = item.fields();
        let (id, name) = (skill.required_text("id"), skill.required_text("name"));
        let description = skill.text("description", "");
        let tags = skill.texts("tags", MAX_TAGS);
        skill.finish();
        let (Some(id), Some(name)) = (id, name) else {
            continue;
        };
        if skills.len() >= MAX_SKILLS {
            item.invalid(format!("more than {MAX_SKILLS} skills"), None);
        } else if skills.iter().any(|other| other.id == id) {
            item.invalid("another skill has this id", None);
        } else {
            skills.push(Skill {
                id,
                name,
                description,
                tags,
            });
        }
    }
    fields.finish();
    A2a { skills }
}

/// Whether a text is a host and a port; 0 is any port.
fn is_address(text: &str) -> bool {
    text.rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use weirgate_sdk::settings::{Node, Problems};

    use super::*;

    fn read(node: &Node) -> (Settings, Vec<String>, usize) {
        let problems = Problems::new();
        let mut fields = Fields::new(node, "a", &problems);
        let read = Settings::read(&mut fields);
        fields.finish();
        let told = problems.take().iter().map(|one| one.path.clone()).collect();
        (read, told, problems.secrets().len())
    }

    fn acp<const N: usize>(entries: [(&str, &str); N]) -> Node {
        let entries = entries.map(|(key, value)| (key, Node::text(value)));
        Node::map([("acp", Node::map(entries))])
    }

    #[test]
    fn it_listens_only_where_it_is_told_to() {
        let nothing: [(&str, Node); 0] = [];
        let (settings, told, _) = read(&Node::map(nothing));
        assert_eq!(
            (settings, &*told),
            (Settings::default(), &["a.acp".to_owned()][..])
        );
        let (settings, told, _) = read(&acp([]));
        assert_eq!((settings.acp, told.len()), (Some(Listen::Unix(None)), 0));
        let (settings, told, secrets) = read(&acp([
            ("type", "tcp"),
            ("address", "127.0.0.1:7420"),
            ("token", "a-long-secret-value"),
        ]));
        assert_eq!(told, [""; 0]);
        assert_eq!(settings.acp, Some(Listen::Tcp("127.0.0.1:7420".into())));
        assert_eq!((&*settings.callers[0].0, secrets), (REMOTE, 1));
    }

    #[test]
    fn an_address_without_a_token_is_refused() {
        let (_, told, _) = read(&acp([("type", "tcp"), ("address", "127.0.0.1:7420")]));
        assert_eq!(told, ["a.acp.token"]);
        let (_, told, _) = read(&acp([("type", "tcp"), ("token", "a-long-secret-value")]));
        assert_eq!(told, ["a.acp.address"]);
        let (_, told, _) = read(&acp([("address", "127.0.0.1:7420")]));
        assert_eq!(told, ["a.acp.address"]);
    }

    #[test]
    fn a_card_needs_a_token_and_has_skills() {
        let skill = |id: &str| Node::map([("id", Node::text(id)), ("name", Node::text("Sum"))]);
        let skills = Node::list([skill("a"), skill("a"), Node::map([("id", Node::text("b"))])]);
        let token = Node::text("a-long-secret-value");
        let card = Node::map([("token", token), ("skills", skills)]);
        let (settings, told, _) = read(&Node::map([("a2a", card)]));
        assert_eq!(told, ["a.a2a.skills[1]", "a.a2a.skills[2].name"]);
        assert_eq!(settings.a2a.map(|card| card.skills.len()), Some(1));
        let nothing: [(&str, Node); 0] = [];
        let (_, told, _) = read(&Node::map([("a2a", Node::map(nothing))]));
        assert_eq!(told, ["a.a2a.token"]);
    }

    #[test]
    fn callers_have_names_and_tokens_of_their_own() {
        let token = |text: &str| Node::map([("token", Node::text(text))]);
        let callers = Node::map([
            ("desk", token("a-long-secret-value")),
            ("twin", token("a-long-secret-value")),
            ("local", token("another-secret-value")),
            ("a b", token("a-third-secret-value")),
            ("none", Node::map([("tokn", Node::text("x"))])),
        ]);
        let acp = Node::map([("path", Node::text("/run/a.sock"))]);
        let (settings, told, _) = read(&Node::map([("callers", callers), ("acp", acp)]));
        assert_eq!(settings.callers.len(), 1);
        assert_eq!(
            told,
            [
                "a.callers.twin",
                "a.callers.local",
                "a.callers.\"a b\"",
                "a.callers.none.token",
                "a.callers.none.tokn"
            ]
        );
    }
}
