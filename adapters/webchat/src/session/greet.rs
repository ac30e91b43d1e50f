//! Hello: who the visitor is, which conversation he means, and what he missed of it.

use std::{sync::Arc, time::Instant};

use serde_json::{Map, Value, json};
use tokio::time::timeout;
use weirgate_sdk::{ConversationKey, TranscriptEntry, settings::Secret};

use super::{SNAPSHOT, STORE_WAIT, Session, unix_milliseconds};
use crate::{
    adapter::WebChat,
    history,
    hub::FIRST_SESSION,
    identity::verify,
    incoming::{Hello, Resume},
    outgoing::{Stamp, direct, error, object, stamped},
    outlet::Cut,
    room::{Room, Since},
    texts::Code,
    token::Visitor,
};

/// What a socket is told of itself when it is let into a conversation.
pub(super) enum Welcome {
    /// Everything; a visitor without a token gets one, and has no past.
    New(Option<String>),
    /// Nothing: it is in the conversation, and only its view is replaced.
    Known,
}

impl Welcome {
    /// The fields of the frame that are the same whatever was missed; `None` if there is none.
    fn body(self, chat: &WebChat) -> Option<Map<String, Value>> {
        let Self::New(token) = self else {
            return None;
        };
        let mut body = object(json!({
            "epoch": &*chat.hub.epoch, "version": chat.version, "title": chat.settings.title,
            "maxMessage": chat.settings.max_message,
        }));
        if let Some(token) = token {
            body.insert("token".into(), token.into());
        }
        Some(body)
    }
}

impl WebChat {
    /// Knows the visitor by his signed identity or by the token, or makes a new one. An identity that is not good makes
    /// him nobody else: he is told.
    pub(crate) fn who(&self, hello: &Hello) -> Result<(Visitor, Option<String>), Code> {
        let settings = &self.settings;
        let token = hello.token.as_ref().map(Secret::expose);
        let known = |token| self.signer.check(token);
        let (visitor, token) = match (&hello.identity, &settings.identity_secret) {
            (Some(identity), Some(secret)) => {
                let now = unix_milliseconds() / 1_000;
                let site = self.account.as_str();
                let visitor = verify(identity.expose(), secret.expose(), site, now);
                (visitor.map_err(|_| Code::BadIdentity)?, None)
            }
            (Some(_), None) => return Err(Code::BadIdentity),
            (None, _) if settings.identity_required => return Err(Code::IdentityRequired),
            (None, _) => match token.and_then(known) {
                Some(visitor) => (visitor, None),
                None => {
                    let (token, visitor) = self.signer.mint(rand::random());
                    (visitor, Some(token))
                }
            },
        };
        Ok((visitor, token))
    }

    /// A visitor who was here before, or whom the site vouches for.
    pub(crate) fn returning(&self, hello: &Hello) -> Result<Visitor, Code> {
        match self.who(hello)? {
            (visitor, None) => Ok(visitor),
            // He showed nothing that is good.
            (_, Some(_)) => Err(Code::NoVisitor),
        }
    }
}

impl Session {
    pub(super) async fn hello(&mut self, hello: Hello, session: Option<String>) {
        self.language = hello.language;
        self.outlet.set_memory(hello.memory);
        let (visitor, token) = match self.visitor.clone() {
            Some(visitor) => (visitor, None),
            None => match self.identify(&hello) {
                Ok(identified) => identified,
                Err(code) => {
                    self.fault(code, None, None);
                    return self.outlet.cut(Cut::NOT_SIGNED_IN);
                }
            },
        };
        let new = token.is_some();
        let session = match session {
            Some(session) => session,
            // Somebody new has no newest conversation; there is no need to ask the store.
            None if new => FIRST_SESSION.to_owned(),
            None => match self.newest(&visitor).await {
                Some(session) => session,
                None => return self.try_later(),
            },
        };
        self.leave();
        self.own.clone_from(&session);
        let key = self.key(&visitor, &session);
        let welcome = Welcome::New(token);
        if !self.attach(&key, &session, hello.resume, welcome).await {
            self.try_later();
        }
    }

    /// Knows the visitor, and counts the socket as his.
    fn identify(&mut self, hello: &Hello) -> Result<(Visitor, Option<String>), Code> {
        let (visitor, token) = self.chat.who(hello)?;
        let most = self.chat.settings.max_sockets_per_visitor;
        if let Some(oldest) = self.chat.hub.come(&visitor.id, &self.outlet, most) {
            oldest.frame(error(Code::TooManySockets, self.language, None, None));
            oldest.cut(Cut::REPLACED);
        }
        self.visitor = Some(visitor.clone());
        Ok((visitor, token))
    }

    pub(super) async fn newest(&self, visitor: &Visitor) -> Option<String> {
        let transcript = self.ingress.transcript();
        let key = self.key(visitor, FIRST_SESSION);
        match timeout(STORE_WAIT, transcript.newest_thread(&key)).await {
            Ok(Ok(thread)) => {
                Some(thread.map_or_else(|| FIRST_SESSION.to_owned(), |it| it.as_str().to_owned()))
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the newest conversation cannot be read");
                None
            }
            Err(_) => None,
        }
    }

    /// Lets the socket into a conversation: with what it missed, if that is known, else with a snapshot
    /// from the store and what happened while that was read.
    pub(super) async fn attach(
        &mut self,
        key: &ConversationKey,
        session: &str,
        resume: Option<Resume>,
        welcome: Welcome,
    ) -> bool {
        let chat = Arc::clone(&self.chat);
        let outlet = Arc::clone(&self.outlet);
        let new = matches!(welcome, Welcome::New(Some(_)));
        let welcome = welcome.body(&chat);
        let welcome = |seq: u64, resumed: bool| {
            let mut body = welcome.clone()?;
            body.insert("seq".into(), seq.into());
            body.insert("resumed".into(), resumed.into());
            Some(direct("welcome", Some(session), body))
        };
        self.awaited.begin(Vec::new());
        if let Some(resume) = resume.filter(|resume| *resume.epoch == *chat.hub.epoch) {
            let now = Instant::now();
            let (room, done) = chat.hub.enter(key, now, |room| {
                let since = Since {
                    frames: resume.seq,
                    drafts: resume.seq,
                };
                let first = |room: &Room| welcome(room.seq(), true).into_iter().collect();
                room.attach(since, first, &outlet, now)
            });
            if done {
                self.rooms.push((session.to_owned(), room));
                return true;
            }
        }
        // Tried again only if so much is said meanwhile that the ring cannot hold it.
        for _ in 0..3 {
            let (_, (mark, ended)) = chat
                .hub
                .enter(key, Instant::now(), |room| (room.seq(), room.ended()));
            let entries = if new {
                Some(vec![])
            } else {
                self.read(key, None, SNAPSHOT).await
            };
            let Some(entries) = entries else { return false };
            // The messages that end after the mark say so themselves in frames after this one.
            let ended = |id: &str| ended.iter().any(|it| it.as_str() == id);
            let waits = |entry: &&TranscriptEntry| {
                let id = entry.message.as_ref();
                entry.pending && id.is_some_and(|id| !ended(id.as_str()))
            };
            let pending = entries.iter().filter(waits);
            let pending =
                pending.filter_map(|entry| Some(entry.message.as_ref()?.as_str().to_owned()));
            self.awaited.begin(pending.collect());
            let mut body = history::page(&entries, SNAPSHOT).body(ended);
            body.insert("replace".into(), true.into());
            let epoch = &chat.hub.epoch;
            let stamp = Stamp {
                session,
                epoch,
                seq: mark,
            };
            let snapshot = stamped("history", stamp, body);
            let now = Instant::now();
            let (room, done) = chat.hub.enter(key, now, |room| {
                let first = |room: &Room| {
                    welcome(room.seq(), false)
                        .into_iter()
                        .chain([snapshot])
                        .collect()
                };
                // A snapshot replaces the view, so drafts are shown from their beginning.
                room.attach(
                    Since {
                        frames: mark,
                        drafts: 0,
                    },
                    first,
                    &outlet,
                    now,
                )
            });
            if done {
                self.rooms.push((session.to_owned(), room));
                return true;
            }
        }
        false
    }

    pub(super) fn try_later(&self) {
        self.fault(Code::HistoryUnavailable, None, None);
        self.outlet.cut(Cut::TRY_LATER);
    }
}
