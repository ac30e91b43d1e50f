//! The platform's side of the connections over which events come.
//!
//! Owns what the platform is asked for them and what is asked of it at the beginning of a session. The connections
//! themselves are `weirgate_net::session`'s.

mod close;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
pub use weirgate_net::session::{introduce, plan, run};
use weirgate_net::{
    report::Reporter,
    session::{Accepted, After, Beside, End, Frame, Gateway, Pace, Question, UNREADABLE},
};
use weirgate_sdk::{AdapterError, Event};

use super::{
    api::CallError,
    bot::{Shared, unix_time},
    intake::{Mark, Parcel},
    press,
    settings::Events,
};

#[async_trait]
impl Gateway for Shared {
    type Parcel = Parcel;

    fn pace(&self) -> Pace {
        Pace {
            reconnect: self.settings.reconnect,
            begin: self.settings.session_pause,
        }
    }

    fn is_encrypted(&self) -> bool {
        self.settings.api_url.starts_with("https:")
    }

    fn reporter(&self) -> &Reporter {
        &self.reporter
    }

    fn accepted(&self) -> &Accepted {
        &self.accepted
    }

    async fn ask(&self, question: Question) -> Result<Value, End> {
        let path = match question {
            Question::Me => "/users/@me",
            Question::Gateway => "/gateway/bot",
        };
        let api = self.calls().map_err(never)?;
        api.get(path).await.map_err(failed)
    }

    async fn token(&self) -> Result<String, End> {
        let api = self.calls().map_err(never)?;
        api.token().await.map_err(failed)
    }

    fn token_refused(&self, token: &str) {
        if let Ok(api) = self.calls() {
            api.token_refused(token);
        }
    }

    fn identify(&self) -> Value {
        let asked = self.settings.events.iter().copied().map(Events::intent);
        let presses = if self.settings.buttons {
            press::INTENT
        } else {
            0
        };
        json!({
            "intents": asked.fold(presses, |all, intent| all | intent),
            "properties": { "$os": std::env::consts::OS, "$browser": "weirgate", "$device": "weirgate" },
        })
    }

    /// Where it began.
    fn resumes_at(&self, _: &Value, dialled: &str) -> Option<String> {
        Some(dialled.to_owned())
    }

    fn parcel(&self, frame: Frame) -> Option<Parcel> {
        let event = match &*frame.kind {
            "READY" => {
                if let Some(bot) = frame.data["user"]["id"].as_str() {
                    self.is_bot(bot);
                }
                return None;
            }
            "RESUMED" => return None,
            UNREADABLE => Event::Malformed {
                name: UNREADABLE.into(),
            },
            kind => self.read(kind, frame.id.as_deref(), &frame.data, unix_time()),
        };
        Some(Parcel {
            events: vec![event],
            mark: frame
                .session
                .map(|session| Mark::Read(frame.shard, session)),
        })
    }

    fn beside(self: &Arc<Self>, _: u16, kind: &str, data: &Value) -> Option<Beside> {
        press::acknowledge(self, kind, data)
    }

    fn ended(&self, code: Option<u16>, why: &str) -> End {
        close::read(code, why)
    }
}

fn never(error: AdapterError) -> End {
    (After::Never(error), String::new())
}

/// What follows a call that failed.
fn failed(error: CallError) -> End {
    match error {
        CallError::Secret(_) => {
            let text = "the platform does not take app_id and app_secret: copy both anew from the developer console";
            never(AdapterError::Config(text.into()))
        }
        error => (After::Resume, error.to_string()),
    }
}
