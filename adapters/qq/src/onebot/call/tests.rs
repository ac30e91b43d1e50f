//! Answers find their calls; what broke is told from what never left.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;
use tokio::time::Instant;
use weirgate_sdk::{
    AccountName, Batch, Connection, Cursor, Ingress, Platform, Receipt, Transcript,
};

use super::*;
use crate::onebot::{
    answer,
    links::{Joined, Role},
};

struct Nobody;

#[async_trait]
impl Ingress for Nobody {
    async fn accept(&self, _batch: Batch) -> Receipt {
        Receipt::new().1
    }

    async fn cursor(&self, _platform: &Platform, _account: &AccountName) -> Option<Cursor> {
        None
    }

    fn connection(&self, _platform: &Platform, _account: &AccountName, _state: Connection) {}

    fn transcript(&self) -> Arc<dyn Transcript> {
        unreachable!("not asked for")
    }
}

const LIMIT: Duration = Duration::from_secs(15);

struct Account {
    links: Arc<Links>,
    calls: Arc<Calls>,
    link: Joined,
}

impl Account {
    fn connected() -> Self {
        let links = Arc::new(Links::new("qq".into(), "main".into()));
        links.open(Arc::new(Nobody));
        let link = links.join(Role::Universal, "1").expect("taken");
        Self {
            links,
            calls: Arc::default(),
            link,
        }
    }

    fn call(&self) -> tokio::task::JoinHandle<Answer> {
        let (links, calls) = (Arc::clone(&self.links), Arc::clone(&self.calls));
        tokio::spawn(async move {
            let call = Call {
                action: "send_group_msg",
                params: json!({ "group_id": 1 }),
            };
            calls.call(&links, &call, LIMIT).await
        })
    }

    async fn request(&mut self) -> Request {
        self.link.requests.recv().await.expect("a request")
    }
}

fn sent(id: &str) -> Answer {
    let frame = json!({ "status": "ok", "data": { "message_id": id } }).to_string();
    answer::outcome(&serde_json::from_str(&frame).expect("a frame"))
}

#[tokio::test(start_paused = true)]
async fn answers_find_their_calls_in_any_order() {
    let mut account = Account::connected();
    let (first, second) = (account.call(), account.call());
    let (one, two) = (account.request().await, account.request().await);
    assert_ne!(one.echo, two.echo);
    let wire: Value = serde_json::from_str(&one.text).expect("JSON");
    let expected =
        json!({ "action": "send_group_msg", "params": { "group_id": 1 }, "echo": one.echo });
    assert_eq!(wire, expected);
    assert!(account.calls.begin(one.echo) && account.calls.begin(two.echo));
    assert!(account.calls.answered(two.echo, sent("2")));
    assert!(account.calls.answered(one.echo, sent("1")));
    assert!(
        !account.calls.answered(one.echo, sent("3")),
        "answered twice"
    );
    let mut results = [first.await.expect("ends"), second.await.expect("ends")];
    results.sort_by_key(|result| format!("{result:?}"));
    assert_eq!(results, [sent("1"), sent("2")]);
    account.calls.idle().await;
}

#[tokio::test(start_paused = true)]
async fn no_answer_is_an_unknown_outcome_and_a_late_one_is_nobodys() {
    let mut account = Account::connected();
    let call = account.call();
    let request = account.request().await;
    assert!(account.calls.begin(request.echo));
    assert!(matches!(
        call.await.expect("ends"),
        Err(SendError::Ambiguous(_))
    ));
    assert!(!account.calls.answered(request.echo, sent("1")));
}

#[tokio::test(start_paused = true)]
async fn an_answer_behind_what_is_still_read_is_waited_for() {
    let mut account = Account::connected();
    account.calls.reading();
    let call = account.call();
    let request = account.request().await;
    assert!(account.calls.begin(request.echo));
    tokio::time::advance(LIMIT * 2).await;
    assert!(account.calls.answered(request.echo, sent("1")));
    assert_eq!(call.await.expect("ends"), sent("1"));

    // What was read up to its end did not have it.
    let call = account.call();
    let request = account.request().await;
    assert!(account.calls.begin(request.echo));
    account.calls.caught_up();
    account.calls.reading();
    let began = Instant::now();
    assert!(call.await.expect("ends").is_err());
    assert_eq!(began.elapsed(), LIMIT);

    // Nor is it waited for without an end.
    let began = Instant::now();
    let call = account.call();
    let request = account.request().await;
    assert!(account.calls.begin(request.echo));
    assert!(call.await.expect("ends").is_err());
    assert_eq!(began.elapsed(), LIMIT * BEHIND_LIMITS);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_left_is_certain_and_never_leaves_later() {
    let mut account = Account::connected();
    let call = account.call();
    let request = account.request().await;
    assert!(matches!(
        call.await.expect("ends"),
        Err(SendError::Unavailable(_))
    ));
    assert!(!account.calls.begin(request.echo));
}

#[tokio::test(start_paused = true)]
async fn a_lost_connection_tells_written_from_unwritten() {
    let mut account = Account::connected();
    let (written, waiting) = (account.call(), account.call());
    let request = account.request().await;
    assert!(account.calls.begin(request.echo));
    tokio::task::yield_now().await;
    account.calls.lost(account.link.id);
    let results = [written.await.expect("ends"), waiting.await.expect("ends")];
    let unknown = results
        .iter()
        .filter(|r| matches!(r, Err(SendError::Ambiguous(_))))
        .count();
    let certain = results
        .iter()
        .filter(|r| matches!(r, Err(SendError::Unavailable(_))))
        .count();
    assert_eq!((unknown, certain), (1, 1), "{results:?}");
}

#[tokio::test(start_paused = true)]
async fn without_a_connection_nothing_is_waited_for() {
    let account = Account::connected();
    account.links.leave(account.link.id, "broken");
    let start = Instant::now();
    assert!(matches!(
        account.call().await.expect("ends"),
        Err(SendError::Unavailable(_))
    ));
    assert_eq!(start.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_takes_nothing_holds_calls_for_a_bounded_time() {
    let account = Account::connected();
    let calls: Vec<_> = (0..300).map(|_| account.call()).collect();
    for call in calls {
        assert!(matches!(
            call.await.expect("ends"),
            Err(SendError::Unavailable(_))
        ));
    }
    account.calls.idle().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_given_up_by_its_caller_never_leaves() {
    let mut account = Account::connected();
    let call = account.call();
    let request = account.request().await;
    call.abort();
    assert!(call.await.is_err());
    assert!(!account.calls.begin(request.echo));
    account.calls.idle().await;
}
