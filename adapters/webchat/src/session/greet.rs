//! Hello: who the visitor is, which conversation he means, and what he missed of it.

use std::{sync::Arc, time::Instant};

use serde_json::json;
use tokio::time::timeout;
use weirgate_sdk::{ConversationKey, settings::Secret};

use super::{STORE_WAIT, Session};
use crate::{
    history,
    hub::FIRST_SESSION,
    incoming::{Hello, Resume},
    outgoing::{Stamp, direct, error, object, stamped},
    outlet::Cut,
    room::{Room, Since},
    texts::Code,
    token::Visitor,
};

/// Messages in a snapshot.
const SNAPSHOT: usize = 50;

impl Session {
    pub(super) async fn hello(&mut self, hello: Hello, session: Option<String>) {
        self.language = hello.language;
        let (visitor, token) = match self.visitor.clone() {
            Some(visitor) => (visitor, None),
            None => self.identify(hello.token.as_ref().map(Secret::expose)),
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
        if !self.attach(&key, &session, hello.resume, new, token).await {
            self.try_later();
        }
    }

    /// Knows the visitor by the token, or makes a new one, and counts the socket as his.
    fn identify(&mut self, token: Option<&str>) -> (Visitor, Option<String>) {
        let (visitor, token) = match token.and_then(|token| self.chat.signer.check(token)) {
            Some(visitor) => (visitor, None),
            None => {
                let (token, visitor) = self.chat.signer.mint(rand::random());
                (visitor, Some(token))
            }
        };
        let most = self.chat.settings.max_sockets_per_visitor;
        if let Some(oldest) = self.chat.hub.come(&visitor.id, &self.outlet, most) {
            oldest.frame(error(Code::TooManySockets, self.language, None, None));
            oldest.cut(Cut::REPLACED);
        }
        self.visitor = Some(visitor.clone());
        (visitor, token)
    }

    async fn newest(&self, visitor: &Visitor) -> Option<String> {
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
    async fn attach(
        &mut self,
        key: &ConversationKey,
        session: &str,
        resume: Option<Resume>,
        new: bool,
        token: Option<String>,
    ) -> bool {
        let chat = Arc::clone(&self.chat);
        let outlet = Arc::clone(&self.outlet);
        let mut welcome = object(json!({
            "epoch": &*chat.hub.epoch, "version": chat.version, "title": chat.settings.title,
            "maxMessage": chat.settings.max_message,
        }));
        if let Some(token) = token {
            welcome.insert("token".into(), token.into());
        }
        let welcome = |seq: u64, resumed: bool| {
            let mut body = welcome.clone();
            body.insert("seq".into(), seq.into());
            body.insert("resumed".into(), resumed.into());
            direct("welcome", Some(session), body)
        };
        if let Some(resume) = resume.filter(|resume| *resume.epoch == *chat.hub.epoch) {
            let now = Instant::now();
            let (room, done) = chat.hub.enter(key, now, |room| {
                let since = Since {
                    frames: resume.seq,
                    drafts: resume.seq,
                };
                room.attach(since, |room| vec![welcome(room.seq(), true)], &outlet, now)
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
                let first = |room: &Room| vec![welcome(room.seq(), false), snapshot];
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

    fn try_later(&self) {
        self.fault(Code::HistoryUnavailable, None, None);
        self.outlet.cut(Cut::TRY_LATER);
    }
}
