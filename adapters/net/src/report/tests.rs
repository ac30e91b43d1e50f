//! What is told of connections.

use weirgate_testkit::ingress::RecordingIngress;

use super::*;

#[test]
fn the_gateway_is_told_of_changes_alone_and_of_the_end() {
    let reporter = Reporter::new("p".into(), "a".into());
    assert!(reporter.running().is_err() && reporter.ingress().is_none());
    let ingress = RecordingIngress::new();
    reporter.begin(ingress.clone());
    assert!(reporter.running().is_ok());
    reporter.report(Connection::Up);
    reporter.report(Connection::Up);
    reporter.end();
    reporter.report(Connection::Down("late".into()));
    let stopped = Connection::Down("the account was stopped".into());
    assert_eq!(
        ingress.connections(),
        [Connection::Waiting, Connection::Up, stopped]
    );
    assert!(reporter.running().is_err());
}

#[test]
fn one_connection_that_is_lost_is_trouble_and_all_are_an_end() {
    let (up, down) = (Connection::Up, Connection::Down("cut".into()));
    assert_eq!(together(&[up.clone(), up.clone()]), Connection::Up);
    assert_eq!(together(std::slice::from_ref(&down)), down);
    let of_two = "connection 2 of 2: cut".to_owned();
    assert_eq!(
        together(&[up.clone(), down.clone()]),
        Connection::Degraded(of_two)
    );
    let of_two = Connection::Down("connection 1 of 2: cut".into());
    assert_eq!(together(&[down.clone(), down]), of_two);
    assert_eq!(
        together(&[Connection::Waiting, Connection::Waiting]),
        Connection::Waiting
    );
    assert!(matches!(
        together(&[up, Connection::Waiting]),
        Connection::Degraded(_)
    ));
}
