//! Calls of the HTTP API.
//!
//! Owns the client, how many calls there are at once, and what a failure means: a call that found no
//! connection certainly was not carried out, and any other that got no answer may have been. A call is made
//! again only when its access token was refused, and then once. It never follows a redirect and never shows
//! a secret.

mod refusal;

use std::{fmt, time::Duration};

use reqwest::{
    Body, Client, Method,
    header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue},
};
use serde_json::Value;
use weirgate_net::http::{self, Places, read, within};
pub use weirgate_net::http::{Broken, MAX_TEXT};

use super::{settings::Settings, token::Tokens};
pub use refusal::{Refusal, Trouble};

/// Calls at once; a further one waits.
const MAX_CALLS: usize = 32;
/// The longest answer, in bytes.
pub const MAX_ANSWER: usize = 1024 * 1024;

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The platform does not know the bot by its id and secret: nothing was done.
    Secret(String),
    /// The platform refused the call: nothing was done.
    Refused(Refusal),
    /// It did not leave: nothing was done.
    Unreachable(String),
    /// It left, and nobody knows whether it was carried out.
    Lost(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret(text) => write!(
                f,
                "the platform does not take app_id and app_secret: {text}"
            ),
            Self::Refused(refusal) => refusal.fmt(f),
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

/// The way to the HTTP API for one bot.
pub struct Api {
    client: Client,
    base: String,
    places: Places,
    tokens: Tokens,
    limit: Duration,
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api").finish_non_exhaustive()
    }
}

impl Api {
    /// Calls as these settings say. Connects only when there is something to ask.
    ///
    /// # Errors
    /// What makes the account unusable.
    pub fn new(settings: &Settings, version: &str) -> Result<Self, String> {
        let Some(secret) = settings.app_secret.clone() else {
            return Err("the account has no app_secret".to_owned());
        };
        let builder = http::client(&settings.api_url).user_agent(format!("weirgate/{version}"));
        let client = http::built(builder)?;
        Ok(Self {
            tokens: Tokens::new(
                client.clone(),
                &settings.token_url,
                &settings.app_id,
                secret,
            ),
            client,
            base: settings.api_url.clone(),
            places: Places::new(MAX_CALLS),
            limit: settings.call_timeout,
        })
    }

    /// Asks for something.
    ///
    /// # Errors
    /// What the platform says, or why it says nothing.
    pub async fn get(&self, path: &str) -> Result<Value, CallError> {
        self.call(Method::GET, path, None).await
    }

    /// Hands something over.
    ///
    /// # Errors
    /// As there.
    pub async fn post(&self, path: &str, said: &Value) -> Result<Value, CallError> {
        self.call(Method::POST, path, Some(said)).await
    }

    /// Makes a call of any kind. An answer without a body is [`Value::Null`].
    ///
    /// # Errors
    /// As there.
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        said: Option<&Value>,
    ) -> Result<Value, CallError> {
        let said = said.map(Value::to_string);
        let body = || match &said {
            Some(said) => Said::Json(said.clone()),
            None => Said::Nothing,
        };
        let _place = self.places.enter().await?;
        let token = self.tokens.get(self.limit).await?;
        let first = self.once(&method, path, body(), (&token, self.limit));
        let first = first.await;
        if !is_token_refused(&first) {
            return first;
        }
        // It ended before its time, as after a new secret. Nothing was done, so another try is safe.
        self.tokens.refused(&token);
        let token = self.tokens.get(self.limit).await?;
        self.once(&method, path, body(), (&token, self.limit)).await
    }

    /// Hands something over that is read while it goes out, and waits at most `limit` for the answer.
    ///
    /// # Errors
    /// As [`Api::post`]; a refused access token is [`CallError::Unreachable`], for it cannot be read twice.
    pub async fn upload(
        &self,
        path: &str,
        said: Streamed,
        limit: Duration,
    ) -> Result<Value, CallError> {
        let _place = self.places.enter().await?;
        let token = self.tokens.get(self.limit).await?;
        let said = Said::Streamed(said);
        let answer = self.once(&Method::POST, path, said, (&token, limit)).await;
        if is_token_refused(&answer) {
            self.tokens.refused(&token);
            return Err(CallError::Unreachable("the access token ended".into()));
        }
        answer
    }

    /// Where the HTTP API is.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// How long a call waits for its answer.
    #[must_use]
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// The present access token, as a connection presents it.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn token(&self) -> Result<String, CallError> {
        let token = self.tokens.get(self.limit).await?;
        Ok(presented(&token))
    }

    /// The platform did not take what [`Api::token`] gave.
    pub fn token_refused(&self, presented: &str) {
        let token = presented.strip_prefix(SCHEME).unwrap_or(presented);
        self.tokens.refused(token);
    }

    async fn once(
        &self,
        method: &Method,
        path: &str,
        said: Said,
        (token, limit): (&str, Duration),
    ) -> Result<Value, CallError> {
        within(limit, self.exchange(method, path, said, token)).await
    }

    async fn exchange(
        &self,
        method: &Method,
        path: &str,
        said: Said,
        token: &str,
    ) -> Result<Value, CallError> {
        let unsendable = |_| CallError::Unreachable("an access token that cannot be sent".into());
        let mut secret = HeaderValue::from_str(&presented(token)).map_err(unsendable)?;
        secret.set_sensitive(true);
        let address = format!("{}{path}", self.base);
        let mut request = self
            .client
            .request(method.clone(), address)
            .header(AUTHORIZATION, secret);
        request = match said {
            Said::Nothing => request,
            Said::Json(said) => {
                let json = HeaderValue::from_static("application/json");
                request.header(CONTENT_TYPE, json).body(said)
            }
            Said::Streamed(said) => request
                .header(CONTENT_TYPE, said.content_type)
                .header(CONTENT_LENGTH, said.length)
                .body(said.body),
        };
        let response = request.send().await?;
        let status = response.status().as_u16();
        outcome(method, status, &read(response, MAX_ANSWER).await?)
    }
}

/// What a call carries.
enum Said {
    Nothing,
    Json(String),
    Streamed(Streamed),
}

/// A body that is read while it goes out.
#[derive(Debug)]
pub struct Streamed {
    /// The value of the header `Content-Type`.
    pub content_type: String,
    /// Its length in bytes.
    pub length: u64,
    /// The bytes.
    pub body: Body,
}

fn is_token_refused(answer: &Result<Value, CallError>) -> bool {
    matches!(answer, Err(CallError::Refused(refusal)) if refusal.trouble() == Trouble::Token)
}

/// What stands before a token.
const SCHEME: &str = "QQBot ";

fn presented(token: &str) -> String {
    format!("{SCHEME}{token}")
}

/// What an answer says.
fn outcome(method: &Method, status: u16, body: &[u8]) -> Result<Value, CallError> {
    let answer: Option<Value> = serde_json::from_slice(body).ok();
    // What is asked for or sent has a result; what is done to something need not.
    let may_be_empty = status == 204 || !matches!(*method, Method::GET | Method::POST);
    match (status, answer) {
        (200..=299, Some(answer)) => match Refusal::read(status, &answer) {
            // Some refusals come with a status of success.
            Some(refusal) => Err(CallError::Refused(refusal)),
            None => Ok(answer),
        },
        (200..=299, None) if body.is_empty() && may_be_empty => Ok(Value::Null),
        (200..=299, None) => Err(CallError::Lost("an answer that cannot be read".into())),
        // What the platform itself refuses has a code, whatever the status; else who answered does not know.
        (500.., answer) => match answer
            .as_ref()
            .and_then(|answer| Refusal::read(status, answer))
        {
            Some(refusal) if refusal.is_certain() => Err(CallError::Refused(refusal)),
            _ => Err(CallError::Lost(format!("HTTP status {status}"))),
        },
        (_, answer) => Err(CallError::Refused(
            Refusal::read(status, &answer.unwrap_or_default())
                .unwrap_or_else(|| Refusal::bare(status)),
        )),
    }
}

#[cfg(test)]
mod tests;
