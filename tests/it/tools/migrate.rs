//! `migrate`: everything that a SQLite store holds goes on in PostgreSQL, at once or not at all.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::{Value, json};
use weirgate::store::transfer::{TABLES, Table};
use weirgate_testkit::{
    model::{FakeModel, Script},
    onebot::FakeOneBot,
    webchat::WebChatClient,
};

use super::{Said, tool};
use crate::{
    gateway::{Chat as _, Gateway, LIMIT, person, rows},
    postgres::Schema,
};

/// An answer of three parts.
const LONG: [&str; 3] = ["one ", "two ", "six "];

/// A gateway on a file, the schema to which it moves, and a model that does not answer what begins with
/// "wait" until it is let go.
struct Move {
    model: FakeModel,
    held: Arc<AtomicBool>,
    gateway: Gateway,
    schema: Schema,
}

impl Move {
    async fn new() -> Self {
        let held = Arc::new(AtomicBool::new(true));
        let holds = Arc::clone(&held);
        let model = FakeModel::start_with(move |text| {
            if text == "tell me" {
                let long = LONG.map(|word| word.repeat(20));
                Script::answer(long.join("\n\n").trim())
            } else if text.starts_with("wait") && holds.load(Ordering::Relaxed) {
                Script::hang()
            } else {
                Script::answer(&format!("re: {text}"))
            }
        })
        .await;
        let gateway = Gateway::prepare(&model, changes(json!({})));
        Self {
            model,
            held,
            gateway,
            schema: Schema::new().await,
        }
    }

    /// Runs the tool.
    async fn migrate(&self, more: &[&str]) -> Said {
        let from = format!("sqlite:{}", self.gateway.database().display());
        let url = self.schema.url();
        let mut arguments = vec!["migrate", "--from", &from, "--to", &url];
        arguments.extend(more);
        tool(&self.gateway, &arguments).await
    }

    /// The tool must refuse, for a reason.
    async fn refused(&self, reason: &str) {
        let said = self.migrate(&[]).await;
        assert!(said.code == 1 && said.err.contains(reason), "{said:?}");
    }

    /// What the file holds, and what its log holds.
    fn file(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        let database = self.gateway.database();
        let log = database.with_file_name("weirgate.db-wal");
        (fs::read(database).unwrap(), fs::read(log).ok())
    }

    /// From now on the gateway is on the server.
    fn settle(&self) {
        let storage = json!({ "storage": { "url": self.schema.url() } });
        self.gateway.configure(&self.model, changes(storage));
    }

    /// The rows of all tables in the file.
    fn rows_here(&self) -> BTreeMap<&'static str, Vec<Value>> {
        let read = |table: &Table| {
            let Table { columns, key, .. } = table;
            let sql = format!(
                "SELECT json_array({columns}) FROM {} ORDER BY {key}",
                table.name
            );
            (table.name, values(rows(&self.gateway.database(), &sql)))
        };
        TABLES.iter().map(read).collect()
    }

    /// The rows of all tables on the server.
    async fn rows_there(&self) -> BTreeMap<&'static str, Vec<Value>> {
        let mut all = BTreeMap::new();
        for table in &TABLES {
            let Table { columns, key, .. } = table;
            let sql = format!(
                "SELECT json_build_array({columns})::text FROM {} ORDER BY {key}",
                table.name
            );
            all.insert(table.name, values(self.schema.texts(&sql).await));
        }
        all
    }
}

/// The configuration: one message a turn, and parts of a hundred characters.
fn changes(mut more: Value) -> Value {
    crate::gateway::merge(
        &mut more,
        json!({
            "flow_control": { "auto": { "messages_per_request": 1 } },
            "platforms": { "qq": { "accounts": { "main": { "max_length": 100 } } } },
            "output": { "segmented": { "add_ellipsis": false } },
        }),
    );
    more
}

/// Rows as JSON, with truths as both databases can show them.
fn values(rows: Vec<String>) -> Vec<Value> {
    let value = |row: String| {
        let mut row: Vec<Value> = serde_json::from_str(&row).unwrap();
        for cell in &mut row {
            if let Some(truth) = cell.as_bool() {
                *cell = json!(i64::from(truth));
            }
        }
        Value::Array(row)
    };
    rows.into_iter().map(value).collect()
}

/// The texts that a window shows of its past.
fn texts(history: &Value) -> Vec<String> {
    let messages = history["messages"].as_array().unwrap();
    let text = |message: &Value| message.to_string();
    messages.iter().map(text).collect()
}

/// Fills the file: history, a setting, something remembered, an audit record, a conversation in the browser, two messages for each
/// of two people and one of the page that wait, one that was recalled, and an answer of which one part of
/// three is delivered.
async fn fill(all: &mut Move) -> (FakeOneBot, WebChatClient) {
    all.gateway.up().await;
    let fake = all.gateway.onebot().await;
    assert_eq!(fake.ask(1, "my name is Ann").await, "re: my name is Ann");
    fake.ask(1, "/lang en").await;
    fake.ask(1, "/memory add My cat is called Pangur.").await;
    fake.group_as("owner", 300, 5, "/reset").await;
    fake.answer().await;
    let mut page = WebChatClient::connect(all.gateway.http()).await;
    page.enter(None).await;
    page.say("w1", "hello page").await;
    page.skip_to("end").await;
    all.gateway.term().await;

    all.gateway.set("WEIRGATE_FAILPOINT", "intent.after:2");
    all.gateway.up().await;
    assert!(fake.connection_is(true, LIMIT).await);
    let mut again = WebChatClient::connect(all.gateway.http()).await;
    again.enter(Some(&page.token)).await;
    again.say("w2", "wait page").await;
    again.next_of("ack").await;
    let before = all.model.count();
    for user in [2, 3] {
        for number in [1, 2] {
            fake.send_private(user, &format!("wait {user} {number}"))
                .await;
        }
    }
    let gone = fake.send_private(3, "wait no more").await;
    fake.recall(None, 3, gone).await;
    all.model.wait_for(before + 2).await;
    fake.send_private(7, "tell me").await;
    assert_eq!(all.gateway.ended().await.code(), None, "it was to abort");
    all.gateway.set("WEIRGATE_FAILPOINT", "");
    assert_eq!(fake.answer().await.text(), LONG[0].repeat(20).trim());
    (fake, again)
}

#[tokio::test]
async fn everything_goes_on_where_it_was() {
    let mut all = Move::new().await;
    let (fake, page) = fill(&mut all).await;
    let before = all.file();

    all.gateway.set("WEIRGATE_FAILPOINT", "migrate.before:5");
    assert!(
        tool_aborts(&all).await,
        "it was to abort in the middle of the move"
    );
    all.gateway.set("WEIRGATE_FAILPOINT", "");
    let rehearsed = all.migrate(&["--dry-run"]).await.done();
    assert!(rehearsed.contains("rehearsal"), "{rehearsed}");
    let empty = all.rows_there().await;
    assert!(empty.values().all(Vec::is_empty), "{empty:?}");

    let said = all.migrate(&[]).await.done();
    assert!(before == all.file(), "the source is what it was");
    let (here, there) = (all.rows_here(), all.rows_there().await);
    for (table, rows) in &here {
        assert_eq!(rows, &there[table], "{table}");
        let told = said.lines().any(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words == [*table, &rows.len().to_string()]
        });
        assert!(told, "{table}: {said}");
    }
    // Nobody sent a file or was asked anything, and no tool was called.
    let filled = |(table, rows): (&&str, &Vec<_>)| {
        matches!(*table, "media" | "pending" | "step") || !rows.is_empty()
    };
    assert!(here.iter().all(filled), "{here:?}");
    all.refused("is not empty").await;

    go_on(&mut all, &fake, page).await;
    all.refused("is in use by another process").await;
}

async fn tool_aborts(all: &Move) -> bool {
    let from = all.gateway.database();
    let (from, url) = (from.to_str().unwrap(), all.schema.url());
    let arguments = ["migrate", "--from", from, "--to", &url];
    let output = all.gateway.command(&arguments).output().await.unwrap();
    output.status.code().is_none()
}

/// Starts the gateway on the server: what waited is answered in order, the rest of the answer comes, and what
/// was is known.
async fn go_on(all: &mut Move, fake: &FakeOneBot, page: WebChatClient) {
    all.settle();
    all.held.store(false, Ordering::Relaxed);
    let asked = all.model.count();
    let last = all.schema.texts("SELECT last_id::text FROM journal").await;
    let last: i64 = last[0].parse().unwrap();
    all.gateway.up().await;
    let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for _ in 0..6 {
        let reply = fake.answer().await;
        let of = answers.entry(person(&reply).to_owned()).or_default();
        of.push(reply.text());
    }
    for user in ["2", "3"] {
        let expected = [1, 2].map(|number| format!("re: wait {user} {number}"));
        assert_eq!(answers[user], expected);
    }
    assert_eq!(
        answers["7"],
        [1, 2].map(|part| LONG[part].repeat(20).trim().to_owned())
    );

    let mut window = WebChatClient::connect(all.gateway.http()).await;
    let history = loop {
        let history = window.enter(Some(&page.token)).await;
        if texts(&history)
            .iter()
            .any(|text| text.contains("re: wait page"))
        {
            break history;
        }
        window = WebChatClient::connect(all.gateway.http()).await;
    };
    assert_eq!(texts(&history).len(), 4, "{history}");
    assert_eq!(all.model.count(), asked + 5, "nothing is asked twice");

    assert_eq!(fake.ask(1, "who am I?").await, "re: who am I?");
    let asked = all.model.requests().pop().unwrap();
    let asked = asked.body.to_string();
    assert!(asked.contains("my name is Ann"), "{asked}");
    let new = "SELECT min(id)::text FROM inbox WHERE body LIKE '%who am I%'";
    let new: i64 = all.schema.texts(new).await[0].parse().unwrap();
    assert!(new > last, "no id is given out again: {new} after {last}");
    fake.send_private(99, "somebody new").await;
    assert_eq!(fake.answer().await.text(), "re: somebody new");
}

#[tokio::test]
async fn a_gateway_that_runs_is_named_and_a_wrong_way_refused() {
    let mut all = Move::new().await;
    all.refused("there is no database at").await;
    all.gateway.up().await;
    all.refused("in use by another process (process").await;
    all.gateway.term().await;

    let file = all.gateway.database();
    let (file, url) = (file.to_str().unwrap(), all.schema.url());
    for (from, to, reason) in [
        (url.as_str(), file, "from SQLite to PostgreSQL only"),
        (file, "other.db", "from SQLite to PostgreSQL only"),
        (file, "mysql://bot@host/db", "--to: the address begins with"),
        ("sqlite:", url.as_str(), "--from: the address names no file"),
    ] {
        let arguments = ["migrate", "--from", from, "--to", to];
        let said = tool(&all.gateway, &arguments).await;
        assert!(said.code == 1 && said.err.contains(reason), "{said:?}");
    }
    let lost = "postgres://bot:pass-word-1@127.0.0.1:1/chat";
    let said = tool(&all.gateway, &["migrate", "--from", file, "--to", lost]).await;
    assert!(
        said.code == 1 && said.err.contains("chat at 127.0.0.1:1 cannot be reached"),
        "{said:?}"
    );
    assert!(!said.err.contains("pass-word-1"), "{said:?}");
    all.migrate(&[]).await.done();
}

#[tokio::test]
async fn a_character_that_the_server_does_not_know_is_replaced_and_told() {
    let mut all = Move::new().await;
    all.gateway.up().await;
    all.gateway.term().await;
    rusqlite::Connection::open(all.gateway.database())
        .and_then(|file| {
            file.execute_batch(
                "INSERT INTO setting VALUES (0, 1, 'lang', 'a' || char(0) || 'b'), (0, 2, 'x', 'c\\d\te')",
            )
        })
        .unwrap();
    let said = all.migrate(&[]).await.done();
    assert!(said.contains("1 texts had the character NUL"), "{said}");
    let settings = all
        .schema
        .texts("SELECT value FROM setting ORDER BY person")
        .await;
    assert_eq!(settings, ["a\u{FFFD}b", "c\\d\te"]);
}

#[tokio::test]
async fn every_column_of_both_stores_is_moved() {
    let mut all = Move::new().await;
    all.gateway.up().await;
    all.gateway.term().await;
    all.migrate(&["--dry-run"]).await.done();
    let here =
        "SELECT m.name || '.' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
                WHERE m.type = 'table' AND m.name NOT IN ('_sqlx_migrations', 'meta') AND m.name NOT LIKE 'memory_index%'";
    let there = "SELECT table_name || '.' || column_name FROM information_schema.columns
                 WHERE table_schema = current_schema()
                   AND table_name NOT IN ('_sqlx_migrations', 'journal', 'process', 'lease')
                   AND column_name <> 'lease'
                   AND table_name || '.' || column_name NOT IN ('turn.process', 'memory.words')";
    let moved: BTreeSet<String> = TABLES
        .iter()
        .flat_map(|table| {
            let columns = table.columns.split(", ");
            columns.map(|column| format!("{}.{column}", table.name))
        })
        .collect();
    let here: BTreeSet<String> = rows(&all.gateway.database(), here).into_iter().collect();
    let there: BTreeSet<String> = all.schema.texts(there).await.into_iter().collect();
    assert_eq!(here, moved);
    assert_eq!(there, moved);
}
