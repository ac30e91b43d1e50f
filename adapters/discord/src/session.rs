//! The platform's side of the connections over which events come.
//!
//! Owns what the platform is asked for them, what is asked of it at the beginning of a session, and what an event asks
//! for that cannot wait until it is handed in. The connections themselves are `weirgate_net::session`'s.

mod close;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use serenity::model::gateway::GatewayIntents;
pub use weirgate_net::session::{introduce, plan, run};
use weirgate_net::{
    report::Reporter,
    session::{Accepted, After, Beside, End, Frame, Gateway, Pace, Question},
};
use weirgate_sdk::AdapterError;

use crate::{
    api::{Call, CallError, Trouble},
    channels::id,
    discord::Shared,
    interaction, menu,
    places::Snowflake,
    receive::INTERACTION,
};

/// Version and form of the platform's protocol.
const QUERY: &str = "/?v=10&encoding=json";

#[async_trait]
impl Gateway for Shared {
    type Parcel = Frame;

    fn pace(&self) -> Pace {
        Pace {
            reconnect: self.settings.reconnect,
            begin: self.settings.identify_pause,
        }
    }

    fn is_encrypted(&self) -> bool {
        self.settings.api_url.starts_with("https:")
    }

    fn query(&self) -> &'static str {
        QUERY
    }

    fn reporter(&self) -> &Reporter {
        &self.reporter
    }

    fn accepted(&self) -> &Accepted {
        &self.accepted
    }

    async fn ask(&self, question: Question) -> Result<Value, End> {
        let api = self
            .calls()
            .map_err(|error| (After::Never(error), String::new()))?;
        let limit = self.settings.call_timeout;
        match question {
            Question::Gateway => api.get(Call::Gateway, limit).await.map_err(failed),
            Question::Me => {
                let me = api.get(Call::Me, limit).await.map_err(failed)?;
                match id(&me["id"]) {
                    Some(bot) => {
                        tracing::info!(account = %self.account, bot, "the platform knows the bot");
                        Ok(me)
                    }
                    None => Err((After::Resume, NO_ANSWER.into())),
                }
            }
        }
    }

    async fn token(&self) -> Result<String, End> {
        let token = self.settings.token.as_ref();
        Ok(token.map_or_else(String::new, |token| token.expose().to_owned()))
    }

    fn identify(&self) -> Value {
        let mut intents = GatewayIntents::GUILDS
            | GatewayIntents::GUILD_MESSAGES
            | GatewayIntents::DIRECT_MESSAGES;
        intents.set(
            GatewayIntents::MESSAGE_CONTENT,
            self.settings.message_content,
        );
        intents.set(GatewayIntents::GUILD_MEMBERS, self.settings.members);
        json!({
            "intents": intents.bits(),
            "properties": { "os": std::env::consts::OS, "browser": "weirgate", "device": "weirgate" },
        })
    }

    fn resumes_at(&self, ready: &Value, _: &str) -> Option<String> {
        ready["resume_gateway_url"].as_str().map(str::to_owned)
    }

    fn parcel(&self, frame: Frame) -> Option<Frame> {
        Some(frame)
    }

    fn beside(self: &Arc<Self>, shard: u16, kind: &str, data: &Value) -> Option<Beside> {
        match kind {
            INTERACTION => {
                let sign = interaction::acknowledge(self, data)?;
                Some(Box::pin(sign))
            }
            // One menu for all connections.
            "READY" if shard == 0 => {
                let application = id(&data["application"]["id"])?;
                Some(Box::pin(menu::offer(Arc::clone(self), application)))
            }
            _ => None,
        }
    }

    fn ended(&self, code: Option<u16>, why: &str) -> End {
        close::read(code, why)
    }
}

/// What is said of an answer of somebody else.
const NO_ANSWER: &str = "the answer is not one of the platform";

/// Who the bot is, by the platform's answer.
///
/// # Errors
/// The answer does not say, which was looked at before.
pub fn bot(me: &Value) -> Result<Snowflake, AdapterError> {
    id(&me["id"]).ok_or_else(|| AdapterError::Failed(NO_ANSWER.into()))
}

/// What follows a call that failed.
fn failed(error: CallError) -> End {
    let after = match error.trouble() {
        Some(Trouble::Token) => After::Never(close::token_refused()),
        Some(Trouble::Flood(after, _)) => After::Later(after),
        _ => After::Resume,
    };
    (after, error.to_string())
}
