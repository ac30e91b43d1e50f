use super::lost::MAX_LOST;
use super::*;

const ROOM: Room = Room {
    now: 0,
    max_bytes: 1_000,
};

fn key(person: i64) -> QueueKey {
    QueueKey {
        account: 1,
        conversation: 2,
        person,
    }
}

fn entry(id: i64, body: &str) -> Entry {
    Entry {
        id,
        key: key(3),
        account: 1,
        conversation: 2,
        person: 3,
        kind: Kind::Message,
        lane: Lane::Direct,
        priority: 0,
        single: false,
        body: Some(body.into()),
    }
}

fn ids(backlog: &mut Backlog, list: &mut List) -> Vec<i64> {
    std::iter::from_fn(|| backlog.pop(list).map(|node| node.id)).collect()
}

#[test]
fn records_stay_small() {
    assert_eq!(size_of::<Node>(), 72);
    assert!(size_of::<Queue>() <= 80);
}

#[test]
fn any_entry_can_be_taken_out_and_the_order_of_age_stays() {
    for taken in [1, 2, 3] {
        let mut backlog = Backlog::default();
        let (mut first, mut second) = (List::default(), List::default());
        let queue = backlog.open(key(3));
        for id in 1..=3 {
            backlog.append(&mut first, queue, entry(id, "four"), ROOM);
            backlog.append(&mut second, queue, entry(id + 10, "sixsix"), ROOM);
        }
        assert_eq!(backlog.bytes, 30);
        assert_eq!(
            backlog.take_out(&mut first, taken).map(|node| node.id),
            Some(taken)
        );
        assert!(backlog.take_out(&mut first, taken).is_none());
        assert_eq!(backlog.bytes, 26);
        let mut by_age = Vec::new();
        let mut node = backlog.oldest;
        while node != NONE {
            by_age.push(backlog.nodes[node].id);
            node = backlog.nodes[node].newer;
        }
        let all = [1, 11, 2, 12, 3, 13];
        let left: Vec<i64> = all.into_iter().filter(|id| *id != taken).collect();
        assert_eq!(by_age, left);
        // The tail is right: a new entry comes last.
        backlog.append(&mut first, queue, entry(4, ""), ROOM);
        let rest: Vec<i64> = [1, 2, 3, 4].into_iter().filter(|id| *id != taken).collect();
        assert_eq!(ids(&mut backlog, &mut first), rest);
        assert_eq!(ids(&mut backlog, &mut second), [11, 12, 13]);
        assert_eq!(
            (backlog.oldest, backlog.newest, backlog.bytes),
            (NONE, NONE, 0)
        );
        assert_eq!(backlog.waiting, [0; LANES]);
    }
}

#[test]
fn what_an_idle_queue_lost_is_remembered_up_to_a_bound() {
    let mut backlog = Backlog::default();
    let people = i64::try_from(MAX_LOST).unwrap() + 10;
    for person in 0..people {
        let queue = backlog.open(key(person));
        backlog.queues[queue].count_dropped(7);
        backlog.queues[queue].count_dropped(9);
        backlog.release(queue);
    }
    assert_eq!((backlog.queues.len(), backlog.lost.len()), (0, MAX_LOST));
    let forgotten = backlog.open(key(0));
    assert_eq!(backlog.queues[forgotten].take_dropped(), None);
    let known = backlog.open(key(people - 1));
    let dropped = Dropped {
        count: 2,
        first: 7,
        last: 9,
    };
    assert_eq!(backlog.queues[known].take_dropped(), Some(dropped));
    assert_eq!(backlog.queues[known].take_dropped(), None, "told once");
    assert!(backlog.queues[known].extra.is_none());
}
