//! Which connection counts, and what the gateway is told.

use async_trait::async_trait;
use weirgate_sdk::{Batch, Cursor, Receipt, Transcript};

use super::*;

#[derive(Default)]
struct Told(Mutex<Vec<Connection>>);

#[async_trait]
impl Ingress for Told {
    async fn accept(&self, _batch: Batch) -> Receipt {
        Receipt::new().1
    }

    async fn cursor(&self, _platform: &Platform, _account: &AccountName) -> Option<Cursor> {
        None
    }

    fn connection(&self, _platform: &Platform, _account: &AccountName, state: Connection) {
        self.0.lock().push(state);
    }

    fn transcript(&self) -> Arc<dyn Transcript> {
        unreachable!("not asked for")
    }
}

fn links() -> (Links, Arc<Told>) {
    let (links, told) = (
        Links::new("qq".into(), "main".into()),
        Arc::new(Told::default()),
    );
    links.open(told.clone());
    (links, told)
}

fn ended(joined: &mut Joined) -> bool {
    joined.closed.try_recv() == Err(oneshot::error::TryRecvError::Closed)
}

fn unsure() -> Result<Sent, SendError> {
    Err(SendError::Ambiguous("?".into()))
}

#[test]
fn roles_are_read_as_clients_write_them() {
    assert_eq!(Role::parse(None), Some(Role::Universal));
    assert_eq!(Role::parse(Some("API")), Some(Role::Api));
    assert_eq!(Role::parse(Some("event")), Some(Role::Event));
    assert_eq!(Role::parse(Some("Universal ")), Some(Role::Universal));
    assert_eq!(Role::parse(Some("admin")), None);
}

#[test]
fn a_new_connection_replaces_the_old_one_of_its_role_only() {
    let (links, _told) = links();
    let mut api = links.join(Role::Api, "1").expect("taken");
    let mut old = links.join(Role::Event, "1").expect("taken");
    let mut new = links.join(Role::Event, "1").expect("taken");
    assert!(ended(&mut old) && !ended(&mut new) && !ended(&mut api));
    // The late end of the old one changes nothing.
    links.leave(old.id, "broken");
    assert!(!ended(&mut new));
    assert_eq!(links.route().map(|(id, _)| id), Some(api.id));
}

#[test]
fn another_bot_is_not_taken_while_the_first_is_there() {
    let (links, _told) = links();
    let first = links.join(Role::Universal, "1").expect("taken");
    assert!(!links.admits("2") && links.admits("1"));
    assert!(links.join(Role::Api, "2").is_none());
    links.leave(first.id, "broken");
    assert!(links.admits("2") && links.join(Role::Universal, "2").is_some());
}

#[test]
fn the_gateway_is_told_each_change_once() {
    let (links, told) = links();
    let event = links.join(Role::Event, "1").expect("taken");
    let api = links.join(Role::Api, "1").expect("taken");
    links.online(event.id, false);
    links.online(event.id, false);
    links.online(event.id, true);
    links.leave(event.id, "no sign of life");
    links.leave(api.id, "broken");
    links.close();
    let degraded = |why: &str| Connection::Degraded(why.into());
    assert_eq!(
        *told.0.lock(),
        [
            Connection::Waiting,
            degraded("no connection for calls"),
            Connection::Up,
            degraded("the account is logged out"),
            Connection::Up,
            degraded("no connection for events"),
            Connection::Down("broken".into()),
            Connection::Down("stopped".into()),
        ]
    );
}

#[test]
fn several_unknown_outcomes_in_a_row_degrade_the_account_until_a_send_is_answered() {
    let (links, told) = links();
    let _link = links.join(Role::Universal, "1").expect("taken");
    for _ in 0..2 {
        links.outcome(&unsure());
    }
    links.outcome(&Ok(Sent::default()));
    for _ in 0..2 {
        links.outcome(&unsure());
    }
    assert_eq!(told.0.lock().last(), Some(&Connection::Up));
    links.outcome(&Err(SendError::Unavailable("not sent".into())));
    for _ in 0..3 {
        links.outcome(&unsure());
    }
    let degraded = Connection::Degraded("sends end without a known outcome".into());
    assert_eq!(
        told.0
            .lock()
            .iter()
            .filter(|state| **state == degraded)
            .count(),
        1
    );
    assert_eq!(told.0.lock().last(), Some(&degraded));
    links.outcome(&Err(SendError::Rejected("no".into())));
    assert_eq!(told.0.lock().last(), Some(&Connection::Up));
}

#[test]
fn after_the_end_nothing_is_taken() {
    let (links, _told) = links();
    let mut link = links.join(Role::Universal, "1").expect("taken");
    links.close();
    assert!(ended(&mut link));
    assert!(links.route().is_none() && links.join(Role::Universal, "1").is_none());
}

#[test]
fn a_connection_comes_after_all_earlier_ones_of_its_role() {
    let (links, _told) = links();
    let over =
        |joined: &mut Joined| joined.after.try_recv() == Err(oneshot::error::TryRecvError::Closed);
    let mut first = links.join(Role::Event, "1").expect("taken");
    let mut api = links.join(Role::Api, "1").expect("taken");
    let mut second = links.join(Role::Event, "1").expect("taken");
    links.leave(second.id, "broken");
    let mut third = links.join(Role::Event, "1").expect("taken");
    assert!(over(&mut first) && over(&mut api));
    assert!(!over(&mut second) && !over(&mut third));
    drop(first.finished);
    assert!(over(&mut second) && !over(&mut third));
    drop(second.finished);
    assert!(over(&mut third));
}

#[test]
fn an_attempt_that_failed_is_down_and_silence_is_a_degraded_account() {
    let (links, told) = links();
    links.failed("refused");
    links.failed("refused");
    let joined = links.join(Role::Universal, "1").expect("taken");
    assert_eq!(links.bot().as_deref(), Some("1"));
    links.silent(joined.id, true);
    links.silent(joined.id, false);
    links.silent(joined.id + 1, true);
    let degraded = Connection::Degraded("no more events come".into());
    assert_eq!(
        *told.0.lock(),
        [
            Connection::Waiting,
            Connection::Down("refused".into()),
            Connection::Up,
            degraded,
            Connection::Up
        ]
    );
}
