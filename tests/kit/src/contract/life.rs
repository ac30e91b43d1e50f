//! Checks of an adapter's life: what it says about itself, how it starts and ends.
//!
//! Owns capabilities, reported connections and the stop.

use weirgate_sdk::{Connection, SendError};

use super::{
    LIMIT, Platform, STOP_LIMIT, capabilities, connected, end, hear, is_up, must_see, whole,
};

/// A conversation can do the same before, during and after a connection.
pub async fn capabilities_are_constant<P: Platform>() {
    let mut platform = connected::<P>().await;
    let conversation = hear(&mut platform, 0, "hi").await.conversation;
    let adapter = platform.adapter();
    let during = capabilities(&*adapter, &conversation);
    assert_eq!(conversation.platform, adapter.platform());
    platform.disconnect().await;
    assert_eq!(capabilities(&*adapter, &conversation), during);
    platform.connect().await;
    assert_eq!(capabilities(&*adapter, &conversation), during);
    let rates = during.rates;
    assert!(rates.account.is_finite() && rates.account >= 0.0 && rates.account_burst > 0);
    assert!(rates.conversation.is_finite() && rates.conversation >= 0.0);
    assert!(rates.conversation_burst > 0);
    platform
        .stop(LIMIT)
        .await
        .expect("ends")
        .expect("without an error");
    assert_eq!(capabilities(&*adapter, &conversation), during);
    platform.restart().await;
    assert_eq!(
        capabilities(&*platform.adapter(), &conversation),
        during,
        "after a restart"
    );
    end(platform).await;
}

/// The gateway is told about the connection, and that it is back.
pub async fn the_connection_is_reported<P: Platform>() {
    let mut platform = P::start().await;
    let gateway = platform.gateway();
    let told = gateway.connection_is(LIMIT, |_| true).await;
    assert!(
        matches!(told, Some(Connection::Waiting | Connection::Up)),
        "before anybody connects: {told:?}"
    );
    platform.connect().await;
    is_up(&platform).await;
    platform.disconnect().await;
    platform.connect().await;
    hear(&mut platform, 0, "back").await;
    is_up(&platform).await;
    end(platform).await;
}

/// The end comes soon, whether somebody is connected or not.
pub async fn run_ends_soon_after_the_signal<P: Platform>() {
    end(P::start().await).await;
    end(connected::<P>().await).await;
    let mut platform = connected::<P>().await;
    hear(&mut platform, 0, "hi").await;
    platform.disconnect().await;
    end(platform).await;
}

/// After the end a send is refused in a way that leaves the answer for the next start.
pub async fn a_stopped_adapter_sends_nothing<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let adapter = platform.adapter();
    let ended = platform.stop(STOP_LIMIT).await.expect("ends soon");
    assert_eq!(ended, Ok(()));
    let sent = adapter.send(whole(&*adapter, &message, 1, "late")).await;
    assert!(matches!(sent, Err(SendError::Unavailable(_))), "{sent:?}");
    platform.restart().await;
    platform.connect().await;
    is_up(&platform).await;
    let adapter = platform.adapter();
    adapter
        .send(whole(&*adapter, &message, 1, "in time"))
        .await
        .expect("sent");
    assert_eq!(must_see(&mut platform, 0).await.visible, "in time");
    end(platform).await;
}

/// A slow store does not hold answers up.
pub async fn sends_work_while_receipts_are_open<P: Platform>() {
    let mut platform = connected::<P>().await;
    let message = hear(&mut platform, 0, "hi").await;
    let (adapter, gateway) = (platform.adapter(), platform.gateway());
    gateway.hold();
    platform.say(0, "wait").await;
    assert!(gateway.handed_in(2, LIMIT).await);
    adapter
        .send(whole(&*adapter, &message, 1, "answer"))
        .await
        .expect("sent");
    assert_eq!(must_see(&mut platform, 0).await.visible, "answer");
    gateway.release();
    end(platform).await;
}
