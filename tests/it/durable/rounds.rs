//! Web chat over kills: what was acknowledged is answered once, and nothing is shown twice.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{FakeModel, Script},
    webchat::WebChatClient,
};

use super::{Random, report, seed};
use crate::{
    engine::Engine,
    gateway::{Gateway, LIMIT, long},
};

/// What a page shows, made from frames as the protocol says.
#[derive(Default)]
struct Page {
    /// Messages that are not acknowledged yet, in order.
    unacknowledged: Vec<(String, String)>,
    /// The finished answers: text and answered messages, by id and part.
    answers: BTreeMap<(i64, i64), (String, Vec<String>)>,
    /// Messages whose end was seen.
    ended: Vec<String>,
    /// The draft of each turn: its attempt and its blocks.
    drafts: BTreeMap<String, (u64, Vec<String>)>,
    /// The same part came again, as it may after a crash.
    again: usize,
}

impl Page {
    fn see(&mut self, frame: &Value) {
        let name = frame["messageId"].as_str().unwrap_or_default();
        match frame["type"].as_str().unwrap() {
            "ack" | "user" => self.acknowledged(name),
            "text" if frame["final"] == true => self.finished(frame),
            "text" => self.draft(frame),
            "end" => {
                self.acknowledged(name);
                self.ended.push(name.to_owned());
            }
            "history" => self.history(frame),
            "pong" => {}
            other => panic!("{other}: {frame}"),
        }
    }

    fn acknowledged(&mut self, name: &str) {
        self.unacknowledged.retain(|(known, _)| known != name);
    }

    fn finished(&mut self, frame: &Value) {
        let answers = names(&frame["answers"]);
        for name in &answers {
            self.acknowledged(name);
        }
        let id = (
            frame["id"].as_i64().unwrap(),
            frame["part"].as_i64().unwrap(),
        );
        let text = frame["text"].as_str().unwrap().to_owned();
        self.drafts
            .remove(frame["turn"].as_str().unwrap_or_default());
        if let Some((known, _)) = self.answers.get(&id) {
            // An answer that came by a snapshot before has its HTML only.
            let same = text.lines().all(|line| known.contains(line));
            assert!(same, "{known:?} became {text:?}");
            self.again += 1;
            return;
        }
        self.answers.insert(id, (text, answers));
    }

    fn draft(&mut self, frame: &Value) {
        let turn = frame["turn"].as_str().unwrap().to_owned();
        let attempt = frame["attempt"].as_u64().unwrap();
        let (known, blocks) = self.drafts.entry(turn).or_default();
        if frame["replace"] == true || attempt > *known {
            blocks.clear();
            *known = attempt;
        }
        let block = usize::try_from(frame["block"].as_u64().unwrap()).unwrap();
        assert!(block <= blocks.len(), "a gap before {frame}");
        blocks.truncate(block);
        blocks.push(frame["html"].as_str().unwrap().to_owned());
    }

    fn history(&mut self, frame: &Value) {
        assert_eq!(frame["replace"], true);
        self.drafts.clear();
        let messages = frame["messages"].as_array().unwrap();
        // A page would ask for what is older; it cannot have changed.
        let first = messages.first().and_then(|message| message["id"].as_i64());
        let older = |id: i64| frame["more"] == true && first.is_some_and(|first| id < first);
        self.answers.retain(|(id, _), _| older(*id));
        for message in messages {
            if message["role"] == "user" {
                let name = message["messageId"].as_str().unwrap();
                self.acknowledged(name);
                if message["pending"] == false {
                    self.ended.push(name.to_owned());
                }
                continue;
            }
            let html = message["html"].as_str().unwrap().to_owned();
            let id = message["id"].as_i64().unwrap();
            self.answers
                .insert((id, 0), (html, names(&message["answers"])));
        }
    }

    /// How often each message is answered by what is shown now.
    fn shown(&self) -> BTreeMap<&str, usize> {
        let mut shown = BTreeMap::new();
        for (_, names) in self.answers.values() {
            for name in names {
                *shown.entry(name.as_str()).or_default() += 1;
            }
        }
        shown
    }
}

fn names(value: &Value) -> Vec<String> {
    let names = value.as_array().unwrap().iter();
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// Reads for a while; `false` if the connection is gone.
async fn read(client: &mut WebChatClient, page: &mut Page, limit: Duration) -> bool {
    let until = tokio::time::Instant::now() + limit;
    loop {
        let left = until.saturating_duration_since(tokio::time::Instant::now());
        match client.next_within(left).await {
            None => return true,
            Some(frame) if frame.get("closed").is_some() => return false,
            Some(frame) => page.see(&frame),
        }
    }
}

/// Says a few things with pauses, in which what comes is read.
async fn say(client: &mut WebChatClient, page: &mut Page, said: &mut u64, random: &mut Random) {
    for _ in 0..random.within(1, 4) {
        *said += 1;
        let (name, text) = (format!("m{said}"), format!("question {said}"));
        client.say(&name, &text).await;
        page.unacknowledged.push((name, text));
        let pause = Duration::from_millis(random.within(1, 60));
        assert!(read(client, page, pause).await);
    }
    let pause = Duration::from_millis(random.within(0, 250));
    assert!(read(client, page, pause).await);
}

/// Comes back to another process and says again what was not acknowledged.
async fn come_back(gateway: &Gateway, page: &mut Page, before: &WebChatClient) -> WebChatClient {
    let mut client = WebChatClient::connect(gateway.http()).await;
    let welcome = client.resume(before).await;
    assert_eq!(welcome["resumed"], false, "another process");
    page.see(&client.next_of("history").await);
    for (name, text) in page.unacknowledged.clone() {
        client.say(&name, &text).await;
    }
    client
}

/// Reads until every message is answered and ended, and checks what is shown then.
async fn complete(client: &mut WebChatClient, page: &mut Page, said: u64) {
    let all: Vec<String> = (1..=said).map(|number| format!("m{number}")).collect();
    let missing = |page: &Page| {
        let shown = page.shown();
        let done = |name: &&String| shown.contains_key(name.as_str()) && page.ended.contains(name);
        let missing = all.iter().filter(|name| !done(name));
        missing.cloned().collect::<Vec<String>>()
    };
    let started = std::time::Instant::now();
    while !missing(page).is_empty() && started.elapsed() < LIMIT {
        assert!(read(client, page, Duration::from_millis(50)).await);
    }
    assert_eq!(missing(page), [""; 0], "of {said}");
    assert!(page.unacknowledged.is_empty(), "{:?}", page.unacknowledged);
    assert!(page.drafts.is_empty(), "{:?}", page.drafts);
    let twice: Vec<_> = page
        .shown()
        .into_iter()
        .filter(|(_, count)| *count != 1)
        .collect();
    assert!(twice.is_empty(), "{twice:?}");
    let mut last = 0;
    for (text, names) in page.answers.values() {
        assert!(
            text.contains("An answer in some words to "),
            "{names:?} were told {text:?}"
        );
        for name in names {
            let number: u64 = name[1..].parse().unwrap();
            assert!(number > last, "{name} after m{last}");
            last = number;
        }
    }
}

/// A model that answers in pieces.
async fn model() -> FakeModel {
    FakeModel::start_with(|text| {
        let script = Script::answer(&format!("An answer in some words to {text}."));
        let (first, between) = (Duration::from_millis(20), Duration::from_millis(15));
        script.first(first).between(between)
    })
    .await
}

/// No question is in the history that the model got last more than once.
fn asked_once(model: &FakeModel, said: u64) {
    let requests = model.requests();
    let messages = requests.last().unwrap().body["messages"]
        .as_array()
        .unwrap();
    let questions = messages.iter().filter(|message| message["role"] == "user");
    let texts = questions.filter_map(|message| message["content"].as_str());
    let lines: Vec<&str> = texts.flat_map(str::lines).collect();
    for number in 1..=said {
        let exact = format!("question {number}");
        let times = lines.iter().filter(|line| **line == exact).count();
        assert!(
            times <= 1,
            "{exact} is in the history {times} times: {lines:#?}"
        );
    }
}

async fn what_a_visitor_said_is_answered_once_over_kills(on: Engine) {
    let seed = seed("web chat");
    let mut random = Random(seed);
    let model = model().await;
    let changes = json!({ "platforms": { "qq": null } });
    let mut gateway = Gateway::prepare_on(on, &model, changes).await;
    gateway.up().await;
    let mut page = Page::default();
    let mut client = WebChatClient::connect(gateway.http()).await;
    page.see(&client.enter(None).await);
    let mut said = 0;
    for round in 1..=if long() { 60 } else { 12 } {
        say(&mut client, &mut page, &mut said, &mut random).await;
        gateway.kill().await;
        let gone = !read(&mut client, &mut page, LIMIT).await;
        assert!(gone, "the connection outlives the process");
        gateway.up().await;
        client = come_back(&gateway, &mut page, &client).await;
        if round % 2 == 0 {
            // A message that three kills hit would be set aside, as it should be.
            complete(&mut client, &mut page, said).await;
        }
    }
    asked_once(&model, said);
    report(&format!(
        "web chat: {said} messages, {} parts came again and were dropped",
        page.again
    ));
    // What a fresh window shows is the same.
    let mut fresh = WebChatClient::connect(gateway.http()).await;
    let mut other = Page::default();
    other.see(&fresh.enter(Some(&client.token)).await);
    let newest: Vec<&(i64, i64)> = other.answers.keys().collect();
    let shown: Vec<&(i64, i64)> = page.answers.keys().collect();
    assert!(
        !newest.is_empty() && shown.ends_with(&newest),
        "{newest:?} in {shown:?}"
    );
}

#[tokio::test]
async fn what_a_visitor_said_is_answered_once_when_he_goes_from_process_to_process() {
    let seed = seed("web chat of two");
    let mut random = Random(seed);
    let model = model().await;
    let changes = json!({ "platforms": { "qq": null } });
    let mut first = Gateway::prepare_on(Engine::Postgres, &model, changes.clone()).await;
    first.up().await;
    let mut second = Gateway::beside(&first, false, &model, changes);
    second.up().await;
    let mut page = Page::default();
    let mut client = WebChatClient::connect(first.http()).await;
    page.see(&client.enter(None).await);
    let mut said = 0;
    let (mut here, mut there) = (&mut first, &mut second);
    for round in 1..=if long() { 20 } else { 4 } {
        say(&mut client, &mut page, &mut said, &mut random).await;
        here.kill().await;
        let gone = !read(&mut client, &mut page, LIMIT).await;
        assert!(gone, "the connection outlives the process");
        client = come_back(there, &mut page, &client).await;
        here.up().await;
        std::mem::swap(&mut here, &mut there);
        if round % 2 == 0 {
            complete(&mut client, &mut page, said).await;
        }
    }
    asked_once(&model, said);
}

#[tokio::test]
async fn an_answer_goes_on_after_a_kill_in_its_middle() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::start(&model, json!({ "platforms": { "qq": null } })).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let pieces = [
        "The first half of the answer, ",
        "long enough to be shown. ",
        "never sent",
    ];
    model.push(
        Script::pieces(&pieces)
            .between(Duration::from_millis(300))
            .first(Duration::ZERO),
    );
    client.say("m1", "go").await;
    let draft = loop {
        let frame = client.skip_to("text").await;
        if frame["html"].as_str().unwrap().contains("shown") {
            break frame;
        }
    };
    assert_ne!(draft["final"], true);
    gateway.kill().await;
    model
        .push(Script::pieces(&["The whole ", "other answer."]).between(Duration::from_millis(300)));
    gateway.up().await;
    let mut again = WebChatClient::connect(gateway.http()).await;
    assert_eq!(again.resume(&client).await["resumed"], false);
    let history = again.next_of("history").await;
    let messages = history["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 1, "{history}");
    assert_eq!(messages[0]["pending"], true);
    let mut page = Page::default();
    page.see(&history);
    while page.ended.is_empty() {
        let frame = again.next().await;
        page.see(&frame);
    }
    let texts: Vec<&str> = page
        .answers
        .values()
        .map(|(text, _)| text.as_str())
        .collect();
    assert_eq!(texts, ["The whole other answer."]);
    assert!(again.is_quiet().await);
    assert_eq!(model.count(), 2);
}

suite!(what_a_visitor_said_is_answered_once_over_kills);
