//! What a service manager is told, over a real socket.

use std::{
    os::{
        linux::net::SocketAddrExt as _,
        unix::net::{SocketAddr, UnixDatagram},
    },
    time::Duration,
};

use serde_json::json;
use weirgate_testkit::model::{FakeModel, Script};

use crate::gateway::{Chat as _, Gateway, LIMIT};

/// The side of the manager.
struct Listener(UnixDatagram);

impl Listener {
    fn new(address: &SocketAddr) -> Self {
        let socket = UnixDatagram::bind_addr(address).unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        Self(socket)
    }

    /// The next thing that is said.
    async fn hear(&self) -> String {
        let socket = self.0.try_clone().unwrap();
        let heard = tokio::task::spawn_blocking(move || {
            let mut bytes = [0; 256];
            let length = socket.recv(&mut bytes).unwrap();
            String::from_utf8_lossy(&bytes[..length]).into_owned()
        });
        heard.await.unwrap()
    }

    /// The next thing that is no sign of life.
    async fn hear_else(&self) -> String {
        loop {
            let heard = self.hear().await;
            if heard != "WATCHDOG=1" {
                return heard;
            }
        }
    }
}

#[tokio::test]
async fn it_is_told_that_the_gateway_is_ready_alive_and_stopping() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare(&model, json!({}));
    let path = gateway.folder().join("notify");
    let listener = Listener::new(&SocketAddr::from_pathname(&path).unwrap());
    gateway.set("NOTIFY_SOCKET", path.to_str().unwrap());
    gateway.set("WATCHDOG_USEC", "100000");
    gateway.spawn();
    assert_eq!(listener.hear().await, "READY=1");
    gateway.ready().await;
    for _ in 0..3 {
        assert_eq!(listener.hear().await, "WATCHDOG=1");
    }
    // A turn that is still running lets the drain take its time.
    let fake = gateway.onebot().await;
    model.push(Script::answer("late").before_headers(Duration::from_secs(1)));
    fake.send_private(1, "hello").await;
    model.wait_for(1).await;
    gateway.signal("TERM");
    assert_eq!(listener.hear_else().await, "STOPPING=1");
    assert_eq!(
        listener.hear().await,
        "WATCHDOG=1",
        "it drains, and is alive"
    );
    assert_eq!(gateway.ended().await.code(), Some(0));
    assert_eq!(fake.answer().await.text(), "late");
}

#[tokio::test]
async fn a_start_that_waits_for_its_database_can_be_stopped() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare(&model, json!({}));
    let database = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgres://bot@{}/chat", database.local_addr().unwrap());
    gateway.configure(&model, json!({ "storage": { "url": url } }));
    gateway.spawn();
    // It is let in and never answered.
    let _silent = database.accept().await.unwrap();
    assert_eq!(gateway.term().await.code(), Some(0), "{}", gateway.log());
    gateway.logged("stopped before it was ready").await;
}

#[tokio::test]
async fn a_start_that_fails_is_never_ready_and_a_socket_without_a_file_will_do() {
    let model = FakeModel::start().await;
    let mut gateway = Gateway::prepare(&model, json!({}));
    let name = format!("weirgate-test-{}", std::process::id());
    let listener = Listener::new(&SocketAddr::from_abstract_name(&name).unwrap());
    gateway.set("NOTIFY_SOCKET", &format!("@{name}"));
    let taken = json!({ "http": { "listen": "198.51.100.7:80" } });
    gateway.configure(&model, taken);
    gateway.spawn();
    assert_eq!(gateway.ended().await.code(), Some(78), "{}", gateway.log());
    gateway.configure(&model, json!({}));
    gateway.up().await;
    gateway.term().await;
    for expected in ["READY=1", "STOPPING=1"] {
        assert_eq!(listener.hear().await, expected);
    }
}
