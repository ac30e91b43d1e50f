//! One answer on its way: reads the body, finds out what it is, hands out its deltas.
//!
//! Owns the clock of an answer: how long it may be silent, and how little is waited for once it
//! is complete. What the bytes mean is decided by the pure parts beside it.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::Response;
use tokio::time::timeout;

use super::super::fault;
use super::super::sse::{Decoder, decode};
use super::super::{Delta, ErrorClass, ModelError, ModelStream};
use super::assemble::{Assemble, MAX_ANSWER_BYTES};
use super::shape::{Shape, shape, without_padding};
use super::{MAX_FAULT_BYTES, RemoteOptions, silent, transport};

/// How long usage may take to follow the end of the words.
const LINGER: Duration = Duration::from_secs(2);
/// How long the end of the body may take to follow the end marker. Reading up to it lets the
/// connection be used again.
const DRAIN: Duration = Duration::from_millis(25);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Reading,
    /// The answer is complete; the rest of the body is let through.
    Draining,
    Closed,
}

/// The body of a response that began well.
pub(super) struct RemoteStream {
    response: Response,
    key: Option<String>,
    idle: Duration,
    declared: bool,
    shape: Shape,
    /// Bytes that wait for their shape, and all bytes of a body that is not a stream.
    start: Vec<u8>,
    decoder: Decoder,
    answer: Box<dyn Assemble>,
    error: Option<ModelError>,
    phase: Phase,
}

#[async_trait]
impl ModelStream for RemoteStream {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        loop {
            if let Some(delta) = self.answer.pop() {
                return Some(Ok(delta));
            }
            if let Some(error) = self.error.take() {
                return Some(Err(error));
            }
            match self.phase {
                Phase::Reading => self.read().await,
                Phase::Draining => {
                    // Whatever comes, the answer is complete.
                    let _ = timeout(DRAIN, self.response.chunk()).await;
                    self.phase = Phase::Closed;
                }
                Phase::Closed => return None,
            }
        }
    }
}

impl RemoteStream {
    /// `declared`: the content type says server-sent events.
    pub(super) fn new(response: Response, declared: bool, options: &RemoteOptions) -> Self {
        Self {
            response,
            key: options.api_key.clone(),
            idle: options.idle_timeout,
            declared,
            shape: Shape::Unknown,
            start: Vec::new(),
            decoder: Decoder::new(),
            answer: options.assembly(),
            error: None,
            phase: Phase::Reading,
        }
    }

    async fn read(&mut self) {
        let finished = self.answer.has_finished();
        let wait = if finished {
            LINGER.min(self.idle)
        } else {
            self.idle
        };
        let result = match timeout(wait, self.response.chunk()).await {
            Ok(Ok(Some(bytes))) => self.feed(&bytes),
            Ok(Ok(None)) => self.end(),
            // The words are complete; that the connection ends untidily does not matter.
            Ok(Err(_)) | Err(_) if finished => self.end(),
            Ok(Err(error)) => Err(transport(error, self.key.as_deref())),
            Err(_) => Err(silent(self.idle)),
        };
        if let Err(error) = result {
            self.error = Some(error);
            self.phase = Phase::Closed;
        }
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        if self.shape == Shape::Events {
            return self.events(bytes);
        }
        self.start.extend_from_slice(bytes);
        if self.shape == Shape::Unknown {
            let padding = self.start.len() - without_padding(&self.start).len();
            self.start.drain(..padding);
            self.shape = shape(&self.start, self.declared, false);
        }
        match self.shape {
            Shape::Unknown => Ok(()),
            Shape::Events => {
                let start = std::mem::take(&mut self.start);
                self.events(&start)
            }
            Shape::Json if self.start.len() > MAX_ANSWER_BYTES => {
                let message = format!("the answer is longer than {MAX_ANSWER_BYTES} bytes");
                Err(ModelError::new(ErrorClass::Api, &message).permanent())
            }
            Shape::Json => Ok(()),
            Shape::Foreign if self.start.len() > MAX_FAULT_BYTES => Err(self.foreign()),
            Shape::Foreign => Ok(()),
        }
    }

    fn events(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        let key = self.key.as_deref();
        let mut result = Ok(());
        let answer = &mut self.answer;
        let fed = self.decoder.feed(bytes, |event| {
            if result.is_ok() {
                result = answer.event(&event, key);
            }
        });
        result?;
        if self.answer.is_done() {
            return self.complete(Phase::Draining);
        }
        fed.map_err(|error| ModelError::new(ErrorClass::Api, &error.to_string()).permanent())
    }

    /// The body has ended.
    fn end(&mut self) -> Result<(), ModelError> {
        if self.shape == Shape::Unknown {
            self.shape = shape(&self.start, self.declared, true);
        }
        match self.shape {
            Shape::Json => {
                let key = self.key.as_deref();
                self.answer.whole(&decode(&self.start), key)?;
            }
            Shape::Foreign => return Err(self.foreign()),
            Shape::Events | Shape::Unknown => {
                let start = std::mem::take(&mut self.start);
                self.events(&start)?;
                self.last_event()?;
            }
        }
        if self.phase == Phase::Reading {
            self.complete(Phase::Closed)
        } else {
            Ok(())
        }
    }

    /// Takes an event whose blank line never came. If it was cut off itself, it says nothing.
    fn last_event(&mut self) -> Result<(), ModelError> {
        let key = self.key.as_deref();
        let mut result = Ok(());
        let answer = &mut self.answer;
        let _ = self.decoder.finish(|event| {
            let data = event.data.trim();
            if data == "[DONE]" || serde_json::from_str::<serde::de::IgnoredAny>(data).is_ok() {
                result = answer.event(&event, key);
            }
        });
        result
    }

    fn complete(&mut self, phase: Phase) -> Result<(), ModelError> {
        self.answer.close()?;
        self.phase = phase;
        Ok(())
    }

    fn foreign(&self) -> ModelError {
        let excerpt = fault::excerpt(&decode(&self.start), self.key.as_deref());
        let message = if excerpt.is_empty() {
            "the provider sent an empty body".to_owned()
        } else {
            format!("the provider sent something that is no answer: {excerpt}")
        };
        ModelError::new(ErrorClass::Api, &message)
    }
}
