//! Plain requests to the gateway's web server.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{Gateway, LIMIT};

/// A response.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Gateway {
    /// GET; status 0 if nobody listens.
    pub async fn get(&self, path: &str) -> Response {
        self.get_with(path, &[]).await
    }

    /// How often a reason was given since the start, as /metrics says.
    pub async fn counted(&self, reason: &str) -> u64 {
        let metrics = self.get("/metrics").await.body;
        let series = format!("weirgate_reasons_total{{reason=\"{reason}\"}} ");
        let value = metrics.lines().find_map(|line| line.strip_prefix(&series));
        value.map_or(0, |value| value.parse().unwrap())
    }

    /// Waits until a reason was given so often.
    pub async fn counts(&self, reason: &str, times: u64) {
        let enough = async {
            while self.counted(reason).await < times {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let in_time = tokio::time::timeout(LIMIT, enough).await;
        assert!(in_time.is_ok(), "not {times} {reason}: {}", self.log());
    }

    /// GET with headers.
    pub async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        self.ask("GET", path, headers).await
    }

    /// POST without a body; status 0 if nobody listens.
    pub async fn post_with(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        self.ask("POST", path, headers).await
    }

    /// POST with a body; status 0 if nobody listens, or the connection is cut.
    pub async fn post_body(&self, path: &str, headers: &[(&str, &str)], body: &str) -> Response {
        let length = body.len().to_string();
        let headers = [headers, &[("Content-Length", &length)]].concat();
        self.tell("POST", path, &headers, body).await
    }

    async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Response {
        self.tell(method, path, headers, "").await
    }

    async fn tell(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        request(self, method, path, headers, body)
            .await
            .unwrap_or_else(|error| Response {
                status: 0,
                head: error.to_string(),
                body: String::new(),
            })
    }

    /// The value of a series of /metrics, as it is written there with its labels; 0 if it is not there.
    pub async fn metric(&self, series: &str) -> u64 {
        let metrics = self.get("/metrics").await.body;
        let value = metrics.lines().find_map(|line| {
            let value = line.strip_prefix(series)?.strip_prefix(' ')?;
            value.parse().ok()
        });
        value.unwrap_or(0)
    }
}

async fn request(
    gateway: &Gateway,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> std::io::Result<Response> {
    let address = gateway.http();
    let mut stream = TcpStream::connect(address).await?;
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        request.push_str(&format!("Host: {address}\r\n"));
    }
    for (name, value) in headers {
        request.push_str(&format!("{name}: {value}\r\n"));
    }
    request.push_str("\r\n");
    request.push_str(body);
    stream.write_all(request.as_bytes()).await?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    Ok(Response {
        status: status.unwrap_or(0),
        head: head.to_owned(),
        body: body.to_owned(),
    })
}
