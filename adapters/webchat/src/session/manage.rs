//! What a visitor asks for that is no message: the gateway's configuration, and what becomes of his conversations.
//!
//! Owns the form of the answers. Who may is decided by the gateway, which is told who asks and never takes a frame's
//! word for it.

use serde_json::{Map, Value, json};
use weirgate_sdk::{Asker, Extent, Manage, NotDone, Which};

use super::{Session, talk::PAGE};
use crate::{
    history::waiting,
    incoming::{SessionAct, Setting},
    outgoing::{direct, object},
    texts::Code,
    token::Visitor,
};

impl Session {
    /// Reads or changes the configuration. A refusal is an answer too, so that it is known what was refused.
    pub(super) async fn setting(
        &self,
        visitor: &Visitor,
        session: &str,
        message: Option<String>,
        setting: Setting,
    ) {
        let act = setting.name();
        let done = match self.chat.manage() {
            Some(manage) => {
                let asker = self.asker(visitor, session);
                configured(&*manage, &asker, setting).await
            }
            None => Err(Failure::of(Code::NotAvailable)),
        };
        let (status, data) = match done {
            Ok(data) => ("success", data),
            Err(Failure { code, problems }) => {
                let text = code.text(self.language);
                let told = json!({ "code": code.name(), "text": text, "problems": problems });
                ("error", object(told))
            }
        };
        let mut body = object(json!({ "status": status, "act": act, "data": data }));
        if let Some(message) = message {
            body.insert("messageId".into(), message.into());
        }
        self.say(direct("setting", Some(session), body));
    }

    /// Begins, empties or deletes a conversation.
    pub(super) async fn conversation(&mut self, visitor: &Visitor, session: &str, act: SessionAct) {
        let extent = match act {
            SessionAct::New => {
                // Long enough that it is nobody's of the visitor's other labels.
                let label = format!("c-{:016x}", rand::random::<u64>());
                return self.done(&label, act);
            }
            SessionAct::Clear => Extent::Messages,
            SessionAct::Delete => Extent::All,
        };
        let Some(manage) = self.chat.manage() else {
            return self.fault(Code::NotAvailable, Some(session), None);
        };
        let asker = self.asker(visitor, session);
        if let Err(reason) = manage.forget(&asker, extent).await {
            return self.fault(code(&reason), Some(session), None);
        }
        if session == self.own {
            self.awaited.begin(Vec::new());
        }
        // Every window in which it is shown, not only this one.
        if let Some(room) = self.chat.hub.find(&asker.conversation) {
            room.lock().emptied();
        }
        self.done(session, act);
    }

    fn done(&self, session: &str, act: SessionAct) {
        let body = object(json!({ "status": "success", "act": act.name() }));
        self.say(direct("session", Some(session), body));
    }

    /// The messages of a conversation whose end is still to come.
    pub(super) async fn context(&mut self, visitor: &Visitor, session: &str) {
        let Some(room) = self.room(session) else {
            return self.fault(Code::TooManySessions, Some(session), None);
        };
        let key = self.key(visitor, session);
        let Some(entries) = self.read(&key, None, PAGE).await else {
            return self.fault(Code::HistoryUnavailable, Some(session), None);
        };
        let room = room.lock();
        let body = waiting(&entries, |id| room.has_ended(id));
        self.say(direct("context", Some(session), body));
    }

    fn asker(&self, visitor: &Visitor, session: &str) -> Asker {
        Asker {
            conversation: self.key(visitor, session),
            sender: self.sender(visitor),
        }
    }
}

/// Why something was not done, as a client is told.
struct Failure {
    code: Code,
    problems: Vec<String>,
}

impl Failure {
    fn of(code: Code) -> Self {
        let problems = Vec::new();
        Self { code, problems }
    }
}

impl From<NotDone> for Failure {
    fn from(reason: NotDone) -> Self {
        let code = code(&reason);
        match reason {
            NotDone::Wrong(problems) => Self { code, problems },
            NotDone::Forbidden | NotDone::Unavailable => Self::of(code),
        }
    }
}

fn code(reason: &NotDone) -> Code {
    match reason {
        NotDone::Forbidden => Code::Forbidden,
        NotDone::Wrong(_) => Code::BadValue,
        NotDone::Unavailable => Code::StoreUnavailable,
    }
}

async fn configured(
    manage: &dyn Manage,
    asker: &Asker,
    setting: Setting,
) -> Result<Map<String, Value>, Failure> {
    let which = match setting {
        Setting::Running => Which::Running,
        Setting::Default => Which::Default,
        Setting::Save(changes) => {
            manage.configure(asker, changes).await?;
            return Ok(Map::new());
        }
    };
    let values = manage.configuration(asker, which).await?;
    let values = values.into_iter().map(|it| (it.key, it.value.into()));
    Ok(values.collect())
}
