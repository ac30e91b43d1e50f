//! The wire of A2A 1.0: an agent card, and JSON-RPC over HTTP with answers as events.
//!
//! Owns a request from its beginning to its end, and every bound of what the other side may send. A task whose call is
//! dropped in the middle is cancelled there, if that is possible. It follows no redirect, so that the token goes nowhere
//! else. What it brings is somebody else's words.

use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::{
    Client, RequestBuilder, Response,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue},
};
use serde_json::{Value, json};
use sse_stream::SseStream;
use tokio::sync::{oneshot, watch};

use super::{
    card::Card,
    config::Endpoint,
    remote::{Failed, Task},
    task::Followed,
};

/// The version of the protocol, and the header that says it.
const VERSION: (&str, &str) = ("a2a-version", "1.0");
/// Where the card of an address without a path is.
const CARD: &str = ".well-known/agent-card.json";
/// The binding that is spoken.
const BINDING: &str = "JSONRPC";
/// Where a message says through which gateways it came.
const PASSED: &str = "weirgate/passed";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
/// The longest card or answer, in bytes.
const MAX_BODY: usize = 1024 * 1024;
/// All that comes in events for one task, in bytes.
const MAX_EVENTS: usize = 16 * 1024 * 1024;
/// How long a task may take to be cancelled.
const CANCELLING: Duration = Duration::from_secs(10);
/// The pause between two looks at a task that is not told of by events.
const LOOK: Duration = Duration::from_secs(1);
/// Longest time to connect.
const CONNECT: Duration = Duration::from_secs(10);

/// What the card says of how the agent is spoken to.
struct Way {
    url: String,
    streams: bool,
}

/// The one agent of an endpoint, as its card describes it.
///
/// # Errors
/// Why there is none.
pub(super) async fn card(endpoint: &Endpoint, address: &str) -> Result<Card, Failed> {
    let card = fetched(&client()?, endpoint, address).await?;
    way(&card, address)?;
    Card::of_skills(&card).ok_or_else(|| Failed::broken("its card names nobody"))
}

/// Has the agent do something; gives what it came to.
///
/// # Errors
/// Why it came to nothing.
pub(super) async fn call(
    endpoint: &Endpoint,
    address: &str,
    task: Task<'_>,
) -> Result<String, Failed> {
    let client = client()?;
    let card = fetched(&client, endpoint, address).await?;
    let way = way(&card, address)?;
    let caller = Caller {
        client,
        endpoint: endpoint.clone(),
        url: way.url,
    };
    let mut words = task.text.to_owned();
    if let Some(more) = task.more.filter(|more| !more.is_empty()) {
        words.push_str("\n\n");
        words.push_str(&Value::Object(more.clone()).to_string());
    }
    let params = json!({
        "message": {
            "messageId": format!("{:032x}", rand::random::<u128>()),
            "contextId": task.session,
            "role": "ROLE_USER",
            "parts": [{ "text": words }],
            "metadata": { PASSED: task.passed },
        },
        "configuration": { "acceptedOutputModes": ["text/plain", "text/markdown"] },
    });
    let run = Run {
        caller,
        followed: Followed::default(),
        open: watch::Sender::new(None),
    };
    // It goes on in a task of its own, so that it can be cancelled there when nobody waits for it here any more.
    let (waits, gone) = oneshot::channel();
    let ran = tokio::spawn(run.attended(params, way.streams, gone));
    let ended = ran.await;
    drop(waits);
    ended.unwrap_or_else(|_| Err(Failed::broken("it was given up")))
}

/// Who speaks with one agent.
#[derive(Clone)]
struct Caller {
    client: Client,
    endpoint: Endpoint,
    url: String,
}

/// A task under way.
struct Run {
    caller: Caller,
    followed: Followed,
    /// Its id, while it is known and not over.
    open: watch::Sender<Option<String>>,
}

impl Run {
    /// Follows a task to its end. If whoever waits is `gone` before, it is cancelled as soon as its id is known.
    async fn attended(
        self,
        params: Value,
        streams: bool,
        gone: oneshot::Receiver<()>,
    ) -> Result<String, Failed> {
        let (caller, mut open) = (self.caller.clone(), self.open.subscribe());
        let work = self.work(params, streams);
        tokio::pin!(work);
        tokio::select! {
            ended = &mut work => return ended,
            // Nothing is ever sent.
            _ = gone => {}
        }
        let cancelled = async {
            let id = tokio::select! {
                ended = &mut work => return ended,
                id = open.wait_for(Option::is_some) => id.ok().and_then(|id| id.clone()),
            };
            let params = json!({ "id": id });
            caller
                .ask("CancelTask", params)
                .await
                .map(|_| String::new())
        };
        if !matches!(tokio::time::timeout(CANCELLING, cancelled).await, Ok(Ok(_))) {
            let endpoint = &caller.endpoint.name;
            tracing::debug!(endpoint, "a task could not be cancelled");
        }
        Err(Failed::broken("it was given up"))
    }

    async fn work(mut self, params: Value, streams: bool) -> Result<String, Failed> {
        if streams {
            self.stream(params).await?;
        } else {
            let answer = self.caller.ask("SendMessage", params).await?;
            self.take(&answer);
        }
        self.looked_after().await
    }

    fn take(&mut self, told: &Value) {
        self.followed.take(told);
        let open = self.followed.open().map(str::to_owned);
        self.open.send_if_modified(|known| {
            let differs = *known != open;
            *known = open;
            differs
        });
    }

    async fn stream(&mut self, params: Value) -> Result<(), Failed> {
        let request = self
            .caller
            .post("SendStreamingMessage", params)
            .header(ACCEPT, EVENTS);
        let response = answered(request).await?;
        if !is(&response, EVENTS) {
            let answer = result(&body(response).await?)?;
            self.take(&answer);
            return Ok(());
        }
        let mut left = MAX_EVENTS;
        let bytes = response.bytes_stream().map(move |piece| {
            let piece = piece.map_err(|error| lost(&error))?;
            left = left
                .checked_sub(piece.len())
                .ok_or_else(|| "it sent too much".to_owned())?;
            Ok::<_, String>(piece)
        });
        let bytes = bytes.map(|piece| piece.map_err(std::io::Error::other));
        let mut events = SseStream::from_bytes_stream(bytes);
        while let Some(event) = events.next().await {
            let event = event.map_err(|error| Failed::broken(&error.to_string()))?;
            let Some(data) = event.data.filter(|data| !data.is_empty()) else {
                continue;
            };
            let Ok(said) = serde_json::from_str::<Value>(&data) else {
                return Err(Failed::broken("it sent what is no JSON"));
            };
            self.take(&result(&said)?);
            if self.followed.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Looks at the task until it is over, if it is not.
    async fn looked_after(mut self) -> Result<String, Failed> {
        while let Some(id) = self.followed.open().map(str::to_owned) {
            tokio::time::sleep(LOOK).await;
            let task = self.caller.ask("GetTask", json!({ "id": id })).await?;
            self.take(&json!({ "task": task }));
        }
        self.followed.ended()
    }
}

impl Caller {
    fn post(&self, method: &str, params: Value) -> RequestBuilder {
        let id = format!("{:016x}", rand::random::<u64>());
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let request = self.client.post(&self.url).header(CONTENT_TYPE, JSON);
        dressed(request, &self.endpoint).body(body.to_string())
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, Failed> {
        let request = self.post(method, params).header(ACCEPT, JSON);
        let response = answered(request).await?;
        result(&body(response).await?)
    }
}

fn client() -> Result<Client, Failed> {
    Client::builder()
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none())
        .pool_max_idle_per_host(0)
        .tcp_nodelay(true)
        .build()
        .map_err(|_| Failed::broken("the HTTP client cannot be built"))
}

/// The card: at the address itself if that names a file, else where cards are.
async fn fetched(client: &Client, endpoint: &Endpoint, address: &str) -> Result<Value, Failed> {
    let url = if address.ends_with(".json") {
        address.to_owned()
    } else {
        format!("{}/{CARD}", address.trim_end_matches('/'))
    };
    let request = client.get(url).header(ACCEPT, JSON);
    let response = answered(dressed(request, endpoint)).await?;
    body(response).await
}

fn dressed(request: RequestBuilder, endpoint: &Endpoint) -> RequestBuilder {
    let request = request.header(VERSION.0, VERSION.1);
    let Some(token) = &endpoint.token else {
        return request;
    };
    match HeaderValue::from_str(&format!("Bearer {}", token.expose())) {
        Ok(mut value) => {
            value.set_sensitive(true);
            request.header(AUTHORIZATION, value)
        }
        // The other side says what is missing.
        Err(_) => request,
    }
}

/// Where it is spoken to: an address of the card's own host and scheme, for the token goes there.
fn way(card: &Value, address: &str) -> Result<Way, Failed> {
    let interfaces = card["supportedInterfaces"].as_array();
    let spoken = |one: &&Value| {
        let version = one["protocolVersion"].as_str().unwrap_or(VERSION.1);
        one["protocolBinding"] == BINDING && version.starts_with("1.")
    };
    let found = interfaces.and_then(|all| all.iter().find(spoken));
    let Some(url) = found.and_then(|one| one["url"].as_str()) else {
        return Err(Failed::broken(
            "its card names no address for JSON-RPC of version 1.0",
        ));
    };
    let place = |url: &str| {
        let url = reqwest::Url::parse(url).ok()?;
        Some((
            url.scheme().to_owned(),
            url.host_str()?.to_owned(),
            url.port_or_known_default(),
        ))
    };
    if place(url).is_none() || place(url) != place(address) {
        return Err(Failed::broken("its card leads to another host"));
    }
    Ok(Way {
        url: url.to_owned(),
        streams: card["capabilities"]["streaming"] == true,
    })
}

async fn answered(request: RequestBuilder) -> Result<Response, Failed> {
    let response = request.send().await;
    let response = response.map_err(|error| Failed::Broken(lost(&error)))?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    // What it explains is worth more than its status.
    let said = body(response).await.ok();
    let said = said
        .as_ref()
        .and_then(|said| said["error"]["message"].as_str());
    Err(match said {
        Some(why) => Failed::said(why),
        None => Failed::Broken(format!("it answers with HTTP {}", status.as_u16())),
    })
}

async fn body(response: Response) -> Result<Value, Failed> {
    let (mut bytes, mut all) = (response.bytes_stream(), Vec::new());
    while let Some(piece) = bytes.next().await {
        let piece = piece.map_err(|error| Failed::Broken(lost(&error)))?;
        if all.len() + piece.len() > MAX_BODY {
            return Err(Failed::broken("it sent too much"));
        }
        all.extend_from_slice(&piece);
    }
    serde_json::from_slice(&all).map_err(|_| Failed::broken("it sent what is no JSON"))
}

fn result(said: &Value) -> Result<Value, Failed> {
    if let Some(error) = said.get("error").filter(|error| !error.is_null()) {
        return Err(Failed::said(error["message"].as_str().unwrap_or_default()));
    }
    match said.get("result") {
        Some(result) => Ok(result.clone()),
        None => Err(Failed::broken("it sent neither a result nor an error")),
    }
}

fn is(response: &Response, kind: &str) -> bool {
    let found = response.headers().get(CONTENT_TYPE);
    let found = found.and_then(|value| value.to_str().ok());
    found.is_some_and(|value| value.to_ascii_lowercase().starts_with(kind))
}

/// Without the address, which an operator knows and a model need not.
fn lost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if error.is_timeout() {
        "it did not answer in time".to_owned()
    } else {
        cause.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_says_where_and_never_elsewhere() {
        let card = |url: &str, version: &str| {
            json!({ "supportedInterfaces": [
                { "url": "http://a:1/grpc", "protocolBinding": "GRPC", "protocolVersion": "1.0" },
                { "url": url, "protocolBinding": "JSONRPC", "protocolVersion": version },
            ], "capabilities": { "streaming": true } })
        };
        let address = "http://a.example:9999";
        let found = way(&card("http://a.example:9999/x", "1.0"), address).ok();
        assert!(found.is_some_and(|way| way.streams && way.url.ends_with("/x")));
        for (url, version) in [
            ("http://a.example:9999/", "0.3"),
            ("http://b.example:9999/", "1.0"),
            ("https://a.example:9999/", "1.0"),
            ("http://a.example:99/", "1.0"),
            ("nonsense", "1.0"),
        ] {
            assert!(way(&card(url, version), address).is_err(), "{url}");
        }
        assert!(way(&json!({}), address).is_err());
    }
}
