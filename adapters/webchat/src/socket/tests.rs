use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use parking_lot::Mutex;

use super::*;

/// A socket that takes as many messages as it is told to.
#[derive(Clone, Default)]
struct Narrow(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    room: usize,
    sent: Vec<String>,
    waker: Option<Waker>,
}

impl Narrow {
    fn take(&self, more: usize) {
        let mut state = self.0.lock();
        state.room += more;
        if let Some(waker) = state.waker.take() {
            waker.wake();
        }
    }

    fn sent(&self) -> Vec<String> {
        self.0.lock().sent.clone()
    }
}

impl Sink<Message> for Narrow {
    type Error = Infallible;

    fn poll_ready(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        let mut state = self.0.lock();
        if state.room == 0 {
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn start_send(self: Pin<&mut Self>, message: Message) -> Result<(), Infallible> {
        let mut state = self.0.lock();
        state.room -= 1;
        state.sent.push(match message {
            Message::Text(text) => text.as_str().to_owned(),
            Message::Close(Some(frame)) => frame.code.to_string(),
            other => format!("{other:?}"),
        });
        Ok(())
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn after_half_an_item_comes_nothing_but_the_close() {
    let (outlet, items) = Outlet::new();
    let sink = Narrow::default();
    let writer = tokio::spawn(write(sink.clone(), items, Arc::clone(&outlet)));
    outlet.push(Item::Frames(vec!["a1".into(), "a2".into(), "a3".into()]));
    outlet.frame("b".into());
    sink.take(1);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(sink.sent(), ["a1"]);
    outlet.cut(Cut::STOPPING);
    tokio::time::sleep(Duration::from_millis(1)).await;
    sink.take(100);
    writer.await.unwrap();
    assert_eq!(sink.sent(), ["a1", "1001"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_queued_whole_goes_out_before_the_close() {
    let (outlet, items) = Outlet::new();
    let sink = Narrow::default();
    outlet.frame("a".into());
    outlet.frame("b".into());
    outlet.cut(Cut::STOPPING);
    assert!(!outlet.frame("c".into()));
    sink.take(100);
    write(sink.clone(), items, outlet).await;
    assert_eq!(sink.sent(), ["a", "b", "1001"]);
}

#[tokio::test(start_paused = true)]
async fn a_socket_that_takes_nothing_is_left_in_the_end() {
    let (outlet, items) = Outlet::new();
    outlet.frame("a".into());
    outlet.cut(Cut::SLOW);
    let sink = Narrow::default();
    write(sink.clone(), items, outlet).await;
    assert_eq!(sink.sent(), Vec::<String>::new());
}
