//! The access token with which calls are made.
//!
//! Owns the token, when another is asked for, and that only one question is under way. The platform issues
//! another one only in the last minute of the present one, which stays valid meanwhile (bot-docs, api-v2).

use std::time::Duration;

use parking_lot::Mutex as Quick;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use weirgate_net::http::read;
use weirgate_sdk::{settings::Secret, text::line};

use super::api::{Broken, CallError, MAX_ANSWER, MAX_TEXT};

/// A token is renewed when so little of its life is left.
const LEFT: Duration = Duration::from_secs(50);
/// The shortest and longest life that is believed.
const LIFE: (u64, u64) = (5, 7_200);
/// After a failure nothing is asked for so long: calls that wait behind each other do not each wait for it.
const PAUSE: Duration = Duration::from_secs(1);

/// The token of one bot.
pub struct Tokens {
    client: Client,
    url: String,
    app_id: String,
    secret: Secret,
    /// Held while a question is under way; when and why the last one failed.
    asking: Mutex<Option<(Instant, CallError)>>,
    present: Quick<Option<Token>>,
}

#[derive(Debug, Clone)]
struct Token {
    text: String,
    until: Instant,
}

impl Tokens {
    /// Asks at `url`.
    #[must_use]
    pub fn new(client: Client, url: &str, app_id: &str, secret: Secret) -> Self {
        Self {
            client,
            url: url.to_owned(),
            app_id: app_id.to_owned(),
            secret,
            asking: Mutex::default(),
            present: Quick::default(),
        }
    }

    /// The token, asked for if there is none or if it ends soon.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn get(&self, limit: Duration) -> Result<String, CallError> {
        if let Some(token) = self.living(LEFT) {
            return Ok(token);
        }
        let mut last = self.asking.lock().await;
        if let Some(token) = self.living(LEFT) {
            return Ok(token);
        }
        if let Some((at, error)) = &*last
            && at.elapsed() < PAUSE
        {
            return self.living(Duration::ZERO).ok_or_else(|| error.clone());
        }
        let asked = timeout(limit, self.ask()).await;
        let asked = asked.unwrap_or_else(|_| {
            Err(CallError::Unreachable(format!(
                "no access token in {limit:?}"
            )))
        });
        match asked {
            Ok(token) => {
                *last = None;
                let text = token.text.clone();
                *self.present.lock() = Some(token);
                Ok(text)
            }
            Err(error) => {
                *last = Some((Instant::now(), error.clone()));
                // The old one is good until its end.
                self.living(Duration::ZERO).ok_or(error)
            }
        }
    }

    /// The platform does not take this token any more.
    pub fn refused(&self, token: &str) {
        let mut present = self.present.lock();
        if present
            .as_ref()
            .is_some_and(|present| present.text == token)
        {
            *present = None;
        }
    }

    fn living(&self, longer_than: Duration) -> Option<String> {
        let present = self.present.lock();
        let token = present.as_ref()?;
        let left = token.until.saturating_duration_since(Instant::now());
        (left > longer_than).then(|| token.text.clone())
    }

    async fn ask(&self) -> Result<Token, CallError> {
        let said = json!({ "appId": self.app_id, "clientSecret": self.secret.expose() });
        let request = self
            .client
            .post(&self.url)
            .header("content-type", "application/json")
            .body(said.to_string());
        // Whether the question arrived or not: nothing that matters was done.
        let lost = |broken: Broken| CallError::Unreachable(broken.to_string());
        let response = request.send().await.map_err(|error| lost(error.into()))?;
        let status = response.status().as_u16();
        let body = read(response, MAX_ANSWER).await.map_err(lost)?;
        let answer: Value = serde_json::from_slice(&body).unwrap_or_default();
        let Some(text) = answer["access_token"]
            .as_str()
            .filter(|text| !text.is_empty())
        else {
            return Err(refusal(status, &answer));
        };
        // A number in a text, or a number.
        let life = answer["expires_in"]
            .as_u64()
            .or_else(|| answer["expires_in"].as_str()?.parse().ok());
        let life = life.unwrap_or(LIFE.1).clamp(LIFE.0, LIFE.1);
        Ok(Token {
            text: text.to_owned(),
            until: Instant::now() + Duration::from_secs(life),
        })
    }
}

/// An answer without a token. The platform says what is wrong with status 200.
fn refusal(status: u16, answer: &Value) -> CallError {
    let text = answer["message"].as_str();
    match (status, answer["code"].as_u64(), text) {
        (500.., ..) | (_, None | Some(0), None) => {
            CallError::Unreachable(format!("no access token: HTTP status {status}"))
        }
        // Too many questions.
        (429, ..) | (_, Some(100_007), _) => {
            CallError::Unreachable("asked for access tokens too often".to_owned())
        }
        (_, code, text) => {
            let text = line(text.unwrap_or_default(), MAX_TEXT);
            CallError::Secret(format!("{text} ({})", code.unwrap_or_default()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_platform_says_of_the_secret_is_its_fault() {
        let wrong = json!({ "code": 100_016, "message": "invalid appid or secret" });
        let wrong = refusal(200, &wrong);
        assert_eq!(
            wrong,
            CallError::Secret("invalid appid or secret (100016)".into())
        );
        for (status, answer) in [
            (502, json!({ "code": 100_016, "message": "x" })),
            (200, json!({})),
            (200, json!(null)),
            (429, json!({ "code": 9, "message": "slow down" })),
        ] {
            let error = refusal(status, &answer);
            assert!(matches!(error, CallError::Unreachable(_)), "{error:?}");
        }
    }
}
