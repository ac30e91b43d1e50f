//! The HTTP of the protocol's streamable transport, over the client that the gateway has anyway.
//!
//! Owns requests, and the reading of what comes back: one JSON object or a stream of events, each bounded. When to
//! connect again is the library's. It follows no redirect, so that what the headers hold goes nowhere else.

use std::{borrow::Cow, collections::HashMap, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream::BoxStream};
use reqwest::{
    Client, RequestBuilder, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER},
};
use rmcp::{
    model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_client::{
        HttpStatusError, SseError, StreamableHttpClient, StreamableHttpError,
        StreamableHttpPostResponse, StreamableHttpResponseLimits,
    },
};
use sse_stream::{Sse, SseStream};
use weirgate_sdk::settings::Secret;

/// Longest time to connect.
const CONNECT: Duration = Duration::from_secs(10);
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";

type Fault = StreamableHttpError<reqwest::Error>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

/// The client of one server.
#[derive(Clone)]
pub(super) struct Web(Client);

/// Headers of one request, beside those of every one.
type Headers = HashMap<HeaderName, HeaderValue>;

impl Web {
    /// A client that sends these headers with each request.
    ///
    /// # Errors
    /// A header that cannot be sent, by its name.
    pub(super) fn new(headers: &[(String, Secret)]) -> Result<Self, String> {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            let wrong = || format!("the header {name} cannot be sent");
            let key = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
            let mut value = HeaderValue::from_str(value.expose()).map_err(|_| wrong())?;
            value.set_sensitive(true);
            all.insert(key, value);
        }
        Client::builder()
            .default_headers(all)
            .connect_timeout(CONNECT)
            .redirect(reqwest::redirect::Policy::none())
            // What a stream leaves in a connection must not hold up the next request.
            .pool_max_idle_per_host(0)
            .tcp_nodelay(true)
            .build()
            .map(Self)
            .map_err(|_| "the HTTP client cannot be built".to_owned())
    }

    async fn get(
        &self,
        uri: &str,
        session: Option<&str>,
        last: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<Events, Fault> {
        let mut request = self.0.get(uri).header(ACCEPT, EVENTS);
        request = dressed(request, session, headers);
        if let Some(last) = last {
            request = request.header(LAST_EVENT, last);
        }
        let response = request.send().await.map_err(told)?;
        if response.status() == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        if !response.status().is_success() {
            return Err(refused(&response));
        }
        if !is(&response, EVENTS) {
            return Err(StreamableHttpError::UnexpectedContentType(None));
        }
        Ok(events(response.bytes_stream(), most))
    }

    async fn post(
        &self,
        uri: &str,
        message: ClientJsonRpcMessage,
        session: Option<&str>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let body = serde_json::to_vec(&message)?;
        let request = self.0.post(uri);
        let request = request.header(ACCEPT, format!("{JSON}, {EVENTS}"));
        let request = request.header(CONTENT_TYPE, JSON).body(body);
        let response = dressed(request, session, headers)
            .send()
            .await
            .map_err(told)?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        // Nobody waits for what a notification gives.
        let asked = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let (asks, continues) = (asked.is_some(), session.is_some());
        let session = response.headers().get(SESSION);
        let session = session.and_then(|id| id.to_str().ok()).map(str::to_owned);
        if status.is_success() && is(&response, EVENTS) {
            let events = events(response.bytes_stream(), limits.max_sse_event_size);
            return Ok(StreamableHttpPostResponse::Sse(events, session));
        }
        if !is(&response, JSON) {
            return if status.is_success() && !asks {
                Ok(StreamableHttpPostResponse::Accepted)
            } else {
                Err(refused(&response))
            };
        }
        let fault = (!status.is_success()).then(|| refused(&response));
        let body = body_of(response, limits.max_json_response_size).await?;
        match (serde_json::from_slice::<ServerJsonRpcMessage>(&body), fault) {
            // An error that a server explains is worth more than its status; one that answers no request would be
            // waited for in vain. Some servers that have forgotten a session say so in this way.
            (Ok(JsonRpcMessage::Error(error)), Some(fault)) if error.id != asked => {
                Err(if continues && status == StatusCode::BAD_REQUEST {
                    StreamableHttpError::SessionExpired
                } else {
                    fault
                })
            }
            (Ok(message @ JsonRpcMessage::Error(_)), Some(_)) | (Ok(message), None) => {
                Ok(StreamableHttpPostResponse::Json(message, session))
            }
            (_, Some(fault)) => Err(fault),
            (Err(_), None) if !asks => Ok(StreamableHttpPostResponse::Accepted),
            (Err(_), None) => {
                let told = "the answer is no message of the protocol";
                Err(StreamableHttpError::UnexpectedServerResponse(Cow::from(
                    told,
                )))
            }
        }
    }
}

impl StreamableHttpClient for Web {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _auth: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        let limits = StreamableHttpResponseLimits::default();
        self.post(&uri, message, session.as_deref(), headers, limits)
            .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _auth: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Fault> {
        self.post(&uri, message, session.as_deref(), headers, limits)
            .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _auth: Option<String>,
        headers: Headers,
    ) -> Result<(), Fault> {
        let request = dressed(self.0.delete(&*uri), Some(&session), headers);
        // A server may keep its sessions.
        request.send().await.map(drop).map_err(told)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _auth: Option<String>,
        headers: Headers,
    ) -> Result<Events, Fault> {
        let most = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get(&uri, session.as_deref(), last, headers, most)
            .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _auth: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<Events, Fault> {
        self.get(&uri, session.as_deref(), last, headers, most)
            .await
    }
}

fn dressed(mut request: RequestBuilder, session: Option<&str>, headers: Headers) -> RequestBuilder {
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match session {
        Some(session) => request.header(SESSION, session),
        None => request,
    }
}

/// A fault of the connection. The address may hold a secret.
fn told(error: reqwest::Error) -> Fault {
    StreamableHttpError::Client(error.without_url())
}

/// What a status means that is no success.
fn refused(response: &Response) -> Fault {
    let after = response.headers().get(RETRY_AFTER);
    let after = after
        .and_then(|after| after.to_str().ok())
        .map(str::to_owned);
    HttpStatusError::new(response.status().as_u16(), after).into()
}

fn is(response: &Response, kind: &str) -> bool {
    let given = response.headers().get(CONTENT_TYPE);
    let given = given
        .and_then(|given| given.to_str().ok())
        .unwrap_or_default();
    let bare = given.split(';').next().unwrap_or_default().trim();
    bare.eq_ignore_ascii_case(kind)
}

/// A whole body of at most so many bytes.
async fn body_of(mut response: Response, most: usize) -> Result<Vec<u8>, Fault> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(told)? {
        if body.len() + piece.len() > most {
            return Err(StreamableHttpError::ResponseBodyTooLarge { max_size: most });
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

/// The events of a stream. One of more than `most` bytes ends it.
fn events(
    pieces: impl Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static,
    most: usize,
) -> Events {
    let mut since = Since::default();
    let bounded = pieces.map(move |piece| match piece {
        Ok(piece) if since.takes(&piece) > most => {
            Err(std::io::Error::other("an event of the server is too large"))
        }
        Ok(piece) => Ok(piece),
        Err(error) => Err(std::io::Error::other(error.without_url())),
    });
    SseStream::from_bytes_stream(bounded).boxed()
}

/// How many bytes have come since the last event ended.
#[derive(Default)]
struct Since {
    bytes: usize,
    /// The last byte ended a line.
    at_start: bool,
}

impl Since {
    /// Counts a piece; gives the most that any event in it has grown to.
    fn takes(&mut self, piece: &[u8]) -> usize {
        let mut most = 0;
        for byte in piece {
            match byte {
                b'\r' => {}
                b'\n' if self.at_start => self.bytes = 0,
                b'\n' => self.at_start = true,
                _ => self.at_start = false,
            }
            self.bytes += 1;
            most = most.max(self.bytes);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_one_by_one_wherever_they_are_cut() {
        let text = b"data: aaaa\r\n\r\ndata: b\n\ndata: cc\n\n";
        let mut whole = Since::default();
        assert_eq!(whole.takes(text), 13);
        let mut since = Since::default();
        let most = text.iter().map(|byte| since.takes(&[*byte])).max();
        assert_eq!(most, Some(13));
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_named_without_its_value() {
        let wrong = [("X-Key".to_owned(), Secret::new("a\nb-secret"))];
        assert_eq!(
            Web::new(&wrong).err().as_deref(),
            Some("the header X-Key cannot be sent")
        );
    }
}
