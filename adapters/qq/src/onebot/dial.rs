//! Connections that the gateway opens: TCP, TLS where the address asks for it, and the upgrade.
//!
//! Owns the one TLS configuration of this crate. It never retries and never shows the token.

use std::{sync::Arc, time::Duration};

use rustls::{ClientConfig, RootCertStore, crypto::ring, pki_types::ServerName};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;
use tokio_tungstenite::{
    WebSocketStream, client_async_with_config,
    tungstenite::{
        Error,
        client::IntoClientRequest,
        http::{HeaderValue, Uri, header::AUTHORIZATION},
    },
};

use weirgate_sdk::text::line;

use super::session;
use crate::settings::Secret;

/// The longest time until a connection stands.
const DIAL_LIMIT: Duration = Duration::from_secs(10);

/// A stream of bytes, encrypted or not.
pub trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

/// A WebSocket to an implementation.
pub type Socket = WebSocketStream<Box<dyn Wire>>;

/// TLS that trusts the public authorities.
///
/// # Errors
/// The provider lacks a protocol version, which does not happen.
pub fn tls() -> Result<ClientConfig, String> {
    let roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// Connects to a `ws://` or `wss://` address.
///
/// # Errors
/// Why not, for the operator, in one short line.
pub async fn dial(url: &str, token: Option<&Secret>) -> Result<Socket, String> {
    let dialled = timeout(DIAL_LIMIT, connect(url, token)).await;
    dialled.unwrap_or_else(|_| Err(format!("no connection in {DIAL_LIMIT:?}")))
}

async fn connect(url: &str, token: Option<&Secret>) -> Result<Socket, String> {
    let short = |error: &dyn std::fmt::Display| line(&error.to_string(), 120);
    let uri: Uri = url.parse().map_err(|error| short(&error))?;
    let mut request = url.into_client_request().map_err(|error| short(&error))?;
    if let Some(token) = token {
        let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
            .map_err(|_| "the token has characters that cannot be sent".to_owned())?;
        value.set_sensitive(true);
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let encrypted = uri.scheme_str() == Some("wss");
    let port = uri.port_u16().unwrap_or(if encrypted { 443 } else { 80 });
    let stream = TcpStream::connect((host, port))
        .await
        .map_err(|error| short(&error))?;
    let _ = stream.set_nodelay(true);
    let stream: Box<dyn Wire> = if encrypted {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| short(&error))?;
        let tls = TlsConnector::from(Arc::new(tls()?));
        let stream = tls.connect(name, stream).await;
        Box::new(stream.map_err(|error| short(&error))?)
    } else {
        Box::new(stream)
    };
    match client_async_with_config(request, stream, Some(session::limits())).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(refusal(response.status().as_u16())),
        Err(error) => Err(short(&error)),
    }
}

/// What is said first of a token that is missing or wrong.
pub const TOKEN_REFUSED: &str = "the token is refused";

/// What an HTTP status says in place of an upgrade or an answer.
#[must_use]
pub fn refusal(status: u16) -> String {
    match status {
        401 | 403 => format!("{TOKEN_REFUSED} (HTTP {status})"),
        404 => "nothing is served at this address (HTTP 404)".to_owned(),
        status => format!("HTTP {status}"),
    }
}
