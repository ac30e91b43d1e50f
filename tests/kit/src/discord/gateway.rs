//! The connection over which events go to the bot.
//!
//! Owns its protocol from the greeting to the close codes, and checks every frame of the bot.

use std::{collections::HashMap, sync::Arc, time::Duration};

use axum::{
    extract::{
        Query, State as Extract, WebSocketUpgrade,
        ws::{CloseFrame, Message, WebSocket},
    },
    response::Response,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{BOT, OTHER_SERVER, SERVER, Shared, State, interact};

/// Between two heartbeats, in milliseconds.
const BEAT: u64 = 500;
/// In which the bot must say who it is.
const IDENTIFY_LIMIT: Duration = Duration::from_secs(10);
/// The code of a connection that is closed without one; it is never written.
const NO_CODE: u16 = 1_005;
/// The longest frame of a bot, in bytes.
const MAX_FRAME: usize = 4_096;
/// Intents that need nobody's leave.
const OPEN_INTENTS: u64 = 1 | 1 << 9 | 1 << 12;
/// The intent to be told of members.
const MEMBERS: u64 = 1 << 1;
/// The intent to read messages that do not name the bot.
const CONTENT: u64 = 1 << 15;

pub(super) async fn answer(
    Extract(shared): Extract<Arc<Shared>>,
    Query(query): Query<HashMap<String, String>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let is = |name: &str, value: &str| query.get(name).is_some_and(|given| given == value);
    if !is("v", "10") || !is("encoding", "json") {
        let mut state = shared.state.lock();
        state.violations.push(format!("the query {query:?}"));
    }
    upgrade.on_upgrade(move |socket| async move {
        let mut open = shared.open.subscribe();
        tokio::select! {
            () = serve(&shared, socket) => {}
            _ = open.wait_for(|open| !open) => {}
        }
    })
}

async fn serve(shared: &Shared, mut socket: WebSocket) {
    let hello = json!({ "op": 10, "s": null, "t": null, "d": { "heartbeat_interval": BEAT } });
    if send(&mut socket, &hello).await.is_err() {
        return;
    }
    let mut changed = shared.changed.subscribe();
    let Ok(Some((line, mut place))) = timeout(IDENTIFY_LIMIT, first(shared, &mut socket)).await
    else {
        return;
    };
    loop {
        loop {
            let item = shared.state.lock().lines[line].at(place);
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
        let code = shared.state.lock().lines[line].take_close();
        if let Some(code) = code {
            return close(&mut socket, code).await;
        }
        tokio::select! {
            _ = changed.changed() => {}
            frame = next(shared, &mut socket) => match frame {
                Some(frame) => {
                    let answer = heard(&mut shared.state.lock(), line, &frame);
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
            Some(2) => identify(shared, &frame["d"]),
            Some(6) => {
                let invalid = shared.state.lock().invalid.pop_front();
                if let Some(goes_on) = invalid {
                    send(socket, &json!({ "op": 9, "d": goes_on })).await.ok()?;
                    continue;
                }
                resume(shared, &frame["d"])
            }
            _ => Err(4_003),
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

fn identify(shared: &Shared, data: &Value) -> Result<Option<(usize, usize)>, u16> {
    let mut state = shared.state.lock();
    if data["token"] != shared.token {
        return Err(4_004);
    }
    let Some(intents) = data["intents"].as_u64() else {
        return Err(4_002);
    };
    let properties = ["os", "browser", "device"];
    if !properties
        .iter()
        .all(|name| data["properties"][name].is_string())
    {
        return Err(4_002);
    }
    if intents & !(OPEN_INTENTS | MEMBERS | CONTENT) != 0
        || (state.no_content && intents & CONTENT != 0)
    {
        return Err(4_014);
    }
    let given = |index: usize| {
        data["shard"][index]
            .as_u64()
            .and_then(|n| usize::try_from(n).ok())
    };
    let (line, count) = (given(0).unwrap_or(0), given(1).unwrap_or(1));
    if count != state.lines.len() || line >= count {
        // Sharding required, or an invalid shard.
        return Err(if count < state.lines.len() {
            4_011
        } else {
            4_010
        });
    }
    state.begun.push(std::time::Instant::now());
    let place = state.lines[line].begin();
    let name = state.lines[line].name();
    let servers: Vec<u64> = [SERVER, OTHER_SERVER]
        .into_iter()
        .filter(|server| *server == SERVER || state.lines.len() > 1)
        .filter(|server| state.line_of(*server) == line)
        .collect();
    let unavailable = |server: &u64| json!({ "id": server.to_string(), "unavailable": true });
    let unavailable: Vec<Value> = servers.iter().map(unavailable).collect();
    let ready = json!({
        "v": 10, "user": { "id": BOT.to_string(), "username": "weir", "bot": true }, "session_id": name,
        "resume_gateway_url": format!("ws://{}/gateway", shared.address),
        "guilds": unavailable, "shard": [line, count], "application": { "id": interact::APPLICATION.to_string(), "flags": 0 },
    });
    state.lines[line].push("READY", ready, None);
    for server in servers {
        let of = |kind: u64| -> Vec<Value> {
            let channels = state.channels.values();
            let number = server.to_string();
            let here = channels.filter(|channel| channel["guild_id"] == number.as_str());
            here.filter(|channel| channel["type"] == kind)
                .cloned()
                .collect()
        };
        let (channels, threads) = (of(0), of(11));
        let mut described = state.described();
        described["id"] = server.to_string().into();
        described["channels"] = channels.into();
        described["threads"] = threads.into();
        state.lines[line].push("GUILD_CREATE", described, None);
    }
    Ok(Some((line, place)))
}

fn resume(shared: &Shared, data: &Value) -> Result<Option<(usize, usize)>, u16> {
    let mut state = shared.state.lock();
    if data["token"] != shared.token {
        return Err(4_004);
    }
    if let Some(code) = state.no_resume {
        return Err(code);
    }
    let (Some(name), Some(sequence)) = (data["session_id"].as_str(), data["seq"].as_u64()) else {
        return Err(4_002);
    };
    let Some(line) = state.lines.iter().position(|line| line.name() == name) else {
        return Ok(None);
    };
    let place = state.lines[line].resume(name, sequence);
    if place.is_some() {
        state.lines[line].push("RESUMED", json!({}), None);
    }
    Ok(place.map(|place| (line, place)))
}

/// A frame of a bot that is known. Gives what it is answered.
fn heard(state: &mut State, line: usize, frame: &Value) -> Option<Value> {
    match (frame["op"].as_u64(), &frame["d"]) {
        (Some(1), Value::Null) => {}
        (Some(1), sequence) => {
            let is_known = sequence
                .as_u64()
                .is_some_and(|number| state.lines[line].heard(number));
            if !is_known {
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
    let frame = (code != NO_CODE).then_some(CloseFrame { code, reason });
    let _ = socket.send(Message::Close(frame)).await;
    // The other side answers before it goes.
    let _ = timeout(Duration::from_secs(1), socket.recv()).await;
}
