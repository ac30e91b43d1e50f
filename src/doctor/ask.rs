//! Asks each model a real question, as a turn would, and the server of the memory whether it is there.
//!
//! Owns the questions, their time limits, and what an error means for an operator. It asks once.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use tokio::time::timeout;

use super::{Line, one_line};
use crate::{
    agent::memory::config::Backend,
    agent::model::{
        ChatRequest, Delta, ErrorClass, Message, Model, ModelError, Offered, Role,
        config::ProviderKind,
    },
    app,
    config::Config,
    i18n::health::{Reach, Subject},
    security::redact::Redactor,
    store::{StoreError, redis::RedisMemory},
};

/// The longest wait for the beginning of an answer.
const LONGEST: Duration = Duration::from_secs(30);
/// Tokens of the answer: enough for the least that every provider takes.
const TOKENS: u32 = 16;

/// One line for each model that writes, whatever for: those that answer in front.
pub(super) async fn models(config: &Config, redactor: &Redactor, offline: bool) -> Vec<Line> {
    let models = match app::models_to_check(config) {
        Ok(models) => models,
        Err(error) => {
            let error = one_line(&error.to_string(), redactor);
            return vec![(
                Subject::Model("*".to_owned()),
                Reach::Unusable { error }.into(),
            )];
        }
    };
    let asked = models.iter().map(async |(named, model)| {
        let kind = config
            .providers
            .get(&named.provider)
            .map(|provider| provider.kind);
        let reach = if kind == Some(ProviderKind::Demo) {
            Reach::Demo
        } else if offline {
            Reach::NotAsked
        } else {
            ask(model, redactor).await
        };
        let name = format!("{}/{}", named.provider, named.model);
        (Subject::Model(name), reach.into())
    });
    join_all(asked).await
}

/// The line of the model that tells what a text means, if there is one.
pub(super) async fn embed(config: &Config, redactor: &Redactor, offline: bool) -> Option<Line> {
    let named = config.models.embed.as_ref()?;
    let subject = Subject::Embed(format!("{}/{}", named.provider, named.model));
    let reach = match app::embedder(config) {
        Ok(_) if offline => Reach::NotAsked,
        Ok(model) => {
            let model = model?;
            let started = Instant::now();
            match timeout(LONGEST, model.embed("ping")).await {
                Ok(Ok(_)) => answers(started),
                Ok(Err(error)) => meaning(&error, redactor),
                Err(_) => Reach::TooLong,
            }
        }
        Err(error) => Reach::Unusable {
            error: one_line(&error.to_string(), redactor),
        },
    };
    Some((subject, reach.into()))
}

/// The line of the server that keeps the memory, if one does.
pub(super) async fn memory(config: &Config, redactor: &Redactor, offline: bool) -> Option<Line> {
    if !config.memory.enable || config.memory.backend != Backend::Redis {
        return None;
    }
    let away = |error: &StoreError| Reach::MemoryAway {
        error: one_line(&error.to_string(), redactor),
    };
    let reach = match RedisMemory::new(&config.memory.redis) {
        Ok(_) if offline => Reach::NotAsked,
        Ok(server) => {
            let started = Instant::now();
            match server.ping().await {
                Ok(()) => answers(started),
                Err(error) => away(&error),
            }
        }
        Err(error) => away(&error),
    };
    Some((Subject::Redis, reach.into()))
}

fn answers(started: Instant) -> Reach {
    Reach::Answers {
        millis: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    }
}

async fn ask(model: &Arc<dyn Model>, redactor: &Redactor) -> Reach {
    let request = ChatRequest {
        messages: vec![Message::words(Role::User, "ping".to_owned())],
        max_output_tokens: Some(TOKENS),
        temperature: None,
        offered: Offered::default(),
        turn: "doctor".to_owned(),
    };
    let started = Instant::now();
    match timeout(LONGEST, first_word(model, &request)).await {
        Ok(Ok(())) => answers(started),
        Ok(Err(error)) => meaning(&error, redactor),
        Err(_) => Reach::TooLong,
    }
}

/// Waits for the first word or the end of the answer, whichever comes first.
async fn first_word(model: &Arc<dyn Model>, request: &ChatRequest) -> Result<(), ModelError> {
    let mut stream = model.open(request).await?;
    while let Some(delta) = stream.next().await {
        if let Delta::Text(_) | Delta::Finish(_) = delta? {
            break;
        }
    }
    Ok(())
}

fn meaning(error: &ModelError, redactor: &Redactor) -> Reach {
    let text = one_line(&error.message, redactor);
    let error_text = text;
    match (error.status, error.kind) {
        (Some(401 | 403), _) => Reach::KeyRefused { error: error_text },
        (Some(404), _) => Reach::ModelUnknown { error: error_text },
        (_, ErrorClass::RateLimit) => Reach::RateLimited { error: error_text },
        (_, ErrorClass::Network | ErrorClass::Timeout) => Reach::Unreachable { error: error_text },
        (Some(400), ErrorClass::Api) if names_model(&error_text) => {
            Reach::ModelUnknown { error: error_text }
        }
        (_, ErrorClass::Api | ErrorClass::Security | ErrorClass::Internal) => {
            Reach::ProviderFailed { error: error_text }
        }
    }
}

/// Whether a refused request speaks of the model's name, as several providers do with a status of 400.
fn names_model(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("model")
        && ["not exist", "not found", "unknown", "invalid model"]
            .iter()
            .any(|words| lower.contains(words))
}
