//! The connection over which events go to the bot.
//!
//! Owns its protocol from the greeting to the close codes, and checks every frame of the bot.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{
        State as Extract, WebSocketUpgrade,
        ws::{CloseFrame, Message, WebSocket},
    },
    response::Response,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{BOT, Shared, State};

/// Between two heartbeats, in milliseconds.
const BEAT: u64 = 500;
/// In which the bot must say who it is.
const IDENTIFY_LIMIT: Duration = Duration::from_secs(10);
/// The longest frame of a bot, in bytes.
const MAX_FRAME: usize = 4_096;
/// Intents that need nobody's leave.
const OPEN_INTENTS: u64 = 1 << 0 | 1 << 1 | 1 << 12 | 1 << 25 | 1 << 27 | 1 << 30;
/// The intent to hear every message of channels.
const ALL_CHANNELS: u64 = 1 << 9;
/// The intent to hear of presses.
const PRESSES: u64 = 1 << 26;

pub(super) async fn answer(
    Extract(shared): Extract<Arc<Shared>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade.on_upgrade(move |socket| async move {
        let mut open = shared.open.subscribe();
        tokio::select! {
            () = serve(&shared, socket) => {}
            _ = open.wait_for(|open| !open) => {}
        }
    })
}

async fn serve(shared: &Shared, mut socket: WebSocket) {
    let hello = json!({ "op": 10, "d": { "heartbeat_interval": BEAT } });
    if send(&mut socket, &hello).await.is_err() {
        return;
    }
    let mut changed = shared.changed.subscribe();
    let Ok(Some((shard, mut place))) = timeout(IDENTIFY_LIMIT, first(shared, &mut socket)).await
    else {
        return;
    };
    loop {
        loop {
            let item = shared.state.lock().lines[shard].at(place);
            let Some(frame) = item else { break };
            place += 1;
            let message = match String::from_utf8(frame) {
                Ok(text) => Message::text(text),
                Err(error) => Message::binary(error.into_bytes()),
            };
            if socket.send(message).await.is_err() {
                return;
            }
        }
        let code = shared.state.lock().lines[shard].take_close();
        if let Some(code) = code {
            return close(&mut socket, code).await;
        }
        tokio::select! {
            _ = changed.changed() => {}
            frame = next(shared, &mut socket) => match frame {
                Some(frame) => {
                    let answer = heard(&mut shared.state.lock(), shard, &frame);
                    shared.changed();
                    if let Some(answer) = answer && send(&mut socket, &answer).await.is_err() {
                        return;
                    }
                }
                None => return,
            },
        }
    }
}

/// The bot begins a session or resumes one. Gives the connection, and the place of its next event.
async fn first(shared: &Shared, socket: &mut WebSocket) -> Option<(usize, usize)> {
    loop {
        let frame = next(shared, socket).await?;
        let begun = match frame["op"].as_u64() {
            Some(1) => {
                send(socket, &json!({ "op": 11 })).await.ok()?;
                continue;
            }
            Some(2) => identify(shared, &frame["d"]).map(Some),
            Some(6) => resume(shared, &frame["d"]),
            _ => Err(4_001),
        };
        match begun {
            Ok(Some(place)) => {
                shared.changed();
                return Some(place);
            }
            Ok(None) => {
                send(socket, &json!({ "op": 9, "d": false })).await.ok()?;
            }
            Err(code) => {
                close(socket, code).await;
                return None;
            }
        }
    }
}

fn identify(shared: &Shared, data: &Value) -> Result<(usize, usize), u16> {
    let mut state = shared.state.lock();
    if data["token"] != state.presented() {
        return Err(4_004);
    }
    let intents = data["intents"].as_u64().ok_or(4_002_u16)?;
    let granted = |intent, given: bool| if given { intent } else { 0 };
    let policy = state.policy;
    let granted = granted(ALL_CHANNELS, policy.all_channels) | granted(PRESSES, policy.buttons);
    if intents & !(OPEN_INTENTS | granted) != 0 {
        return Err(4_014);
    }
    let shard = data["shard"][0].as_u64().ok_or(4_010_u16)?;
    let shard = usize::try_from(shard).map_err(|_| 4_010_u16)?;
    if data["shard"] != json!([shard, state.lines.len()]) {
        return Err(4_010);
    }
    let line = state.lines.get_mut(shard).ok_or(4_010_u16)?;
    let place = line.begin();
    let ready = json!({
        "version": 1, "session_id": line.name(), "shard": data["shard"],
        "user": { "id": BOT, "username": "weir", "bot": true },
    });
    line.push("READY", ready, None);
    Ok((shard, place))
}

fn resume(shared: &Shared, data: &Value) -> Result<Option<(usize, usize)>, u16> {
    let mut state = shared.state.lock();
    if data["token"] != state.presented() {
        return Err(4_004);
    }
    let (Some(name), Some(sequence)) = (data["session_id"].as_str(), data["seq"].as_u64()) else {
        return Err(4_002);
    };
    let mut lines = state.lines.iter_mut().enumerate();
    let found = lines.find_map(|(shard, line)| Some((shard, line.resume(name, sequence)?)));
    if let Some((shard, _)) = found {
        state.lines[shard].push("RESUMED", json!(""), None);
    }
    Ok(found)
}

/// A frame of a bot that is known. Gives what it is answered.
fn heard(state: &mut State, shard: usize, frame: &Value) -> Option<Value> {
    match (frame["op"].as_u64(), &frame["d"]) {
        (Some(1), Value::Null) => {}
        (Some(1), sequence) => {
            let known = sequence
                .as_u64()
                .is_some_and(|number| state.lines[shard].heard(number));
            if !known {
                state.violations.push(format!("a heartbeat for {sequence}"));
            }
        }
        _ => state.violations.push(format!("the frame {frame}")),
    }
    (!state.silent).then(|| json!({ "op": 11 }))
}

async fn next(shared: &Shared, socket: &mut WebSocket) -> Option<Value> {
    loop {
        match socket.recv().await?.ok()? {
            Message::Text(text) if text.len() <= MAX_FRAME => {
                if let Ok(frame) = serde_json::from_str(text.as_str()) {
                    return Some(frame);
                }
                shared
                    .state
                    .lock()
                    .violations
                    .push("a frame that is no JSON".into());
            }
            Message::Close(_) => return None,
            Message::Ping(_) | Message::Pong(_) => {}
            _ => shared
                .state
                .lock()
                .violations
                .push("a frame of a bad form".into()),
        }
    }
}

async fn send(socket: &mut WebSocket, frame: &Value) -> Result<(), axum::Error> {
    socket.send(Message::text(frame.to_string())).await
}

async fn close(socket: &mut WebSocket, code: u16) {
    let reason = "closed by the test".into();
    let frame = CloseFrame { code, reason };
    let _ = socket.send(Message::Close(Some(frame))).await;
    // The other side answers before it goes.
    let _ = timeout(Duration::from_secs(1), socket.recv()).await;
}
