//! Posts to a webhook, signed as the platform signs them.

use std::net::SocketAddr;

use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{FakeQq, SECRET, media::hex, seconds};

/// The signature over a time and a body, with the key that the app's secret makes.
#[must_use]
pub fn sign(time: &str, body: &str) -> String {
    let seed: Vec<u8> = SECRET.bytes().cycle().take(32).collect();
    let key = Ed25519KeyPair::from_seed_unchecked(&seed).expect("a key");
    let signature = key.sign(format!("{time}{body}").as_bytes());
    hex(signature.as_ref())
}

impl FakeQq {
    /// Posts an event to a web server as the platform does. Gives the status and the body of the answer.
    pub async fn post(&self, to: SocketAddr, path: &str, kind: &str, data: &Value) -> (u16, Value) {
        let body = json!({ "op": 0, "id": "event:1", "t": kind, "d": data }).to_string();
        let time = seconds().to_string();
        self.post_raw(to, path, &body, &time, &sign(&time, &body))
            .await
    }

    /// Posts anything, with any signature.
    pub async fn post_raw(
        &self,
        to: SocketAddr,
        path: &str,
        body: &str,
        time: &str,
        signature: &str,
    ) -> (u16, Value) {
        let mut stream = TcpStream::connect(to).await.expect("connects");
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {to}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             user-agent: QQBot-Callback\r\nx-bot-appid: {}\r\nx-signature-timestamp: {time}\r\n\
             x-signature-ed25519: {signature}\r\ncontent-length: {}\r\n\r\n{body}",
            super::APP_ID,
            body.len(),
        );
        stream.write_all(request.as_bytes()).await.expect("writes");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("reads");
        let status = answer
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (
            status.unwrap_or_default(),
            serde_json::from_str(body).unwrap_or_default(),
        )
    }
}
