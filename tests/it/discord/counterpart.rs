//! The adapter against a Discord written by others, and our own fake against the published description of Discord's
//! requests: what we take for granted may be wrong.
//!
//! Owns the process. `tests/run.sh` installs both; without them these tests fail and say so.

use std::{collections::BTreeMap, fs, path::PathBuf, process::Stdio};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};
use weirgate_sdk::{Preview, PreviewStart, Via};
use weirgate_testkit::discord::REQUESTS;

use super::{buttons::button, *};

fn installed(what: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("../counterparts")
        .join(what);
    assert!(
        path.exists(),
        "{what} is not installed: run `bash tests/run.sh --counterparts` once"
    );
    path
}

struct Counterpart {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    /// Where it listens, and who is there.
    about: Value,
}

impl Counterpart {
    async fn start() -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let mut process = Command::new("node")
            .arg(root.join("tests/counterparts/discord.mjs"))
            .arg(installed("discord"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("starts");
        let input = process.stdin.take().expect("piped");
        let output = BufReader::new(process.stdout.take().expect("piped")).lines();
        let mut counterpart = Self {
            process,
            input,
            output,
            about: Value::Null,
        };
        counterpart.about = counterpart.said().await;
        counterpart
    }

    async fn said(&mut self) -> Value {
        let line = tokio::time::timeout(6 * LIMIT, self.output.next_line()).await;
        let line = line.expect("in time").expect("readable").expect("it runs");
        serde_json::from_str(&line).expect("JSON")
    }

    async fn ask(&mut self, wanted: Value) -> Value {
        let line = format!("{wanted}\n");
        let written = self.input.write_all(line.as_bytes()).await;
        written.expect("it reads");
        self.said().await
    }

    /// What the bot said, oldest first.
    async fn bot_said(&mut self) -> Vec<Value> {
        let said = self.ask(json!({ "messages": true })).await;
        let mut messages: Vec<Value> = said["messages"].as_array().cloned().unwrap_or_default();
        messages.retain(|message| message["author"]["bot"] == true);
        messages.sort_by_key(|message| message["id"].as_str().map(str::to_owned));
        messages
    }

    fn settings(&self) -> Settings {
        let text = |field: &str| self.about[field].as_str().expect("a text").to_owned();
        Settings {
            token: Some(Secret::new(text("token"))),
            api_url: format!("{}/v10", text("rest")),
            reconnect: Duration::from_millis(200),
            identify_pause: Duration::ZERO,
            ..Settings::default()
        }
    }
}

#[tokio::test]
async fn words_previews_and_commands_go_through_a_discord_by_others() {
    let mut counterpart = Counterpart::start().await;
    let bot = weirgate_discord::build(setup(), counterpart.settings());
    // Our own fake is not asked anything here.
    let unused = FakeDiscord::start(TOKEN).await;
    let rig = Rig::of(unused, RecordingIngress::new(), bot);
    rig.is_up().await;
    counterpart.ask(json!({ "say": "hi there" })).await;
    let question = rig.heard().await;
    assert_eq!(question.own_text(), "hi there");
    let channel = counterpart.about["channel"].as_str().map(str::to_owned);
    assert_eq!(
        Some(question.conversation.conversation.to_string()),
        channel
    );
    assert!(
        rig.bot
            .indicates()
            .expect("it does")
            .indicate(&question.conversation)
            .await
            .is_ok()
    );

    let start = PreviewStart {
        conversation: question.conversation.clone(),
        turn: "t1".into(),
        attempt: 1,
        answers: vec![question.id.clone()],
        reply_context: None,
    };
    let streams = rig.bot.streams().expect("it can");
    let mut growing: Box<dyn Preview> = streams.open(start).await.expect("a preview");
    for text in ["Good", "Good morning"] {
        let block = Block::Paragraph(vec![Inline::Text(text.to_owned())]);
        growing.push(&[block]).await.expect("shown");
    }
    growing.finish().await;
    let answer = Outgoing {
        turn: Some("t1".into()),
        answers: vec![question.id.clone()],
        ..rig.outgoing(&question.conversation, 1, "Good morning!")
    };
    let sent = rig.bot.send(answer).await.expect("sent");
    let said = counterpart.bot_said().await;
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0]["content"], "Good morning!");
    assert_eq!(
        said[0]["message_reference"]["message_id"],
        question.id.as_str()
    );
    assert_eq!(
        sent.message.map(|id| id.to_string()).as_deref(),
        said[0]["id"].as_str()
    );

    let options = json!([{ "name": "text", "type": 3, "value": "of the day" }]);
    let slash = json!({ "slash": { "name": "ping", "options": options } });
    counterpart.ask(slash).await;
    let command = rig.heard().await;
    assert_eq!(
        (command.via, command.own_text().as_str()),
        (Via::Command, "/ping of the day")
    );
    let pong = Outgoing {
        answers: vec![command.id.clone()],
        reply_context: command.reply_context.clone(),
        ..rig.outgoing(&command.conversation, 2, "pong")
    };
    rig.bot.send(pong).await.expect("sent");
    let said = counterpart.bot_said().await;
    assert_eq!(
        said.last().map(|last| last["content"].clone()),
        Some("pong".into())
    );
    assert_eq!(said.len(), 2, "{said:?}");
    rig.ended().await;
    counterpart.process.kill().await.expect("ends");
}

#[tokio::test]
async fn a_question_is_pressed_answered_and_settled_in_a_discord_by_others() {
    let mut counterpart = Counterpart::start().await;
    let bot = weirgate_discord::build(setup(), counterpart.settings());
    let unused = FakeDiscord::start(TOKEN).await;
    let rig = Rig::of(unused, RecordingIngress::new(), bot);
    rig.is_up().await;
    counterpart.ask(json!({ "say": "/delete" })).await;
    let place = rig.heard().await.conversation;
    let question = Outgoing {
        buttons: vec![button("Yes", "p/1/2/yes"), button("No", "p/1/2/no")],
        ..rig.outgoing(&place, 1, "Really?")
    };
    let sent = rig.bot.send(question).await.expect("sent").message;
    let sent = sent.expect("it has a number");
    let said = counterpart.bot_said().await;
    let row = &said[0]["components"][0]["components"];
    assert_eq!(row[0]["custom_id"], "p/1/2/yes", "{said:?}");
    assert_eq!(row.as_array().map(Vec::len), Some(2));
    let press = json!({ "press": { "messageId": sent.as_str(), "customId": "p/1/2/yes" } });
    counterpart.ask(press).await;
    let press = rig.heard().await;
    assert_eq!(
        (press.via, press.own_text().as_str()),
        (Via::Button, "p/1/2/yes")
    );
    assert_eq!(
        press.reply_to.map(|replied| replied.message),
        Some(sent.clone())
    );
    let alone = Outgoing {
        answers: vec![press.id],
        reply_context: press.reply_context,
        private: true,
        ..rig.outgoing(&place, 2, "That is for somebody else to answer.")
    };
    rig.bot.send(alone).await.expect("sent");
    let buttons = rig.bot.buttons().expect("it can");
    buttons.retire(&place, &sent).await.expect("taken away");
    let said = counterpart.bot_said().await;
    assert_eq!(said[0]["content"], "Really?", "the words stay");
    assert!(
        said[0]["components"].as_array().is_none_or(Vec::is_empty),
        "{said:?}"
    );
    assert_eq!(said.len(), 2, "{said:?}");
    assert_eq!(said[1]["content"], "That is for somebody else to answer.");
    rig.ended().await;
    counterpart.process.kill().await.expect("ends");
}

#[test]
fn our_fake_takes_the_fields_that_are_published() {
    let text = fs::read_to_string(installed("discord_api.json")).expect("readable");
    let published: BTreeMap<String, Vec<String>> = serde_json::from_str(&text).expect("JSON");
    for request in REQUESTS {
        let mut own: Vec<&str> = request.fields.to_vec();
        let mut others: Vec<&str> = published[request.name].iter().map(String::as_str).collect();
        own.sort_unstable();
        others.sort_unstable();
        assert_eq!(own, others, "{}", request.name);
    }
}
