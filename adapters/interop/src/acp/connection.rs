//! A caller's connection, from its first line to its end.
//!
//! Owns what a caller may ask before he is known, and that everything he waits for is given up when he goes. Several
//! calls run beside each other; each tells what is new of it by itself.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::mpsc,
    task::JoinSet,
    time::{sleep, timeout},
};
use weirgate_sdk::{ConversationKey, Event};

use super::{
    line::Lines,
    listen::Stream,
    wire::{self, Asked, MAX_FIRST, MAX_LINE, Request},
};
use crate::{
    adapter::Shared,
    call::{Call, New, Stage, news},
    fault::Fault,
    hub::Begun,
    said::{label, said},
    submit::Submission,
};

/// How long a caller may take until he is known.
const GREETING: Duration = Duration::from_secs(10);
/// The pause before a wrong token is answered.
const WRONG: Duration = Duration::from_secs(1);
/// How long a line may take on its way out.
const WRITING: Duration = Duration::from_secs(30);
/// Lines that wait to be written.
const MAX_LINES: usize = 1_024;
/// Most calls of a connection at once.
const MAX_CALLS: usize = 512;
/// Most sessions that a connection reads along.
const MAX_WATCHED: usize = 64;
/// Messages that wait to be handed in.
const MAX_WAITING: usize = 64;

/// The calls of a connection that are under way, by the number of their request.
type Calls = Arc<Mutex<HashMap<String, Arc<Call>>>>;

struct Conversation {
    shared: Arc<Shared>,
    number: u64,
    caller: Option<String>,
    out: mpsc::Sender<String>,
    inward: mpsc::Sender<Submission>,
    calls: Calls,
    watched: Vec<ConversationKey>,
    following: JoinSet<()>,
}

/// Serves a caller; `caller` is who he is, where that is known already.
pub(super) async fn serve(
    stream: Stream,
    caller: Option<String>,
    number: u64,
    shared: Arc<Shared>,
) {
    let Some((door, _)) = shared.door() else {
        return;
    };
    let (reader, writer) = tokio::io::split(stream);
    let (out, lines) = mpsc::channel(MAX_LINES);
    let (inward, waiting) = mpsc::channel(MAX_WAITING);
    // It goes on to the end: what was handed in, also what gives a call up, is not lost with the connection.
    tokio::spawn(door.keep(waiting));
    let mut conversation = Conversation {
        shared,
        number,
        caller,
        out,
        inward,
        calls: Calls::default(),
        watched: Vec::new(),
        following: JoinSet::new(),
    };
    tokio::select! {
        () = conversation.read(Lines::new(BufReader::new(reader))) => {}
        () = write(writer, lines) => {}
    }
    conversation.end().await;
}

/// Writes lines until one cannot be written in time.
async fn write(mut writer: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        let written = async {
            writer.write_all(line.as_bytes()).await?;
            writer.flush().await
        };
        if !matches!(timeout(WRITING, written).await, Ok(Ok(()))) {
            return;
        }
    }
}

impl Conversation {
    async fn read(&mut self, mut lines: Lines<impl tokio::io::AsyncBufRead + Unpin>) {
        loop {
            let line = if self.caller.is_some() {
                lines.next(MAX_LINE).await
            } else {
                match timeout(GREETING, lines.next(MAX_FIRST)).await {
                    Ok(line) => line,
                    Err(_) => return,
                }
            };
            match line {
                Ok(Some(line)) => {
                    if !self.take(&line).await {
                        return self.written().await;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    self.say(wire::refusal(&Value::Null, &Fault::too_long()))
                        .await;
                    return self.written().await;
                }
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// Takes a line; says whether the connection goes on.
    async fn take(&mut self, line: &[u8]) -> bool {
        if line.iter().all(u8::is_ascii_whitespace) {
            return true;
        }
        let (id, request) = wire::read(line, self.shared.settings.max_task);
        let request = match request {
            Ok(request) => request,
            Err(fault) => {
                self.refuse(&id, &fault).await;
                return true;
            }
        };
        if let Request::Auth(token) = &request {
            return self.greet(&id, token).await;
        }
        let Some(caller) = self.caller.clone() else {
            let fault = Fault::new(Fault::UNKNOWN_CALLER, "auth with a token comes first");
            self.refuse(&id, &fault).await;
            return true;
        };
        match request {
            Request::Auth(_) => {}
            Request::List => {
                let settings = &self.shared.settings;
                let agent = json!({ "name": settings.name, "description": settings.description,
                    "actions": [] });
                self.say(wire::reply(&id, &json!({ "agents": [agent] })))
                    .await;
            }
            Request::Cancel(which) => {
                let call = self.calls.lock().get(&which.to_string()).cloned();
                let found = call.is_some();
                if let Some(call) = call {
                    self.give_up(&call).await;
                }
                if !id.is_null() {
                    self.say(wire::reply(&id, &json!({ "found": found }))).await;
                }
            }
            Request::Watch(session) => self.watch(&id, &caller, &session).await,
            Request::Call(asked) => {
                if let Err(fault) = self.call(&id, &caller, asked).await {
                    self.refuse(&id, &fault).await;
                }
            }
        }
        true
    }

    async fn greet(&mut self, id: &Value, token: &str) -> bool {
        let Some(caller) = self.shared.callers.find(token) else {
            let account = &self.shared.account;
            tracing::warn!(%account, "a caller showed a wrong token");
            sleep(WRONG).await;
            let fault = Fault::new(Fault::UNKNOWN_CALLER, "this token opens nothing");
            self.refuse(id, &fault).await;
            return false;
        };
        let other = self.caller.as_ref().is_some_and(|known| *known != caller);
        if other && !(self.calls.lock().is_empty() && self.watched.is_empty()) {
            let fault = Fault::new(Fault::UNKNOWN_CALLER, "auth comes before everything else");
            self.refuse(id, &fault).await;
            return true;
        }
        self.caller = Some(caller);
        self.say(wire::reply(id, &json!({}))).await;
        true
    }

    async fn watch(&mut self, id: &Value, caller: &str, session: &str) {
        let key = self.shared.key(caller, session);
        let known = self.watched.contains(&key);
        let room = known || self.watched.len() < MAX_WATCHED;
        let reads = || {
            let hub = &self.shared.hub;
            hub.read(&key, self.number, self.out.clone())
        };
        if !(room && reads()) {
            let fault = Fault::new(Fault::REFUSED, "too many sessions are read along");
            return self.refuse(id, &fault).await;
        }
        if !known {
            self.watched.push(key);
        }
        self.say(wire::reply(id, &json!({}))).await;
    }

    async fn call(&mut self, id: &Value, caller: &str, asked: Asked) -> Result<(), Fault> {
        if id.is_null() {
            return Err(Fault::new(
                Fault::REFUSED,
                "a call without an id is nobody's",
            ));
        }
        if !asked.agent.is_empty() && asked.agent != self.shared.settings.name {
            return Err(Fault::new(Fault::UNKNOWN_AGENT, "there is no such agent"));
        }
        while self.following.try_join_next().is_some() {}
        let number = id.to_string();
        if self.calls.lock().contains_key(&number) {
            return Err(Fault::new(
                Fault::REFUSED,
                "a call with this id is under way",
            ));
        }
        if self.following.len() >= MAX_CALLS {
            return Err(Fault::new(
                Fault::REFUSED,
                "too many calls of this connection",
            ));
        }
        let session = asked.session.unwrap_or_else(label);
        let message = asked.message.unwrap_or_else(label);
        let key = self.shared.key(caller, &session);
        let (call, is_new) = match self.shared.hub.begin(&key, &message.as_str().into()) {
            Begun::New(call) => (call, true),
            Begun::Known(call) => (call, false),
            Begun::Full => return Err(Fault::new(Fault::REFUSED, "too many calls are under way")),
        };
        self.calls.lock().insert(number.clone(), Arc::clone(&call));
        let follow = Follow {
            id: id.clone(),
            number,
            stream: asked.stream,
            out: self.out.clone(),
            calls: Arc::clone(&self.calls),
            call: Arc::clone(&call),
        };
        self.following.spawn(follow.run());
        let submission = Submission {
            event: Event::Message(Box::new(said(&call, caller, &asked.task, asked.passed))),
            call: Some(call),
        };
        // One that is under way already is handed in as well: it is known, and counted.
        let sent = self.inward.send(submission).await;
        if sent.is_err() && is_new {
            return Err(Fault::new(Fault::REFUSED, "the gateway is stopping"));
        }
        Ok(())
    }

    async fn give_up(&self, call: &Arc<Call>) {
        self.shared.hub.end(call, Stage::Cancelled);
        let submission = Submission {
            event: Event::Deleted {
                conversation: call.conversation.clone(),
                message: call.message.clone(),
            },
            call: None,
        };
        let _ = self.inward.send(submission).await;
    }

    /// Gives up what nobody waits for any more, unless the gateway itself ends.
    async fn end(mut self) {
        self.shared.hub.left(self.number, &self.watched);
        self.following.abort_all();
        if self.shared.door().is_none() {
            return;
        }
        let calls: Vec<Arc<Call>> = self.calls.lock().drain().map(|(_, call)| call).collect();
        for call in calls {
            self.give_up(&call).await;
        }
    }

    async fn say(&self, line: String) {
        let _ = self.out.send(line).await;
    }

    async fn refuse(&self, id: &Value, fault: &Fault) {
        self.say(wire::refusal(id, fault)).await;
    }

    /// Waits until everything that was said is written.
    async fn written(&self) {
        let all = u32::try_from(MAX_LINES).unwrap_or(u32::MAX);
        let all = usize::try_from(all).unwrap_or(MAX_LINES);
        let _ = timeout(WRITING, self.out.reserve_many(all)).await;
    }
}

/// What tells a caller of his call.
struct Follow {
    id: Value,
    number: String,
    stream: bool,
    out: mpsc::Sender<String>,
    calls: Calls,
    call: Arc<Call>,
}

impl Follow {
    async fn run(self) {
        let mut progress = self.call.follow();
        let (mut told, mut accepted) = (String::new(), false);
        loop {
            let now = progress.borrow_and_update().clone();
            if self.stream && !accepted && now.stage != Stage::HandedIn && !is_refused(now.stage) {
                accepted = true;
                self.event(
                    json!({ "type": "accepted", "message": self.call.message.as_str(),
                    "session": self.session() }),
                )
                .await;
            }
            if self.stream {
                match news(&told, &now.text) {
                    New::Nothing => {}
                    New::Delta(piece) => {
                        self.event(json!({ "type": "delta", "text": piece })).await
                    }
                    New::Replace(whole) => {
                        self.event(json!({ "type": "replace", "text": whole }))
                            .await;
                    }
                }
                now.text.as_ref().clone_into(&mut told);
            }
            if now.stage.is_over() {
                self.calls.lock().remove(&self.number);
                let _ = self.out.send(self.result(now.stage, &now.text)).await;
                return;
            }
            if progress.changed().await.is_err() {
                return;
            }
        }
    }

    fn result(&self, stage: Stage, text: &str) -> String {
        let status = match stage {
            Stage::Refused(why) => {
                return wire::refusal(&self.id, &Fault::new(Fault::REFUSED, why));
            }
            Stage::Cancelled => {
                let fault = Fault::new(Fault::CANCELLED, "the call was given up");
                return wire::refusal(&self.id, &fault);
            }
            Stage::Done => "done",
            _ => "none",
        };
        let result = json!({ "status": status, "text": text, "session": self.session(),
            "message": self.call.message.as_str() });
        wire::reply(&self.id, &result)
    }

    async fn event(&self, mut event: Value) {
        if let Some(event) = event.as_object_mut() {
            event.insert("id".into(), self.id.clone());
        }
        let _ = self
            .out
            .send(wire::notification("agent/event", &event))
            .await;
    }

    fn session(&self) -> Option<&str> {
        let session = self.call.conversation.thread.as_ref();
        session.map(|session| session.as_str())
    }
}

fn is_refused(stage: Stage) -> bool {
    matches!(stage, Stage::Refused(_))
}
