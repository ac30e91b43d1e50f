//! One WebSocket from upgrade to close.
//!
//! Owns the two loops of a socket: one reads frames, receipts and clocks, one writes. What it closes
//! with is decided by whoever cuts its outlet. It never buffers without a bound: a client that sends
//! faster than the gateway accepts is not read, one that does not read is cut off.

use std::{error::Error, net::IpAddr, sync::Arc, time::Duration};

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures_util::{Sink, SinkExt, StreamExt, stream::SplitStream};
use tokio::{
    sync::OwnedSemaphorePermit,
    time::{Instant, interval_at, sleep_until, timeout},
};
use tokio_tungstenite::tungstenite;
use weirgate_sdk::{Ingress, Stop};

use crate::{
    adapter::WebChat,
    address::Place,
    outlet::{Cut, Item, Items, Outlet, size},
    pace::Pace,
    session::Session,
};

/// How long a closing socket may take to read what was queued.
const CLOSE_WAIT: Duration = Duration::from_secs(3);
/// Pings without any frame between them after which a socket is dead.
const MISSED_PINGS: u32 = 2;

/// What a socket needs of the running adapter.
pub(crate) struct Link {
    /// The gateway.
    pub(crate) ingress: Arc<dyn Ingress>,
    /// The stop signal.
    pub(crate) stop: Stop,
    /// Its place among the sockets.
    pub(crate) permit: OwnedSemaphorePermit,
    /// Where the client is, if anybody knows.
    pub(crate) address: Option<IpAddr>,
    /// Its place among the sockets of that address.
    pub(crate) place: Option<Place>,
}

/// Serves a socket until it is closed.
pub(crate) async fn serve(chat: Arc<WebChat>, link: Link, socket: WebSocket) {
    let Link {
        ingress,
        stop,
        permit,
        address,
        place,
    } = link;
    let (sink, stream) = socket.split();
    let (outlet, items) = Outlet::new();
    let writer = tokio::spawn(write(sink, items, Arc::clone(&outlet)));
    let mut session = Session::new(Arc::clone(&chat), ingress, Arc::clone(&outlet), address);
    read(&chat, &mut session, &outlet, stream, stop).await;
    session.close();
    // An error of the writer is the end of the process; there is nothing to do about it here.
    let _ = writer.await;
    drop((permit, place));
    session.settle().await;
}

/// Reads until somebody cuts the outlet or the client goes; then the outlet is cut.
async fn read(
    chat: &WebChat,
    session: &mut Session,
    outlet: &Outlet,
    mut stream: SplitStream<WebSocket>,
    stop: Stop,
) {
    let timing = chat.settings.timing;
    let greeting = Instant::now() + timing.hello;
    let mut pings = interval_at(Instant::now() + timing.ping, timing.ping);
    let mut unanswered = 0;
    let mut pace = Pace::new(Instant::now());
    let cut = outlet.until_cut();
    let stopped = stop.stopped();
    tokio::pin!(cut, stopped);
    loop {
        let waits = pace.waits_until(Instant::now());
        tokio::select! {
            biased;
            _ = &mut cut => return,
            () = &mut stopped => return drain(session, outlet).await,
            step = session.submitter.next() => session.step(step).await,
            () = session.awaited.due() => Box::pin(session.look()).await,
            _ = pings.tick() => {
                // A socket that is not read cannot answer.
                let deaf = session.submitter.is_full() || waits.is_some();
                unanswered = if deaf { 0 } else { unanswered + 1 };
                if unanswered > MISSED_PINGS {
                    return outlet.cut(Cut::SILENT);
                }
                outlet.push(Item::Ping);
            }
            // Who takes what is written is alive, although his signs of life are not read now.
            () = outlet.wrote(), if !outlet.has_room() => unanswered = 0,
            () = sleep_until(greeting), if !session.is_known() => return outlet.cut(Cut::POLICY),
            () = sleep_until(waits.unwrap_or(greeting)), if waits.is_some() => {}
            message = stream.next(),
                if waits.is_none() && !session.submitter.is_full() && outlet.has_room() =>
            {
                unanswered = 0;
                match message {
                    Some(Ok(Message::Text(text))) => {
                        pace.count(1 + text.as_str().matches('\n').count(), Instant::now());
                        // Boxed, so that a socket that says nothing takes little room.
                        Box::pin(session.frame(text.as_str())).await;
                    }
                    Some(Ok(Message::Binary(bytes))) => {
                        pace.count(1, Instant::now());
                        Box::pin(session.binary(&bytes)).await;
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Close(_))) | None => return outlet.cut(Cut::DONE),
                    Some(Err(error)) => {
                        tracing::debug!(%error, "socket failed");
                        return outlet.cut(cut_for(&error));
                    }
                }
            }
        }
    }
}

/// The gateway stops: what was handed in may still be acknowledged, then the socket is closed.
async fn drain(session: &mut Session, outlet: &Outlet) {
    let rest = async {
        while !session.submitter.is_idle() {
            let step = session.submitter.next().await;
            session.step(step).await;
        }
    };
    let _ = timeout(Duration::from_secs(1), rest).await;
    outlet.cut(Cut::STOPPING);
}

/// How a socket is closed whose reading failed so.
fn cut_for(error: &axum::Error) -> Cut {
    use tungstenite::Error as Wire;
    let wire = error.source().and_then(|it| it.downcast_ref::<Wire>());
    match wire {
        Some(Wire::Capacity(_)) => Cut::TOO_BIG,
        Some(Wire::Utf8(_)) => Cut::NOT_TEXT,
        // Of a broken connection nobody reads the code.
        _ => Cut::PROTOCOL,
    }
}

/// Writes what is queued until the outlet is cut, then the close frame.
async fn write<S>(mut sink: S, mut items: Items, outlet: Arc<Outlet>)
where
    S: Sink<Message> + Unpin,
{
    let cut = outlet.until_cut();
    tokio::pin!(cut);
    let (cut, whole) = loop {
        let item = tokio::select! {
            biased;
            cut = &mut cut => break (cut, true),
            item = items.recv() => item,
        };
        let written = tokio::select! {
            biased;
            written = write_item(&mut sink, item, &outlet) => written,
            cut = &mut cut => break (cut, false),
        };
        if !written {
            return outlet.cut(Cut::DONE);
        }
    };
    let close = async {
        // A slow client is not made to wait for more; any other gets what was queued before. After half
        // an item nothing may follow: the client would take it for all that there is.
        if whole && cut != Cut::SLOW {
            while let Some(item) = items.try_recv() {
                if !write_item(&mut sink, item, &outlet).await {
                    return;
                }
            }
        }
        let frame = CloseFrame {
            code: cut.code,
            reason: cut.reason.into(),
        };
        // The client may be gone already.
        let _ = sink.send(Message::Close(Some(frame))).await;
        let _ = sink.close().await;
    };
    let _ = timeout(CLOSE_WAIT, close).await;
}

async fn write_item<S>(sink: &mut S, item: Item, outlet: &Outlet) -> bool
where
    S: Sink<Message> + Unpin,
{
    let size = size(&item);
    let written = match item {
        Item::Ping => sink.send(Message::Ping(Vec::new().into())).await.is_ok(),
        Item::Frames(frames) => {
            let mut written = true;
            for frame in frames {
                written = written && sink.send(Message::Text(frame)).await.is_ok();
            }
            written
        }
    };
    outlet.written(size);
    written
}

#[cfg(test)]
mod tests;
