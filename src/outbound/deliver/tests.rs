//! Delivery against a scripted adapter, in virtual time.

mod ends;
mod errors;
mod fair;
mod floods;
mod order;
mod restart;

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use tempfile::TempDir;
use tokio::time::Instant;
use weirgate_sdk::{Adapter, ConversationKey, Freeze, SendError, Stopper, answer::Format};
use weirgate_testkit::{
    clock::within,
    scripted::{Options, Reaction, ScriptedAdapter},
};

use super::{Deliverer, Parts, Reply};
use crate::{
    clock::Clock,
    directory::Directory,
    hook::Hooks,
    outbound::config::{OnUnknown, Output},
    reason::Reason,
    store::{
        Accept, Accepted, Fate, Finish, HistoryScope, NewReply, Part, PendingReply, ReplyBody,
        Store, TurnState, Write, commit,
        sqlite::{Durability, Options as StoreOptions, Retention, SqliteStore},
    },
    trace::Traces,
};

/// Longer than anything here takes, in virtual time.
const DAY: Duration = Duration::from_secs(86_400);

/// A deliverer between a store in a file and accounts that do as they are told.
struct Rig {
    _folder: TempDir,
    path: PathBuf,
    output: Output,
    accounts: Vec<Arc<ScriptedAdapter>>,
    process: Process,
    messages: Mutex<HashMap<String, i64>>,
}

/// What ends with a process.
struct Process {
    store: Arc<dyn Store>,
    traces: Arc<Traces>,
    clock: Clock,
    deliverer: Deliverer,
    stopper: Stopper,
}

impl Process {
    fn start(path: &std::path::Path, output: &Output, accounts: &[Arc<ScriptedAdapter>]) -> Self {
        let store: Arc<dyn Store> = SqliteStore::open_inline(StoreOptions {
            path: path.to_owned(),
            durability: Durability::Process,
            retention: Retention {
                inbox: DAY,
                outbox: DAY,
                history: DAY,
                audit: DAY,
                media: DAY,
            },
            readers: 1,
            now: || 1_000,
        })
        .unwrap();
        let clock = Clock::starting_at(1_000);
        let traces = Arc::new(Traces::default());
        let (stopper, stop) = Stopper::new();
        let adapters = accounts
            .iter()
            .map(|account| {
                let adapter: Arc<dyn Adapter> = account.clone();
                ((account.platform(), account.account()), adapter)
            })
            .collect();
        let deliverer = Deliverer::new(Parts {
            redactor: Arc::default(),
            sent: Arc::default(),
            store: Arc::clone(&store),
            adapters,
            directory: Arc::new(Directory::new(Arc::clone(&store))),
            traces: Arc::clone(&traces),
            clock,
            output: output.clone(),
            hooks: Hooks::default(),
            media: None,
            stop,
        });
        Self {
            store,
            traces,
            clock,
            deliverer,
            stopper,
        }
    }
}

impl Rig {
    fn new() -> Self {
        Self::with(Output::default(), vec![Options::default()])
    }

    fn with(output: Output, accounts: Vec<Options>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("weirgate.db");
        let accounts: Vec<_> = accounts.into_iter().map(ScriptedAdapter::new).collect();
        let process = Process::start(&path, &output, &accounts);
        let messages = Mutex::default();
        Self {
            _folder: folder,
            path,
            output,
            accounts,
            process,
            messages,
        }
    }

    fn stage(&self) -> &Arc<ScriptedAdapter> {
        &self.accounts[0]
    }

    /// Scripts the sends to a conversation of the first account.
    fn script(&self, conversation: &str, reactions: impl IntoIterator<Item = Reaction>) {
        self.stage().script(conversation, reactions);
    }

    /// An answer of these parts, to a message that was accepted for it; gives its id.
    async fn answer(&self, conversation: &str, parts: &[&str]) -> i64 {
        self.answer_of(0, conversation, parts, Format::Markdown, &[])
            .await
    }

    async fn answer_of(
        &self,
        account: usize,
        conversation: &str,
        parts: &[&str],
        format: Format,
        pauses: &[u32],
    ) -> i64 {
        let (row, key) = self.accept(account, conversation).await;
        let body = body(parts, format, pauses, row.id);
        self.finish(row, &body).await;
        let tick = self.process.clock.tick();
        self.process.deliverer.push(Reply {
            id: row.id,
            conversation: row.conversation,
            key: Arc::new(key),
            turn: Some(row.id),
            body,
            part: 0,
            intent_written: true,
            doubts: 0,
            doubtful: false,
            since: tick,
            due: tick,
        });
        row.id
    }

    async fn accept(&self, account: usize, conversation: &str) -> (Accepted, ConversationKey) {
        let stage = &self.accounts[account];
        let key = stage.key(conversation);
        let count = {
            let mut messages = self.messages.lock().unwrap();
            let count = messages.entry(conversation.to_owned()).or_default();
            *count += 1;
            *count
        };
        let message = Accept {
            conversation: key.clone(),
            person: stage.user("ann"),
            event: format!("{conversation}/{account}/{count}").into(),
            event_until: 1 << 40,
            at: 1_000,
            route: 0,
            priority: 0,
            shown: false,
            body: format!(r#"{{"i":"m{count}","t":"hi"}}"#).into(),
        };
        let (platform, account) = (stage.platform(), stage.account());
        let rows = commit(&self.process.store, |then| Write::Accept {
            platform,
            account,
            messages: vec![message],
            cursor: None,
            then,
        });
        (rows.await.unwrap()[0], key)
    }

    async fn finish(&self, row: Accepted, body: &ReplyBody) {
        let reply = NewReply {
            conversation: row.conversation,
            turn: Some(row.id),
            sending: true,
            shown: false,
            due_at: 1_000,
            body: serde_json::to_string(body).unwrap().into(),
        };
        let finish = Finish {
            turn: row.id,
            begun: false,
            members: vec![row.id],
            state: TurnState::Done,
            reason: None,
            history: Vec::new(),
            scope: HistoryScope {
                conversation: row.conversation,
                person: 0,
            },
            replies: vec![reply],
            effects: Vec::new(),
            at: 1_000,
        };
        let ids = commit(&self.process.store, |then| {
            Write::Finish(Arc::new(finish), then)
        });
        assert_eq!(ids.await.unwrap(), [row.id]);
    }

    /// Waits until everything is settled.
    async fn settled(&self) {
        within(DAY, "delivery", self.process.deliverer.idle()).await;
    }

    /// Stops as the gateway does and starts anew on the same file.
    async fn restart(mut self) -> Self {
        self.process.stopper.stop();
        within(DAY, "the stop", self.process.deliverer.drained()).await;
        self.process.store.close().await;
        drop(self.process.store);
        drop(self.process.deliverer);
        self.process = Process::start(&self.path, &self.output, &self.accounts);
        self
    }

    /// What is not sent yet, as the store knows it.
    async fn pending(&self) -> Vec<PendingReply> {
        self.process
            .store
            .pending_replies(None, 0, 1_000)
            .await
            .unwrap()
    }

    /// The state of an answer and its reason.
    async fn state(&self, id: i64) -> (&'static str, Option<String>) {
        let fate = self.fate(id).await;
        (fate.answer.expect("an answer"), fate.answer_reason)
    }

    async fn fate(&self, id: i64) -> Fate {
        // Persons and conversations are few here: the one that knows the message is the right one.
        for conversation in 1..100 {
            for person in 1..10 {
                let found = self.process.store.fate(conversation, None, person, id + 1);
                if let Some(fate) = found.await.unwrap()
                    && fate.id == id
                {
                    return fate;
                }
            }
        }
        panic!("no message {id}");
    }

    fn noted(&self, id: i64, reason: Reason) -> usize {
        let steps = self.process.traces.of(id);
        steps.iter().filter(|(_, step)| *step == reason).count()
    }

    /// What was shown, as (answer, part).
    fn shown(&self) -> Vec<(i64, u32)> {
        self.stage()
            .shown()
            .iter()
            .map(|shown| (shown.id, shown.part))
            .collect()
    }

    /// What was tried, as (answer, part).
    fn tried(&self) -> Vec<(i64, u32)> {
        let calls = self.stage().calls();
        calls
            .iter()
            .map(|call| (call.outgoing.id, call.outgoing.part))
            .collect()
    }
}

fn body(parts: &[&str], format: Format, pauses: &[u32], message: i64) -> ReplyBody {
    let mut text = String::new();
    let mut ranges = Vec::new();
    for part in parts {
        let start = text.len();
        text.push_str(part);
        ranges.push(Part {
            start,
            end: text.len(),
            before: String::new(),
            after: String::new(),
        });
    }
    ReplyBody {
        text,
        format,
        parts: if ranges.len() > 1 { ranges } else { Vec::new() },
        answers: vec![format!("m{message}")],
        author: None,
        reply_context: None,
        pauses: pauses.to_vec(),
        buttons: Vec::new(),
        file: None,
        media: Vec::new(),
        private: false,
    }
}

fn on_unknown(on_unknown: OnUnknown) -> Output {
    Output {
        on_unknown,
        ..Output::default()
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn limited(after: u64, scope: Freeze) -> Reaction {
    Reaction::Refuse(SendError::RateLimited {
        after: seconds(after),
        scope,
    })
}

fn refuse(error: SendError) -> Reaction {
    Reaction::Refuse(error)
}

/// When each shown part came, in seconds since `start`.
fn times(stage: &ScriptedAdapter, start: Instant) -> Vec<u64> {
    stage
        .shown()
        .iter()
        .map(|shown| shown.at.duration_since(start).as_secs())
        .collect()
}
