use std::sync::Arc;

use weirgate_testkit::model::{Ending, FakeModel, Script};

use super::super::{Chain, FinishReason, Listener, Permits, Recovery};
use super::super::{
    Delta, Enclosed, Medium, Message, Offer, Offered, Role, ToolCall, Usage, calls::Broken,
};
use super::*;

mod answers;
mod formats;
mod messages;
mod responses;
mod thoughts;
mod tools;

/// A client of the fake; `change` alters its options.
fn client(url: &str, change: impl FnOnce(&mut RemoteOptions)) -> Remote {
    // A second test finds the provider installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let key = Some("k-very-secret".to_owned());
    let mut options = RemoteOptions::new("local", "tiny", url, key);
    options.idle_timeout = Duration::from_secs(5);
    change(&mut options);
    Remote::new(options).unwrap()
}

fn message(role: Role, text: &str) -> Message {
    Message::words(role, text.to_owned())
}

/// A file that is loaded.
fn enclosed(medium: Medium, mime: &str, url: &str) -> Enclosed {
    Enclosed {
        medium,
        id: "f".to_owned(),
        mime: mime.to_owned(),
        name: None,
        size: 5,
        url: Some(url.into()),
    }
}

fn request(messages: Vec<Message>) -> ChatRequest {
    ChatRequest {
        messages,
        max_output_tokens: None,
        temperature: None,
        offered: Offered::default(),
        turn: "turn-7".to_owned(),
    }
}

/// What a whole answer amounts to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Got {
    text: String,
    reasoning: Option<String>,
    sealed: Option<String>,
    calls: Option<Result<Vec<ToolCall>, Broken>>,
    usage: Vec<Usage>,
    finish: Vec<FinishReason>,
}

async fn ask(model: &Remote, text: &str) -> Result<Got, (Got, ModelError)> {
    let mut got = Got::default();
    let mut stream = match model.open(&request(vec![message(Role::User, text)])).await {
        Ok(stream) => stream,
        Err(error) => return Err((got, error)),
    };
    while let Some(delta) = stream.next().await {
        match delta {
            Ok(Delta::Text(more)) => got.text.push_str(&more),
            Ok(Delta::Reasoning(more)) => {
                got.reasoning.get_or_insert_default().push_str(&more);
            }
            Ok(Delta::Sealed(items)) => got.sealed = Some(items),
            Ok(Delta::Calls(calls)) => got.calls = Some(calls),
            Ok(Delta::Usage(usage)) => got.usage.push(usage),
            Ok(Delta::Finish(finish)) => got.finish.push(finish),
            Err(error) => {
                assert!(
                    stream.next().await.is_none(),
                    "after an error there is nothing"
                );
                return Err((got, error));
            }
        }
    }
    assert!(stream.next().await.is_none());
    Ok(got)
}

/// Asks once with a script.
async fn once(script: Script) -> Result<Got, (Got, ModelError)> {
    let fake = FakeModel::start().await;
    fake.push(script);
    ask(&client(&fake.url(), |_| {}), "hi").await
}

#[tokio::test]
async fn an_answer_streams_and_its_cost_comes_once() {
    let fake = FakeModel::start().await;
    let got = ask(&client(&fake.url(), |_| {}), "早上好").await.unwrap();
    let usage = vec![Usage {
        prompt: 10,
        completion: 4,
        total: 14,
        ..Usage::default()
    }];
    assert_eq!(got.text, "re: 早上好");
    assert_eq!((got.usage, got.finish), (usage, vec![FinishReason::Stop]));
}

#[tokio::test]
async fn the_request_says_what_was_asked_for() {
    let fake = FakeModel::start().await;
    let mut named = message(Role::User, "hi");
    named.name = Some("alice-1".to_owned());
    let mut foreign_name = message(Role::User, "你好");
    foreign_name.name = Some("小明".to_owned());
    let mut asked = request(vec![message(Role::System, "be kind"), named, foreign_name]);
    asked.max_output_tokens = Some(99);
    asked.temperature = Some(0.5);
    client(&fake.url(), |_| {}).open(&asked).await.unwrap();

    let seen = fake.requests().remove(0);
    assert_eq!(seen.header("x-request-id"), Some("turn-7"));
    assert_eq!(seen.header("authorization"), Some("Bearer k-very-secret"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    let expected = serde_json::json!({
        "model": "tiny", "stream": true, "stream_options": {"include_usage": true},
        "max_tokens": 99, "temperature": 0.5,
        "messages": [
            {"role": "system", "content": "be kind"},
            {"role": "user", "content": "hi", "name": "alice-1"},
            {"role": "user", "content": "你好"},
        ],
    });
    assert_eq!(seen.body, expected);
}

#[tokio::test]
async fn the_models_own_settings_fill_the_gaps() {
    let fake = FakeModel::start().await;
    let model = client(&fake.url(), |options| {
        options.max_output_tokens = Some(50);
        options.temperature = Some(0.25);
    });
    let mut asked = request(vec![message(Role::User, "hi")]);
    model.open(&asked).await.unwrap();
    asked.max_output_tokens = Some(7);
    model.open(&asked).await.unwrap();
    let requests = fake.requests();
    assert_eq!(
        (
            &requests[0].body["max_tokens"],
            &requests[1].body["max_tokens"]
        ),
        (&50.into(), &7.into())
    );
    assert_eq!(requests[1].body["temperature"], 0.25);
}

#[tokio::test]
async fn newer_models_get_the_limit_under_its_newer_name() {
    let fake = FakeModel::start().await;
    let mut asked = request(vec![message(Role::User, "hi")]);
    asked.max_output_tokens = Some(5);
    client(&fake.url(), |options| options.completion_limit = true)
        .open(&asked)
        .await
        .unwrap();
    let body = fake.requests().remove(0).body;
    assert_eq!(body["max_completion_tokens"], 5);
    assert!(body.get("max_tokens").is_none());
}

#[tokio::test]
async fn reasoning_goes_back_as_it_came() {
    let fake = FakeModel::start().await;
    let mut empty = message(Role::Assistant, "a");
    empty.reasoning = Some(String::new());
    let mut long = message(Role::Assistant, "b");
    long.reasoning = Some(" because\n".to_owned());
    let absent = message(Role::Assistant, "c");
    let asked = request(vec![empty, long, absent, message(Role::User, "hi")]);
    client(&fake.url(), |_| {}).open(&asked).await.unwrap();
    client(&fake.url(), |options| options.think_markers = true)
        .open(&asked)
        .await
        .unwrap();
    for back in [ReasoningBack::Never, ReasoningBack::Always] {
        client(&fake.url(), |options| options.reasoning_back = back)
            .open(&asked)
            .await
            .unwrap();
    }

    let requests = fake.requests();
    let messages = &requests[0].body["messages"];
    assert_eq!(messages[0]["reasoning_content"], "");
    assert_eq!(messages[1]["reasoning_content"], " because\n");
    assert!(messages[2].get("reasoning_content").is_none());
    for bare in [&requests[1], &requests[2]] {
        let messages = bare.body["messages"].as_array().unwrap();
        let mut fields = messages.iter().map(|one| one.get("reasoning_content"));
        assert!(fields.all(|field| field.is_none()));
    }
    let always = &requests[3].body["messages"];
    let fields: Vec<_> = (0..4)
        .map(|at| always[at]["reasoning_content"].as_str())
        .collect();
    assert_eq!(
        fields,
        [Some(""), Some(" because\n"), Some("(not kept)"), None]
    );
}

#[tokio::test]
async fn connections_are_used_again() {
    let fake = FakeModel::start().await;
    let model = client(&fake.url(), |_| {});
    for _ in 0..5 {
        ask(&model, "hi").await.unwrap();
    }
    assert_eq!((fake.count(), fake.connections()), (5, 1));
}

#[tokio::test]
async fn requests_run_side_by_side() {
    let fake = FakeModel::start_with(|text| {
        Script::answer(text).first(Duration::from_millis(if text == "slow" { 300 } else { 0 }))
    })
    .await;
    let model = client(&fake.url(), |_| {});
    let (first, second, quick) = tokio::join!(
        ask(&model, "slow"),
        ask(&model, "slow"),
        ask(&model, "quick")
    );
    let texts = [first, second, quick].map(|got| got.unwrap().text);
    assert_eq!(texts, ["slow", "slow", "quick"]);
    assert!(fake.max_concurrency() >= 2);
    fake.wait_for(3).await;
    let mut asked: Vec<String> = fake
        .requests()
        .iter()
        .map(|request| request.last_user_text().to_owned())
        .collect();
    asked.sort();
    assert_eq!(asked, ["quick", "slow", "slow"]);
}

/// A limiter that lets everything through, and a listener that shows what it is told.
#[derive(Default)]
struct Screen(String);

struct Open;

#[async_trait]
impl Permits for Open {
    fn wait(&self, _: &str) -> Duration {
        Duration::ZERO
    }

    async fn acquire(&self, _: &str) {}
    fn rate_limited(&self, _: &str, _: Option<Duration>) {}
    fn succeeded(&self, _: &str) {}
}

impl Listener for Screen {
    fn attempt(&mut self, _: u32, _: &str) {
        self.0.clear();
    }
    fn text(&mut self, delta: &str) {
        self.0.push_str(delta);
    }
    fn reasoning(&mut self, _: &str) {}
}

#[tokio::test]
async fn a_repeated_request_does_not_repeat_the_text() {
    let fake = FakeModel::start().await;
    fake.push(Script::pieces(&["Good ", "mor"]).ending(Ending::BreakOff));
    fake.push(Script::error(503, "overloaded"));
    fake.push(Script::pieces(&["Good ", "morning!"]));
    let model: Arc<dyn Model> = Arc::new(client(&fake.url(), |_| {}));
    let chain = Chain::new(vec![model], Recovery::default());
    let asked = request(vec![message(Role::User, "hi")]);
    let mut screen = Screen::default();
    let answer = chain
        .run(&asked, &Open, Some("p"), &mut screen, &|| 0.0)
        .await
        .unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.attempts),
        ("Good morning!", 3)
    );
    assert_eq!(
        (screen.0.as_str(), answer.model.as_str()),
        ("Good morning!", "local/tiny")
    );
}

#[tokio::test]
async fn a_character_may_be_cut_anywhere() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"你好😀\"}}]}\n\n\
        data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
        .as_bytes();
    let fake = FakeModel::start().await;
    let model = client(&fake.url(), |_| {});
    let pause = Duration::from_millis(1);
    let start = 30;
    for at in start..start + 35 {
        let (left, right) = body.split_at(at);
        fake.push(Script::raw([left, right]).between(pause));
        assert_eq!(
            ask(&model, "hi").await.unwrap().text,
            "你好😀",
            "cut at {at}"
        );
    }
    fake.push(Script::raw(body.chunks(1)).between(pause));
    assert_eq!(ask(&model, "hi").await.unwrap().text, "你好😀");
}

#[tokio::test]
async fn statuses_become_errors_of_their_class() {
    for (script, kind, recoverable) in [
        (Script::error(500, "oops"), ErrorClass::Api, true),
        (
            Script::error(401, "bad key k-very-secret"),
            ErrorClass::Api,
            false,
        ),
        (Script::raw(["gone"]).status(404), ErrorClass::Api, false),
        (
            Script::raw([""]).status(302).header("location", "/v1/x"),
            ErrorClass::Api,
            false,
        ),
        (Script::rate_limited(None), ErrorClass::RateLimit, true),
    ] {
        let (_, error) = once(script).await.unwrap_err();
        assert_eq!(
            (error.kind, error.recoverable),
            (kind, recoverable),
            "{error}"
        );
        assert!(!error.message.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_rate_limit_says_how_long_to_wait() {
    let wait = |script| async { once(script).await.unwrap_err().1.retry_after };
    let seconds = |n| Some(Duration::from_secs(n));
    assert_eq!(wait(Script::rate_limited(Some("7"))).await, seconds(7));
    assert_eq!(wait(Script::rate_limited(None)).await, None);
    let both = Script::rate_limited(Some("1")).header("retry-after-ms", "250");
    assert_eq!(wait(both).await, Some(Duration::from_millis(250)));
    let words = Script::error(429, "Please try again in 3s.");
    assert_eq!(wait(words).await, seconds(3));
}

#[tokio::test]
async fn silence_is_a_time_out_wherever_it_begins() {
    let fake = FakeModel::start().await;
    let model = client(&fake.url(), |options| {
        options.idle_timeout = Duration::from_millis(300)
    });
    fake.push(Script::hang());
    let (_, error) = ask(&model, "hi").await.unwrap_err();
    assert_eq!(error.kind, ErrorClass::Timeout);
    fake.push(Script::pieces(&["one"]).ending(Ending::Hang));
    let (got, error) = ask(&model, "hi").await.unwrap_err();
    assert_eq!(
        (got.text.as_str(), error.kind),
        ("one", ErrorClass::Timeout)
    );
}

#[tokio::test]
async fn keep_alives_count_as_life() {
    let fake = FakeModel::start().await;
    let model = client(&fake.url(), |options| {
        options.idle_timeout = Duration::from_millis(800)
    });
    let mut slices = vec![": working\n\n"; 10];
    slices.push(
        "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n",
    );
    fake.push(Script::raw(slices).between(Duration::from_millis(100)));
    assert_eq!(ask(&model, "hi").await.unwrap().text, "x");
}

#[tokio::test]
async fn a_broken_connection_is_a_network_error() {
    let (got, error) = once(Script::pieces(&["Good mor"]).ending(Ending::BreakOff))
        .await
        .unwrap_err();
    assert_eq!(
        (got.text.as_str(), error.kind),
        ("Good mor", ErrorClass::Network)
    );
    let closed = client("http://127.0.0.1:9/v1", |_| {});
    let (_, error) = ask(&closed, "hi").await.unwrap_err();
    assert_eq!((error.kind, error.recoverable), (ErrorClass::Network, true));
    assert!(!error.message.contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn dropping_the_stream_ends_the_request() {
    let fake = FakeModel::start().await;
    fake.push(Script::pieces(&["one"]).ending(Ending::Hang));
    let model = client(&fake.url(), |_| {});
    let mut stream = model
        .open(&request(vec![message(Role::User, "hi")]))
        .await
        .unwrap();
    assert_eq!(stream.next().await, Some(Ok(Delta::Text("one".to_owned()))));
    assert_eq!(fake.running(), 1);
    drop(stream);
    for _ in 0..200 {
        if fake.running() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the provider still answers");
}

#[test]
fn addresses_are_joined_and_checked() {
    let joined = |base| endpoint(base, Format::ChatCompletions).map(String::from);
    let full = Some("https://h.example/v1/chat/completions".to_owned());
    assert_eq!(joined("https://h.example/v1"), full);
    assert_eq!(joined("https://h.example/v1/"), full);
    assert_eq!(joined("https://h.example/v1/chat/completions"), full);
    let query = Some("https://h.example/x/chat/completions?api-version=1".to_owned());
    assert_eq!(joined("https://h.example/x?api-version=1"), query);
    for bad in ["", "h.example/v1", "ftp://h.example", "file:///etc/passwd"] {
        assert_eq!(joined(bad), None, "{bad:?}");
    }
}

#[test]
fn nothing_printed_holds_the_key() {
    let model = client("http://127.0.0.1:9/v1", |_| {});
    assert!(!format!("{model:?} {:?}", model.options).contains("secret"));
    let options = RemoteOptions::new("p", "m", "http://h/v1", Some("bad\nkey".to_owned()));
    let error = Remote::new(options).unwrap_err();
    assert_eq!(
        (error.kind, error.recoverable),
        (ErrorClass::Internal, false)
    );
    assert!(!error.message.contains("bad"));
}
