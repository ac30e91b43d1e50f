//! Calls of a platform's HTTP interface, as far as all platforms are alike.
//!
//! Owns how a client connects, how many calls there are at once, how much of an answer is read, and what a failure below
//! HTTP means: a call that found no connection certainly was not carried out, and any other that got no answer may have
//! been. It follows no redirect, repeats nothing, and never shows an address.

use std::{error::Error, fmt, net::IpAddr, time::Duration};

use reqwest::{Client, ClientBuilder, Response, Url, redirect::Policy};
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::timeout,
};
use weirgate_sdk::text::line;

/// The time in which a connection must stand.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long a call waits for a place among those that are under way.
const QUEUE_LIMIT: Duration = Duration::from_secs(5);
/// Longest text of a failure, in characters.
pub const MAX_TEXT: usize = 200;

/// A call failed below HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// It did not leave: nothing was done.
    Unreachable(String),
    /// It left, and nobody knows whether it was carried out.
    Lost(String),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(text) | Self::Lost(text) => f.write_str(text),
        }
    }
}

/// The innermost cause says most, and the address is left out.
impl From<reqwest::Error> for Broken {
    fn from(error: reqwest::Error) -> Self {
        let before = error.is_connect() || error.is_builder();
        let error = error.without_url();
        let mut cause: &dyn Error = &error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let text = line(&cause.to_string(), MAX_TEXT);
        if before {
            Self::Unreachable(text)
        } else {
            Self::Lost(text)
        }
    }
}

/// A client for calls below the address `base`, to which headers may be added before it is [`built`].
pub fn client(base: &str) -> ClientBuilder {
    // The client takes the process's provider of cryptography; where one is chosen already this changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = Client::builder()
        .connect_timeout(CONNECT_LIMIT)
        .redirect(Policy::none())
        .tcp_nodelay(true);
    if is_local(base) {
        // A proxy of the environment leads to other machines.
        builder.no_proxy()
    } else {
        builder
    }
}

/// The client itself.
///
/// # Errors
/// That it cannot be built, for the operator.
pub fn built(builder: ClientBuilder) -> Result<Client, String> {
    builder
        .build()
        .map_err(|_| "the HTTP client cannot be built".to_owned())
}

/// Whether an address is on this machine.
#[must_use]
pub fn is_local(base: &str) -> bool {
    let url: Option<Url> = base.parse().ok();
    url.is_some_and(|url| match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_matches(['[', ']'])
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback()),
        None => false,
    })
}

/// The body of an answer, if it has at most so many bytes.
///
/// # Errors
/// Why it was not read.
pub async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, Broken> {
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await? {
        if body.len() + bytes.len() > most {
            return Err(Broken::Lost("the answer is too long".into()));
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

/// The outcome of a call that has left, if it comes within `limit`.
///
/// # Errors
/// Its own, or [`Broken::Lost`] when the time is over.
pub async fn within<T, E: From<Broken>>(
    limit: Duration,
    call: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let outcome = timeout(limit, call).await;
    outcome.unwrap_or_else(|_| Err(Broken::Lost(format!("no answer in {limit:?}")).into()))
}

/// The places of calls that are under way at once.
#[derive(Debug)]
pub struct Places(Semaphore);

impl Places {
    /// So many.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self(Semaphore::new(most))
    }

    /// A place for a call, given back when it is dropped.
    ///
    /// # Errors
    /// [`Broken::Unreachable`] if none becomes free in five seconds.
    pub async fn enter(&self) -> Result<SemaphorePermit<'_>, Broken> {
        match timeout(QUEUE_LIMIT, self.0.acquire()).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(Broken::Unreachable("too many calls under way".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    #[test]
    fn only_loopback_goes_around_a_proxy() {
        for (base, local) in [
            ("http://127.0.0.1:8081", true),
            ("http://localhost:8081", true),
            ("http://[::1]:8081", true),
            ("https://example.com/api/v10", false),
            ("http://10.0.0.2:8081", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_local(base), local, "{base}");
        }
    }

    /// Answers one request with these bytes, as they are.
    async fn served(answer: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a client");
            let mut request = [0; 1_024];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(answer.as_bytes()).await;
        });
        format!("http://{address}/secret")
    }

    async fn get(url: &str) -> Result<Response, Broken> {
        let client = built(client(url)).expect("a client");
        Ok(client.get(url).send().await?)
    }

    #[tokio::test]
    async fn an_answer_is_read_up_to_its_limit() {
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        let response = get(&served(answer).await).await.expect("an answer");
        assert_eq!(read(response, 5).await.as_deref(), Ok(&b"hello"[..]));
        let response = get(&served(answer).await).await.expect("an answer");
        let long = Broken::Lost("the answer is too long".into());
        assert_eq!(read(response, 4).await, Err(long));
    }

    #[tokio::test]
    async fn nobody_there_is_told_from_an_answer_that_breaks_off_and_no_address_is_shown() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("binds");
        let address = listener.local_addr().expect("an address");
        drop(listener);
        let error = get(&format!("http://{address}/secret")).await;
        let error = error.expect_err("nobody is there");
        assert!(matches!(error, Broken::Unreachable(_)), "{error:?}");
        assert!(!format!("{error:?} {error}").contains("secret"), "{error}");
        let half = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel";
        let response = get(&served(half).await).await.expect("a beginning");
        let error = read(response, 5).await.expect_err("no end");
        assert!(matches!(error, Broken::Lost(_)), "{error:?}");
    }

    #[tokio::test]
    async fn a_redirect_is_an_answer() {
        let away =
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n";
        let response = get(&served(away).await).await.expect("an answer");
        assert_eq!(response.status().as_u16(), 302);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_an_answer_is_lost_and_one_without_a_place_has_not_left() {
        let limit = Duration::from_secs(3);
        let call = within(limit, pending::<Result<(), Broken>>()).await;
        assert_eq!(call, Err(Broken::Lost("no answer in 3s".into())));
        let places = Places::new(1);
        let place = places.enter().await.expect("a place");
        let none = places.enter().await.expect_err("no place");
        assert!(matches!(none, Broken::Unreachable(_)), "{none:?}");
        drop(place);
        assert!(places.enter().await.is_ok());
    }
}
