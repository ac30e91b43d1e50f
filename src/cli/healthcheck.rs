//! `weirgate healthcheck`: asks the running gateway of this machine how it is, for containers that have no
//! other program to do it.
//!
//! Owns one plain request and its time limit. It opens no store and starts no runtime.

use std::{
    io::{Read as _, Write as _},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use super::{complain, environment, say};
use crate::{app::adapters, config};

/// How long the gateway may take for anything.
const LIMIT: Duration = Duration::from_secs(4);
/// Most bytes of the answer that are looked at.
const MOST: u64 = 64 * 1024;

/// Exit code 0 if the gateway takes messages (or, with `alive`, answers at all), else 1.
pub(super) fn healthcheck(file: Option<&Path>, alive: bool) -> ExitCode {
    let path = if alive { "/healthz" } else { "/readyz" };
    let asked = config::load(file, &environment, &adapters::known())
        .map_err(|error| error.to_string())
        .and_then(|(config, _)| here(config.http.listen))
        .and_then(|address| ask(address, path).map_err(|error| format!("{address}: {error}")));
    match asked {
        Ok((200, body)) => {
            say(body.trim_end());
            ExitCode::SUCCESS
        }
        Ok((status, body)) => {
            complain(&format!("{path} answered {status}: {}", body.trim_end()));
            ExitCode::FAILURE
        }
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// Where a gateway that listens there is reached from this machine.
fn here(listen: SocketAddr) -> Result<SocketAddr, String> {
    if listen.port() == 0 {
        return Err("http.listen has port 0: nobody knows where the gateway listens".to_owned());
    }
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    Ok(SocketAddr::new(ip, listen.port()))
}

/// Status and body of a GET.
fn ask(address: SocketAddr, path: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect_timeout(&address, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    stream.take(MOST).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
    let status = status.ok_or_else(|| std::io::Error::other("that is no answer of HTTP"))?;
    Ok((status, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_that_listens_everywhere_is_reached_on_this_machine() {
        let reached = |text: &str| here(text.parse().unwrap()).map(|at| at.to_string());
        assert_eq!(reached("0.0.0.0:8787").unwrap(), "127.0.0.1:8787");
        assert_eq!(reached("[::]:8787").unwrap(), "[::1]:8787");
        assert_eq!(reached("192.0.2.7:80").unwrap(), "192.0.2.7:80");
        assert!(reached("127.0.0.1:0").unwrap_err().contains("port 0"));
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answer = |text: &'static str| {
            let asked = std::thread::spawn(move || ask(address, "/readyz"));
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 256];
            assert!(stream.read(&mut request).unwrap() > 0);
            stream.write_all(text.as_bytes()).unwrap();
            drop(stream);
            asked.join().unwrap()
        };
        assert!(answer("nonsense").is_err());
        let (status, body) = answer("HTTP/1.1 503 Service Unavailable\r\n\r\nno").unwrap();
        assert_eq!((status, body.as_str()), (503, "no"));
    }
}
