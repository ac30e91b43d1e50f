//! Calls of the HTTP API.
//!
//! Owns the client, how many calls there are at once, and what a failure means: a call that found no
//! connection certainly was not carried out, and any other that got no answer may have been. A call is made
//! again only when its access token was refused, and then once. It never follows a redirect and never shows
//! a secret.

mod refusal;

use std::{error::Error, fmt, time::Duration};

use reqwest::{
    Client, Method, Response, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue},
    redirect::Policy,
};
use serde_json::Value;
use tokio::{sync::Semaphore, time::timeout};
use weirgate_sdk::text::line;

use super::{settings::Settings, token::Tokens};
pub use refusal::{Refusal, Trouble};

/// Calls at once; a further one waits.
const MAX_CALLS: usize = 32;
/// How long a call waits for a place among them.
const QUEUE_LIMIT: Duration = Duration::from_secs(5);
/// The time in which a connection must stand.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// The longest answer, in bytes.
const MAX_ANSWER: usize = 1024 * 1024;
/// Longest text of a failure, in characters.
pub const MAX_TEXT: usize = 200;

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

/// The way to the HTTP API for one bot.
pub struct Api {
    client: Client,
    base: String,
    places: Semaphore,
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
        // The client takes the process's provider of cryptography; where one is chosen already this changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .redirect(Policy::none())
            .tcp_nodelay(true)
            .user_agent(format!("weirgate/{version}"));
        if is_local(&settings.api_url) {
            // A proxy of the environment leads to other machines.
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|_| "the HTTP client cannot be built".to_owned())?;
        Ok(Self {
            tokens: Tokens::new(
                client.clone(),
                &settings.token_url,
                &settings.app_id,
                secret,
            ),
            client,
            base: settings.api_url.clone(),
            places: Semaphore::new(MAX_CALLS),
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
        self.call(Method::POST, path, Some(said.to_string())).await
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

    async fn call(
        &self,
        method: Method,
        path: &str,
        said: Option<String>,
    ) -> Result<Value, CallError> {
        let Ok(Ok(_place)) = timeout(QUEUE_LIMIT, self.places.acquire()).await else {
            let text = "too many calls under way";
            return Err(CallError::Unreachable(text.into()));
        };
        let token = self.tokens.get(self.limit).await?;
        let first = self.once(&method, path, said.clone(), &token).await;
        let refused = matches!(&first, Err(CallError::Refused(refusal)) if refusal.trouble() == Trouble::Token);
        if !refused {
            return first;
        }
        // It ended before its time, as after a new secret. Nothing was done, so another try is safe.
        self.tokens.refused(&token);
        let token = self.tokens.get(self.limit).await?;
        self.once(&method, path, said, &token).await
    }

    async fn once(
        &self,
        method: &Method,
        path: &str,
        said: Option<String>,
        token: &str,
    ) -> Result<Value, CallError> {
        let exchange = self.exchange(method.clone(), path, said, token);
        let answer = timeout(self.limit, exchange).await;
        answer.unwrap_or_else(|_| Err(CallError::Lost(format!("no answer in {:?}", self.limit))))
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        said: Option<String>,
        token: &str,
    ) -> Result<Value, CallError> {
        let unsendable = |_| CallError::Unreachable("an access token that cannot be sent".into());
        let mut secret = HeaderValue::from_str(&presented(token)).map_err(unsendable)?;
        secret.set_sensitive(true);
        let address = format!("{}{path}", self.base);
        let mut request = self
            .client
            .request(method, address)
            .header(AUTHORIZATION, secret);
        if let Some(said) = said {
            let json = HeaderValue::from_static("application/json");
            request = request.header(CONTENT_TYPE, json).body(said);
        }
        let response = request.send().await.map_err(broken)?;
        let status = response.status().as_u16();
        let answer = serde_json::from_slice(&read_body(response).await?).ok();
        outcome(status, answer)
    }
}

/// What stands before a token.
const SCHEME: &str = "QQBot ";

fn presented(token: &str) -> String {
    format!("{SCHEME}{token}")
}

/// What an answer says.
fn outcome(status: u16, answer: Option<Value>) -> Result<Value, CallError> {
    match (status, answer) {
        (200..=299, Some(answer)) => match Refusal::read(status, &answer) {
            // Some refusals come with a status of success.
            Some(refusal) => Err(CallError::Refused(refusal)),
            None => Ok(answer),
        },
        (204, None) => Ok(Value::Null),
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

/// Whether an address is on this machine.
#[must_use]
pub fn is_local(base: &str) -> bool {
    let url: Option<Url> = base.parse().ok();
    url.is_some_and(|url| match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_matches(['[', ']'])
            .parse()
            .is_ok_and(|address: std::net::IpAddr| address.is_loopback()),
        None => false,
    })
}

/// The body of an answer, if it is not too long.
///
/// # Errors
/// Why it was not read.
pub async fn read_body(mut response: Response) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(broken)? {
        if body.len() + bytes.len() > MAX_ANSWER {
            return Err(CallError::Lost("the answer is too long".into()));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

/// A failure below HTTP: its innermost cause says most, and the address is left out.
pub fn broken(error: reqwest::Error) -> CallError {
    let before = error.is_connect() || error.is_builder();
    let error = error.without_url();
    let mut cause: &dyn Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = line(&cause.to_string(), MAX_TEXT);
    if before {
        CallError::Unreachable(text)
    } else {
        CallError::Lost(text)
    }
}

#[cfg(test)]
mod tests;
