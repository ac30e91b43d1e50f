//! A stream of server-sent events: the frames of one conversation as they come.
//!
//! Owns the form of an event. Its id says from where a client goes on that was cut off; who does not read is cut off
//! by the outlet, as on a socket.

use std::{collections::HashMap, fmt::Write, sync::Arc};

use axum::{
    body::Body,
    extract::{Query, State},
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::stream::unfold;
use serde_json::Value;
use tokio::{
    sync::oneshot,
    time::{Instant, interval_at},
};

use super::{Asking, Failed, ask::session, hello};
use crate::{
    adapter::WebChat,
    incoming::{Resume, is_session},
    outlet::{Cut, Item, Items, Outlet, size},
    session::Session,
    socket::Link,
    texts::Code,
};

pub(super) async fn events(
    State(chat): State<Arc<WebChat>>,
    Query(query): Query<HashMap<String, String>>,
    asking: Asking,
) -> Result<Response, Failed> {
    let failed = |code| asking.failed(code);
    let named = query.get("sessionId").filter(|it| *it != "default");
    if named.is_some_and(|label| !is_session(label)) {
        return Err(failed(Code::BadSessionId));
    }
    let headers = &asking.headers;
    let last = headers.get("last-event-id").and_then(|it| it.to_str().ok());
    let hello = hello(headers, last.and_then(resume)).map_err(failed)?;
    let (mut session, outlet, items, link) = session(&chat, asking.address).map_err(failed)?;
    let (told, heard) = oneshot::channel();
    let (named, cut) = (named.cloned(), Arc::clone(&outlet));
    // A task of its own, so that the session is ended also for a client that goes away meanwhile.
    tokio::spawn(async move {
        let begun = session.listen(hello, named).await;
        let good = begun.is_ok();
        if told.send(begun).is_ok() && good {
            live(&chat, &mut session, &cut, &link).await;
        }
        session.close();
    });
    heard.await.unwrap_or(Err(Code::Stopping)).map_err(failed)?;
    let body = unfold((items, outlet), next);
    let kind = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((kind, Body::from_stream(body)).into_response())
}

/// Keeps a session until its stream ends.
async fn live(chat: &WebChat, session: &mut Session, outlet: &Outlet, link: &Link) {
    let pause = chat.settings.timing.ping;
    let mut pings = interval_at(Instant::now() + pause, pause);
    let cut = outlet.until_cut();
    let stopped = link.stop.stopped();
    tokio::pin!(cut, stopped);
    loop {
        tokio::select! {
            _ = &mut cut => return,
            () = &mut stopped => return outlet.cut(Cut::STOPPING),
            () = session.awaited.due() => session.look().await,
            _ = pings.tick() => { outlet.push(Item::Ping); }
        }
    }
}

/// The next piece of the stream; none after the outlet was cut.
async fn next(
    (mut items, outlet): (Items, Arc<Outlet>),
) -> Option<(
    Result<Bytes, std::convert::Infallible>,
    (Items, Arc<Outlet>),
)> {
    let item = tokio::select! {
        item = items.recv() => item,
        _ = outlet.until_cut() => items.try_recv()?,
    };
    outlet.written(size(&item));
    let text = match item {
        Item::Ping => ": ping\n\n".to_owned(),
        Item::Frames(frames) => frames.iter().map(|frame| event(frame.as_str())).collect(),
    };
    Some((Ok(text.into()), (items, outlet)))
}

/// A frame as an event. JSON has no line breaks of its own.
fn event(frame: &str) -> String {
    let mut out = String::with_capacity(frame.len() + 64);
    let fields: Value = serde_json::from_str(frame).unwrap_or_default();
    let kind = fields["type"].as_str().unwrap_or("message");
    // Writing into a string cannot fail.
    let _ = writeln!(out, "event: {kind}");
    // A welcome is no place to go on from: what it announces is still to come.
    if let (Some(epoch), Some(seq)) = (fields["epoch"].as_str(), fields["seq"].as_u64())
        && kind != "welcome"
    {
        let _ = writeln!(out, "id: {epoch}:{seq}");
    }
    let _ = write!(out, "data: {frame}\n\n");
    out
}

/// Where a client stopped, by the id of its last event.
fn resume(id: &str) -> Option<Resume> {
    let (epoch, seq) = id.trim().split_once(':')?;
    Some(Resume {
        epoch: epoch.to_owned(),
        seq: seq.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_an_event_is_where_a_client_goes_on() {
        let told = event(r#"{"epoch":"ab","seq":7,"type":"text","html":"a\nb"}"#);
        assert_eq!(
            told,
            "event: text\nid: ab:7\ndata: {\"epoch\":\"ab\",\"seq\":7,\"type\":\"text\",\"html\":\"a\\nb\"}\n\n"
        );
        assert!(!event(r#"{"epoch":"ab","seq":7,"type":"welcome"}"#).contains("id:"));
        let at = resume(" ab:7").unwrap();
        assert_eq!((at.epoch.as_str(), at.seq), ("ab", 7));
        assert!(resume("ab").is_none() && resume("ab:x").is_none());
    }
}
