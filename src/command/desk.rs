//! The desk: what commands may see and do.
//!
//! Owns nothing; it is the narrow view of the core that commands work with. Rights were decided before
//! a command gets here, except where a command decides more itself with the actor it was given.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::Notify;
use weirgate_sdk::{AccountName, Connection, Platform, Timestamp};

use crate::{
    agent::{
        choice::amount,
        limits::{Spent, Whose},
        mcp,
        memory::{self, Memories},
        peer::Peer,
        rules::Rules,
        running::Running,
    },
    clock::Clock,
    command::{Site, alone::OneAtATime, claim::Claim, configure::Configure},
    current::Current,
    directory::Directory,
    i18n::{
        StatusFacts,
        servers::{ServerLine, Serves},
    },
    inbound::{body, keying::Keying, queue::QueueKey},
    media::MediaStore,
    outbound::deliver::Deliverer,
    reason::Reason,
    schedule::dispatch::Dispatch,
    store::{
        Effect, End, EndState, Fate, Finish, PendingFilter, Store, StoreError, StoredPending,
        Waiting, WaitingFilter, Write, commit,
    },
    telemetry::metrics::Queue,
    trace::Traces,
};

/// The connection of each account; `None` while another process has the account.
pub type Connections = Mutex<BTreeMap<(Platform, AccountName), Option<Connection>>>;

/// Rows that one /cancel reads at once.
const PAGE: usize = 256;

/// What commands work with.
pub struct Desk {
    /// The gateway's version.
    pub version: &'static str,
    /// What tells this gateway from others that tasks come through; another one at each start.
    pub mark: String,
    /// What the configuration says, for the names of the chat models.
    pub rules: Arc<Current<Rules>>,
    /// The clock.
    pub clock: Clock,
    /// The store.
    pub store: Arc<dyn Store>,
    /// People's preferences.
    pub directory: Arc<Directory>,
    /// Turns under way.
    pub running: Arc<Running>,
    /// What waits.
    pub dispatch: Arc<Dispatch>,
    /// What is not sent yet.
    pub deliverer: Deliverer,
    /// Recent reasons.
    pub traces: Arc<Traces>,
    /// The accounts' connections.
    pub connections: Arc<Connections>,
    /// How messages are sorted into queues.
    pub keying: Keying,
    /// The code that makes its sender an owner of the gateway.
    pub claim: Arc<Claim>,
    /// Who is dealt with now.
    pub alone: OneAtATime,
    /// The file of the database; `None` where it is on a server.
    pub database: Option<PathBuf>,
    /// Files that people sent, where they are kept.
    pub media: Option<Arc<MediaStore>>,
    /// Told when something was put off.
    pub put_off: Arc<Notify>,
    /// What is remembered; `None` if nothing is.
    pub memories: Option<Arc<Memories>>,
    /// The running configuration, if it can be changed.
    pub configure: Option<Arc<dyn Configure>>,
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk")
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

impl Desk {
    /// Now.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The facts of /status.
    #[must_use]
    pub fn status(&self, account: u32, conversation: i64, person: i64) -> StatusFacts {
        let stats = self.dispatch.stats();
        let accounts = self.connections.lock();
        let account_line =
            |((platform, name), connection): (&(Platform, AccountName), &Option<Connection>)| {
                format!("{platform}/{name}: {}", state_word(connection.as_ref()))
            };
        StatusFacts {
            version: self.version,
            uptime: Duration::from_micros(self.clock.tick()),
            waiting: stats.waiting.iter().sum(),
            own_waiting: self.own_waiting(account, conversation, person),
            running: self.running.len(),
            unsent: self.deliverer.unsent(),
            models: self.models(),
            accounts: accounts.iter().map(account_line).collect(),
            servers: self.servers().iter().map(ServerLine::brief).collect(),
            spent: None,
        }
    }

    /// What was used today by a person, in a conversation and by an account, if models have prices.
    ///
    /// # Errors
    /// The store's.
    pub async fn spent(&self, person: i64, site: Site) -> Result<Option<[String; 3]>, StoreError> {
        let rules = self.rules.get();
        if rules.choices.prices.is_empty() {
            return Ok(None);
        }
        let mut all = [const { String::new() }; 3];
        let of = Whose::of(person, site.conversation, site.account);
        for (text, whose) in all.iter_mut().zip(of) {
            let (place, key) = whose.place();
            let rows = self.store.settings(place).await?;
            let row = rows.iter().find(|(name, _)| *name == key);
            let spent = Spent::read(row.map(|(_, value)| value.as_str()));
            let (_, micros) = spent.today(self.now());
            *text = amount(micros, &rules.choices.currency);
        }
        Ok(Some(all))
    }

    /// Messages of a person that wait in memory in the queue of a conversation.
    #[must_use]
    pub fn own_waiting(&self, account: u32, conversation: i64, person: i64) -> usize {
        self.dispatch
            .depth(&self.key(account, conversation, person))
    }

    /// Stops everybody's running turns of a conversation, and waits for their ends as often and as long as `patience`
    /// says.
    pub async fn stop_all(&self, conversation: i64, patience: (u32, Duration)) {
        for _ in 0..patience.0 {
            if self.running.stop(conversation, 0, true) == 0 {
                return;
            }
            tokio::time::sleep(patience.1).await;
        }
        tracing::warn!(conversation, "a turn did not stop in time");
    }

    /// What waits for an answer in a conversation, oldest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn open_pendings(
        &self,
        conversation: i64,
        limit: usize,
    ) -> Result<Vec<StoredPending>, StoreError> {
        let at = self.now();
        let which = PendingFilter::Open { conversation, at };
        self.store.pendings(which, limit).await
    }

    /// Writes changes of a conversation that belong to no turn's end.
    ///
    /// # Errors
    /// The store's.
    pub async fn write_down(
        &self,
        conversation: i64,
        effects: Vec<Effect>,
    ) -> Result<(), StoreError> {
        let finish = Finish::of_no_turn(conversation, effects, self.now());
        let finish = Arc::new(finish);
        commit(&self.store, |then| Write::Finish(finish, then)).await?;
        Ok(())
    }

    /// What was said at a place until now is not looked through again for what to remember. Written before anything is
    /// forgotten, so that a crash in between lets nothing come back.
    ///
    /// # Errors
    /// The store's.
    pub async fn note_forgotten(&self, site: memory::Site) -> Result<(), StoreError> {
        let mark = memory::forgotten(site, self.now());
        self.write_down(site.conversation, vec![mark]).await
    }

    /// Stops running turns; says how many.
    #[must_use]
    pub fn stop(&self, conversation: i64, person: i64, everybody: bool) -> usize {
        self.running.stop(conversation, person, everybody)
    }

    /// Drops a person's waiting messages in a conversation, or everybody's, that are older than `before`, in memory
    /// and in the store; says their platform ids. Where several people share a queue only his own are dropped.
    ///
    /// # Errors
    /// The store's; what could not be ended there stays in the queue of a later start.
    pub async fn drop_waiting(
        &self,
        conversation: i64,
        whose: Option<i64>,
        before: i64,
        reason: Reason,
    ) -> Result<Vec<String>, StoreError> {
        let wanted = WaitingFilter {
            account: None,
            conversation: Some(conversation),
            person: whose,
            leases: None,
        };
        // What is not in the queue was taken by a turn, or is held back in the store.
        let waits = |row: &Waiting| {
            let (id, key) = (row.id, self.key(row.account, conversation, row.person));
            id < before
                && (self.dispatch.remove(&key, id)
                    || self.dispatch.holds(&key, id) && !self.running.has(id))
        };
        let (mut after, mut dropped) = (0, Vec::new());
        loop {
            let rows = self.store.waiting(after, wanted.clone(), PAGE).await?;
            let Some(last) = rows.last().map(|row| row.id) else {
                return Ok(dropped);
            };
            after = last;
            let rows: Vec<Waiting> = rows.into_iter().filter(waits).collect();
            let count = u64::try_from(rows.len()).unwrap_or(u64::MAX);
            Queue::Inbound.dropped(reason, count);
            self.end_dropped(&rows, reason).await?;
            let names = rows.iter().filter_map(|row| body::decode(&row.body));
            dropped.extend(names.map(|body| body.message));
        }
    }

    async fn end_dropped(&self, rows: &[Waiting], reason: Reason) -> Result<(), StoreError> {
        let at = self.now();
        let end = |row: &Waiting| {
            self.traces.note(row.id, reason, at);
            End {
                id: row.id,
                state: EndState::Dropped,
                reason: reason.code(),
                at,
            }
        };
        let ends: Vec<End> = rows.iter().map(end).collect();
        if ends.is_empty() {
            return Ok(());
        }
        let notices = Vec::new();
        let write = |then| Write::End {
            ends,
            notices,
            then,
        };
        commit(&self.store, write).await.map(drop)
    }

    /// What became of a message.
    ///
    /// # Errors
    /// The store's.
    pub async fn fate(
        &self,
        conversation: i64,
        message: Option<&str>,
        person: i64,
        before: i64,
    ) -> Result<Option<Fate>, StoreError> {
        self.store.fate(conversation, message, person, before).await
    }

    /// The recent steps of a message or turn.
    #[must_use]
    pub fn steps(&self, id: i64) -> Vec<(Timestamp, Reason)> {
        self.traces.of(id)
    }

    /// One preference of a person.
    ///
    /// # Errors
    /// The store's.
    pub async fn preference(&self, person: i64, key: &str) -> Result<Option<String>, StoreError> {
        self.directory.preference(person, key).await
    }

    /// The servers of tools and the endpoints of agents, and how each is doing.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerLine> {
        let rules = self.rules.get();
        let server = |server: &Arc<mcp::Server>| ServerLine {
            kind: Serves::Tools,
            name: server.settings().name.clone(),
            state: server.state(),
        };
        let peer = |peer: &Arc<Peer>| ServerLine {
            kind: Serves::Agents,
            name: peer.settings().name.clone(),
            state: peer.state(),
        };
        let servers = rules.tools.servers().each().map(server);
        let peers = rules.tools.peers().each().map(peer);
        servers.chain(peers).collect()
    }

    /// Has a server of tools started anew, or an endpoint of agents asked again; says whether there is one of this
    /// name.
    #[must_use]
    pub fn restart_server(&self, name: &str) -> bool {
        let rules = self.rules.get();
        if let Some(name) = name.strip_prefix(Serves::Agents.prefix()) {
            let mut peers = rules.tools.peers().each();
            let peer = peers.find(|peer| peer.settings().name == name);
            return peer.map(|peer| peer.restart()).is_some();
        }
        let mut servers = rules.tools.servers().each();
        let server = servers.find(|server| server.settings().name == name);
        server.map(|server| server.restart()).is_some()
    }

    /// The chat models, first choice first.
    fn models(&self) -> Vec<String> {
        let rules = self.rules.get();
        let models = rules.chain.models().iter();
        models.map(|model| model.name().to_owned()).collect()
    }

    fn key(&self, account: u32, conversation: i64, person: i64) -> QueueKey {
        self.keying.key(account, conversation, person)
    }
}

/// A connection in one word, for whoever asks: why it is so is for the log. `None` while another process has
/// the account.
#[must_use]
pub fn state_word(connection: Option<&Connection>) -> &'static str {
    match connection {
        None => "standby",
        Some(Connection::Waiting) => "waiting",
        Some(Connection::Up) => "up",
        Some(Connection::Degraded(_)) => "degraded",
        Some(Connection::Down(_)) => "down",
    }
}

/// A connection with its reason, for the operator.
#[must_use]
pub fn describe(connection: &Connection) -> String {
    match connection {
        Connection::Waiting => "waiting".into(),
        Connection::Up => "up".into(),
        Connection::Degraded(why) => format!("degraded ({why})"),
        Connection::Down(why) => format!("down ({why})"),
    }
}
