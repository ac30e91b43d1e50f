//! What becomes of a closed socket's messages.

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::Value;
use weirgate_sdk::{
    AccountName, Batch, Connection, Cursor, Outcome, Platform, Receipt, ReceiptSlot, Setup,
    Transcript,
};

use super::*;
use crate::{
    build,
    outlet::{Item, Items},
};

/// A gateway whose receipts stay open until it is told.
#[derive(Default)]
struct Holding(Mutex<Vec<ReceiptSlot>>);

#[async_trait]
impl Ingress for Holding {
    async fn accept(&self, _batch: Batch) -> Receipt {
        let (slot, receipt) = Receipt::new();
        self.0.lock().push(slot);
        receipt
    }

    async fn cursor(&self, _platform: &Platform, _account: &AccountName) -> Option<Cursor> {
        None
    }

    fn connection(&self, _platform: &Platform, _account: &AccountName, _state: Connection) {}

    fn transcript(&self) -> Arc<dyn Transcript> {
        unreachable!("somebody new has no past")
    }
}

fn chat() -> Arc<WebChat> {
    let setup = Setup {
        account: "site".into(),
        secret: [1; 32],
        version: "0",
        public_origin: None,
        models: weirgate_sdk::ChatModels::default(),
        menu: weirgate_sdk::Menu::default(),
    };
    build(setup, crate::Settings::default())
}

fn token(items: &mut Items) -> String {
    while let Some(item) = items.try_recv() {
        let Item::Frames(frames) = item else { continue };
        for frame in frames {
            let frame: Value = serde_json::from_str(frame.as_str()).unwrap();
            if let Some(token) = frame["token"].as_str() {
                return token.to_owned();
            }
        }
    }
    panic!("no welcome");
}

/// A socket that said hello and `m1`.
async fn talking(chat: &Arc<WebChat>, gateway: &Arc<Holding>) -> (Session, Items) {
    let (outlet, items) = Outlet::new();
    let mut session = Session::new(Arc::clone(chat), Arc::clone(gateway) as _, outlet, None);
    session
        .frame(r#"{"type":"hello","sessionId":"main"}"#)
        .await;
    session
        .frame(r#"{"type":"text","messageId":"m1","content":"x"}"#)
        .await;
    (session, items)
}

fn room(chat: &Arc<WebChat>, session: &Session) -> RoomHandle {
    let key = session.key(session.visitor.as_ref().unwrap(), "main");
    chat.hub.find(&key).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_store_that_never_answers_does_not_keep_the_room() {
    let (chat, gateway) = (chat(), Arc::<Holding>::default());
    let (mut session, _items) = talking(&chat, &gateway).await;
    let room = room(&chat, &session);
    session.close();
    assert!(!room.lock().is_empty(), "a message is under way");
    session.settle().await;
    assert!(room.lock().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_message_that_came_again_on_a_new_socket_is_still_shown_when_the_first_is_given_up() {
    let (chat, gateway) = (chat(), Arc::<Holding>::default());
    let (mut first, mut items) = talking(&chat, &gateway).await;
    let token = token(&mut items);
    first.close();
    let outlet = Outlet::new();
    let mut second = Session::new(Arc::clone(&chat), Arc::clone(&gateway) as _, outlet.0, None);
    second.visitor = chat.signer.check(&token);
    second
        .frame(r#"{"type":"text","messageId":"m1","content":"x"}"#)
        .await;
    first.settle().await;
    for slot in gateway.0.lock().drain(..) {
        slot.resolve(Ok(vec![Outcome::Accepted(1)]));
    }
    let step = second.submitter.next().await;
    second.step(step).await;
    let mut items = outlet.1;
    let mut shown = 0;
    while let Some(item) = items.try_recv() {
        let text = format!("{item:?}");
        shown += usize::from(text.contains(r#"\"type\":\"user\""#));
    }
    assert_eq!(shown, 1);
}
