use proptest::prelude::*;

use super::*;

/// A record with these personal fields.
fn audit(event: &'static str, conversation: i64, target: &str) -> Audit {
    Audit {
        event,
        result: AuditResult::Done,
        operator: 7,
        target: target.to_owned(),
        conversation,
        turn: 3,
        details: format!(r#"{{"of":"{target}"}}"#),
        at: 1_000,
    }
}

/// A chain of `count` records of two conversations.
fn chain(count: i64) -> (Vec<StoredAudit>, Head) {
    let (mut head, mut rows) = (Head::default(), Vec::new());
    for index in 1..=count {
        let mut row = StoredAudit::new(index * 3, 1, &audit("user_banned", index % 2, "someone"));
        row.seal(&mut head, index.unsigned_abs().into());
        rows.push(row);
    }
    (rows, head)
}

fn add(rows: &mut Vec<StoredAudit>, head: &mut Head, audit: &Audit) {
    let id = rows.last().map_or(1, |row| row.id + 1);
    let mut row = StoredAudit::new(id, 2, audit);
    row.seal(head, 99);
    rows.push(row);
}

fn faults(rows: &[StoredAudit], head: Head, wanted: Option<Hash>) -> Vec<Fault> {
    let mut verifier = Verifier::new(wanted);
    rows.iter().for_each(|row| verifier.record(row));
    verifier.end(head).faults
}

fn erase(rows: &mut [StoredAudit], conversation: i64) {
    for row in rows
        .iter_mut()
        .filter(|row| row.conversation == conversation)
    {
        (row.operator, row.salt) = (0, None);
        row.target.clear();
        row.details.clear();
    }
}

/// Retention as the stores do it.
fn retire(rows: &mut Vec<StoredAudit>, head: &mut Head, count: usize) {
    let last = rows[count - 1].clone();
    rows.drain(..count);
    add(rows, head, &checkpoint(last.seq, &last.hash, count, 2_000));
}

#[test]
fn a_whole_chain_has_no_faults() {
    let (rows, head) = chain(5);
    assert_eq!(faults(&rows, head, None), []);
    for row in &rows {
        let once_the_newest = row.hash.parse().unwrap();
        assert_eq!(faults(&rows, head, Some(once_the_newest)), []);
    }
    assert_eq!(faults(&[], Head::default(), None), []);
}

#[test]
fn what_a_record_hashes_to_never_changes() {
    let (rows, _) = chain(1);
    assert_eq!(
        rows[0].personal,
        "85963039bb947a2d1046d46e73623c807a2ed91e4b4976919bfc46dfe72a3fb3"
    );
    assert_eq!(
        rows[0].hash,
        "ebd44190fa751e6f048a2ea61cbc06a06bb7e892a6150773ef499f2bd5daf074"
    );
}

#[test]
fn a_chain_that_was_written_anew_does_not_go_through_the_known_head() {
    let (rows, head) = chain(4);
    let (mut forged, mut end) = (rows[..2].to_vec(), Head::default());
    end.seq = 2;
    end.hash = rows[1].hash.parse().unwrap();
    for _ in 0..2 {
        add(
            &mut forged,
            &mut end,
            &audit("user_banned", 1, "somebody else"),
        );
    }
    assert_eq!(faults(&forged, end, None), [], "by itself it is whole");
    assert_eq!(faults(&forged, end, Some(head.hash)), [Fault::HeadMissing]);
}

#[test]
fn what_retention_removed_is_accounted_for_and_a_cut_is_not() {
    let (mut rows, mut head) = chain(6);
    let known = rows[1].hash.parse().unwrap();
    retire(&mut rows, &mut head, 2);
    assert_eq!(faults(&rows, head, None), []);
    assert_eq!(faults(&rows, head, Some(known)), [], "by the checkpoint");
    let gone = chain(6).0[0].hash.parse().unwrap();
    assert_eq!(faults(&rows, head, Some(gone)), [Fault::HeadMissing]);
    retire(&mut rows, &mut head, 1);
    retire(&mut rows, &mut head, 4);
    assert_eq!(faults(&rows, head, None), []);
    rows.remove(0);
    let found = rows[0].seq;
    assert_eq!(faults(&rows, head, None), [Fault::StartCut { found }]);
}

#[test]
fn personal_fields_go_only_with_a_record_of_it() {
    let (mut rows, mut head) = chain(4);
    erase(&mut rows, 1);
    assert_eq!(faults(&rows, head, None), [Fault::Erased { seq: 3 }]);
    add(
        &mut rows,
        &mut head,
        &Audit::of_store(ERASED, 0, "{}".to_owned(), 1),
    );
    assert_eq!(faults(&rows, head, None), [Fault::Erased { seq: 3 }]);
    add(
        &mut rows,
        &mut head,
        &Audit::of_store(ERASED, 1, "{}".to_owned(), 1),
    );
    assert_eq!(faults(&rows, head, None), []);
    rows[0].target = "somebody else".to_owned();
    assert_eq!(
        faults(&rows, head, None),
        [Fault::PersonalChanged { seq: 1 }]
    );
}

#[test]
fn records_are_removed_many_at_once() {
    let before = 10 * SLACK;
    assert_eq!(removable(&[], before, 2), 0);
    assert_eq!(removable(&[before - 1, before], before, 2), 0, "soon");
    assert_eq!(removable(&[before - 1, before - 1, before], before, 2), 2);
    assert_eq!(
        removable(&[before - SLACK - 1, before - 1, before], before, 9),
        2
    );
    assert_eq!(
        removable(&[before, before - 2 * SLACK], before, 2),
        0,
        "only from the front"
    );
}

#[test]
fn a_hash_is_64_digits() {
    let (_, head) = chain(1);
    assert_eq!(head.hash.to_string().parse(), Ok(head.hash));
    let text = head.hash.to_string();
    for wrong in [
        "",
        "ab",
        text.get(1..).unwrap_or_default(),
        &text.to_uppercase(),
        &format!("{text}00"),
    ] {
        assert_eq!(wrong.parse::<Hash>(), Err(NoHash), "{wrong}");
    }
}

/// One thing that is done to a log behind the gateway's back.
fn tamper(rows: &mut Vec<StoredAudit>, what: usize, at: usize, with: usize) {
    let (at, other) = (at % rows.len(), with % rows.len());
    let digit = |text: &mut String| {
        let old = text.pop().unwrap_or('0');
        text.push(if old == '0' { '1' } else { '0' });
    };
    let row = &mut rows[at];
    match what {
        0 => row.at += 1,
        1 => row.event.push('x'),
        2 => row.result = "denied".to_owned(),
        3 => row.conversation += 1,
        4 => row.turn += 1,
        5 => row.operator += 1,
        6 => row.target.push('x'),
        7 => row.details.push(' '),
        8 => row.writer += 1,
        9 => row.id += 1,
        10 => row.seq += 1,
        11 => digit(&mut row.personal),
        12 => digit(&mut row.hash),
        13 => row.salt.as_mut().map_or((), digit),
        14 => row.salt = None,
        15 => drop(rows.remove(at)),
        16 => rows.truncate(at),
        17 => drop(rows.drain(..=at)),
        18 => {
            let copy = rows[at].clone();
            rows.insert(other, copy);
        }
        _ => {
            let swapped = if at == other {
                (at + 1) % rows.len()
            } else {
                other
            };
            rows.swap(at, swapped);
        }
    }
}

proptest! {
    #[test]
    fn any_single_change_cut_or_swap_is_found(
        count in 2_i64..12,
        retired in 0_usize..4,
        what in 0_usize..20,
        at in 0_usize..100,
        with in 0_usize..100,
    ) {
        let (mut rows, mut head) = chain(count);
        if retired > 0 {
            let count = retired.min(rows.len() - 1);
            retire(&mut rows, &mut head, count);
        }
        prop_assert_eq!(faults(&rows, head, None), []);
        tamper(&mut rows, what, at, with);
        prop_assert!(!faults(&rows, head, None).is_empty());
    }
}
