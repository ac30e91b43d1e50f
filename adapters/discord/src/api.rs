//! Calls of the HTTP API.
//!
//! Owns the client, how many calls there are at once, the pauses that the platform demands, and what a failure means:
//! a call that found no connection certainly was not carried out, and any other that got no answer may have been. It
//! never follows a redirect, never repeats, and never shows the token.

mod call;
mod refusal;

use std::{fmt, time::Duration};

use reqwest::{
    Body, Client, Response, StatusCode, Url,
    header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;
use weirgate_net::http::{self, Broken, MAX_TEXT, Places, read, within};
use weirgate_sdk::{Content, Freeze, media::form::Whole};

use crate::pauses::Pauses;

pub use call::{Call, Hook, Verb};
pub use refusal::{Refusal, Trouble};

/// Where the platform keeps the files of messages (its documentation, CDN endpoints).
const FILE_HOSTS: [&str; 2] = ["cdn.discordapp.com", "media.discordapp.net"];
/// Calls at once; a further one waits.
const MAX_CALLS: usize = 64;
/// The longest answer, in bytes: a hundred of the longest messages have room.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallError {
    /// The platform refused it: nothing was done.
    Refused(Refusal),
    /// A pause that the platform demanded has not ended: nothing was done.
    Paused(Duration, Freeze),
    /// It did not leave: nothing was done.
    Unreachable(String),
    /// It left, and nobody knows whether it was carried out.
    Lost(String),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => write!(f, "{} ({})", refusal.text, refusal.code),
            Self::Paused(left, _) => write!(f, "told to wait {left:?}"),
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

impl CallError {
    /// What it means, if the platform refused it.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        match self {
            Self::Refused(refusal) => Some(refusal.trouble()),
            Self::Paused(after, scope) => Some(Trouble::Flood(*after, *scope)),
            Self::Unreachable(_) | Self::Lost(_) => None,
        }
    }
}

/// The way to the HTTP API for one bot.
pub struct Api {
    client: Client,
    /// Without the token, which is nothing to servers of files.
    files: Client,
    base: String,
    places: Places,
    pauses: Pauses,
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
    pub fn new(base: &str, token: &str, version: &str) -> Result<Self, String> {
        let mut secret = HeaderValue::from_str(&format!("Bot {token}"))
            .map_err(|_| "the token has characters that cannot be sent".to_owned())?;
        secret.set_sensitive(true);
        // The form that the platform asks for: an address and a version.
        let agent = format!("DiscordBot (https://discord.com/developers, {version}) weirgate");
        let client = |headers| {
            let builder = http::client(base).user_agent(&agent);
            http::built(builder.default_headers(headers))
        };
        Ok(Self {
            client: client(HeaderMap::from_iter([(AUTHORIZATION, secret)]))?,
            files: client(HeaderMap::new())?,
            base: base.to_owned(),
            places: Places::new(MAX_CALLS),
            pauses: Pauses::default(),
        })
    }

    /// Asks for something and waits at most `limit` for the answer.
    ///
    /// # Errors
    /// What the platform says, or why it says nothing.
    pub async fn get(&self, call: Call<'_>, limit: Duration) -> Result<Value, CallError> {
        self.call(call, None, limit).await
    }

    /// Hands something over and waits at most `limit` for the answer.
    ///
    /// # Errors
    /// As there.
    pub async fn post<T: Serialize + Sync>(
        &self,
        call: Call<'_>,
        body: &T,
        limit: Duration,
    ) -> Result<Value, CallError> {
        let Ok(body) = serde_json::to_vec(body) else {
            let text = "cannot be written as JSON";
            return Err(CallError::Unreachable(text.into()));
        };
        self.call(call, Some(Said::Json(body)), limit).await
    }

    /// Tells something that has no result, and waits at most `limit` for the platform to take it.
    ///
    /// # Errors
    /// As there.
    pub async fn tell(&self, call: Call<'_>, limit: Duration) -> Result<(), CallError> {
        self.call(call, None, limit).await.map(|_| ())
    }

    /// Hands a form with files over, which go out as they are read, and waits at most `limit` for the answer.
    ///
    /// # Errors
    /// As [`Api::post`].
    pub async fn upload(
        &self,
        call: Call<'_>,
        form: Whole,
        contents: Vec<Box<dyn Content>>,
        limit: Duration,
    ) -> Result<Value, CallError> {
        self.call(call, Some(Said::Form(form, contents)), limit)
            .await
    }

    /// Whether an address is one of the platform's own servers of files, or the API's own server.
    #[must_use]
    pub fn vouches_for(&self, address: &Url) -> bool {
        let host = address.host_str().unwrap_or_default();
        let known = address.scheme() == "https" && FILE_HOSTS.contains(&host);
        let base: Option<Url> = self.base.parse().ok();
        let own = base.is_some_and(|base| base.origin() == address.origin());
        (known || own) && address.username().is_empty() && address.password().is_none()
    }

    /// Asks for a file, without the token, and waits at most `limit` for the beginning of it.
    ///
    /// # Errors
    /// As [`Api::get`]: any status but success is a refusal.
    pub async fn file(&self, address: Url, limit: Duration) -> Result<Response, CallError> {
        let asked = async { Ok::<_, CallError>(self.files.get(address).send().await?) };
        let response = within(limit, asked).await?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status => match outcome(status, response.headers(), b"") {
                Err(error) => Err(error),
                Ok(_) => Err(CallError::Lost("an answer that cannot be read".into())),
            },
        }
    }

    async fn call(
        &self,
        call: Call<'_>,
        body: Option<Said>,
        limit: Duration,
    ) -> Result<Value, CallError> {
        if let Some((left, scope)) = self.pauses.left(call.route(), Instant::now())
            && !(call.is_exempt() && scope == Freeze::Account)
        {
            return Err(CallError::Paused(left, scope));
        }
        // Whoever has three seconds does not queue; who asks for that bounds it.
        let _place = if call.is_exempt() {
            None
        } else {
            Some(self.places.enter().await?)
        };
        within(limit, self.exchange(call, body)).await
    }

    async fn exchange(&self, call: Call<'_>, body: Option<Said>) -> Result<Value, CallError> {
        let address = format!("{}{}", self.base, call.path());
        let mut request = self.client.request(call.method(), address);
        request = match body {
            Some(Said::Json(body)) => {
                let json = HeaderValue::from_static("application/json");
                request.header(CONTENT_TYPE, json).body(body)
            }
            Some(Said::Form(form, contents)) => request
                .header(CONTENT_TYPE, form.content_type.as_str())
                .header(CONTENT_LENGTH, form.length)
                .body(Body::wrap_stream(form.stream(contents))),
            None => request,
        };
        let response = request.send().await?;
        let status = response.status();
        let headers = response.headers().clone();
        let answer = outcome(status, &headers, &read(response, MAX_ANSWER).await?);
        let refused = answer.as_ref().err().and_then(CallError::trouble);
        if let Some(Trouble::Flood(after, scope)) = refused {
            self.pauses
                .begin(call.route(), after, scope, Instant::now());
        } else if let Some(after) = refusal::used_up(&headers) {
            self.pauses
                .begin(call.route(), after, Freeze::Conversation, Instant::now());
        }
        answer
    }
}

/// What a call carries.
enum Said {
    Json(Vec<u8>),
    Form(Whole, Vec<Box<dyn Content>>),
}

/// What an answer says.
fn outcome(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Result<Value, CallError> {
    let answer: Option<Value> = serde_json::from_slice(body).ok();
    match status.as_u16() {
        // Whoever answered does not know what became of it.
        500.. => Err(CallError::Lost(format!("HTTP status {}", status.as_u16()))),
        204 => Ok(Value::Null),
        200..=299 => match answer {
            Some(answer) if answer.is_object() || answer.is_array() => Ok(answer),
            _ => Err(CallError::Lost("an answer that cannot be read".into())),
        },
        code => Err(CallError::Refused(Refusal::read(
            code,
            headers,
            &answer.unwrap_or_default(),
        ))),
    }
}

#[cfg(test)]
mod tests;
