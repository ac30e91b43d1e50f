//! Files at addresses that messages name, or that the platform names for them.
//!
//! Owns which machines are asked: the platform's servers of files have no fixed names, so anything public is, and the
//! implementation's own server; nothing in a private network, whatever a name resolves to. It follows no redirect and
//! shows no token.

use std::{net::SocketAddr, sync::OnceLock, time::Duration};

use futures_util::TryStreamExt as _;
use reqwest::{
    Client, Response, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    redirect::Policy,
};
use tokio::time::timeout;
use weirgate_sdk::{Download, DownloadError, media::address::is_public};

use crate::onebot::dial::tls;

/// The time in which a connection must stand.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Begins to fetch the file at an address. `own` is where the implementation is reached, if the gateway connects to it.
///
/// # Errors
/// Why there is none.
pub async fn fetch(
    address: &str,
    own: Option<&str>,
    limit: Duration,
) -> Result<Download, DownloadError> {
    let (client, url) = way(address, own)?;
    let unavailable =
        |error: reqwest::Error| DownloadError::Unavailable(error.without_url().to_string());
    let answer = timeout(limit, client.get(url).send()).await;
    let late = || DownloadError::Unavailable(format!("no answer in {limit:?}"));
    let response: Response = answer.map_err(|_| late())?.map_err(unavailable)?;
    match response.status().as_u16() {
        200..=299 => {}
        status @ (429 | 500..) => {
            return Err(DownloadError::Unavailable(format!("HTTP status {status}")));
        }
        status => return Err(DownloadError::Gone(format!("HTTP status {status}"))),
    }
    let size = response.content_length();
    let pieces = response.bytes_stream().map_err(unavailable);
    Ok(Download::of(size, Box::pin(pieces)))
}

/// The client that reaches an address, if it may be reached: the implementation's own server, or anything public.
///
/// # Errors
/// Why it may not.
pub fn way(address: &str, own: Option<&str>) -> Result<(&'static Client, Url), DownloadError> {
    let elsewhere = || DownloadError::Refused("it is not at a public address".into());
    let url: Url = address.parse().map_err(|_| elsewhere())?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() {
        return Err(elsewhere());
    }
    let is_own = own.is_some_and(|own| same_server(&url, own));
    if !is_own && !may_be_public(&url) {
        return Err(elsewhere());
    }
    let client = client(is_own)
        .ok_or_else(|| DownloadError::Unavailable("the HTTP client cannot be built".into()))?;
    Ok((client, url))
}

/// Whether an address is on the server that the account is configured to reach, by whatever scheme.
fn same_server(url: &Url, own: &str) -> bool {
    let Ok(own) = own.parse::<Url>() else {
        return false;
    };
    url.host_str() == own.host_str() && url.port_or_known_default() == own.port_or_known_default()
}

/// Whether the host is a name, or a public address.
fn may_be_public(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse() {
        Ok(address) => is_public(address),
        Err(_) => !host.is_empty(),
    }
}

/// The client for the implementation's own server, or for everybody else's; made once.
fn client(own: bool) -> Option<&'static Client> {
    static OWN: OnceLock<Option<Client>> = OnceLock::new();
    static PUBLIC: OnceLock<Option<Client>> = OnceLock::new();
    let build = |public: bool| {
        let mut builder = Client::builder()
            .use_preconfigured_tls(tls().ok()?)
            .connect_timeout(CONNECT_LIMIT)
            .redirect(Policy::none())
            // A proxy would resolve names by itself.
            .no_proxy();
        if public {
            builder = builder.dns_resolver(std::sync::Arc::new(PublicNames));
        }
        builder.build().ok()
    };
    if own {
        OWN.get_or_init(|| build(false)).as_ref()
    } else {
        PUBLIC.get_or_init(|| build(true)).as_ref()
    }
}

/// Resolves names to public addresses alone.
struct PublicNames;

impl Resolve for PublicNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|found| is_public(found.ip())).collect();
            if public.is_empty() {
                return Err("the name has no public address".into());
            }
            let addresses: Addrs = Box::new(public.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn private_machines_are_not_asked_whatever_they_are_called() {
        for address in [
            "http://127.0.0.1:1/a",
            "http://[::1]:1/a",
            "http://169.254.169.254/latest/meta-data",
            "http://10.0.0.1/a",
            "http://2130706433/a",
            "file:///etc/passwd",
            "ftp://example.com/a",
            "http://user@example.com/a",
            "nonsense",
        ] {
            let refused = fetch(address, None, Duration::from_secs(1)).await;
            assert!(
                matches!(refused, Err(DownloadError::Refused(_))),
                "{address}"
            );
        }
        // A name of this machine.
        let local = fetch("http://localhost:1/a", None, Duration::from_secs(5)).await;
        assert!(
            matches!(local, Err(DownloadError::Unavailable(_))),
            "{local:?}"
        );
    }

    #[test]
    fn the_implementation_is_known_by_host_and_port() {
        let url: Url = "http://127.0.0.1:3000/file?a=1".parse().expect("a URL");
        assert!(same_server(&url, "ws://127.0.0.1:3000/"));
        assert!(!same_server(&url, "ws://127.0.0.1:3001/"));
        assert!(!same_server(&url, "nonsense"));
    }
}
