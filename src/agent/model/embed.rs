//! Models that tell what a text means, by the embeddings API that providers of chat completions have as well.
//!
//! Owns one HTTP client for one model, its limits, and what an answer may be. It never retries and never shows its key.
//! Source: the API reference of `POST /v1/embeddings`.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::{
    Client, Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue},
};
use serde::{Deserialize, Serialize};

use super::{ErrorClass, ModelError, remote::is_loopback};

/// Most bytes of an answer: some thousand numbers.
const MAX_BYTES: usize = 1 << 20;
/// Most dimensions that are kept.
const MAX_DIMENSIONS: usize = 4_096;

/// A model that tells what texts mean.
#[async_trait]
pub trait Embed: Send + Sync {
    /// `provider/model`, as the configuration names it.
    fn name(&self) -> &str;

    /// The provider, whose limits it shares.
    fn provider(&self) -> &str;

    /// What a text means: a direction in as many dimensions as the model has.
    ///
    /// # Errors
    /// When the provider cannot be reached, refuses, or answers something else.
    async fn embed(&self, text: &str) -> Result<Vec<f32>, ModelError>;
}

/// A model of a provider that is reached over HTTP.
#[derive(Debug)]
pub struct Embedder {
    name: String,
    provider: String,
    model: String,
    client: Client,
    url: Url,
    key: Option<HeaderValue>,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    embedding: Vec<f32>,
}

impl Embedder {
    /// A model at the root of an API.
    ///
    /// # Errors
    /// When the address or the key cannot be sent.
    pub fn new(
        provider: &str,
        model: &str,
        base_url: &str,
        api_key: Option<&str>,
        (connect, idle): (Duration, Duration),
    ) -> Result<Self, ModelError> {
        let wrong = |what: &str| ModelError::new(ErrorClass::Internal, what);
        let url = format!("{}/embeddings", base_url.trim_end_matches('/'));
        let url = Url::parse(&url).map_err(|_| wrong("the address is none"))?;
        let key = api_key.map(|key| {
            let mut key = HeaderValue::from_str(&format!("Bearer {key}"))
                .map_err(|_| wrong("the key has characters that no header takes"))?;
            key.set_sensitive(true);
            Ok::<_, ModelError>(key)
        });
        let mut builder = Client::builder()
            .connect_timeout(connect)
            .read_timeout(idle)
            .redirect(reqwest::redirect::Policy::none());
        if is_loopback(&url) {
            // A proxy named by the environment cannot reach a server on this machine.
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|_| wrong("there is no HTTP client"))?;
        Ok(Self {
            name: format!("{provider}/{model}"),
            provider: provider.to_owned(),
            model: model.to_owned(),
            client,
            url,
            key: key.transpose()?,
        })
    }
}

#[async_trait]
impl Embed for Embedder {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        &self.provider
    }

    async fn embed(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        let lost = |error: reqwest::Error| {
            let class = if error.is_timeout() {
                ErrorClass::Timeout
            } else {
                ErrorClass::Network
            };
            // The address may hold a key.
            ModelError::new(class, &error.without_url().to_string())
        };
        let body = Request {
            model: &self.model,
            input: text,
        };
        let body = serde_json::to_vec(&body)
            .map_err(|_| ModelError::new(ErrorClass::Internal, "the text cannot be sent"))?;
        let request = self.client.post(self.url.clone()).body(body);
        let mut request = request.header(CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.clone());
        }
        let mut response = request.send().await.map_err(lost)?;
        let status = response.status();
        if !status.is_success() {
            let class = match status.as_u16() {
                429 => ErrorClass::RateLimit,
                _ => ErrorClass::Api,
            };
            return Err(ModelError::new(
                class,
                &format!("the provider answered {status}"),
            ));
        }
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(lost)? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > MAX_BYTES {
                return Err(ModelError::new(ErrorClass::Api, "the answer is too large"));
            }
        }
        let answer: Option<Answer> = serde_json::from_slice(&bytes).ok();
        let vector = answer.and_then(|answer| answer.data.into_iter().next());
        let vector = vector.map(|item| item.embedding).unwrap_or_default();
        if vector.is_empty() || vector.len() > MAX_DIMENSIONS {
            return Err(ModelError::new(ErrorClass::Api, "the answer is no vector"));
        }
        Ok(vector)
    }
}
