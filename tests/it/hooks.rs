//! A gateway with the plug-ins of `examples/plugins`: what each of them does to what passes.
//!
//! Owns a core in this process, for plug-ins are code of the one who builds the program.

#![cfg(test)]

#[path = "../../examples/plugins/plugins.rs"]
mod plugins;

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use plugins::{Counter, Counts, Numbers, Remarks, Silence, Urgent};
use tempfile::TempDir;
use weirgate::{
    agent::model::{ChatRequest, Delta, FinishReason, Model, ModelError, ModelStream},
    app::core::{Core, Live, Parts},
    clock::Clock,
    hook::Hooks,
    inbound::{accept::AccountRules, addressing::Addressing},
    security::redact::Redactor,
    store::sqlite::{Durability, Options, Retention, SqliteStore},
};
use weirgate_sdk::{Adapter, Event};
use weirgate_testkit::{
    clock::until,
    scripted::{self, ScriptedAdapter},
};

use crate::simulation::base;

const DAY: Duration = Duration::from_secs(86_400);

/// Says what it was told, but the words after `say`; remembers all of it.
#[derive(Default)]
struct Parrot(Mutex<Vec<String>>);

#[async_trait]
impl Model for Parrot {
    fn name(&self) -> &str {
        "sim/one"
    }

    fn provider(&self) -> &str {
        "sim"
    }

    async fn open(&self, request: &ChatRequest) -> Result<Box<dyn ModelStream>, ModelError> {
        let told = request.last_user_text().unwrap_or_default().to_owned();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let said = told.rsplit("say ").next().unwrap_or_default().to_owned();
        self.0.lock().push(told);
        Ok(Box::new(Words(Some(said), false)))
    }
}

struct Words(Option<String>, bool);

#[async_trait]
impl ModelStream for Words {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        if let Some(words) = self.0.take() {
            return Some(Ok(Delta::Text(words)));
        }
        let first = !std::mem::replace(&mut self.1, true);
        first.then_some(Ok(Delta::Finish(FinishReason::Stop)))
    }
}

/// A running core.
struct Bed {
    live: Live,
    stage: Arc<ScriptedAdapter>,
    parrot: Arc<Parrot>,
    counts: Arc<Counts>,
    _folder: TempDir,
}

impl Bed {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let stage = ScriptedAdapter::new(scripted::Options::default());
        let counts = Arc::<Counts>::default();
        let parrot = Arc::<Parrot>::default();
        let mut config = base();
        config.flow_control.max_turns_in_flight = 1;
        let store = SqliteStore::open_inline(Options {
            path: folder.path().join("weirgate.db"),
            durability: Durability::Process,
            retention: Retention {
                inbox: DAY,
                outbox: DAY,
                history: DAY,
                audit: DAY,
                media: DAY,
            },
            readers: 1,
            now: || 1,
        })
        .unwrap();
        let account = (stage.platform(), stage.account());
        let adapter: Arc<dyn Adapter> = stage.clone();
        let rules = AccountRules {
            addressing: Addressing::default(),
            shown: false,
            terms: Arc::default(),
        };
        let parts = Parts {
            store,
            adapters: HashMap::from([(account.clone(), adapter)]),
            rules: HashMap::from([(account, rules)]),
            models: vec![parrot.clone() as Arc<dyn Model>].into(),
            redactor: Redactor::new(Vec::<String>::new()).0,
            clock: Clock::starting_at(1_000),
            random: || 0.5,
            configure: None,
            media: None,
            hooks: Hooks::new(vec![
                Box::new(Remarks),
                Box::new(Urgent),
                Box::new(Numbers),
                Box::new(Silence),
                Box::new(Counter(Arc::clone(&counts))),
            ]),
            memories: None,
        };
        let live = Core::new(&config, parts).unwrap().start().await.unwrap();
        stage.running().await;
        Self {
            live,
            stage,
            parrot,
            counts,
            _folder: folder,
        }
    }

    /// People write at once; each message by its conversation and text.
    async fn hear(&self, said: &[(&str, &str)]) {
        let messages = said.iter().enumerate().map(|(number, (who, text))| {
            let message = self.stage.message(who, who, &number.to_string(), text);
            Event::Message(Box::new(message))
        });
        self.stage.feed(messages.collect()).await.unwrap();
    }

    fn told(&self) -> Vec<String> {
        self.parrot.0.lock().clone()
    }

    async fn end(mut self) {
        self.live.drain().await;
        self.live.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_plug_in_leaves_out_is_nowhere_and_what_it_puts_first_is_first() {
    let bed = Bed::new().await;
    bed.hear(&[
        ("ann", "say one"),
        ("bob", "// say nothing"),
        ("cat", "say two"),
        ("dan", "urgent: say three"),
    ])
    .await;
    assert!(until(DAY, || bed.told().len() == 3).await);
    let told = bed.told();
    let place = |word: &str| told.iter().position(|text| text.ends_with(word));
    assert!(place("three") < place("two"), "{told:?}");
    tokio::time::sleep(DAY).await;
    assert_eq!(bed.told().len(), 3);
    let counts = &bed.counts;
    let counted = [&counts.queued, &counts.begun, &counts.sent, &counts.emptied];
    let counted = counted.map(|count| count.load(Ordering::Relaxed));
    assert_eq!(counted, [3; 4]);
    bed.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_plug_in_changes_what_the_model_is_told_and_keeps_an_answer_back() {
    let bed = Bed::new().await;
    bed.hear(&[("ann", "call 13800138000 or 12345, say hello")])
        .await;
    assert!(until(DAY, || bed.stage.texts("ann") == ["hello"]).await);
    assert_eq!(bed.told(), ["call [number] or 12345, say hello"]);
    bed.hear(&[("bob", "say NO_REPLY")]).await;
    assert!(until(DAY, || bed.told().len() == 2).await);
    tokio::time::sleep(DAY).await;
    assert_eq!(bed.stage.texts("bob"), [""; 0]);
    bed.end().await;
}
