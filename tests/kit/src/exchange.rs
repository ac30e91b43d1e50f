//! One request over a connection of its own.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, ToSocketAddrs},
};

/// Sends a request, which asks for the end of the connection, and gives the status of its answer; 0 without one.
pub(crate) async fn status(address: impl ToSocketAddrs, request: &str) -> u16 {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok::<String, std::io::Error>(answer)
    };
    let answer = exchange.await.unwrap_or_default();
    let status = answer.split(' ').nth(1);
    status.and_then(|status| status.parse().ok()).unwrap_or(0)
}
