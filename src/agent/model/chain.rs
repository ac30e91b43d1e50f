//! Runs one request against a list of models: permits, retries by class, then the next model.
//!
//! Owns the accumulators of an attempt: each attempt starts from nothing, so that the text of a
//! broken one is never joined to the next. It asks for a permit before every request, also before
//! retries. It decides nothing about delays (`recovery`) and shows nothing itself: the listener
//! does, and is told when an attempt replaces what it has shown.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use crate::telemetry::{
    metrics,
    traces::{self, EndedRequest},
};

use super::{
    ChatRequest, Delta, ErrorClass, FinishReason, Model, ModelError, Recovery, Sealed, ToolCall,
    Usage, calls::Broken, fault::refuses_files,
};

/// The limiter of the providers' request rates.
#[async_trait]
pub trait Permits: Send + Sync {
    /// Waits until one more request may be sent to the provider.
    async fn acquire(&self, provider: &str);

    /// How long a request to the provider would have to wait now.
    fn wait(&self, provider: &str) -> Duration;

    /// The provider asked to slow down; everybody who uses it waits.
    fn rate_limited(&self, provider: &str, retry_after: Option<Duration>);

    /// A request to the provider went through to its end.
    fn succeeded(&self, provider: &str);
}

/// Watches the answer come. Must not block.
pub trait Listener: Send {
    /// A request is about to be sent, the first being number 1. What earlier attempts delivered is
    /// void: a preview shows the new text in its place.
    fn attempt(&mut self, number: u32, model: &str);

    /// More words for the person.
    fn text(&mut self, delta: &str);

    /// More hidden reasoning; never empty, never to be shown as the answer.
    fn reasoning(&mut self, delta: &str);
}

/// A listener for what nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Listener for Silent {
    fn attempt(&mut self, _: u32, _: &str) {}
    fn text(&mut self, _: &str) {}
    fn reasoning(&mut self, _: &str) {}
}

/// What a complete answer is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// There are words to show. `finish` tells whether they were cut off.
    Answer,
    /// It wants tools to be called; there may be words as well.
    Calls,
    /// It wanted tools to be called, but what it said of them cannot be used.
    BrokenCalls(Broken),
    /// The limit of tokens was reached before the first word, as a rule inside the reasoning.
    Truncated,
    /// The provider's filter stopped the answer before the first word.
    Refused,
    /// The model finished without saying anything but white space.
    Empty,
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The words for the person, as they came; blank unless the outcome is an answer.
    pub text: String,
    /// Hidden reasoning word for word: `Some("")` when the field came empty, `None` when it never
    /// came.
    pub reasoning: Option<String>,
    /// Reasoning that only the model can read.
    pub sealed: Option<Sealed>,
    /// The tools that it wants to be called, in order.
    pub calls: Vec<ToolCall>,
    /// Why the model stopped.
    pub finish: FinishReason,
    /// What the last request cost, when the provider said so.
    pub usage: Option<Usage>,
    /// The model that answered, as `provider/model`.
    pub model: String,
    /// How many requests were sent for it, over all models.
    pub attempts: u32,
    /// The model refused the files of the request, and was given the words alone.
    pub files_refused: bool,
    /// Whether there is something to show, and if not, why.
    pub outcome: Outcome,
}

/// The last error of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The model, as `provider/model`.
    pub model: String,
    /// Its last error.
    pub error: ModelError,
}

/// No model of the list answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainError {
    /// One entry for each model that was asked, in order. Empty when the list was.
    pub failures: Vec<Failure>,
    /// How many requests were sent.
    pub attempts: u32,
}

impl ChainError {
    /// The class of the last error; an empty list of models is our own fault.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        self.failures
            .last()
            .map_or(ErrorClass::Internal, |failure| failure.error.kind)
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.failures.is_empty() {
            return out.write_str("no model is configured");
        }
        write!(out, "no model answered after {} attempts", self.attempts)?;
        for failure in &self.failures {
            write!(out, "; {}: {}", failure.model, failure.error)?;
        }
        Ok(())
    }
}

impl std::error::Error for ChainError {}

/// Models in the order in which they are tried.
#[derive(Clone)]
pub struct Chain {
    models: Vec<Arc<dyn Model>>,
    recovery: Recovery,
}

impl fmt::Debug for Chain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.models.iter().map(|model| model.name()).collect();
        out.debug_struct("Chain")
            .field("models", &names)
            .finish_non_exhaustive()
    }
}

/// What one call of [`Chain::run`] carries from attempt to attempt.
struct Run<'a> {
    request: &'a ChatRequest,
    permits: &'a dyn Permits,
    permit: Option<&'a str>,
    listener: &'a mut dyn Listener,
    random: &'a (dyn Fn() -> f64 + Send + Sync),
    attempts: u32,
}

impl Chain {
    /// A chain over the models, the preferred one first.
    #[must_use]
    pub fn new(models: Vec<Arc<dyn Model>>, recovery: Recovery) -> Self {
        Self { models, recovery }
    }

    /// The same over other models.
    #[must_use]
    pub fn over(&self, models: Vec<Arc<dyn Model>>) -> Self {
        Self {
            models,
            recovery: self.recovery,
        }
    }

    /// The models in order.
    #[must_use]
    pub fn models(&self) -> &[Arc<dyn Model>] {
        &self.models
    }

    /// Asks until a model has answered completely or none is left. `permit`: the provider for
    /// whose next request the caller already holds a permit. A model whose provider lets nobody in
    /// for longer than the longest delay is passed over while there are others. `random` gives
    /// numbers from 0 to 1 for the delays. Dropping the future cancels the request under way.
    ///
    /// # Errors
    /// [`ChainError`] when all models failed, or when a provider refused the content: that is not
    /// tried elsewhere.
    pub async fn run(
        &self,
        request: &ChatRequest,
        permits: &dyn Permits,
        permit: Option<&str>,
        listener: &mut dyn Listener,
        random: &(dyn Fn() -> f64 + Send + Sync),
    ) -> Result<Completion, ChainError> {
        let mut run = Run {
            request,
            permits,
            permit,
            listener,
            random,
            attempts: 0,
        };
        let mut failures = Vec::new();
        for (at, model) in self.models.iter().enumerate() {
            let others_left = at + 1 < self.models.len();
            if others_left && run.is_shut(model.as_ref(), &self.recovery) {
                failures.push(Failure {
                    model: model.name().to_owned(),
                    error: ModelError::new(
                        ErrorClass::RateLimit,
                        "the provider lets nobody in now",
                    ),
                });
                continue;
            }
            match run
                .with_retries(model.as_ref(), &self.recovery, others_left)
                .await
            {
                Ok(completion) => return Ok(completion),
                Err(error) => {
                    let refused = error.kind == ErrorClass::Security;
                    failures.push(Failure {
                        model: model.name().to_owned(),
                        error,
                    });
                    if refused {
                        break;
                    }
                }
            }
        }
        Err(ChainError {
            failures,
            attempts: run.attempts,
        })
    }
}

impl Run<'_> {
    /// Whether asking this model would mean to wait for longer than another one is worth.
    fn is_shut(&self, model: &dyn Model, recovery: &Recovery) -> bool {
        let held = self.permit == Some(model.provider());
        !held && self.permits.wait(model.provider()) > recovery.max_backoff
    }

    async fn with_retries(
        &mut self,
        model: &dyn Model,
        recovery: &Recovery,
        others_left: bool,
    ) -> Result<Completion, ModelError> {
        let mut retried: Vec<ErrorClass> = Vec::new();
        let mut bare: Option<ChatRequest> = None;
        loop {
            if self
                .permit
                .take_if(|held| *held == model.provider())
                .is_none()
            {
                self.permits.acquire(model.provider()).await;
            }
            self.attempts += 1;
            self.listener.attempt(self.attempts, model.name());
            let started = tokio::time::Instant::now();
            let request = bare.as_ref().unwrap_or(self.request);
            let error = match self.attempt(model, request).await {
                Ok(mut completion) => {
                    completion.files_refused = bare.is_some();
                    let tokens = completion
                        .usage
                        .map(|usage| (usage.prompt, usage.completion));
                    self.observe(model, "ok", tokens, started.elapsed());
                    self.permits.succeeded(model.provider());
                    return Ok(completion);
                }
                Err(error) => error,
            };
            self.observe(model, error.kind.name(), None, started.elapsed());
            if error.kind == ErrorClass::RateLimit {
                self.permits
                    .rate_limited(model.provider(), error.retry_after);
            }
            if bare.is_none() && refuses_files(&error) && self.request.encloses(model.takes()) {
                bare = Some(self.request.without_files());
                continue;
            }
            let used = count(retried.iter().filter(|class| **class == error.kind));
            // A refusal is never worth a retry, unless the operator says so.
            let worth = error.recoverable || error.kind == ErrorClass::Security;
            if !worth || used >= recovery.retries(error.kind) {
                return Err(error);
            }
            retried.push(error.kind);
            let delay = recovery.delay(count(&retried), (self.random)(), error.retry_after);
            // Another model now is better for the person than this one in an hour.
            if delay > recovery.max_backoff && others_left {
                return Err(error);
            }
            tokio::time::sleep(delay).await;
        }
    }

    fn observe(
        &self,
        model: &dyn Model,
        outcome: &'static str,
        tokens: Option<(u64, u64)>,
        took: Duration,
    ) {
        metrics::model_request(model.provider(), outcome, took);
        traces::model_request(&EndedRequest {
            turn: &self.request.turn,
            provider: model.provider(),
            model: model.name(),
            attempt: self.attempts,
            tokens,
            error: (outcome != "ok").then_some(outcome),
            took,
        });
    }

    async fn attempt(
        &mut self,
        model: &dyn Model,
        request: &ChatRequest,
    ) -> Result<Completion, ModelError> {
        let started = tokio::time::Instant::now();
        let mut stream = model.open(request).await?;
        let mut first = true;
        let mut text = String::new();
        let mut reasoning: Option<String> = None;
        let mut sealed = None;
        let mut calls = Ok(Vec::new());
        let mut usage = None;
        let mut finish = None;
        while let Some(delta) = stream.next().await {
            match delta? {
                Delta::Text(more) => {
                    if std::mem::take(&mut first) {
                        metrics::first_token(started.elapsed());
                    }
                    self.listener.text(&more);
                    text.push_str(&more);
                }
                Delta::Reasoning(more) => {
                    if !more.is_empty() {
                        self.listener.reasoning(&more);
                    }
                    reasoning.get_or_insert_default().push_str(&more);
                }
                Delta::Sealed(items) => sealed = Some(items),
                Delta::Calls(called) => calls = called,
                Delta::Usage(counted) => usage = Some(counted),
                Delta::Finish(reason) => finish = Some(reason),
            }
        }
        let Some(finish) = finish else {
            return Err(ModelError::new(
                ErrorClass::Network,
                "the answer ended early",
            ));
        };
        let outcome = match &calls {
            Err(broken) => Outcome::BrokenCalls(*broken),
            Ok(calls) if !calls.is_empty() => Outcome::Calls,
            Ok(_) => outcome(&text, &finish),
        };
        let model = model.name().to_owned();
        let attempts = self.attempts;
        let sealed = sealed.map(|items| Sealed {
            model: model.clone(),
            items,
        });
        Ok(Completion {
            text,
            reasoning,
            sealed,
            calls: calls.unwrap_or_default(),
            finish,
            usage,
            model,
            attempts,
            files_refused: false,
            outcome,
        })
    }
}

fn count<'a>(classes: impl IntoIterator<Item = &'a ErrorClass>) -> u32 {
    u32::try_from(classes.into_iter().count()).unwrap_or(u32::MAX)
}

fn outcome(text: &str, finish: &FinishReason) -> Outcome {
    match finish {
        _ if !text.trim().is_empty() => Outcome::Answer,
        FinishReason::Length => Outcome::Truncated,
        FinishReason::ContentFilter => Outcome::Refused,
        _ => Outcome::Empty,
    }
}

#[cfg(test)]
mod tests;
