//! One request: a session that lives as long as its answer takes.

use std::{net::IpAddr, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::{
    adapter::{NoPlace, WebChat},
    incoming::{Hello, read},
    outlet::{Item, Items, Outlet},
    session::Session,
    socket::Link,
    texts::{Code, Language},
};

/// Longest wait for an answer; the store has had its time by then.
const WAIT: Duration = Duration::from_secs(20);

/// Lines that are answered by an `ack`.
const SAYS: [&str; 2] = ["text", "press"];

/// Asks one line of the protocol and gives the frame that answers it; an empty one if nothing does. What was begun is
/// ended also for a client that goes away meanwhile.
pub(super) async fn ask(
    chat: &Arc<WebChat>,
    address: Option<IpAddr>,
    hello: Hello,
    (line, kind): (String, &'static str),
) -> Result<Map<String, Value>, Code> {
    let line = read(&line, chat.settings.max_message).map_err(|fault| fault.code)?;
    let (mut session, outlet, mut items, link) = session(chat, address)?;
    let asking = async move {
        let _link = link;
        session.visit(&hello, line.session.as_deref()).await?;
        let message = line.message.clone();
        session.take(line).await;
        let answer = answer(&mut session, &mut items, &outlet, kind, message);
        let answer = timeout(WAIT, answer).await;
        session.close();
        tokio::spawn(async move { session.settle().await });
        answer.unwrap_or(Err(Code::StoreUnavailable))
    };
    let asked = tokio::spawn(asking).await;
    asked.unwrap_or(Err(Code::Stopping))
}

/// Makes a new visitor and gives his token.
pub(super) fn new_visitor(
    chat: &Arc<WebChat>,
    address: Option<IpAddr>,
    language: Language,
) -> Result<String, Code> {
    let (session, ..) = session(chat, address)?;
    session.welcome(language)
}

type Opened = (Session, Arc<Outlet>, Items, Link);

/// A session without a socket. It takes the place of one while it lives.
pub(super) fn session(chat: &Arc<WebChat>, address: Option<IpAddr>) -> Result<Opened, Code> {
    let link = chat.link(address).map_err(|reason| match reason {
        NoPlace::Full => Code::Stopping,
        NoPlace::Address => Code::TooManySockets,
    })?;
    let (outlet, items) = Outlet::new();
    let session = Session::new(
        Arc::clone(chat),
        Arc::clone(&link.ingress),
        Arc::clone(&outlet),
        address,
    );
    Ok((session, outlet, items, link))
}

async fn answer(
    session: &mut Session,
    items: &mut Items,
    outlet: &Outlet,
    kind: &'static str,
    message: Option<String>,
) -> Result<Map<String, Value>, Code> {
    loop {
        let item = tokio::select! {
            biased;
            step = session.submitter.next() => {
                session.step(step).await;
                // A stop is answered by nothing but that it was taken.
                if kind == "stop" && session.submitter.is_idle() {
                    return Ok(Map::new());
                }
                continue;
            }
            item = items.recv() => item,
        };
        outlet.written(crate::outlet::size(&item));
        let Item::Frames(frames) = item else { continue };
        for frame in frames {
            let Ok(Value::Object(frame)) = serde_json::from_str(frame.as_str()) else {
                continue;
            };
            let is = |name: &str| frame.get("type").is_some_and(|it| it == name);
            let of_message = frame.get("messageId").and_then(Value::as_str) == message.as_deref();
            if is("error") && (of_message || message.is_none()) {
                return Err(code(&frame));
            }
            if is("ack") && of_message || is(kind) && !SAYS.contains(&kind) {
                return Ok(frame);
            }
        }
    }
}

/// The fault that an error frame tells.
fn code(frame: &Map<String, Value>) -> Code {
    let name = frame.get("code").and_then(Value::as_str);
    name.and_then(Code::of).unwrap_or(Code::Refused)
}
