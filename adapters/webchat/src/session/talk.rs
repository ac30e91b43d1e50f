//! What a known visitor asks for: messages in, stop, facts, past messages.

use std::{
    future::ready,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use futures_util::stream::once;
use serde_json::{Map, Value, json};
use tokio::time::timeout;
use weirgate_sdk::{
    Attachment, ChatKind, ConversationKey, DedupeKey, Download, DownloadError, Event,
    InboundMessage, KeptFile, NotAccepted, Outcome, PlatformRole, Replied, Segment, Sender,
    SenderKind, Timestamp, UserKey, Via,
};

use super::{SNAPSHOT, STORE_WAIT, Session};
use crate::{
    PLATFORM,
    format::own_words,
    history,
    hub::{FIRST_SESSION, RoomHandle},
    incoming::{Act, Inline},
    outgoing::{direct, object},
    quota::Over,
    submit::{Step, Submission},
    texts::Code,
    token::Visitor,
    upload::{self, Described, Refused},
};

/// How long the receipts of a closed socket are waited for.
const RECEIPT_WAIT: Duration = Duration::from_secs(30);
/// Most conversations in a list.
const MAX_LISTED: usize = 100;
/// Past messages that are looked through for those that still wait.
pub(super) const PAGE: usize = 200;
/// How long a client may send a message again, in seconds.
const DEDUPE_LIFETIME: u64 = 48 * 3_600;

/// The files of a message.
pub(super) enum Brought {
    /// They were sent before; their names.
    Before(Vec<String>),
    /// They came with it.
    Along(Vec<Inline>),
}

/// What a visitor said: words and files, or a button.
pub(super) struct Said {
    pub(super) segments: Vec<Segment>,
    pub(super) via: Via,
    pub(super) reply_to: Option<Replied>,
}

impl Session {
    pub(super) async fn text(
        &mut self,
        visitor: &Visitor,
        session: String,
        message: String,
        (text, files): (String, Brought),
    ) {
        let Some(room) = self.enter_room(visitor, &session, &message).await else {
            return;
        };
        let key = self.key(visitor, &session);
        let along = matches!(&files, Brought::Along(files) if !files.is_empty());
        // Its files would be kept and counted once more.
        if along && self.is_again(visitor, (&room, &session), &message).await {
            return;
        }
        let files = match files {
            Brought::Before(names) => self.named(&key, &names).await,
            Brought::Along(files) => self.keep(visitor, &key, files).await,
        };
        let mut segments: Vec<Segment> = match files {
            Ok(files) => files.into_iter().map(attachment).collect(),
            Err(code) => {
                room.lock().not_arrived(&message, true);
                return self.fault(code, Some(&session), Some(&message));
            }
        };
        let mut shown = object(json!({ "html": html_of(&text) }));
        put_brought(&mut shown, &segments);
        room.lock().arriving(&message, shown);
        if !text.is_empty() {
            segments.push(Segment::Text(text));
        }
        let event = self.said(
            visitor,
            (&session, &message),
            Said {
                segments,
                via: Via::Text,
                reply_to: None,
            },
        );
        self.submit(Submission {
            event,
            room,
            session,
            message: Some(message),
            tries: 0,
        })
        .await;
    }

    /// The room of a conversation in which a visitor may say one thing more. Else he is told why not.
    pub(super) async fn enter_room(
        &mut self,
        visitor: &Visitor,
        session: &str,
        message: &str,
    ) -> Option<RoomHandle> {
        let Some(room) = self.room(session) else {
            self.fault(Code::TooManySessions, Some(session), Some(message));
            return None;
        };
        let Err(over) = self.chat.count(&visitor.id, self.address) else {
            return Some(room);
        };
        // What was accepted is never refused afterwards.
        if self.is_again(visitor, (&room, session), message).await {
            return None;
        }
        let code = match over {
            Over::Minute => Code::TooFast,
            Over::Day => Code::TooManyToday,
        };
        room.lock().not_arrived(message, true);
        self.fault(code, Some(session), Some(message));
        self.report(Event::OverLimit).await;
        None
    }

    /// Something that a visitor said, in the form in which it is handed in.
    pub(super) fn said(
        &self,
        visitor: &Visitor,
        (session, message): (&str, &str),
        said: Said,
    ) -> Event {
        let now = unix_milliseconds();
        Event::Message(Box::new(InboundMessage {
            conversation: self.key(visitor, session),
            chat: ChatKind::Private,
            sender: self.sender(visitor),
            id: message.into(),
            segments: said.segments,
            via: said.via,
            mentions_bot: false,
            reply_to: said.reply_to,
            group_key: None,
            sent_at: now,
            received_at: now,
            reply_context: None,
            passed: Vec::new(),
            dedupe: DedupeKey {
                key: format!("{}/{session}/{message}", visitor.id).into(),
                lifetime: Duration::from_secs(DEDUPE_LIFETIME),
            },
        }))
    }

    /// The files that a message names.
    async fn named(
        &self,
        conversation: &ConversationKey,
        names: &[String],
    ) -> Result<Vec<KeptFile>, Code> {
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let keeper = self.chat.keeper().ok_or(Code::UnknownFile)?;
        let found = upload::named(&keeper, conversation, names).await;
        found.ok_or(Code::UnknownFile)
    }

    /// Keeps the files that a message brings along: all of them, or it is not taken.
    async fn keep(
        &self,
        visitor: &Visitor,
        conversation: &ConversationKey,
        files: Vec<Inline>,
    ) -> Result<Vec<KeptFile>, Code> {
        let mut kept = Vec::with_capacity(files.len());
        if files.is_empty() {
            return Ok(kept);
        }
        if !self.chat.settings.files {
            return Err(Code::FilesOff);
        }
        let keeper = self.chat.keeper().ok_or(Code::StoreUnavailable)?;
        for file in files {
            let (uploads, now) = (&self.chat.uploads, Instant::now());
            if !uploads.may(&visitor.id, self.address, now) {
                return Err(Code::TooManyFiles);
            }
            let described = Described {
                name: file.name,
                declared: file.declared.as_deref(),
            };
            let file = upload::keep(&*keeper, conversation, described, whole(file.bytes));
            kept.push(file.await.map_err(Refused::code)?);
        }
        Ok(kept)
    }

    pub(super) async fn stop(&mut self, visitor: &Visitor, session: String) {
        let Some(room) = self.room(&session) else {
            return self.fault(Code::TooManySessions, Some(&session), None);
        };
        let event = Event::StopPressed {
            conversation: self.key(visitor, &session),
            sender: Box::new(self.sender(visitor)),
        };
        self.submit(Submission {
            event,
            room,
            session,
            message: None,
            tries: 0,
        })
        .await;
    }

    pub(super) async fn submit(&mut self, submission: Submission) {
        if let Err(refused) = self.submitter.submit(submission).await {
            self.give_up(&refused, Code::StoreUnavailable);
        }
    }

    /// What became of something that was handed in.
    pub(crate) async fn step(&mut self, step: Step) {
        match step {
            Step::Taken(submission, outcome) => self.taken(&submission, outcome).await,
            Step::GivenUp(submission, NotAccepted::Store(_)) => {
                self.give_up(&submission, Code::StoreUnavailable);
            }
            Step::GivenUp(submission, NotAccepted::Stopping) => {
                self.give_up(&submission, Code::Stopping);
            }
            Step::Again => self.submitter.again().await,
            Step::Nothing => {}
        }
    }

    async fn taken(&self, submission: &Submission, outcome: Outcome) {
        let Some(message) = &submission.message else {
            return;
        };
        match outcome {
            Outcome::Accepted(id) => {
                self.acknowledge(&submission.session, message, Some(id));
                submission.room.lock().arrived(message, Some(id));
            }
            Outcome::Duplicate => {
                let Submission { room, session, .. } = submission;
                self.acknowledge(session, message, None);
                self.came_before((room, session), message).await;
            }
            Outcome::Ignored => self.give_up(submission, Code::Ignored),
            Outcome::Refused => self.give_up(submission, Code::Refused),
        }
    }

    pub(super) fn acknowledge(&self, session: &str, message: &str, id: Option<i64>) {
        let mut body = object(json!({ "messageId": message }));
        match id {
            Some(id) => body.insert("id".into(), id.into()),
            None => body.insert("duplicate".into(), true.into()),
        };
        self.say(direct("ack", Some(session), body));
    }

    fn give_up(&self, submission: &Submission, code: Code) {
        let message = submission.message.as_deref();
        if let Some(message) = message {
            submission.room.lock().not_arrived(message, true);
        }
        self.fault(code, Some(&submission.session), message);
    }

    /// The socket is closed: what is held back was never accepted, and the client sends it again. The
    /// receipts that are open are waited for, for a while, so that other windows see its messages.
    pub(crate) async fn settle(&mut self) {
        let rest = async {
            self.forget_held();
            while !self.submitter.is_idle() {
                let step = self.submitter.next().await;
                self.step(step).await;
                self.forget_held();
            }
        };
        let _ = timeout(RECEIPT_WAIT, rest).await;
        // A store that does not answer must not keep the room for ever.
        forget(self.submitter.abandon_all());
    }

    fn forget_held(&mut self) {
        forget(self.submitter.abandon());
    }

    pub(super) fn system(&self, act: Act, session: &str, message: Option<String>) {
        let (name, data) = match act {
            Act::Version => ("getVersion", json!({ "version": self.chat.version })),
            Act::Models => ("getModels", json!({ "models": self.chat.models.names() })),
        };
        let mut body: Map<String, Value> =
            object(json!({ "status": "success", "act": name, "data": data }));
        if let Some(message) = message {
            body.insert("messageId".into(), message.into());
        }
        self.say(direct("system", Some(session), body));
    }

    pub(super) async fn history(
        &mut self,
        visitor: &Visitor,
        session: &str,
        before: Option<i64>,
        limit: usize,
    ) {
        let Some(room) = self.room(session) else {
            return self.fault(Code::TooManySessions, Some(session), None);
        };
        let key = self.key(visitor, session);
        let Some(entries) = self.read(&key, before, limit).await else {
            return self.fault(Code::HistoryUnavailable, Some(session), None);
        };
        let page = history::page(&entries, limit);
        // Said under the lock, so that no `end` comes before the page that calls its message pending.
        let room = room.lock();
        let mut body = page.body(|id| room.has_ended(id));
        if let Some(before) = before {
            body.insert("before".into(), before.into());
        }
        self.say(direct("history", Some(session), body));
    }

    /// The conversation as it is now, with the place from which its frames go on.
    pub(super) async fn sync(&mut self, visitor: &Visitor, session: &str) {
        let Some(room) = self.room(session) else {
            return self.fault(Code::TooManySessions, Some(session), None);
        };
        let key = self.key(visitor, session);
        let seq = room.lock().seq();
        let Some(entries) = self.read(&key, None, SNAPSHOT).await else {
            return self.fault(Code::HistoryUnavailable, Some(session), None);
        };
        let page = history::page(&entries, SNAPSHOT);
        let room = room.lock();
        let mut body = page.body(|id| room.has_ended(id));
        body.insert("epoch".into(), (*self.chat.hub.epoch).into());
        // What happened since the store was asked may be in it or not, and comes in frames of its own.
        body.insert("seq".into(), seq.into());
        self.say(direct("sync", Some(session), body));
    }

    /// The visitor's conversations, the one that he wrote in last first.
    pub(super) async fn sessions(&self, visitor: &Visitor) {
        let transcript = self.ingress.transcript();
        let key = self.key(visitor, FIRST_SESSION);
        let found = timeout(STORE_WAIT, transcript.threads(&key, MAX_LISTED)).await;
        let threads = match found {
            Ok(Ok(threads)) => threads,
            Ok(Err(error)) => {
                tracing::warn!(%error, "conversations cannot be listed");
                return self.fault(Code::HistoryUnavailable, None, None);
            }
            Err(_) => return self.fault(Code::HistoryUnavailable, None, None),
        };
        let sessions: Vec<Value> = threads
            .iter()
            .map(|it| json!({ "sessionId": it.thread.as_str(), "title": it.title, "at": it.at }))
            .collect();
        self.say(direct(
            "sessions",
            None,
            object(json!({ "sessions": sessions })),
        ));
    }

    pub(super) fn sender(&self, visitor: &Visitor) -> Sender {
        Sender {
            key: UserKey {
                platform: PLATFORM.into(),
                realm: self.chat.account.as_str().into(),
                id: visitor.id.as_str().into(),
            },
            name: String::new(),
            is_bot: false,
            role: PlatformRole::Unknown,
            kind: SenderKind::Person,
        }
    }
}

fn attachment(file: KeptFile) -> Segment {
    Segment::Attachment(Attachment {
        kind: file.kind,
        reference: file.reference,
        name: file.name,
        size: Some(file.size),
        expires_at: None,
    })
}

/// A file that is there already.
fn whole(bytes: Bytes) -> Download {
    let size = u64::try_from(bytes.len()).ok();
    Download::of(size, once(ready(Ok::<_, DownloadError>(bytes))))
}

/// The markup of a message's words; none beside files alone.
fn html_of(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        own_words(text)
    }
}

/// What the windows are told of the files of a message.
fn put_brought(shown: &mut Map<String, Value>, segments: &[Segment]) {
    let file = |segment: &Segment| match segment {
        Segment::Attachment(file) => Some(upload::shown(file)),
        _ => None,
    };
    let files: Vec<Value> = segments.iter().filter_map(file).collect();
    if !files.is_empty() {
        shown.insert("files".into(), files.into());
    }
}

/// Nobody waits for these any more.
fn forget(submissions: impl IntoIterator<Item = Submission>) {
    for submission in submissions {
        if let Some(message) = &submission.message {
            submission.room.lock().not_arrived(message, false);
        }
    }
}

pub(super) fn unix_milliseconds() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::try_from(since.as_millis()).unwrap_or(Timestamp::MAX)
}
