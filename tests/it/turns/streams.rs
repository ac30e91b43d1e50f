//! How answers are shown: while they are written, in parts, and after a broken stream.

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_testkit::{
    model::{Ending, FakeModel, Script},
    webchat::WebChatClient,
};

use super::spoken;
use crate::gateway::{Chat as _, Gateway};

/// All frames up to the end of a message.
pub async fn until_end(client: &mut WebChatClient) -> Vec<Value> {
    let mut frames = Vec::new();
    loop {
        let frame = client.next().await;
        assert!(frame.get("closed").is_none(), "{frame}");
        if frame["type"] == "end" {
            return frames;
        }
        frames.push(frame);
    }
}

pub(super) fn drafts(frames: &[Value]) -> Vec<&Value> {
    frames
        .iter()
        .filter(|frame| frame["type"] == "text" && frame["final"] != true)
        .collect()
}

pub(super) fn finals(frames: &[Value]) -> Vec<&str> {
    let finals = frames.iter().filter(|frame| frame["final"] == true);
    finals
        .map(|frame| frame["text"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn web_chat_shows_the_answer_while_it_is_written() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let pieces = [
        "Here is the **first** sentence. ",
        "And this one is the second. ",
        "The end of it.",
    ];
    model.push(Script::pieces(&pieces).between(Duration::from_millis(400)));
    client.say("m1", "go").await;
    let frames = until_end(&mut client).await;
    let drafts = drafts(&frames);
    assert!(drafts.len() >= 2, "{drafts:?}");
    assert!(
        !drafts[0]["html"].as_str().unwrap().contains("The end"),
        "{}",
        drafts[0]
    );
    for pair in drafts.windows(2) {
        let [before, after] = [pair[0], pair[1]].map(|draft| draft["html"].as_str().unwrap());
        assert!(
            after.starts_with(before.trim_end_matches("</p>").trim_end()),
            "{before} {after}"
        );
    }
    assert_eq!(
        finals(&frames),
        ["Here is the first sentence. And this one is the second. The end of it."]
    );
    assert!(client.is_quiet().await);
}

#[tokio::test]
async fn a_long_answer_is_seen_once_in_its_parts_after_it_was_shown() {
    let line = "The weir lets the water through at a measured pace, hour by hour. ";
    let paragraphs: Vec<String> = (0..90)
        .map(|number| format!("Number {number}: {}", line.repeat(8)))
        .collect();
    let answer = paragraphs.join("\n\n");
    assert!(answer.chars().count() > 45_000);
    let pieces: Vec<&str> = answer.split_inclusive("\n\n").collect();
    let model = FakeModel::start().await;
    let without_marks = json!({ "output": { "segmented": { "add_ellipsis": false } } });
    let gateway = Gateway::start(&model, without_marks).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    model.push(Script::pieces(&pieces).between(Duration::from_millis(40)));
    client.say("m1", "tell all of it").await;
    let frames = until_end(&mut client).await;
    assert!(!drafts(&frames).is_empty(), "it was shown");
    let is_final = |frame: &Value| frame["final"] == true;
    let first = frames.iter().position(is_final).expect("the first part");
    assert!(
        drafts(&frames[first..]).is_empty(),
        "a draft behind the answer"
    );
    let parts = frames.iter().filter(|frame| is_final(frame));
    let numbers: Vec<u64> = parts
        .clone()
        .map(|part| part["part"].as_u64().unwrap())
        .collect();
    let count = u64::try_from(numbers.len()).unwrap();
    assert!(
        count >= 3 && numbers.iter().copied().eq(0..count),
        "{numbers:?}"
    );
    assert!(parts.clone().all(|part| part["parts"] == count));
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(bare(&finals(&frames).concat()), bare(&answer));
    assert!(client.is_quiet().await, "one end");
    let mut other = WebChatClient::connect(gateway.http()).await;
    let history = other.enter(Some(&client.token)).await;
    let shown = history["messages"].to_string();
    assert_eq!(shown.matches("Number 89: ").count(), 1, "{shown}");
    assert!(
        !shown.contains("\"pending\":true") && other.is_quiet().await,
        "{shown}"
    );
}

#[tokio::test]
async fn an_answer_of_a_single_piece_is_one_message_and_nothing_else() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    model.push(Script::pieces(&["Sure."]));
    client.say("m1", "will you?").await;
    let frames = until_end(&mut client).await;
    assert_eq!(finals(&frames), ["Sure."]);
    assert!(client.is_quiet().await, "no notice follows");
    let why = client_why(&mut client).await;
    assert!(!why.contains("answer_empty"), "{why}");
}

/// What /why says of the newest message.
async fn client_why(client: &mut WebChatClient) -> String {
    client.say("why", "/why").await;
    finals(&until_end(client).await).concat()
}

#[tokio::test]
async fn a_broken_stream_is_asked_again_and_replaced() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let slow = Duration::from_millis(300);
    let broken = Script::pieces(&["Good morning, this was said bef", ""]).between(slow);
    model.push(broken.ending(Ending::BreakOff));
    model.push(Script::pieces(&["Good ", "morning!"]).between(slow));
    client.say("m1", "hi").await;
    let frames = until_end(&mut client).await;
    let attempts: Vec<u64> = drafts(&frames)
        .iter()
        .map(|draft| draft["attempt"].as_u64().unwrap())
        .collect();
    assert!(attempts.is_sorted() && attempts[0] == 1, "{attempts:?}");
    let second = drafts(&frames)
        .into_iter()
        .find(|draft| draft["attempt"] == 2);
    assert!(
        second.is_none_or(|draft| draft["replace"] == true),
        "{second:?}"
    );
    assert_eq!(finals(&frames), ["Good morning!"]);
    client.say("m2", "and now").await;
    until_end(&mut client).await;
    let asked = spoken(&model.requests()[2]);
    assert!(
        asked.contains(&"assistant: Good morning!".to_owned()),
        "{asked:?}"
    );
    // The prompt of the system has such words of its own.
    let said = asked.iter().filter(|text| !text.starts_with("system: "));
    assert!(!said.clone().any(|text| text.contains("bef")), "{asked:?}");
}

#[tokio::test]
async fn a_broken_stream_on_a_platform_without_previews_is_one_message() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    model.push(Script::pieces(&["Good mor"]).ending(Ending::BreakOff));
    model.push(Script::pieces(&["Good ", "morning!"]));
    assert_eq!(fake.ask(1, "hi").await, "Good morning!");
    assert_eq!(fake.ask(1, "/ping").await, "pong");
    assert_eq!(fake.reply_count(), 2);
}

#[tokio::test]
async fn private_chats_and_groups_have_strategies_of_their_own() {
    for (private, group) in [("full", "segmented"), ("segmented", "full")] {
        let model = FakeModel::start_with(|_| Script::answer("One is here. Two is here.")).await;
        let strategies = json!({ "qq": { "private": private, "group": group } });
        let changes = json!({ "output": {
            "segmented": { "threshold": 15, "min_segment_length": 1, "add_ellipsis": false },
            "platform_adaptation": { "strategy_by_platform": strategies },
        } });
        let gateway = Gateway::start(&model, changes).await;
        let fake = gateway.onebot().await;
        let (whole, pieces) = (
            ["One is here. Two is here."],
            ["One is here.", "Two is here."],
        );
        for (strategy, in_group) in [(private, false), (group, true)] {
            if in_group {
                fake.send_group(50, 7, "tell me", true).await;
            } else {
                fake.send_private(7, "tell me").await;
            }
            let expected: &[&str] = if strategy == "full" { &whole } else { &pieces };
            assert_eq!(
                fake.answers(expected.len()).await,
                expected,
                "{private} {group}"
            );
        }
        assert_eq!(fake.ask(7, "/ping").await, "pong", "nothing follows");
    }
}

#[tokio::test]
async fn a_long_answer_comes_in_parts_within_the_limit_in_order() {
    let paragraph = |number: usize| {
        format!(
            "第{number}段：堰门是水流中的一道墙，让水按照计量的速度通过。Sentence {number} of it! "
        )
    };
    let answer: String = (0..120)
        .map(|n| paragraph(n) + if n % 3 == 0 { "\n\n" } else { "" })
        .collect();
    let model = FakeModel::start().await;
    let changes = json!({
        "platforms": { "qq": { "accounts": { "main": { "max_length": 300 } } } },
        "output": {
            "segmented": { "add_ellipsis": false },
            "platform_adaptation": { "fold_by_platform": { "qq": 0 } },
        },
    });
    let gateway = Gateway::start(&model, changes).await;
    let fake = gateway.onebot().await;
    model.push(Script::answer(&answer));
    let question = fake.send_group(50, 7, "tell me", true).await;
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let (mut together, mut parts) = (String::new(), 0);
    while bare(&together) != bare(&answer) {
        let part = fake.answer().await;
        let text = part.text();
        assert!(
            !text.trim().is_empty() && text.chars().count() <= 300,
            "{text:?}"
        );
        let quoted = part
            .quotes()
            .map(|id| id.to_string().trim_matches('"').to_owned());
        assert_eq!(
            quoted,
            (parts == 0).then(|| question.to_string()),
            "only the first one quotes"
        );
        together.push_str(&text);
        assert!(
            bare(&answer).starts_with(&bare(&together)),
            "{text:?} is not next"
        );
        parts += 1;
    }
    assert!(parts >= 20);
    fake.send_private(1, "/ping").await;
    assert_eq!(fake.answer().await.text(), "pong", "nothing follows");
}

#[tokio::test]
async fn codes_and_characters_in_pieces_arrive_as_text() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    let answer = "[CQ:at,qq=all] 注意😀 [CQ:image,file=file:///etc/hostname]";
    let chunk = json!({ "choices": [{ "index": 0, "delta": { "content": answer } }] });
    let stream = format!(": keep-alive\n\ndata: {chunk}\n\ndata: [DONE]\n\n");
    // Byte by byte: every character is cut somewhere.
    model.push(Script::raw(stream.as_bytes().chunks(1)));
    fake.send_private(1, "go").await;
    let reply = fake.answer().await;
    assert_eq!(reply.text(), answer);
    assert_eq!(reply.segments.len(), 1);
    assert!(
        reply.params["message"].is_array(),
        "never a string in which codes are obeyed"
    );
}

#[tokio::test]
async fn a_send_whose_outcome_is_unknown_is_not_repeated_and_the_rest_follows() {
    let model = FakeModel::start().await;
    let gateway = Gateway::start(&model, json!({})).await;
    let fake = gateway.onebot().await;
    fake.script(weirgate_testkit::onebot::Script::TimeOut);
    assert_eq!(fake.ask(1, "one").await, "re: one");
    assert_eq!(fake.ask(1, "two").await, "re: two");
    assert_eq!(fake.reply_count(), 2);
    let metrics = gateway.get("/metrics").await.body;
    assert!(
        metrics.contains(r#"weirgate_reasons_total{reason="send_unknown"} 1"#),
        "{metrics}"
    );
}

#[tokio::test]
async fn which_tools_run_is_shown_while_they_do_and_not_in_the_end() {
    let programs = tempfile::tempdir().unwrap();
    let folder = programs.path().join("slow");
    std::fs::create_dir(&folder).unwrap();
    let manifest = json!({ "name": "slow", "description": "Takes its time.", "access": "read",
        "command": ["/bin/sh", "run.sh"] });
    std::fs::write(folder.join("module.json"), manifest.to_string()).unwrap();
    std::fs::write(folder.join("run.sh"), "/bin/sleep 2\necho done\n").unwrap();
    for shown in [true, false] {
        let model = FakeModel::start().await;
        let changes = json!({ "tools": { "folder": programs.path() },
            "tool_calling": { "stream_intermediate": shown } });
        let gateway = Gateway::start(&model, changes).await;
        let mut client = WebChatClient::connect(gateway.http()).await;
        client.enter(None).await;
        let words = ["I look for that, one moment, ", "it takes a while."];
        model.push(Script::pieces(&words).and_calls(&[("slow", json!({}))]));
        model.push(Script::answer("It is 42."));
        client.say("m1", "go").await;
        let frames = until_end(&mut client).await;
        let seen = |text: &str| {
            let drafts = drafts(&frames);
            let mut drafts = drafts.iter().map(|draft| draft["html"].as_str().unwrap());
            drafts.any(|html| html.contains(text))
        };
        assert!(seen("I look for that"), "{frames:?}");
        assert_eq!(seen("working: slow"), shown, "{frames:?}");
        assert_eq!(finals(&frames), ["It is 42."]);
    }
}

#[tokio::test]
async fn which_step_of_a_skill_runs_is_shown_under_its_name() {
    let skills = tempfile::tempdir().unwrap();
    std::fs::create_dir(skills.path().join("sums")).unwrap();
    let steps = "name: sums\ndescription: d\nsteps:\n  - {id: reckon, type: tool, tool: calculate, args: {expression: \"6 * 7\"}}\n  \
                 - {id: say, type: llm, prompt: Say.}\n";
    std::fs::write(skills.path().join("sums/steps.yaml"), steps).unwrap();
    for shown in [true, false] {
        let model = FakeModel::start().await;
        let changes = json!({ "tools": { "skills": { "registry_path": skills.path() } },
            "tool_calling": { "stream_intermediate": shown } });
        let gateway = Gateway::start(&model, changes).await;
        let mut client = WebChatClient::connect(gateway.http()).await;
        client.enter(None).await;
        model.push(Script::calls(&[("run_skill", json!({ "name": "sums" }))]));
        model.push(Script::answer("said").first(Duration::from_secs(2)));
        model.push(Script::answer("It is 42."));
        client.say("m1", "go").await;
        let frames = until_end(&mut client).await;
        let drafts = drafts(&frames);
        let mut drafts = drafts.iter().map(|draft| draft["html"].as_str().unwrap());
        let seen = drafts.any(|html| {
            html.contains("sums: <em>(working: calculate") && html.contains("(working: llm")
        });
        assert_eq!(seen, shown, "{frames:?}");
        assert_eq!(finals(&frames), ["It is 42."]);
    }
}
