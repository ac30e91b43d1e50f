//! What must be true at the end, whatever happened.
//!
//! Owns the invariants, each with the words in which a broken one is told.

use std::collections::{BTreeMap, BTreeSet};

use weirgate::{outbound::config::OnUnknown, reason::Reason};
use weirgate_sdk::Outgoing;
use weirgate_testkit::scripted::Shown;

use super::{
    people::{Kind, Said},
    tell,
    world::{Rest, World},
};

/// Figures of a world, so that a run shows that something happened in it.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
pub struct Figures {
    pub accepted: usize,
    pub answered: usize,
    pub told: usize,
    pub unanswered: usize,
    pub recalled: usize,
    pub repeats: usize,
    pub turns: usize,
}

impl Figures {
    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            accepted: self.accepted + other.accepted,
            answered: self.answered + other.answered,
            told: self.told + other.told,
            unanswered: self.unanswered + other.unanswered,
            recalled: self.recalled + other.recalled,
            repeats: self.repeats + other.repeats,
            turns: self.turns + other.turns,
        }
    }
}

/// Checks everything; panics with the first thing that is wrong.
pub fn check(world: &World, rests: &[Rest]) -> Figures {
    for rest in rests {
        assert_eq!(
            rest.stuck, [0_i64; 0],
            "accepted and forgotten until the next start"
        );
        assert_eq!(rest.stats.waiting.iter().sum::<usize>(), 0, "still queued");
        assert_eq!(
            (rest.stats.queues, rest.stats.bytes),
            (0, 0),
            "queues are left: {rest:?}"
        );
        assert_eq!(
            (rest.stats.turns, rest.stats.users),
            (0, 0),
            "people are left: {rest:?}"
        );
        assert_eq!(rest.unsent, 0, "replies are left");
    }
    let watch = world.watch.lock();
    assert_eq!(
        watch.together, [""; 0],
        "two turns at once of one queue or person"
    );
    drop(watch);
    let doubles = world.ledger.lock().ended_twice.clone();
    assert_eq!(doubles, [0_i64; 0], "turns that ended twice");
    for stage in &world.stages {
        assert_eq!(stage.overlaps(), 0, "two sends at once in one conversation");
        assert_eq!(stage.open_previews(), 0, "previews are left open");
    }
    let mut figures = Figures {
        repeats: repeats(world),
        ..Figures::default()
    };
    contiguous(world);
    in_order(world);
    fates(world, &mut figures);
    figures
}

/// Parts that were seen more than once; each must have been in doubt that often.
fn repeats(world: &World) -> usize {
    let resend = world.config.output.on_unknown == OnUnknown::Resend;
    let unknown = &world.refusals.lock().unknown;
    let mut repeats = 0;
    for stage in &world.stages {
        let mut seen: BTreeMap<(i64, u32), usize> = BTreeMap::new();
        for shown in stage.shown() {
            *seen.entry((shown.id, shown.part)).or_default() += 1;
        }
        for (key, count) in seen {
            let doubts = world.doubts.get(&key).copied().unwrap_or(0)
                + if resend {
                    unknown.get(&key).copied().unwrap_or(0)
                } else {
                    0
                };
            assert!(
                count <= 1 + doubts,
                "{key:?} was seen {count} times, in doubt {doubts} times"
            );
            repeats += count - 1;
        }
    }
    repeats
}

/// In no conversation does anything come between two parts of one answer.
fn contiguous(world: &World) {
    for stage in &world.stages {
        let mut last: BTreeMap<String, (i64, u32)> = BTreeMap::new();
        let mut over: BTreeSet<i64> = BTreeSet::new();
        for Shown {
            conversation,
            id,
            part,
            ..
        } in stage.shown()
        {
            if let Some((before, _)) = last.get(&conversation).filter(|(before, _)| *before != id) {
                over.insert(*before);
            }
            // In doubt at the end of a process, its first part begins the whole of it anew.
            if part == 0 && world.doubts.contains_key(&(id, 0)) {
                over.remove(&id);
            }
            if over.contains(&id) {
                history(world, &conversation);
            }
            assert!(
                !over.contains(&id),
                "{conversation}: answer {id} goes on after another"
            );
            let place = last.insert(conversation, (id, part));
            if let Some((before, earlier)) = place
                && before == id
            {
                let anew = part == 0 && world.doubts.contains_key(&(id, 0));
                assert!(
                    anew || part >= earlier,
                    "answer {id}: part {part} after {earlier}"
                );
            }
        }
    }
}

/// What one person said in one place is answered in that order. A message that fell out of a full queue
/// shortly before the process was killed, and of which nobody was told yet, is answered by a later process,
/// also when the answer to a newer one was decided before.
fn in_order(world: &World) {
    let ledger = world.ledger.lock();
    let texts: BTreeMap<i64, &Said> = ledger
        .accepted
        .iter()
        .filter_map(|(key, row)| Some((row.id, world.plan.said.get(key)?)))
        .filter(|(_, said)| said.kind == Kind::Text)
        .collect();
    for stage in &world.stages {
        let mut newest: BTreeMap<(String, String), (i64, usize)> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for shown in stage.shown().iter().filter(|shown| shown.turn.is_some()) {
            if !seen.insert(shown.id) {
                continue;
            }
            let Some(turn) = ledger.turns.get(&shown.id) else {
                continue;
            };
            for member in &turn.members {
                let Some(said) = texts.get(member) else {
                    continue;
                };
                let place = (said.conversation.clone(), said.user.clone());
                let newest = newest.entry(place.clone()).or_insert((0, 0));
                let (before, process) = *newest;
                if before < *member {
                    *newest = (*member, turn.process);
                } else if !world.may_have_been_dropped(process, turn.process) {
                    history(world, &said.conversation);
                    panic!("{place:?}: {member} was answered after {before}");
                }
            }
        }
    }
}

/// Every accepted message has ended, and its sender was told how.
fn fates(world: &World, figures: &mut Figures) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let store = world.store();
    let accepted = world.ledger.lock().accepted.clone();
    let turns = world.ledger.lock().turns.clone();
    let mut texts: BTreeMap<i64, Vec<(u32, String)>> = BTreeMap::new();
    for shown in world.stages.iter().flat_map(|stage| stage.shown()) {
        texts
            .entry(shown.id)
            .or_default()
            .push((shown.part, shown.text));
    }
    let mut untold: BTreeMap<(usize, String), Untold> = BTreeMap::new();
    for (key, said) in &world.plan.said {
        let row = accepted
            .get(key)
            .unwrap_or_else(|| panic!("{key} was never accepted"));
        let asked = store.fate(row.conversation, None, row.person, row.id + 1);
        let fate = runtime.block_on(asked).unwrap().expect("a fate");
        assert_eq!(fate.id, row.id);
        figures.accepted += 1;
        let untold = untold
            .entry((said.stage, said.conversation.clone()))
            .or_default();
        let recalled = Some(Reason::Recalled.code());
        match fate.state {
            "done" | "failed" if fate.reason.as_deref() == recalled => {
                untold.taken_back += 1;
                figures.recalled += 1;
            }
            "done" | "failed" => {
                let turn = fate.turn.expect("a turn");
                assert!(
                    turns[&turn].members.contains(&row.id),
                    "{key} is not of turn {turn}"
                );
                match fate.answer {
                    Some("sent") => {
                        answered(world, key, said, (turn, &texts[&turn]));
                        figures.answered += 1;
                    }
                    Some("unknown" | "failed" | "expired") => {
                        excused(world, turn, key, fate.answer_reason.as_deref());
                        figures.unanswered += 1;
                    }
                    other => panic!("{key} ({said:?}): answer {other:?} in {fate:?}"),
                }
            }
            "recalled" => {
                assert!(world.plan.recalled.contains(key), "{key} was not recalled");
                untold.taken_back += 1;
                figures.recalled += 1;
            }
            "dropped" if fate.reason.as_deref() == Some(Reason::Cancelled.code()) => {
                untold.taken_back += 1;
                figures.told += 1;
            }
            "dropped" | "refused" | "expired" => {
                assert!(fate.reason.is_some(), "{key} ended without a reason");
                untold.dropped += 1;
                figures.told += 1;
            }
            other => panic!("{key} ({said:?}) is {other}: {fate:?}"),
        }
    }
    figures.turns = turns.len();
    notices(world, untold);
    let left = runtime
        .block_on(store.pending_replies(None, 0, 10_000))
        .unwrap();
    let left: Vec<i64> = left
        .iter()
        .filter(|row| !row.unknown)
        .map(|row| row.id)
        .collect();
    assert_eq!(left, [0_i64; 0], "replies that nobody sends");
}

/// An answer that counts as sent was seen whole, but for parts whose outcome nobody knows, and says what
/// it answers.
fn answered(world: &World, key: &str, said: &Said, (turn, parts): (i64, &[(u32, String)])) {
    let mut whole: BTreeMap<u32, &str> = BTreeMap::new();
    for (part, text) in parts {
        whole.insert(*part, text);
    }
    let count = whole.last_key_value().map_or(0, |(last, _)| last + 1);
    let unknown = &world.refusals.lock().unknown;
    let missing: Vec<u32> = (0..count)
        .filter(|part| !whole.contains_key(part) && !unknown.contains_key(&(turn, *part)))
        .collect();
    assert_eq!(
        missing, [0_u32; 0],
        "{key}: parts of turn {turn} were never seen"
    );
    if whole.len() < usize::try_from(count).unwrap() {
        return;
    }
    let text: Vec<&str> = whole.values().copied().collect();
    let text = text.join(" ");
    let cut = text.contains("(stopped)") || text.contains("(cut off");
    if text.starts_with("answer to") && !cut {
        assert!(text.contains(&said.mark), "{key}: {text:?} is turn {turn}");
    }
    if said.kind == Kind::Command && !said.mark.is_empty() && !text.starts_with("Too many") {
        assert_eq!(text, said.mark, "{key}: not what was to be echoed");
    }
}

/// An answer that did not arrive has somebody to blame.
fn excused(world: &World, turn: i64, key: &str, reason: Option<&str>) {
    let refusals = world.refusals.lock();
    let unknown = refusals.unknown.keys().any(|(id, _)| *id == turn);
    let refused = refusals.refused.contains(&turn);
    // The markup was refused twice, or too many answers waited for one place.
    let rules = [Reason::SendFailed.code(), Reason::ReplyDropped.code()];
    let by_rule = reason.is_some_and(|reason| rules.contains(&reason));
    let doubted = world.doubts.keys().any(|(id, _)| *id == turn);
    assert!(reason.is_some(), "{key}: an answer failed without a reason");
    let excuse = unknown || refused || doubted || by_rule;
    assert!(
        excuse,
        "{key}: the answer of turn {turn} did not arrive: {reason:?}"
    );
}

/// Messages of one place that were not answered.
#[derive(Debug, Default)]
struct Untold {
    /// A notice must name these.
    dropped: usize,
    /// A notice may name these, if they fell out of the queue before their sender took them back.
    taken_back: usize,
}

/// The notices name every message that was not taken, and no more.
fn notices(world: &World, mut untold: BTreeMap<(usize, String), Untold>) {
    for (number, stage) in world.stages.iter().enumerate() {
        let mut seen = BTreeSet::new();
        for shown in stage.shown() {
            if shown.turn.is_some() || !seen.insert(shown.id) {
                continue;
            }
            let digits: String = shown
                .text
                .chars()
                .skip_while(|c| !c.is_ascii_digit())
                .take_while(char::is_ascii_digit)
                .collect();
            let count: usize = digits.parse().unwrap_or(1);
            let place = (number, shown.conversation.clone());
            let left = untold.entry(place).or_default();
            let over = count.saturating_sub(left.dropped);
            let text = &shown.text;
            assert!(
                left.taken_back >= over,
                "{}: {text} {left:?}",
                shown.conversation
            );
            left.taken_back -= over;
            left.dropped -= count - over;
        }
    }
    untold.retain(|_, left| left.dropped > 0);
    assert!(untold.is_empty(), "dropped without a word: {untold:?}");
}

/// Prints what happened in a conversation, for whoever looks for the fault.
fn history(world: &World, conversation: &str) {
    for stage in &world.stages {
        for (place, call) in stage.calls().iter().enumerate() {
            if call.outgoing.conversation.conversation.as_str() == conversation {
                let Outgoing {
                    id,
                    part,
                    parts,
                    turn,
                    answers,
                    ..
                } = &call.outgoing;
                tell(&format!(
                    "asked {place} {id}.{part}/{parts} {turn:?} {answers:?}"
                ));
            }
        }
    }
    tell(&format!("{:?}", world.processes));
}
