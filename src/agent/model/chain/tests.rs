use std::collections::VecDeque;
use std::sync::Mutex;

use tokio::time::Instant;

use super::super::{Message, ModelStream, Offered, Role};
use super::*;

type Step = Result<Vec<Result<Delta, ModelError>>, ModelError>;

/// A model that follows a list; when the list is used up it answers "done".
struct Scripted {
    name: &'static str,
    steps: Mutex<VecDeque<Step>>,
    opened: Mutex<u32>,
}

struct ScriptedStream(VecDeque<Result<Delta, ModelError>>);

#[async_trait]
impl Model for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn provider(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    async fn open(&self, _: &ChatRequest) -> Result<Box<dyn ModelStream>, ModelError> {
        *self.opened.lock().unwrap() += 1;
        let step = self.steps.lock().unwrap().pop_front();
        let deltas = step.unwrap_or_else(|| Ok(said("done", FinishReason::Stop)))?;
        Ok(Box::new(ScriptedStream(deltas.into())))
    }
}

#[async_trait]
impl ModelStream for ScriptedStream {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        self.0.pop_front()
    }
}

fn said(text: &str, finish: FinishReason) -> Vec<Result<Delta, ModelError>> {
    vec![Ok(Delta::Text(text.to_owned())), Ok(Delta::Finish(finish))]
}

fn model(name: &'static str, steps: Vec<Step>) -> Arc<Scripted> {
    Arc::new(Scripted {
        name,
        steps: Mutex::new(steps.into()),
        opened: Mutex::new(0),
    })
}

fn failure(kind: ErrorClass) -> ModelError {
    ModelError::new(kind, "failed")
}

/// Writes down what happens, in order; limiter and listener in one log.
#[derive(Default)]
struct Log {
    lines: Mutex<Vec<String>>,
    /// Providers that let nobody in, and for how long.
    shut: std::collections::HashMap<String, Duration>,
}

impl Log {
    fn add(&self, line: String) {
        self.lines.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }
}

#[async_trait]
impl Permits for Log {
    async fn acquire(&self, provider: &str) {
        self.add(format!("acquire {provider}"));
    }

    fn wait(&self, provider: &str) -> Duration {
        self.shut.get(provider).copied().unwrap_or_default()
    }

    fn rate_limited(&self, provider: &str, retry_after: Option<Duration>) {
        self.add(format!(
            "limited {provider} {:?}",
            retry_after.map(|wait| wait.as_secs())
        ));
    }

    fn succeeded(&self, provider: &str) {
        self.add(format!("ok {provider}"));
    }
}

struct Shown<'a> {
    log: &'a Log,
    text: String,
}

impl Listener for Shown<'_> {
    fn attempt(&mut self, number: u32, model: &str) {
        self.log.add(format!("attempt {number} {model}"));
        self.text.clear();
    }

    fn text(&mut self, delta: &str) {
        self.log.add(format!("text {delta}"));
        self.text.push_str(delta);
    }

    fn reasoning(&mut self, delta: &str) {
        self.log.add(format!("reasoning {delta}"));
    }
}

struct Ran {
    result: Result<Completion, ChainError>,
    log: Vec<String>,
    shown: String,
    waited: Duration,
}

async fn run(models: &[Arc<Scripted>], held: bool) -> Ran {
    run_with(models, held, Log::default()).await
}

async fn run_with(models: &[Arc<Scripted>], held: bool, log: Log) -> Ran {
    let first = models.first().filter(|_| held);
    let held = first.map(|model| model.provider().to_owned());
    let models = models
        .iter()
        .map(|model| model.clone() as Arc<dyn Model>)
        .collect();
    let chain = Chain::new(models, Recovery::default());
    let message = Message::words(Role::User, "hi".to_owned());
    let request = ChatRequest {
        messages: vec![message],
        max_output_tokens: None,
        temperature: None,
        offered: Offered::default(),
        turn: "t".to_owned(),
    };
    let mut shown = Shown {
        log: &log,
        text: String::new(),
    };
    let started = Instant::now();
    let result = chain
        .run(&request, &log, held.as_deref(), &mut shown, &|| 1.0)
        .await;
    let shown = shown.text;
    Ran {
        result,
        log: log.lines(),
        shown,
        waited: started.elapsed(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_permit_held_already_is_not_asked_for_again() {
    let ran = run(&[model("p/a", vec![])], true).await;
    assert_eq!(ran.log, ["attempt 1 p/a", "text done", "ok p"]);
    let ran = run(&[model("p/a", vec![])], false).await;
    assert_eq!(ran.log[0], "acquire p");
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_lets_nobody_in_is_passed_over_while_there_is_another() {
    let hour = Duration::from_secs(3600);
    let shut = |names: &[&str]| Log {
        shut: names
            .iter()
            .map(|name| ((*name).to_owned(), hour))
            .collect(),
        ..Log::default()
    };
    let two = || [model("p/a", vec![]), model("q/b", vec![])];
    let ran = run_with(&two(), false, shut(&["p"])).await;
    assert_eq!(ran.log[..2], ["acquire q", "attempt 1 q/b"]);
    let ran = run_with(&two(), true, shut(&["p"])).await;
    assert_eq!(ran.log[0], "attempt 1 p/a", "its permit is held already");
    let ran = run_with(&two(), false, shut(&["p", "q"])).await;
    assert_eq!(ran.log[0], "acquire q", "the last one is waited for");
}

#[tokio::test(start_paused = true)]
async fn a_retry_replaces_the_text_of_the_broken_attempt() {
    let broken = vec![
        Ok(Delta::Reasoning("old".to_owned())),
        Ok(Delta::Text("Good eve".to_owned())),
        Ok(Delta::Usage(Usage {
            prompt: 1,
            completion: 1,
            total: 2,
            ..Usage::default()
        })),
        Err(failure(ErrorClass::Network)),
    ];
    let steps = vec![Ok(broken), Ok(said("Good evening!", FinishReason::Stop))];
    let ran = run(&[model("p/a", steps)], true).await;
    let answer = ran.result.unwrap();
    assert_eq!(
        (answer.text.as_str(), answer.attempts),
        ("Good evening!", 2)
    );
    assert_eq!(
        (answer.reasoning, answer.usage),
        (None, None),
        "nothing of the first is left"
    );
    assert_eq!(ran.shown, "Good evening!");
    let order = [
        "text Good eve",
        "acquire p",
        "attempt 2 p/a",
        "text Good evening!",
        "ok p",
    ];
    assert_eq!(ran.log[ran.log.len() - 5..], order);
    assert_eq!(ran.waited, Duration::from_millis(1500));
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_an_end_is_broken_off() {
    let steps = vec![Ok(vec![Ok(Delta::Text("Half".to_owned()))])];
    let ran = run(&[model("p/a", steps)], true).await;
    assert_eq!(ran.result.unwrap().text, "done");
    assert_eq!(ran.shown, "done");
}

#[tokio::test(start_paused = true)]
async fn each_class_has_its_own_number_of_retries() {
    for (class, requests) in [
        (ErrorClass::RateLimit, 6),
        (ErrorClass::Timeout, 4),
        (ErrorClass::Network, 4),
        (ErrorClass::Api, 3),
        (ErrorClass::Security, 1),
        (ErrorClass::Internal, 2),
    ] {
        let model = model("p/a", (0..20).map(|_| Err(failure(class))).collect());
        let error = run(std::slice::from_ref(&model), true)
            .await
            .result
            .unwrap_err();
        assert_eq!(*model.opened.lock().unwrap(), requests, "{class:?}");
        assert_eq!((error.attempts, error.class()), (requests, class));
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_succeed_goes_to_the_next_model_at_once() {
    let first = model("p/a", vec![Err(failure(ErrorClass::Api).permanent())]);
    let ran = run(&[first, model("q/b", vec![])], true).await;
    let answer = ran.result.unwrap();
    assert_eq!((answer.model.as_str(), answer.attempts), ("q/b", 2));
    let order = [
        "attempt 1 p/a",
        "acquire q",
        "attempt 2 q/b",
        "text done",
        "ok q",
    ];
    assert_eq!(ran.log, order);
    assert_eq!(ran.waited, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn spent_retries_go_to_the_next_model_and_all_last_errors_are_kept() {
    let fail = |class| (0..9).map(|_| Err(failure(class))).collect::<Vec<Step>>();
    let models = [
        model("p/a", fail(ErrorClass::Api)),
        model("q/b", fail(ErrorClass::Timeout)),
    ];
    let error = run(&models, true).await.result.unwrap_err();
    let names: Vec<&str> = error
        .failures
        .iter()
        .map(|one| one.model.as_str())
        .collect();
    assert_eq!(names, ["p/a", "q/b"]);
    assert_eq!((error.attempts, error.class()), (7, ErrorClass::Timeout));
    let text = error.to_string();
    assert_eq!(
        text,
        "no model answered after 7 attempts; p/a: failed; q/b: failed"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refusal_of_the_content_is_not_tried_elsewhere() {
    let second = model("q/b", vec![]);
    let models = [
        model("p/a", vec![Err(failure(ErrorClass::Security))]),
        second.clone(),
    ];
    let error = run(&models, true).await.result.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Security);
    assert_eq!(*second.opened.lock().unwrap(), 0);
}

fn limited(seconds: u64) -> ModelError {
    let retry_after = Some(Duration::from_secs(seconds));
    ModelError {
        retry_after,
        ..failure(ErrorClass::RateLimit)
    }
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_told_to_the_limiter_and_waited_out() {
    let ran = run(&[model("p/a", vec![Err(limited(20))])], true).await;
    assert!(ran.result.is_ok());
    assert_eq!(ran.log[1..3], ["limited p Some(20)", "acquire p"]);
    assert_eq!(ran.waited, Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn a_very_long_wait_is_taken_only_if_no_other_model_is_left() {
    let ran = run(
        &[model("p/a", vec![Err(limited(300))]), model("q/b", vec![])],
        true,
    )
    .await;
    assert_eq!(ran.result.unwrap().model, "q/b");
    assert_eq!(ran.waited, Duration::ZERO);
    let ran = run(&[model("p/a", vec![Err(limited(300))])], true).await;
    assert_eq!(ran.result.unwrap().model, "p/a");
    assert_eq!(ran.waited, Duration::from_secs(300));
}

#[tokio::test(start_paused = true)]
async fn answers_without_words_have_their_own_outcomes() {
    let cases = [
        ("", FinishReason::Length, Outcome::Truncated),
        (" \n", FinishReason::Length, Outcome::Truncated),
        ("", FinishReason::ContentFilter, Outcome::Refused),
        (" \n\t", FinishReason::Stop, Outcome::Empty),
        ("", FinishReason::Other("odd".to_owned()), Outcome::Empty),
        ("half a sen", FinishReason::Length, Outcome::Answer),
        ("fine", FinishReason::Stop, Outcome::Answer),
    ];
    for (text, finish, outcome) in cases {
        let mut deltas = vec![Ok(Delta::Reasoning("long thoughts".to_owned()))];
        deltas.extend(said(text, finish.clone()));
        let ran = run(&[model("p/a", vec![Ok(deltas)])], true).await;
        let completion = ran.result.unwrap();
        assert_eq!(completion.outcome, outcome, "{text:?} {finish:?}");
        assert_eq!(completion.reasoning.as_deref(), Some("long thoughts"));
    }
}

#[tokio::test(start_paused = true)]
async fn empty_reasoning_is_not_absent_reasoning() {
    let mut deltas = vec![Ok(Delta::Reasoning(String::new()))];
    deltas.extend(said("hi", FinishReason::Stop));
    let ran = run(&[model("p/a", vec![Ok(deltas)])], true).await;
    assert!(!ran.log.iter().any(|line| line.starts_with("reasoning")));
    assert_eq!(ran.result.unwrap().reasoning.as_deref(), Some(""));
    let ran = run(&[model("p/a", vec![])], true).await;
    assert_eq!(ran.result.unwrap().reasoning, None);
}

#[tokio::test(start_paused = true)]
async fn an_empty_list_is_our_own_fault() {
    let error = run(&[], true).await.result.unwrap_err();
    assert_eq!((error.class(), error.attempts), (ErrorClass::Internal, 0));
    assert_eq!(error.to_string(), "no model is configured");
}
