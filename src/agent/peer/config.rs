//! `agent_collaboration`: which agents by others there are, how each is reached, and who may use it.
//!
//! Owns the section's keys, defaults and limits. It opens nothing.

use std::{path::PathBuf, time::Duration};

use weirgate_sdk::settings::{Fields, Node, Secret};

use crate::agent::{mcp::config::name, subagent::config::Subagents, tool::Access};

/// Most endpoints of one kind.
const MAX_ENDPOINTS: usize = 64;
/// Most entries of the lists of an endpoint.
const MAX_ENTRIES: usize = 1_000;
/// Longest time until an endpoint has told what it has, unless the configuration says otherwise.
const CONNECT: Duration = Duration::from_secs(10);
/// Longest call, unless the configuration says otherwise.
const CALL: Duration = Duration::from_secs(300);
/// How often endpoints are asked what they have, unless the configuration says otherwise.
const REFRESH: Duration = Duration::from_secs(60);

/// The section `agent_collaboration`.
#[derive(Debug, Clone, PartialEq)]
pub struct Collaboration {
    /// Agents that are reached by `agent/list` and `agent/call`.
    pub acp: Endpoints,
    /// Agents that speak A2A.
    pub a2a: Endpoints,
    /// How often endpoints are asked what they have.
    pub refresh: Duration,
    /// How errands are given away.
    pub subagents: Subagents,
    /// Agents that can be named for errands are found.
    pub auto_discover_internal: bool,
}

/// The endpoints of one protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoints {
    /// Use them.
    pub enabled: bool,
    /// Each, in the order in which they are written.
    pub endpoints: Vec<Endpoint>,
    /// Where the gateway itself listens for those who speak this protocol, for the adapter that does.
    pub listen: Option<Node>,
}

/// How an endpoint is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum Link {
    /// A socket on this machine.
    Unix(PathBuf),
    /// An address, as host:port.
    Tcp(String),
    /// The address of an agent card, or of the server that has one.
    Card(String),
}

/// One endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// What it is called here.
    pub name: String,
    /// It is used.
    pub enabled: bool,
    /// How it is reached.
    pub link: Link,
    /// What it is told to let us in.
    pub token: Option<Secret>,
    /// The agents that are taken, by their own names; all if empty.
    pub agents: Vec<String>,
    /// Most agents that are taken.
    pub max_agents: usize,
    /// What calls change.
    pub access: Access,
    /// Only global owners use it.
    pub global: bool,
    /// Somebody has to say yes to each call.
    pub approval: bool,
    /// Longest time until it has told what it has.
    pub connect_timeout: Duration,
    /// Longest call.
    pub timeout: Duration,
    /// How often it is asked what it has.
    pub refresh: Duration,
}

impl Default for Collaboration {
    fn default() -> Self {
        Self {
            acp: Endpoints::default(),
            a2a: Endpoints::default(),
            refresh: REFRESH,
            subagents: Subagents::default(),
            auto_discover_internal: true,
        }
    }
}

impl Default for Endpoints {
    fn default() -> Self {
        Self {
            enabled: true,
            endpoints: Vec::new(),
            listen: None,
        }
    }
}

impl Collaboration {
    /// Reads the section.
    #[must_use]
    pub fn read(mut fields: Fields<'_>) -> Self {
        let mut discovery = fields.section("discovery");
        let refresh = discovery.seconds("refresh_interval", REFRESH, 1.0..=86_400.0);
        let auto_discover_internal = discovery.bool("auto_discover_internal", true);
        discovery.finish();
        let subagents = Subagents::read(fields.section("subagents"));
        let acp = Endpoints::read(fields.section("acp"), refresh, acp_link);
        let a2a = Endpoints::read(fields.section("a2a"), refresh, card_link);
        for endpoint in &a2a.endpoints {
            if acp
                .endpoints
                .iter()
                .any(|other| other.name == endpoint.name)
            {
                let what = format!("acp has an endpoint {} too", endpoint.name);
                fields.invalid("a2a", what, Some("give it another name"));
            }
        }
        fields.finish();
        Self {
            acp,
            a2a,
            refresh,
            subagents,
            auto_discover_internal,
        }
    }

    /// Where the gateway itself listens, by protocol.
    #[must_use]
    pub fn listens(&self) -> Vec<(&'static str, Node)> {
        let acp = self.acp.listens().map(|node| ("acp", node));
        let a2a = self.a2a.listens().map(|node| ("a2a", node));
        acp.into_iter().chain(a2a).collect()
    }

    /// The endpoints that are used.
    pub fn running(&self) -> impl Iterator<Item = &Endpoint> {
        self.acp.running().chain(self.a2a.running())
    }
}

impl Endpoints {
    fn read(
        mut fields: Fields<'_>,
        refresh: Duration,
        link: fn(&mut Fields<'_>) -> Option<Link>,
    ) -> Self {
        let enabled = fields.bool("enabled", true);
        let mut endpoints: Vec<Endpoint> = Vec::new();
        for setting in fields.list("endpoints") {
            let Some(endpoint) = Endpoint::read(setting.fields(), refresh, link) else {
                continue;
            };
            if endpoints.len() >= MAX_ENDPOINTS {
                setting.invalid(format!("more than {MAX_ENDPOINTS} endpoints"), None);
            } else if endpoints.iter().any(|other| other.name == endpoint.name) {
                setting.invalid("another endpoint has this name", None);
            } else {
                endpoints.push(endpoint);
            }
        }
        let listen = listen(&mut fields);
        fields.finish();
        Self {
            enabled,
            endpoints,
            listen,
        }
    }

    fn listens(&self) -> Option<Node> {
        self.listen.clone().filter(|_| self.enabled)
    }

    fn running(&self) -> impl Iterator<Item = &Endpoint> {
        let used = |endpoint: &&Endpoint| self.enabled && endpoint.enabled;
        self.endpoints.iter().filter(used)
    }
}

impl Endpoint {
    fn read(
        mut fields: Fields<'_>,
        refresh: Duration,
        link: fn(&mut Fields<'_>) -> Option<Link>,
    ) -> Option<Self> {
        let (name, link) = (name(&mut fields), link(&mut fields));
        // All keys are read whatever is missing, so that all faults are told at once.
        let unnamed = Self {
            name: String::new(),
            link: Link::Unix(PathBuf::new()),
            enabled: fields.bool("enabled", true),
            token: fields.secret("token"),
            agents: fields.texts("agents", MAX_ENTRIES),
            max_agents: fields.usize("max_agents", 64, 1..=1_000),
            access: fields.choice("access", Access::Write, &ACCESS),
            global: fields.choice("scope", false, &[("conversation", false), ("global", true)]),
            approval: fields.choice("approval", false, &[("never", false), ("always", true)]),
            connect_timeout: fields.seconds("connect_timeout", CONNECT, 0.5..=600.0),
            timeout: fields.seconds("timeout", CALL, 0.5..=86_400.0),
            refresh,
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

const ACCESS: [(&str, Access); 3] = [
    ("read", Access::Read),
    ("write", Access::Write),
    ("write_shared", Access::WriteShared),
];

/// Where the gateway itself listens, for the adapter to read.
fn listen(fields: &mut Fields<'_>) -> Option<Node> {
    let setting = fields.get("listen")?;
    setting.map()?;
    setting.is_map().then(|| setting.node().clone())
}

/// A socket by its path, or an address.
fn acp_link(fields: &mut Fields<'_>) -> Option<Link> {
    let tcp = fields.choice("type", false, &[("unix", false), ("tcp", true)]);
    let (path, address) = (
        fields.optional_text("path"),
        fields.optional_text("address"),
    );
    let (key, found, other) = if tcp {
        ("address", address.map(Link::Tcp), ("path", path.is_some()))
    } else {
        let unix = path.map(|path| Link::Unix(PathBuf::from(path)));
        ("path", unix, ("address", address.is_some()))
    };
    if other.1 {
        let hint = "unix has a path, tcp an address";
        fields.invalid(other.0, "an endpoint of this type has none", Some(hint));
    }
    match found {
        Some(Link::Tcp(address)) if !is_address(&address) => {
            fields.invalid(key, "write it as host:port", None);
            None
        }
        Some(link) => Some(link),
        None => {
            fields.missing(key, Some("unix has a path, tcp an address"));
            None
        }
    }
}

/// The address of a card.
fn card_link(fields: &mut Fields<'_>) -> Option<Link> {
    let url = fields.required_text("url")?;
    if url.starts_with("http://") || url.starts_with("https://") {
        return Some(Link::Card(url));
    }
    fields.invalid("url", "an address begins with http:// or https://", None);
    None
}

/// Whether a text is a host and a port.
fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| {
        !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0)
    })
}

#[cfg(test)]
mod tests {
    use weirgate_sdk::settings::Problems;

    use super::*;
    use crate::config::parse_for_tests;

    fn read(text: &str) -> (Collaboration, Vec<String>, Problems) {
        let problems = Problems::new();
        let node = parse_for_tests(text, &problems);
        let read = Collaboration::read(Fields::new(&node, "a", &problems));
        let told = problems.take().iter().map(|one| one.path.clone()).collect();
        (read, told, problems)
    }

    #[test]
    fn the_sources_block_loads_as_it_stands() {
        let (read, told, _) = read(
            r#"
acp:
  enabled: true
  endpoints:
    - name: "local"
      type: "unix"
      path: "/run/astrbot/acp.sock"
subagents:
  enabled: true
  max_parallel: 3
  timeout: 300
discovery:
  auto_discover_internal: true
  refresh_interval: 60
"#,
        );
        assert_eq!(told, [""; 0]);
        assert_eq!(read.subagents, Subagents::default());
        assert!(read.auto_discover_internal);
        let [local] = &*read.acp.endpoints else {
            panic!("one endpoint");
        };
        assert_eq!(
            (&*local.name, &local.link, local.access),
            (
                "local",
                &Link::Unix("/run/astrbot/acp.sock".into()),
                Access::Write
            )
        );
        assert_eq!(read.refresh, Duration::from_secs(60));
    }

    #[test]
    fn an_endpoint_is_a_socket_or_an_address_and_its_token_is_a_secret() {
        let (read, told, problems) = read(
            r#"
acp:
  endpoints:
    - {name: far, type: tcp, address: "agents.example.com:7000", token: a-long-secret-value,
       access: read, scope: global, approval: always, agents: [helper], timeout: 20}
    - {name: off, enabled: false, path: /x}
discovery: {refresh_interval: 5}
"#,
        );
        assert_eq!(told, [""; 0]);
        let far = &read.acp.endpoints[0];
        assert!(far.global && far.approval && far.access == Access::Read);
        assert_eq!(far.link, Link::Tcp("agents.example.com:7000".into()));
        assert_eq!(
            (far.timeout, far.refresh),
            (Duration::from_secs(20), Duration::from_secs(5))
        );
        assert_eq!(problems.secrets().len(), 1);
        assert_eq!(read.running().count(), 1, "one is off");
    }

    #[test]
    fn what_is_no_endpoint_is_reported_where_it_stands() {
        for text in [
            "acp: {endpoints: [{name: a}]}",
            "acp: {endpoints: [{name: a, type: tcp}]}",
            "acp: {endpoints: [{name: a, path: /x, address: 'h:1'}]}",
            "acp: {endpoints: [{name: a, type: tcp, address: host}]}",
            "acp: {endpoints: [{name: a, type: tcp, address: ':70'}]}",
            "acp: {endpoints: [{name: 'a b', path: /x}]}",
            "acp: {endpoints: [{name: a, path: /x}, {name: a, path: /y}]}",
            "acp: {endpoints: [{name: a, path: /x, acess: read}]}",
            "discovery: {refresh_interval: 0}",
            "a2a: {endpoints: [{name: a}]}",
            "a2a: {endpoints: [{name: a, url: 'ftp://x'}]}",
            "a2a: {endpoints: [{name: a, url: 'http://x', path: /x}]}",
            "acp: {endpoints: [{name: a, path: /x}]}\na2a: {endpoints: [{name: a, url: 'http://x'}]}",
        ] {
            let (_, told, _) = read(text);
            assert_eq!(told.len(), 1, "{text}: {told:?}");
        }
    }
}
