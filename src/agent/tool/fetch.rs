//! The tool `fetch_page`: a page of the public web as text.
//!
//! Owns which addresses may be reached, also behind redirects and names, and how much is read. It sends no cookie
//! and no key, and runs nothing of what it gets.

pub mod address;
mod html;
mod readable;
pub mod save;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use async_trait::async_trait;
use reqwest::{
    Client, ClientBuilder, Response, StatusCode, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{CONTENT_TYPE, LOCATION},
};
use serde_json::{Map, Value, json};

use self::address::Allowed;
use super::{Call, Fault, Given, Spec, Tool};
use crate::{i18n::trouble::Trouble, security::fence::Origin};

/// The name.
pub const NAME: &str = "fetch_page";
/// Most redirects that are followed.
const MAX_HOPS: usize = 5;
/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// Who asks, as the server is told.
const AGENT: &str = concat!("weirgate/", env!("CARGO_PKG_VERSION"));

/// What it is told by the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Most bytes that are read of a page.
    pub max_bytes: usize,
    /// Hosts that may be reached although they are not public: `host` or `host:port`.
    pub allow: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_bytes: 2 * 1024 * 1024,
            allow: Vec::new(),
        }
    }
}

/// The tool.
#[derive(Debug)]
pub struct FetchPage {
    spec: Spec,
    allowed: Arc<Allowed>,
    max_bytes: usize,
    client: Option<Client>,
}

impl FetchPage {
    /// The tool with its own connections.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "maxLength": 2000, "description": "an http or https address"},
                "from": {"type": "integer", "minimum": 0,
                    "description": "leave out so many characters, to read on in a long page"}
            },
            "required": ["url"],
            "additionalProperties": false
        });
        let about = "Reads a page of the public web and gives its text. Long pages come in parts: ask again with \
                     `from`.";
        let allowed = Arc::new(Allowed::new(&settings.allow));
        Self {
            spec: Spec::reading(NAME, about, parameters),
            client: client(&allowed),
            allowed,
            max_bytes: settings.max_bytes,
        }
    }

    /// Reads a page whole, as far as is read of one.
    async fn page(&self, start: &str) -> Result<Page, Fault> {
        let mut response = self.open(start).await?;
        let status = response.status();
        if !status.is_success() {
            return Err(refused(status));
        }
        let kind = response.headers().get(CONTENT_TYPE);
        let kind = kind
            .and_then(|kind| kind.to_str().ok())
            .unwrap_or("text/html");
        let kind = kind.to_ascii_lowercase();
        if !is_text(&kind) {
            let kind: String = kind.chars().take(60).collect();
            return Err(Fault::lasting(format!(
                "It is no page but a file of the type {kind}."
            )));
        }
        let url = response.url().clone();
        let (bytes, whole) = read(&mut response, self.max_bytes).await?;
        Ok(Page {
            url,
            html: kind.contains("html"),
            text: decoded(&bytes, &kind),
            whole,
        })
    }

    /// Follows redirects to the page.
    async fn open(&self, start: &str) -> Result<Response, Fault> {
        let client = self.client.as_ref();
        let client = client.ok_or_else(|| Fault::lasting("Pages cannot be fetched here."))?;
        let mut url = Url::parse(start.trim())
            .map_err(|_| Fault::lasting("The address cannot be read. Write https://…"))?;
        for _ in 0..=MAX_HOPS {
            self.allowed.check(&url).map_err(Fault::lasting)?;
            let response = client.get(url.clone()).send().await;
            let response = response.map_err(|error| unreachable(&error))?;
            if !response.status().is_redirection() {
                return Ok(response);
            }
            let to = response.headers().get(LOCATION);
            let to = to.and_then(|to| to.to_str().ok()).unwrap_or_default();
            url = url
                .join(to)
                .map_err(|_| Fault::lasting("The page leads to an address that cannot be read."))?;
        }
        Err(Fault::lasting(
            "The page leads from one address to the next without an end.",
        ))
    }
}

/// A page as it came.
struct Page {
    /// Where it was in the end.
    url: Url,
    /// It is HTML.
    html: bool,
    text: String,
    /// It is all of it.
    whole: bool,
}

/// What all tools' connections have in common.
fn builder() -> ClientBuilder {
    // Whoever builds a core in a process of his own has perhaps installed no provider, and a client without one panics.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(AGENT)
        .connect_timeout(CONNECT)
        .redirect(reqwest::redirect::Policy::none())
}

/// A client that resolves only to addresses that may be reached.
fn client(allowed: &Arc<Allowed>) -> Option<Client> {
    let client = builder()
        // A proxy would resolve names itself, past every check.
        .no_proxy()
        .dns_resolver(Arc::new(Checked(Arc::clone(allowed))))
        .build();
    client
        .inspect_err(|error| tracing::error!(%error, "pages cannot be fetched"))
        .ok()
}

/// A client for a service that the operator named; it may be anywhere.
pub(super) fn plain_client() -> Option<Client> {
    let client = builder().build();
    client
        .inspect_err(|error| tracing::error!(%error, "no connection can be made"))
        .ok()
}

/// Resolves names, and leaves out what must not be reached. The connection goes to what was checked here, so a name
/// that changes its answer gains nothing.
struct Checked(Arc<Allowed>);

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = Arc::clone(&self.0);
        Box::pin(async move {
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let open = found
                .into_iter()
                .filter(|address| allowed.name_may(name.as_str(), address.ip()));
            let open: Vec<SocketAddr> = open.collect();
            if open.is_empty() {
                return Err(address::NOT_PUBLIC.into());
            }
            let addresses: Addrs = Box::new(open.into_iter());
            Ok(addresses)
        })
    }
}

/// Why no answer came, without the address, which may hold a key.
fn unreachable(error: &reqwest::Error) -> Fault {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let told = cause.to_string();
    if told == address::NOT_PUBLIC {
        return Fault::lasting(told);
    }
    Fault {
        trouble: Some(Trouble::Unreachable),
        ..Fault::passing(format!("The server cannot be reached: {told}"))
    }
}

#[async_trait]
impl Tool for FetchPage {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn resource(&self, arguments: &Map<String, Value>) -> Option<String> {
        arguments.get("url")?.as_str().map(str::to_owned)
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let page = self.page(call.text("url")).await?;
        let text = if page.html {
            html::text(&page.text)
        } else {
            page.text
        };
        let from = call.arguments.get("from").and_then(Value::as_u64);
        let from = usize::try_from(from.unwrap_or(0)).unwrap_or(usize::MAX);
        let mut text: String = text.chars().skip(from).collect();
        if text.trim().is_empty() {
            text = "(no text)".to_owned();
        }
        if !page.whole {
            text.push_str("\n(the page is longer than what is read of one)");
        }
        Ok(Given {
            text,
            origin: Some(Origin::WebPage),
        })
    }
}

/// Whether a content type is text.
fn is_text(kind: &str) -> bool {
    kind.starts_with("text/")
        || ["json", "xml", "javascript", "yaml"]
            .iter()
            .any(|word| kind.contains(word))
}

/// The characters of a page: as the server says, as the page says itself, else UTF-8.
fn decoded(bytes: &[u8], kind: &str) -> String {
    /// How far into a page its own word on it may stand, as browsers look.
    const LOOK: usize = 1_024;
    let start = String::from_utf8_lossy(bytes.get(..LOOK).unwrap_or(bytes)).to_ascii_lowercase();
    let named = [kind, start.as_str()].into_iter().find_map(|text| {
        let (_, name) = text.split_once("charset=")?;
        let name = name.trim_start_matches(['"', '\'']);
        let end = name.find(|sign: char| !sign.is_ascii_alphanumeric() && !"-_:".contains(sign));
        encoding_rs::Encoding::for_label(name.get(..end.unwrap_or(name.len()))?.as_bytes())
    });
    let (text, _, _) = named.unwrap_or(encoding_rs::UTF_8).decode(bytes);
    text.into_owned()
}

/// An answer without a success.
pub(super) fn refused(status: StatusCode) -> Fault {
    let passing = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    Fault::of(Trouble::Status(status.as_u16()), passing)
}

/// Reads a body up to so many bytes; says whether that was all.
pub(super) async fn read(response: &mut Response, most: usize) -> Result<(Vec<u8>, bool), Fault> {
    let mut bytes = Vec::new();
    while let Some(more) = response
        .chunk()
        .await
        .map_err(|error| unreachable(&error))?
    {
        bytes.extend_from_slice(&more);
        if bytes.len() > most {
            bytes.truncate(most);
            return Ok((bytes, false));
        }
    }
    Ok((bytes, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_in_their_own_characters() {
        let chinese = [0xc4, 0xe3, 0xba, 0xc3];
        assert_eq!(decoded(&chinese, "text/html; charset=gb2312"), "你好");
        let page = [b"<meta charset='GBK'>".as_slice(), &chinese].concat();
        assert!(decoded(&page, "text/html").ends_with("你好"));
        assert_eq!(
            decoded("你好".as_bytes(), "text/html; charset=nonsense"),
            "你好"
        );
        assert_eq!(decoded(b"a\xff", "text/plain"), "a\u{fffd}");
    }
}
