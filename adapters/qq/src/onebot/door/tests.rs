//! Who makes room for whom.

use super::*;

#[test]
fn a_further_handshake_ends_the_oldest_and_finished_ones_take_no_place() {
    let mut handshakes = Handshakes::default();
    let mut places: Vec<_> = (0..MAX_HANDSHAKES).map(|_| handshakes.begin()).collect();
    let waits = |place: &mut oneshot::Receiver<()>| {
        place.try_recv() == Err(oneshot::error::TryRecvError::Empty)
    };
    assert!(places.iter_mut().all(waits));
    // One is through: its place is free.
    places.remove(3);
    places.push(handshakes.begin());
    assert!(places.iter_mut().all(waits));
    places.push(handshakes.begin());
    let waiting: Vec<bool> = places.iter_mut().map(waits).collect();
    assert!(!waiting[0] && waiting[1..].iter().all(|waits| *waits));
}
