//! What a batch of operations changes, sorted into as few multi-row statements as its order allows.
//!
//! Owns the sorting, pure: a plan is made of values and runs nothing. Operations that touch the same row stay
//! in their order; all others may share a statement.

mod columns;

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use weirgate_sdk::{AccountName, ConversationKey, Cursor, Platform, UserKey};

pub use columns::{Begins, Ends, HistoryRows, Inbox, Intents, Receipts, Replies, Steps, TurnEnds};

use crate::store::{
    Accept, Accepted, Audit, Effect, End, Finish, Forget, NewReply, Pending, Performed, Receipt,
    Role, Write,
    erase::stays,
    sqlite::{
        code,
        operation::{needs_end, needs_turn},
        outcome::Outcome,
    },
};

/// One ambient message in so many removes what is over the bound.
const AMBIENT_EVERY: i64 = 64;

/// The numbers of all keys that a batch names.
#[derive(Debug, Default)]
pub struct Numbers<'a> {
    /// Accounts.
    pub accounts: HashMap<(&'a Platform, &'a AccountName), i64>,
    /// Conversations.
    pub conversations: HashMap<&'a ConversationKey, i64>,
    /// People.
    pub persons: HashMap<&'a UserKey, i64>,
    /// Those of them that had no number until now.
    pub new_persons: HashSet<i64>,
    /// The leases that this process has, by the numbers of their accounts.
    pub leases: Arc<HashMap<i64, i64>>,
}

/// The order of the statements of a wave. Operations on one row share a wave as long as this rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Begin,
    Finish,
    End,
    Amend,
    Step,
    Intent,
    Receipt,
}

/// Changes of which no row is touched twice, in the order in which the fields are carried out.
#[derive(Debug, Default)]
pub struct Wave<'a> {
    /// New messages.
    pub inbox: Vec<Inbox<'a>>,
    /// Turns that begin.
    pub begins: Begins,
    /// New answers and notices.
    pub replies: Replies<'a>,
    /// Members of turns that end.
    pub members: Ends<'a>,
    /// Turns that end.
    pub turns: TurnEnds<'a>,
    /// Messages that end without a turn.
    pub ends: Ends<'a>,
    /// New bodies.
    pub amends: (Vec<i64>, Vec<Cow<'a, str>>),
    /// Steps of turns.
    pub steps: Steps<'a>,
    /// Parts that are about to be sent.
    pub intents: Intents,
    /// What became of parts.
    pub receipts: Receipts<'a>,
}

/// What happens to the audit log.
#[derive(Debug)]
pub enum Logged<'a> {
    /// A record with this id.
    Record(i64, &'a Audit),
    /// What is personal in the records of a conversation goes, and a record with this id says so.
    Erase {
        /// The record's id.
        id: i64,
        /// The conversation's number.
        conversation: i64,
        /// Now.
        at: i64,
    },
}

/// A batch as statements.
#[derive(Debug, Default)]
pub struct Plan<'a> {
    /// In order.
    pub waves: Vec<Wave<'a>>,
    /// New rows of history; their ids put them in order.
    pub history: HistoryRows<'a>,
    /// Conversations whose ambient messages are cut to the bound.
    pub trims: Vec<i64>,
    /// Conversations of which things are forgotten.
    pub forgets: Vec<Forget>,
    /// What waits for an answer.
    pub asks: Vec<&'a Pending>,
    /// What was put off and is not to be done any more: conversations and subjects. It goes first.
    pub withdrawn: (Vec<i64>, Vec<&'a str>),
    /// What is to be done later.
    pub deferred: Replies<'a>,
    /// What happens to the audit log, in order.
    pub audits: Vec<Logged<'a>>,
    /// The last value of each setting.
    pub settings: HashMap<(i64, i64, &'a str), Option<&'a str>>,
    /// Turns whose steps are not needed any more.
    pub steps_done: Vec<i64>,
    /// The last cursor of each account.
    pub cursors: HashMap<i64, &'a Cursor>,
    /// The smallest id of a new answer.
    pub lowest_reply: Option<i64>,
    /// What each operation returns, as far as no row that is there already changes it.
    pub outcomes: Vec<Outcome>,
}

/// A text as the database takes it: it knows every character but NUL.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{FFFD}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// How many ids effects use.
pub fn ids_of_effects(effects: &[Effect]) -> usize {
    let with_id = |effect: &&Effect| {
        !matches!(
            effect,
            Effect::Set { .. }
                | Effect::Forget(_)
                | Effect::Ask(_)
                | Effect::Withdraw { .. }
                | Effect::StepsDone { .. }
        )
    };
    effects.iter().filter(with_id).count()
}

/// How many ids an operation uses.
pub fn ids(write: &Write) -> usize {
    match write {
        Write::Accept { messages, .. } => messages.len(),
        Write::Finish(finish, _) => {
            let answers = finish.replies.len().saturating_sub(1);
            finish.history.len() + answers + ids_of_effects(&finish.effects)
        }
        Write::End { notices, .. } => notices.len(),
        Write::Performed(performed, _) => {
            performed.notices.len() + ids_of_effects(&performed.effects)
        }
        Write::Ambient(..) => 1,
        // Counted when it is known what there is to do.
        Write::Operate(..) | Write::Settle(..) => 0,
        Write::Begin(..)
        | Write::Intent { .. }
        | Write::Receipt(..)
        | Write::Amend { .. }
        | Write::Step { .. }
        | Write::Meet(..)
        | Write::Media(..)
        | Write::Compact(..)
        | Write::Memory(..)
        | Write::Erase(..) => 0,
    }
}

/// Makes plans.
#[derive(Debug)]
pub struct Planner<'a, 'n> {
    numbers: &'n Numbers<'a>,
    last_id: i64,
    now: i64,
    /// The wave and rank that touched a row last.
    touched: HashMap<i64, (usize, Rank)>,
    /// The wave that used an account's dedupe key last.
    events: HashMap<(i64, &'a str), usize>,
    plan: Plan<'a>,
}

impl<'a, 'n> Planner<'a, 'n> {
    /// A planner whose first id comes after `last_id`.
    pub fn new(numbers: &'n Numbers<'a>, last_id: i64, now: i64) -> Self {
        Self {
            numbers,
            last_id,
            now,
            touched: HashMap::new(),
            events: HashMap::new(),
            plan: Plan::default(),
        }
    }

    /// The plan of effects that belong to no turn.
    pub fn plan_effects(mut self, effects: &'a [Effect], at: i64) -> Plan<'a> {
        self.effects(effects, at);
        self.plan
    }

    /// The plan of notices, and of ends that say what they are about.
    pub fn plan_end(mut self, ends: &'a [End], notices: &'a [NewReply]) -> Plan<'a> {
        let ids = self.end(ends, notices);
        self.plan.outcomes.push(Outcome::Ids(ids));
        self.plan
    }

    /// The plan of a batch; `None` if a key has no number, or a message is accepted in the name of an account
    /// of which this process has no lease: both would be mistakes of the caller.
    pub fn plan(mut self, batch: &'a [Write]) -> Option<Plan<'a>> {
        for write in batch {
            let outcome = self.operation(write)?;
            self.plan.outcomes.push(outcome);
        }
        Some(self.plan)
    }

    fn operation(&mut self, write: &'a Write) -> Option<Outcome> {
        match write {
            Write::Accept {
                platform,
                account,
                messages,
                cursor,
                ..
            } => {
                let account = *self.numbers.accounts.get(&(platform, account))?;
                if let Some(cursor) = cursor {
                    self.plan.cursors.insert(account, cursor);
                }
                self.accept(account, messages)
            }
            Write::Begin(begin, _) => {
                let operation = self.plan.outcomes.len();
                let wave = self.wave([begin.turn], Rank::Begin);
                wave.begins.push(operation, begin);
                Some(Outcome::Attempt(0))
            }
            Write::Finish(finish, _) => Some(Outcome::Ids(self.finish(finish))),
            Write::Intent { id, part, .. } => {
                self.wave([*id], Rank::Intent).intents.push(*id, *part);
                Some(Outcome::Unit)
            }
            Write::Receipt(receipt, _) => {
                let wave = self.wave([receipt.id], Rank::Receipt);
                wave.receipts.push(receipt);
                Some(Outcome::Unit)
            }
            Write::Performed(performed, _) => Some(Outcome::Ids(self.performed(performed))),
            Write::End { ends, notices, .. } => Some(Outcome::Ids(self.end(ends, notices))),
            Write::Amend { id, body, .. } => {
                let (ids, bodies) = &mut self.wave([*id], Rank::Amend).amends;
                ids.push(*id);
                bodies.push(clean(body));
                Some(Outcome::Unit)
            }
            Write::Step {
                turn,
                step,
                content,
                ..
            } => {
                let steps = &mut self.wave([*turn], Rank::Step).steps;
                steps.push(*turn, *step, content);
                Some(Outcome::Unit)
            }
            Write::Meet(meeting, _) => {
                let conversation = *self.numbers.conversations.get(&meeting.conversation)?;
                let person = *self.numbers.persons.get(&meeting.person)?;
                Some(Outcome::Met(conversation, person))
            }
            Write::Ambient(ambient, _) => {
                let conversation = *self.numbers.conversations.get(&ambient.conversation)?;
                let id = self.fresh();
                if id % AMBIENT_EVERY == 0 && !self.plan.trims.contains(&conversation) {
                    self.plan.trims.push(conversation);
                }
                let row = &ambient.row;
                let role = code::role(Role::Ambient);
                let history = &mut self.plan.history;
                history.push(conversation, code::AMBIENT_PERSON, id, role, row);
                Some(Outcome::Unit)
            }
            // Never part of a batch.
            Write::Operate(..)
            | Write::Media(..)
            | Write::Settle(..)
            | Write::Compact(..)
            | Write::Memory(..)
            | Write::Erase(..) => None,
        }
    }

    fn fresh(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    /// The wave for an operation that touches these rows.
    fn wave(
        &mut self,
        rows: impl IntoIterator<Item = i64, IntoIter: Clone>,
        rank: Rank,
    ) -> &mut Wave<'a> {
        let rows = rows.into_iter();
        let after = |row: i64| match self.touched.get(&row) {
            Some((wave, last)) if rank > *last => *wave,
            Some((wave, _)) => wave + 1,
            None => 0,
        };
        let wave = rows.clone().map(after).max().unwrap_or(0);
        for row in rows {
            self.touched.insert(row, (wave, rank));
        }
        wave_at(&mut self.plan.waves, wave)
    }

    fn accept(&mut self, account: i64, messages: &'a [Accept]) -> Option<Outcome> {
        let operation = self.plan.outcomes.len();
        let lease = *self.numbers.leases.get(&account)?;
        let mut accepted = Vec::with_capacity(messages.len());
        for (index, message) in messages.iter().enumerate() {
            let person = *self.numbers.persons.get(&message.person)?;
            let own = Accepted {
                id: self.fresh(),
                account: u32::try_from(account).ok()?,
                conversation: *self.numbers.conversations.get(&message.conversation)?,
                person,
                new_person: self.numbers.new_persons.contains(&person),
                duplicate: false,
            };
            let key = (account, &*message.event);
            let wave = self.events.get(&key).map_or(0, |wave| wave + 1);
            self.events.insert(key, wave);
            wave_at(&mut self.plan.waves, wave).inbox.push(Inbox {
                place: (operation, index),
                row: own,
                lease,
                message,
            });
            accepted.push(own);
        }
        Some(Outcome::Accepted(accepted))
    }

    fn finish(&mut self, finish: &'a Finish) -> Vec<i64> {
        for row in &finish.history {
            let person = match row.role {
                Role::Ambient => code::AMBIENT_PERSON,
                Role::User | Role::Assistant | Role::Summary => finish.scope.person,
            };
            let (id, role) = (self.fresh(), code::role(row.role));
            let conversation = finish.scope.conversation;
            self.plan.history.push(conversation, person, id, role, row);
        }
        let mut ids = Vec::with_capacity(finish.replies.len());
        for index in 0..finish.replies.len() {
            ids.push(if index == 0 {
                finish.turn
            } else {
                self.fresh()
            });
        }
        self.lower(&ids);
        let rows = finish.members.iter().copied().chain([finish.turn]);
        let wave = self.wave(rows, Rank::Finish);
        for (id, reply) in ids.iter().zip(&finish.replies) {
            wave.replies.push(*id, reply, Some(finish.turn), finish.at);
        }
        let ended = finish.members.iter().filter(|id| needs_end(finish, **id));
        for member in ended {
            let state = code::member(finish.state);
            let turn = Some(finish.turn);
            wave.members
                .push(*member, state, finish.reason, turn, finish.at);
        }
        if needs_turn(finish) {
            wave.turns.push(finish);
        }
        self.effects(&finish.effects, finish.at);
        ids
    }

    fn performed(&mut self, performed: &'a Performed) -> Vec<i64> {
        let Receipt { id, at, .. } = performed.receipt;
        let ids: Vec<i64> = performed.notices.iter().map(|_| self.fresh()).collect();
        self.lower(&ids);
        let wave = self.wave([id], Rank::Receipt);
        wave.receipts.push(&performed.receipt);
        for (notice_id, notice) in ids.iter().zip(&performed.notices) {
            wave.replies.push(*notice_id, notice, Some(id), at);
        }
        self.effects(&performed.effects, at);
        ids
    }

    fn end(&mut self, ends: &'a [End], notices: &'a [NewReply]) -> Vec<i64> {
        let at = ends.last().map_or(self.now, |end| end.at);
        let ids: Vec<i64> = notices.iter().map(|_| self.fresh()).collect();
        self.lower(&ids);
        let wave = self.wave(ends.iter().map(|end| end.id), Rank::End);
        for end in ends {
            let state = code::end(end.state);
            wave.ends
                .push(end.id, state, Some(end.reason), None, end.at);
        }
        for (id, notice) in ids.iter().zip(notices) {
            let about = ends.first().map(|end| end.id);
            wave.replies.push(*id, notice, about, at);
        }
        ids
    }

    fn lower(&mut self, ids: &[i64]) {
        let lowest = ids.iter().copied().chain(self.plan.lowest_reply).min();
        self.plan.lowest_reply = lowest;
    }

    fn effects(&mut self, effects: &'a [Effect], at: i64) {
        for effect in effects {
            match effect {
                Effect::Set { of, key, value } => {
                    let place = (of.conversation, of.person, &**key);
                    self.plan.settings.insert(place, value.as_deref());
                }
                Effect::Reset(scope) => {
                    let id = self.fresh();
                    let history = &mut self.plan.history;
                    history.reset(scope, id, at);
                }
                Effect::Forget(forget) => {
                    if forget.all {
                        let here = |place: &(i64, i64, &str)| place.0 == forget.conversation;
                        let settings = &mut self.plan.settings;
                        settings.retain(|place, _| !here(place) || stays(place.2));
                    }
                    self.plan.forgets.push(*forget);
                }
                Effect::Ask(pending) => self.plan.asks.push(pending),
                Effect::Defer(deferred) => {
                    let id = self.fresh();
                    self.lower(&[id]);
                    self.plan.deferred.defer(id, deferred, at);
                }
                Effect::Withdraw {
                    conversation,
                    subject,
                } => {
                    let (conversations, subjects) = &mut self.plan.withdrawn;
                    conversations.push(*conversation);
                    subjects.push(subject);
                }
                Effect::Audit(audit) => {
                    let id = self.fresh();
                    self.plan.audits.push(Logged::Record(id, audit));
                }
                Effect::EraseAudit { conversation } => {
                    let (id, conversation) = (self.fresh(), *conversation);
                    let erase = Logged::Erase {
                        id,
                        conversation,
                        at,
                    };
                    self.plan.audits.push(erase);
                }
                Effect::StepsDone { turn } => self.plan.steps_done.push(*turn),
            }
        }
    }
}

fn wave_at<'w, 'a>(waves: &'w mut Vec<Wave<'a>>, wave: usize) -> &'w mut Wave<'a> {
    if waves.len() <= wave {
        waves.resize_with(wave + 1, Wave::default);
    }
    &mut waves[wave]
}

#[cfg(test)]
mod tests;
