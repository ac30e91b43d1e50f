//! Client for providers that are reached over HTTP, in one of three formats.
//!
//! Owns one HTTP client for one model and the time-outs and size limits of an answer. Thin: what a
//! body is, what an event means and what an error says are pure parts beside it. It never retries,
//! never follows redirects and never shows its key.

mod assemble;
mod chat;
mod messages;
mod responses;
mod shape;
mod stream;

use std::fmt;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};
use tokio::time::timeout;

use self::assemble::Assemble;
use self::stream::RemoteStream;
use super::fault::{self, MAX_MESSAGE_CHARS, scrub};
use super::recovery::{retry_after_header, retry_after_millis};
use super::sse::decode;
use super::{
    ChatRequest, ErrorClass, Model, ModelError, ModelStream, Takes, config::ReasoningBack,
};

/// Most bytes read of a refusal or of a page that is no answer.
const MAX_FAULT_BYTES: usize = 16 * 1024;
/// The version of the messages format that is spoken.
const MESSAGES_VERSION: &str = "2023-06-01";

/// How a provider is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The chat completions API that many providers and local servers speak.
    ChatCompletions,
    /// The messages API of Anthropic.
    Messages,
    /// The responses API of OpenAI.
    Responses,
}

/// How one model wants its requests, and what a request asks of it.
#[derive(Debug, Clone, Copy)]
struct Dialect<'a> {
    /// The model, as `provider/model`.
    name: &'a str,
    stream: bool,
    max_output_tokens: Option<u32>,
    temperature: Option<f32>,
    /// The limit of tokens goes into `max_completion_tokens` instead of `max_tokens`.
    completion_limit: bool,
    /// What becomes of earlier reasoning.
    reasoning_back: ReasoningBack,
    /// The provider is asked to keep the beginning of the request in its cache.
    caches: bool,
    /// Which files are sent along.
    takes: Takes,
    /// The model is asked to reason. In the responses format that is in a form that it alone can read, and is played back.
    seals_reasoning: bool,
    /// A summary of the reasoning is asked for.
    summarises_reasoning: bool,
    /// Most tokens of reasoning, where it is asked for with a number.
    reasoning_budget: Option<u32>,
}

/// What it takes to reach one model.
#[derive(Clone)]
pub struct RemoteOptions {
    /// How it is spoken to.
    pub format: Format,
    /// Id of the provider in the configuration.
    pub provider: String,
    /// The model, as the provider names it.
    pub model: String,
    /// Root of the API, as a rule ending in `/v1`.
    pub base_url: String,
    /// Sent as a bearer token; local servers need none.
    pub api_key: Option<String>,
    /// The time in which a connection must stand.
    pub connect_timeout: Duration,
    /// The longest silence, before and between pieces of the answer.
    pub idle_timeout: Duration,
    /// Ask for a stream. Off for providers that cannot.
    pub stream: bool,
    /// The model mixes `<think>` reasoning into its text. It is taken out, and reasoning is then
    /// not played back: such models drop it from the history themselves.
    pub think_markers: bool,
    /// Most tokens of an answer, for requests that name no limit.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature, for requests that name none.
    pub temperature: Option<f32>,
    /// Name the token limit `max_completion_tokens`, as newer models demand, not `max_tokens`.
    pub completion_limit: bool,
    /// What the model takes beside words.
    pub takes: Takes,
    /// The model reasons, and gets what it thought back within a turn: not with [`Format::ChatCompletions`].
    pub reasoning: bool,
    /// A summary of what it thought is asked for: not with [`Format::ChatCompletions`].
    pub reasoning_summary: bool,
    /// It reasons with at most so many tokens: [`Format::Messages`] only.
    pub reasoning_budget: Option<u32>,
    /// What becomes of earlier reasoning: [`Format::ChatCompletions`] only.
    pub reasoning_back: ReasoningBack,
    /// The provider is not asked to keep the beginning of requests in its cache: [`Format::Messages`] only.
    pub uncached: bool,
}

impl RemoteOptions {
    /// Options for a model with everything else as usual.
    #[must_use]
    pub fn new(provider: &str, model: &str, base_url: &str, api_key: Option<String>) -> Self {
        Self {
            format: Format::ChatCompletions,
            provider: provider.to_owned(),
            model: model.to_owned(),
            base_url: base_url.to_owned(),
            api_key,
            connect_timeout: super::CONNECT_TIMEOUT,
            idle_timeout: super::IDLE_TIMEOUT,
            stream: true,
            think_markers: false,
            max_output_tokens: None,
            temperature: None,
            completion_limit: false,
            takes: Takes::default(),
            reasoning: false,
            reasoning_summary: false,
            reasoning_budget: None,
            reasoning_back: ReasoningBack::AsItCame,
            uncached: false,
        }
    }
}

impl fmt::Debug for RemoteOptions {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("RemoteOptions")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// One model of a provider.
pub struct Remote {
    name: String,
    options: RemoteOptions,
    url: Url,
    client: Client,
}

impl fmt::Debug for Remote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Remote")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Remote {
    /// A client for the model; connects only when asked something. The process's TLS provider must
    /// have been installed.
    ///
    /// # Errors
    /// An internal error when the address or the key cannot be used, or TLS is not set up.
    pub fn new(options: RemoteOptions) -> Result<Self, ModelError> {
        let fault = |message: &str| ModelError::new(ErrorClass::Internal, message).permanent();
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            return Err(fault("no TLS provider is installed"));
        }
        let url = endpoint(&options.base_url, options.format)
            .ok_or_else(|| fault("base_url is not a web address"))?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = &options.api_key {
            let (name, value) = match options.format {
                Format::ChatCompletions | Format::Responses => {
                    (AUTHORIZATION, format!("Bearer {key}"))
                }
                Format::Messages => (HeaderName::from_static("x-api-key"), key.clone()),
            };
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| fault("api_key has characters that cannot be sent"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        if options.format == Format::Messages {
            headers.insert(
                "anthropic-version",
                HeaderValue::from_static(MESSAGES_VERSION),
            );
        }
        let mut builder = Client::builder()
            .default_headers(headers)
            .connect_timeout(options.connect_timeout)
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true);
        if is_loopback(&url) {
            // A proxy named by the environment cannot reach a server on this machine.
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|_| fault("the HTTP client cannot be built"))?;
        let name = format!("{}/{}", options.provider, options.model);
        Ok(Self {
            name,
            options,
            url,
            client,
        })
    }

    async fn send(&self, request: &ChatRequest) -> Result<Response, ModelError> {
        let dialect = Dialect {
            name: &self.name,
            stream: self.options.stream,
            max_output_tokens: request.max_output_tokens.or(self.options.max_output_tokens),
            temperature: request.temperature.or(self.options.temperature),
            completion_limit: self.options.completion_limit,
            reasoning_back: match self.options.think_markers {
                true => ReasoningBack::Never,
                false => self.options.reasoning_back,
            },
            caches: !self.options.uncached,
            takes: self.options.takes,
            seals_reasoning: self.options.reasoning,
            summarises_reasoning: self.options.reasoning_summary,
            reasoning_budget: self.options.reasoning_budget,
        };
        let internal = |message: &str| ModelError::new(ErrorClass::Internal, message).permanent();
        let encode = match self.options.format {
            Format::ChatCompletions => chat::encode,
            Format::Messages => messages::encode,
            Format::Responses => responses::encode,
        };
        let body = encode(request, &self.options.model, dialect)
            .map_err(|_| internal("the request cannot be written as JSON"))?;
        let turn = HeaderValue::from_str(&request.turn)
            .map_err(|_| internal("the turn's id cannot be sent as a header"))?;
        let sent = self
            .client
            .post(self.url.clone())
            .header("x-request-id", turn)
            .body(body)
            .send();
        match timeout(self.options.idle_timeout, sent).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(transport(error, self.key())),
            Err(_) => Err(silent(self.options.idle_timeout)),
        }
    }

    /// Turns an answer that is no success into an error.
    async fn refusal(&self, mut response: Response) -> ModelError {
        let status = response.status().as_u16();
        let header = |name| {
            response
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        let retry_after = header("retry-after-ms")
            .and_then(retry_after_millis)
            .or_else(|| {
                header("retry-after").and_then(|value| retry_after_header(value, SystemTime::now()))
            });
        let mut body = Vec::new();
        let read = async {
            while body.len() < MAX_FAULT_BYTES {
                let Ok(Some(bytes)) = response.chunk().await else {
                    break;
                };
                body.extend_from_slice(&bytes);
            }
        };
        // The status says enough when the body does not come.
        let _ = timeout(self.options.idle_timeout, read).await;
        body.truncate(MAX_FAULT_BYTES);
        let mut error = fault::from_body(Some(status), &decode(&body), self.key());
        error.retry_after = retry_after.or(error.retry_after);
        error
    }

    fn key(&self) -> Option<&str> {
        self.options.api_key.as_deref()
    }
}

#[async_trait]
impl Model for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        &self.options.provider
    }

    fn takes(&self) -> Takes {
        self.options.takes
    }

    async fn open(&self, request: &ChatRequest) -> Result<Box<dyn ModelStream>, ModelError> {
        let response = self.send(request).await?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let declared = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"));
        Ok(Box::new(RemoteStream::new(
            response,
            declared,
            &self.options,
        )))
    }
}

impl RemoteOptions {
    /// What makes an answer of events in the format of the provider.
    fn assembly(&self) -> Box<dyn Assemble> {
        match self.format {
            Format::ChatCompletions => Box::new(chat::answer::Answer::new(self.think_markers)),
            Format::Messages => Box::new(messages::answer::Answer::default()),
            Format::Responses => Box::new(responses::answer::Answer::default()),
        }
    }
}

/// The address of the format's door under a base address.
fn endpoint(base: &str, format: Format) -> Option<Url> {
    let mut url = Url::parse(base.trim()).ok()?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return None;
    }
    let path = url.path().trim_end_matches('/').to_owned();
    let door = match format {
        Format::ChatCompletions => "/chat/completions",
        Format::Responses => "/responses",
        // The usual base address of this format has no version.
        Format::Messages if path.ends_with("/v1") || path.ends_with("/v1/messages") => "/messages",
        Format::Messages => "/v1/messages",
    };
    if !path.ends_with(door) {
        url.set_path(&format!("{path}{door}"));
    }
    Some(url)
}

pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost"
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// An error below HTTP: its innermost cause says most, and the address is left out.
fn transport(error: reqwest::Error, key: Option<&str>) -> ModelError {
    let kind = if error.is_timeout() {
        ErrorClass::Timeout
    } else if error.is_builder() {
        ErrorClass::Internal
    } else {
        ErrorClass::Network
    };
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = scrub(
        &format!("connection to the provider failed: {cause}"),
        key,
        MAX_MESSAGE_CHARS,
    );
    ModelError::new(kind, &text)
}

fn silent(after: Duration) -> ModelError {
    let message = format!("the provider was silent for {} ms", after.as_millis());
    ModelError::new(ErrorClass::Timeout, &message)
}

#[cfg(test)]
mod tests;
