//! Calls of the Bot API.
//!
//! Owns the client, how many calls there are at once, and what a failure means: a call that found no connection
//! certainly was not carried out, and any other that got no answer may have been. It never follows a redirect, never
//! repeats, and never shows the address, of which the token is a part.

pub mod method;
mod refusal;

use std::{fmt, time::Duration};

use reqwest::{
    Body, Client, RequestBuilder, Response, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, RETRY_AFTER},
};
use serde::Serialize;
use serde_json::Value;
use teloxide_core::requests::Payload;
use weirgate_net::http::{self, Broken, MAX_TEXT, Places, read, within};
use weirgate_sdk::{Content, media::form::Whole};

pub use refusal::{Refusal, Trouble};

/// Calls at once, those for updates aside; a further one waits.
const MAX_CALLS: usize = 64;
/// The longest answer, in bytes: a hundred updates of the longest texts have room.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The platform refused it: nothing was done.
    Refused(Refusal),
    /// It did not leave: nothing was done.
    Unreachable(String),
    /// It left, and nobody knows whether it was carried out.
    Lost(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "{} ({})", refusal.text, refusal.code),
            Self::Unreachable(text) | Self::Lost(text) => f.write_str(text),
        }
    }
}

impl From<Broken> for CallError {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Unreachable(text) => Self::Unreachable(text),
            Broken::Lost(text) => Self::Lost(text),
        }
    }
}

impl From<reqwest::Error> for CallError {
    fn from(error: reqwest::Error) -> Self {
        Broken::from(error).into()
    }
}

/// The way to the Bot API of one bot.
pub struct Api {
    client: Client,
    base: String,
    files: String,
    places: Places,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

impl Api {
    /// Calls below the address `base` with this token. Connects only when there is something to ask.
    ///
    /// # Errors
    /// Why the client cannot be built, for the operator.
    pub fn new(base: &str, token: &str) -> Result<Self, String> {
        Ok(Self {
            client: http::built(http::client(base))?,
            base: format!("{base}/bot{token}/"),
            files: format!("{base}/file/bot{token}/"),
            places: Places::new(MAX_CALLS),
        })
    }

    /// Makes a call and waits at most `limit` for its answer.
    ///
    /// # Errors
    /// What the platform says, or why it says nothing.
    pub async fn call<P>(&self, payload: &P, limit: Duration) -> Result<Value, CallError>
    where
        P: Payload + Serialize + Sync,
    {
        let _place = self.places.enter().await?;
        self.ask(payload, limit).await
    }

    /// Like [`Api::call`], beside all other calls: for the one that waits for updates.
    ///
    /// # Errors
    /// As there.
    pub async fn ask<P>(&self, payload: &P, limit: Duration) -> Result<Value, CallError>
    where
        P: Payload + Serialize + Sync,
    {
        let Ok(body) = serde_json::to_vec(payload) else {
            let text = "cannot be written as JSON";
            return Err(CallError::Unreachable(text.into()));
        };
        within(limit, self.exchange(&method_name(P::NAME), body)).await
    }

    /// Makes a call with files in it, which go out as they are read, and waits at most `limit` for the answer.
    ///
    /// # Errors
    /// As [`Api::call`].
    pub async fn upload(
        &self,
        method: &str,
        form: Whole,
        contents: Vec<Box<dyn Content>>,
        limit: Duration,
    ) -> Result<Value, CallError> {
        let _place = self.places.enter().await?;
        let request = self.client.post(format!("{}{method}", self.base));
        let request = request
            .header(CONTENT_TYPE, form.content_type.as_str())
            .header(CONTENT_LENGTH, form.length)
            .body(Body::wrap_stream(form.stream(contents)));
        within(limit, self.answer(request)).await
    }

    /// Asks for a file at the path that the platform gave, and waits at most `limit` for the beginning of it.
    ///
    /// # Errors
    /// As [`Api::call`]: any status but success is a refusal.
    pub async fn file(&self, path: &str, limit: Duration) -> Result<Response, CallError> {
        let request = self.client.get(format!("{}{path}", self.files));
        let asked = async { Ok::<_, CallError>(request.send().await?) };
        let response = within(limit, asked).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = read(response, MAX_ANSWER).await?;
        match outcome(status, None, &body) {
            Err(error) => Err(error),
            Ok(_) => Err(CallError::Lost("an answer that cannot be read".into())),
        }
    }

    async fn exchange(&self, method: &str, body: Vec<u8>) -> Result<Value, CallError> {
        let request = self.client.post(format!("{}{method}", self.base));
        let request = request
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(body);
        self.answer(request).await
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Value, CallError> {
        let response = request.send().await?;
        let status = response.status();
        let header = response.headers().get(RETRY_AFTER);
        let header = header.and_then(|value| value.to_str().ok()?.trim().parse::<f64>().ok());
        let body = read(response, MAX_ANSWER).await?;
        outcome(status, header, &body)
    }
}

/// What an answer says. `header` is the pause that a header demands, in seconds.
fn outcome(status: StatusCode, header: Option<f64>, body: &[u8]) -> Result<Value, CallError> {
    let mut answer: Value = serde_json::from_slice(body).unwrap_or_default();
    if answer["ok"] == true {
        return Ok(answer["result"].take());
    }
    let is_answer = answer["ok"] == false;
    let refusal = Refusal::read(status.as_u16(), header, &answer);
    match refusal.code {
        // Whoever answered does not know what became of it.
        500.. => Err(CallError::Lost(refusal.text)),
        200..=299 if !is_answer => Err(CallError::Lost("an answer that cannot be read".into())),
        _ => Err(CallError::Refused(refusal)),
    }
}

/// The name as the documentation writes it; the library begins it with a capital letter.
fn method_name(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests;
