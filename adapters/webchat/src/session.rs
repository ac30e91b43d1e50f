//! One socket's talk: what each frame of a client does, and what comes back to it alone.
//!
//! Owns who the client is (by token, never by a name that it sends) and which conversations it listens
//! to. What concerns a whole conversation is said by its room.

mod awaited;
mod greet;
mod manage;
pub(crate) mod once;
mod press;
mod talk;

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::extract::ws::Utf8Bytes;
use bytes::Bytes;
use serde_json::Map;
use tokio::time::timeout;
use weirgate_sdk::{Batch, ConversationKey, Event, Ingress, TranscriptEntry};

use crate::{
    PLATFORM,
    adapter::WebChat,
    hub::{FIRST_SESSION, RoomHandle},
    incoming::{Fault, Line, MAX_LINES, Request, read, read_binary},
    outgoing::{direct, end, error},
    outlet::{Cut, Outlet},
    submit::Submitter,
    texts::{Code, Language},
    token::Visitor,
};

use self::{
    awaited::Awaited,
    talk::{Brought, unix_milliseconds},
};

/// Most sessions that one socket speaks in.
const MAX_SESSIONS: usize = 8;
/// Messages in a snapshot.
const SNAPSHOT: usize = 50;
/// Longest wait for the store.
const STORE_WAIT: Duration = Duration::from_secs(10);

/// The state of one socket.
pub(crate) struct Session {
    chat: Arc<WebChat>,
    ingress: Arc<dyn Ingress>,
    outlet: Arc<Outlet>,
    /// What this socket hands in.
    pub(crate) submitter: Submitter,
    /// What waited for an answer in the view that it got.
    pub(crate) awaited: Awaited,
    language: Language,
    /// Where the client is, if anybody knows.
    address: Option<IpAddr>,
    visitor: Option<Visitor>,
    /// The session that frames without one mean.
    own: String,
    rooms: Vec<(String, RoomHandle)>,
}

impl Session {
    /// A socket that has not said anything, with its client's address as far as anybody knows it.
    pub(crate) fn new(
        chat: Arc<WebChat>,
        ingress: Arc<dyn Ingress>,
        outlet: Arc<Outlet>,
        address: Option<IpAddr>,
    ) -> Self {
        let pause = chat.settings.timing.retry;
        let submitter = Submitter::new(Arc::clone(&ingress), chat.account.clone(), pause);
        Self {
            chat,
            ingress,
            outlet,
            submitter,
            awaited: Awaited::default(),
            language: Language::default(),
            address,
            visitor: None,
            own: FIRST_SESSION.to_owned(),
            rooms: vec![],
        }
    }

    /// Whether it has said hello.
    pub(crate) fn is_known(&self) -> bool {
        self.visitor.is_some()
    }

    /// Takes a text frame: one request a line.
    pub(crate) async fn frame(&mut self, text: &str) {
        let lines: Vec<&str> = text
            .split('\n')
            .filter(|line| !line.trim().is_empty())
            .collect();
        if lines.len() > MAX_LINES {
            return self.unreadable(Code::TooManyLines, None).await;
        }
        let several = lines.len() > 1;
        let most = self.chat.settings.max_message;
        let requests: Vec<_> = lines.into_iter().map(|line| read(line, most)).collect();
        let texts = requests
            .iter()
            .flatten()
            .filter(|it| it.request.is_message());
        let mut texts: Vec<(Option<String>, Option<String>)> = texts
            .map(|it| (it.session.clone(), it.message.clone()))
            .collect();
        if several && texts.is_empty() {
            for request in requests {
                self.line(request).await;
            }
            let body = end(None, true);
            self.say(direct("end", Some(&self.own), body));
            return;
        }
        for request in requests {
            let is_message = request.as_ref().is_ok_and(|it| it.request.is_message());
            if several && is_message && self.is_known() {
                self.announce(std::mem::take(&mut texts));
            }
            self.line(request).await;
        }
    }

    /// Takes a binary frame: one request with its blobs.
    pub(crate) async fn binary(&mut self, frame: &Bytes) {
        let most = self.chat.settings.max_message;
        self.line(read_binary(frame, most)).await;
    }

    /// Tells each room which messages of this frame belong together.
    fn announce(&mut self, texts: Vec<(Option<String>, Option<String>)>) {
        let mut batches: Vec<(String, Vec<String>)> = vec![];
        for (session, message) in texts {
            let session = session.unwrap_or_else(|| self.own.clone());
            let Some(message) = message else { continue };
            match batches.iter_mut().find(|(name, _)| *name == session) {
                Some((_, messages)) if messages.contains(&message) => {}
                Some((_, messages)) => messages.push(message),
                None => batches.push((session, vec![message])),
            }
        }
        for (session, messages) in batches {
            if let Some(room) = self.room(&session) {
                room.lock().batch(messages);
            }
        }
    }

    async fn line(&mut self, line: Result<Line, Fault>) {
        let Line {
            session,
            message,
            request,
        } = match line {
            Ok(line) => line,
            Err(Fault { code, message }) => return self.unreadable(code, message.as_deref()).await,
        };
        if matches!(
            request,
            Request::Hello(_)
                | Request::History { .. }
                | Request::Sessions
                | Request::Sync
                | Request::Context
                | Request::Setting(_)
        ) {
            // Each brings a page; several in one frame must not pile up.
            self.outlet.room().await;
        }
        if let Request::Hello(hello) = request {
            return self.hello(hello, session).await;
        }
        let Some(visitor) = self.visitor.clone() else {
            self.fault(Code::HelloFirst, None, message.as_deref());
            return self.outlet.cut(Cut::POLICY);
        };
        let session = session.unwrap_or_else(|| self.own.clone());
        match request {
            Request::Hello(_) => {}
            Request::Text {
                message,
                text,
                files,
            } => {
                let brought = (text, Brought::Before(files));
                self.text(&visitor, session, message, brought).await;
            }
            Request::Chat {
                message,
                text,
                files,
            } => {
                let brought = (text, Brought::Along(files));
                self.text(&visitor, session, message, brought).await;
            }
            Request::Press {
                message,
                answer,
                button,
            } => {
                self.press(&visitor, session, message, (answer, button))
                    .await;
            }
            Request::Stop => self.stop(&visitor, session).await,
            Request::System(act) => self.system(act, &session, message),
            Request::Setting(setting) => {
                self.setting(&visitor, &session, message, setting).await;
            }
            Request::Session(act) => self.conversation(&visitor, &session, act).await,
            Request::History { before, limit } => {
                self.history(&visitor, &session, before, limit).await;
            }
            Request::Sync => self.sync(&visitor, &session).await,
            Request::Context => self.context(&visitor, &session).await,
            Request::Sessions => self.sessions(&visitor).await,
            Request::Ping => self.say(direct("pong", None, Map::new())),
        }
    }

    /// The room of a session, which the socket joins if it is not there yet.
    fn room(&mut self, session: &str) -> Option<RoomHandle> {
        if let Some((_, room)) = self.rooms.iter().find(|(name, _)| name == session) {
            return Some(Arc::clone(room));
        }
        let visitor = self.visitor.as_ref()?;
        if self.rooms.len() >= MAX_SESSIONS {
            return None;
        }
        let key = self.key(visitor, session);
        let now = Instant::now();
        let (room, ()) = self
            .chat
            .hub
            .enter(&key, now, |room| room.join(&self.outlet, now));
        self.rooms.push((session.to_owned(), Arc::clone(&room)));
        Some(room)
    }

    /// Goes out of all rooms.
    fn leave(&mut self) {
        for (_, room) in self.rooms.drain(..) {
            room.lock().leave(&self.outlet, Instant::now());
        }
    }

    /// The socket is closed.
    pub(crate) fn close(&mut self) {
        self.leave();
        if let Some(visitor) = &self.visitor {
            self.chat.hub.go(&visitor.id, &self.outlet);
        }
    }

    fn key(&self, visitor: &Visitor, session: &str) -> ConversationKey {
        self.chat.key(visitor, session)
    }

    async fn read(
        &self,
        key: &ConversationKey,
        before: Option<i64>,
        limit: usize,
    ) -> Option<Vec<TranscriptEntry>> {
        let transcript = self.ingress.transcript();
        match timeout(STORE_WAIT, transcript.read(key, before, limit)).await {
            Ok(Ok(entries)) => Some(entries),
            Ok(Err(error)) => {
                tracing::warn!(%error, "past messages cannot be read");
                None
            }
            Err(_) => None,
        }
    }

    /// A frame that cannot be taken: the client is told, and the gateway counts it.
    pub(crate) async fn unreadable(&self, code: Code, message: Option<&str>) {
        self.fault(code, None, message);
        let name = code.name().to_owned();
        let event = match code {
            // A message that says nothing is understood, and refused.
            Code::Empty | Code::TooLong => return,
            Code::UnknownType | Code::UnknownAct | Code::NotAvailable => Event::Other { name },
            _ => Event::Malformed { name },
        };
        self.report(event).await;
    }

    /// Tells the gateway of something that is no message, which it counts.
    async fn report(&self, event: Event) {
        let batch = Batch {
            platform: PLATFORM.into(),
            account: self.chat.account.clone(),
            events: vec![event],
            cursor: None,
        };
        // Nothing is stored, so there is nothing to wait for.
        drop(self.ingress.accept(batch).await);
    }

    fn say(&self, frame: Utf8Bytes) {
        self.outlet.frame(frame);
    }

    fn fault(&self, code: Code, session: Option<&str>, message: Option<&str>) {
        self.say(error(code, self.language, session, message));
    }
}

#[cfg(test)]
mod tests;
