//! Calls as HTTP requests.
//!
//! Owns the client, how many requests there are at once, and what a failure means: a request that found no
//! connection certainly was not carried out, and any other that got no answer may have been. It never
//! follows a redirect, never repeats, and never shows the token.

use std::{fmt, time::Duration};

use reqwest::{
    Client,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
    redirect::Policy,
};
use tokio::{
    sync::{Notify, Semaphore},
    time::timeout,
};
use weirgate_net::http::{Broken, read};
use weirgate_sdk::{SendError, settings::Secret};

use crate::onebot::{
    answer,
    call::Answer,
    dial::{refusal, tls},
    send::Call,
    wire::Frame,
};

/// Requests at once; a further one waits.
const MAX_CALLS: usize = 64;
const ALL_CALLS: u32 = 64;
/// How long a call waits for a place among them.
const QUEUE_LIMIT: Duration = Duration::from_secs(5);
/// The time in which a connection must stand.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// The longest answer, in bytes.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// The way to one implementation.
pub struct HttpCalls {
    client: Client,
    base: String,
    places: Semaphore,
    failed: Notify,
}

impl fmt::Debug for HttpCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpCalls").finish_non_exhaustive()
    }
}

impl HttpCalls {
    /// Calls below the address `base`. Connects only when there is something to ask.
    ///
    /// # Errors
    /// Why the client cannot be built, for the operator.
    pub fn new(base: &str, token: Option<&Secret>) -> Result<Self, String> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(token) = token {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
                .map_err(|_| "the token has characters that cannot be sent".to_owned())?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        // No proxy of the environment: an implementation stands on this machine or beside it.
        let client = Client::builder()
            .use_preconfigured_tls(tls()?)
            .default_headers(headers)
            .connect_timeout(CONNECT_LIMIT)
            .redirect(Policy::none())
            .tcp_nodelay(true)
            .no_proxy()
            .build()
            .map_err(|_| "the HTTP client cannot be built".to_owned())?;
        Ok(Self {
            client,
            base: base.trim_end_matches('/').to_owned(),
            places: Semaphore::new(MAX_CALLS),
            failed: Notify::new(),
        })
    }

    /// Makes a call and waits at most `limit` for its answer.
    ///
    /// # Errors
    /// What the answer says; [`SendError::Ambiguous`] if the request may have arrived and no answer came;
    /// [`SendError::Unavailable`] if it certainly did not, or the token was refused.
    pub async fn call(&self, call: &Call, limit: Duration) -> Answer {
        let Ok(Ok(_place)) = timeout(QUEUE_LIMIT, self.places.acquire()).await else {
            return Err(SendError::Unavailable("too many calls under way".into()));
        };
        let asked = timeout(limit, self.ask(call)).await;
        let answer = asked.unwrap_or_else(|_| {
            let text = format!("no answer in {limit:?}");
            Err(SendError::Ambiguous(text))
        });
        if matches!(answer, Err(SendError::Unavailable(_))) {
            self.failed.notify_one();
        }
        answer
    }

    /// Waits until no call is under way.
    pub async fn idle(&self) {
        let _ = self.places.acquire_many(ALL_CALLS).await;
    }

    /// Resolves after a call found nobody.
    pub async fn failed(&self) {
        self.failed.notified().await;
    }

    async fn ask(&self, call: &Call) -> Answer {
        let Ok(body) = serde_json::to_vec(&call.params) else {
            return Err(SendError::Rejected("cannot be written as JSON".into()));
        };
        let request = self.client.post(format!("{}/{}", self.base, call.action));
        let response = request.body(body).send().await.map_err(broken)?;
        let status = response.status().as_u16();
        if matches!(status, 401 | 403) {
            return Err(SendError::Unavailable(refusal(status)));
        }
        let body = read(response, MAX_ANSWER).await.map_err(broken)?;
        match serde_json::from_slice::<Frame<'_>>(&body) {
            Ok(frame) if frame.retcode.is_some() || frame.status.is_some() => {
                answer::outcome(&frame)
            }
            _ => Err(unread(status)),
        }
    }
}

/// What an answer without a result in it means.
fn unread(status: u16) -> SendError {
    match status {
        404 => SendError::Rejected("unknown action (HTTP 404)".into()),
        400..=499 => SendError::Rejected(refusal(status)),
        200..=299 => SendError::Ambiguous("an answer that cannot be read".into()),
        // Whoever answers for the implementation does not know what became of it.
        _ => SendError::Ambiguous(refusal(status)),
    }
}

/// A call that failed below HTTP.
fn broken(broken: impl Into<Broken>) -> SendError {
    match broken.into() {
        Broken::Unreachable(text) => SendError::Unavailable(text),
        Broken::Lost(text) => SendError::Ambiguous(text),
    }
}

#[cfg(test)]
mod tests;
