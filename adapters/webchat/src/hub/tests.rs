use super::*;
use crate::room::Since;

const LIFE: Duration = Duration::from_secs(300);

fn key(visitor: usize) -> ConversationKey {
    ConversationKey {
        platform: "webchat".into(),
        account: "site".into(),
        conversation: visitor.to_string().into(),
        thread: None,
    }
}

#[test]
fn an_empty_room_lives_some_minutes_and_one_with_a_socket_as_long_as_that() {
    let hub = Hub::new("e".into(), LIFE);
    let now = Instant::now();
    let (outlet, _items) = Outlet::new();
    hub.enter(&key(1), now, |_| ());
    let (room, ()) = hub.enter(&key(2), now, |room| room.join(&outlet, now));
    hub.sweep(now + LIFE - Duration::from_secs(1));
    assert_eq!(hub.len(), 2);
    hub.sweep(now + LIFE);
    assert_eq!(hub.len(), 1);
    room.lock().leave(&outlet, now + 2 * LIFE);
    hub.sweep(now + 3 * LIFE - Duration::from_secs(1));
    assert_eq!(hub.len(), 1);
    hub.sweep(now + 3 * LIFE);
    assert_eq!(hub.len(), 0);
}

#[test]
fn nobody_resumes_from_a_room_that_was_forgotten() {
    let hub = Hub::new("e".into(), LIFE);
    let now = Instant::now();
    let (_, seq) = hub.enter(&key(1), now, |room| room.seq());
    hub.sweep(now + LIFE);
    let (outlet, _items) = Outlet::new();
    let since = Since {
        frames: seq,
        drafts: seq,
    };
    let (_, resumed) = hub.enter(&key(1), now, |room| {
        room.attach(since, |_| vec![], &outlet, now)
    });
    assert!(!resumed);
}

#[test]
fn visitors_that_came_once_leave_nothing_behind() {
    let hub = Hub::new("e".into(), LIFE);
    let now = Instant::now();
    let mut most = 0;
    for visitor in 0..20_000 {
        let at = now + Duration::from_millis(u64::try_from(visitor).unwrap());
        hub.enter(&key(visitor), at, |_| ());
        most = most.max(hub.len());
    }
    assert!(most <= 2 * MAX_EMPTY, "{most}");
    hub.sweep(now + LIFE + Duration::from_secs(20));
    assert_eq!(hub.len(), 0);
}

#[test]
fn one_socket_too_many_closes_the_oldest_of_the_same_visitor() {
    let hub = Hub::new("e".into(), LIFE);
    let sockets: Vec<_> = (0..4).map(|_| Outlet::new().0).collect();
    assert!(hub.come("a", &sockets[0], 2).is_none());
    assert!(hub.come("b", &sockets[1], 2).is_none());
    assert!(hub.come("a", &sockets[2], 2).is_none());
    let oldest = hub.come("a", &sockets[3], 2).unwrap();
    assert_eq!(oldest.id, sockets[0].id);
    for socket in &sockets {
        hub.go("a", socket);
        hub.go("b", socket);
    }
    assert!(hub.visitors.lock().is_empty());
}

#[test]
fn work_in_one_room_does_not_hold_up_the_others() {
    let hub = Hub::new("e".into(), LIFE);
    let now = Instant::now();
    hub.enter(&key(1), now, |_| {
        hub.enter(&key(2), now, |_| ());
        // Nor is the room forgotten over it.
        hub.sweep(now + 2 * LIFE);
    });
    assert!(hub.find(&key(1)).is_some() && hub.find(&key(2)).is_none());
}
