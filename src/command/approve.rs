//! /approve, /deny and presses of buttons: the answers to what waits.
//!
//! Owns the way of an answer: found here, allowed, settled once, carried out. Whoever does not get that far is told why
//! and changes nothing. What is done then is in the file of the command that asked.

use std::time::Duration;

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When, admit,
    argument::{Kind, Takes, always, perhaps},
    delete, leave,
    moderate::{self, Order},
    public, transfer,
    words::Person,
};
use crate::{
    i18n::{
        About,
        arguments::Label,
        consent::{Consent, What},
    },
    pending::{
        Act, NotYours, Parked, Pressed, Resumer, code, id_of, may_answer, may_refuse, pressed,
        retire,
    },
    permission::{AuditEvent, Capability, Level, Scope, audit},
    reason::Reason,
    store::{PendingFilter, PendingState, Settle, StoreError, StoredPending, Write, commit},
};

/// How many are listed.
const LISTED: usize = 20;
/// The longest answer that is taken for one, in bytes.
const LONGEST: usize = 32;

/// /approve
#[derive(Debug)]
pub struct Approve;
/// /deny
#[derive(Debug)]
pub struct Deny;
/// A press of a button. It has no name that anybody could type.
#[derive(Debug)]
pub struct Press;

static APPROVE: Spec = Spec {
    name: "approve",
    aliases: &[],
    about: About::Approve,
    takes: Takes::These(&[
        perhaps(Kind::Word(&[]), Label::Id),
        perhaps(Kind::Word(&[]), Label::Answer),
    ]),
    level: Level::Public,
    when: When::Now,
};
static DENY: Spec = Spec {
    name: "deny",
    aliases: &[],
    about: About::Deny,
    takes: Takes::These(&[always(Kind::Word(&[]), Label::Id)]),
    level: Level::Public,
    when: When::Now,
};
static PRESS: Spec = Spec {
    name: "press a button",
    ..APPROVE
};

/// What somebody answers.
pub(super) struct Given {
    /// The row.
    pub(super) id: i64,
    /// How the hash begins of what he saw; nothing for what is typed.
    pub(super) hash: String,
    /// What he chose or says; `None` if he says only yes.
    pub(super) choice: Option<String>,
    /// It is not no.
    pub(super) yes: bool,
}

#[async_trait]
impl Command for Approve {
    fn spec(&self) -> &'static Spec {
        &APPROVE
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    fn answers(&self) -> bool {
        true
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut words = call.arguments.split_whitespace();
        let Some(name) = words.next() else {
            return list(&call, desk).await;
        };
        let choice = words.next().map(str::to_ascii_lowercase);
        typed(call, desk, name, choice, true).await
    }
}

#[async_trait]
impl Command for Deny {
    fn spec(&self) -> &'static Spec {
        &DENY
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    fn answers(&self) -> bool {
        true
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        match call.arguments.split_whitespace().next() {
            None => list(&call, desk).await,
            Some(name) => typed(call, desk, name, None, false).await,
        }
    }
}

#[async_trait]
impl Command for Press {
    fn spec(&self) -> &'static Spec {
        &PRESS
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let Some(Pressed { id, hash, answer }) = pressed(call.arguments) else {
            return Ok(refuse(&call, Reason::BadArguments, &Consent::Unknown));
        };
        let yes = answer.is_some();
        let choice = answer.filter(|answer| answer.len() <= LONGEST);
        let given = Given {
            id,
            hash,
            choice,
            yes,
        };
        answer_it(call, desk, given).await
    }
}

async fn typed(
    call: Call<'_>,
    desk: &Desk,
    name: &str,
    choice: Option<String>,
    yes: bool,
) -> Result<Done, StoreError> {
    let Some(id) = id_of(name) else {
        return Ok(refuse(&call, Reason::BadArguments, &Consent::Unknown));
    };
    let given = Given {
        id,
        hash: String::new(),
        choice: choice.filter(|choice| choice.len() <= LONGEST),
        yes,
    };
    answer_it(call, desk, given).await
}

/// What waits here.
pub(super) async fn list(call: &Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
    let open = desk.open_pendings(call.site.conversation, LISTED).await?;
    let line = |row: &StoredPending| Some((code(row.pending.id), Act::read(&row.pending)?.what()));
    let lines: Vec<_> = open.iter().filter_map(line).collect();
    let text = if lines.is_empty() {
        Consent::NothingOpen
    } else {
        Consent::Open(lines)
    };
    Ok(Done::text(text.render(call.language)))
}

pub(super) async fn answer_it(
    call: Call<'_>,
    desk: &Desk,
    given: Given,
) -> Result<Done, StoreError> {
    let rows = desk.store.pendings(PendingFilter::Id(given.id), 1).await?;
    // In another conversation there is nothing of that name.
    let row = rows.into_iter().next().filter(|row| {
        row.pending.conversation == call.site.conversation
            && row.pending.hash.starts_with(&given.hash)
    });
    let Some(row) = row else {
        return Ok(refuse(&call, Reason::BadArguments, &Consent::Unknown));
    };
    let now = desk.now();
    let may = if given.yes { may_answer } else { may_refuse };
    if let Err(why) = may(&row.pending, call.actor, call.person, now) {
        return Ok(not_yours(call, &row, why));
    }
    let Some(act) = Act::read(&row.pending) else {
        return withdraw(&call, desk, &row).await;
    };
    if !given.yes {
        if settle(&call, desk, &row, PendingState::Denied, None).await? {
            if let Act::Admit { request, .. } = &act {
                return admit::refuse(call, desk, &row, (request, act.what())).await;
            }
            if let Act::Tool(parked) = &act {
                resume(&call, desk, &row, parked).await?;
            }
            if act.is_question() {
                // What follows is said by the turn that goes on.
                return Ok(Done::default());
            }
            return Ok(denied(call, &row, act.what()));
        }
        return too_late(&call, desk, row.pending.id).await;
    }
    if let Act::Tool(parked) = &act
        && act.is_question()
    {
        return take_words(&call, desk, &row, parked, given.choice).await;
    }
    let options = act.options();
    let choice = match given.choice.as_deref() {
        None if options.len() == 1 => options.first().copied(),
        None => None,
        Some(word) => options.iter().find(|option| **option == word).copied(),
    };
    let Some(choice) = choice else {
        let text = Consent::WhichAnswer {
            code: code(row.pending.id),
            options: options.to_vec(),
        };
        return Ok(refuse(&call, Reason::BadArguments, &text));
    };
    carry_out(call, desk, &row, act, choice).await
}

/// Takes what somebody says for the answer to a question.
async fn take_words(
    call: &Call<'_>,
    desk: &Desk,
    row: &StoredPending,
    parked: &Parked,
    words: Option<String>,
) -> Result<Done, StoreError> {
    let Some(words) = words.filter(|words| !words.trim().is_empty()) else {
        let code = code(row.pending.id);
        return Ok(refuse(
            call,
            Reason::BadArguments,
            &Consent::WhatAnswer { code },
        ));
    };
    if !settle(call, desk, row, PendingState::Approved, Some(&words)).await? {
        return too_late(call, desk, row.pending.id).await;
    }
    resume(call, desk, row, parked).await?;
    Ok(Done::default())
}

/// Settles the row, and does it. What must be so before is looked at before: a row that is settled stays so.
async fn carry_out(
    call: Call<'_>,
    desk: &Desk,
    row: &StoredPending,
    act: Act,
    choice: &'static str,
) -> Result<Done, StoreError> {
    let check = match act {
        Act::Transfer { to, shown } => transfer::ready(&call, desk, row, &to, shown).await?,
        Act::Delete => delete::ready(&call, desk, choice),
        Act::Leave => leave::ready(&call, desk),
        Act::Moderate {
            deed,
            user,
            shown,
            seconds,
            reason,
        } => {
            let time = seconds.map(Duration::from_secs);
            let order = Order { deed, time, reason };
            let id = user.into();
            moderate::ready(&call, desk, order, Person { id, shown }).await?
        }
        Act::Admit { .. } => admit::ready(&call, desk, &act),
        // Whether who asked still may is seen when it runs.
        Act::Tool(parked) => Ready::Tool(parked).into(),
    };
    let ready = match check {
        Check::Ready(ready) => ready,
        Check::Refused(done) => return Ok(done),
        Check::Gone => return withdraw(&call, desk, row).await,
    };
    if !settle(&call, desk, row, PendingState::Approved, Some(choice)).await? {
        return too_late(&call, desk, row.pending.id).await;
    }
    let approver = (call.actor, call.person);
    let mut done = match *ready {
        Ready::Transfer(ready) => ready.run(&call),
        Ready::Delete(ready) => ready.run(&call, desk).await?,
        Ready::Leave(ready) => ready.run(&call, desk).await,
        Ready::Moderate(ready) => ready.run(call, desk).await,
        Ready::Admit(ready) => ready.run(&call, desk).await,
        Ready::Tool(parked) => {
            resume(&call, desk, row, &parked).await?;
            return Ok(allowed(call, row, &parked));
        }
    };
    audit::approved(&mut done.effects, row.pending.asker, approver);
    Ok(done)
}

/// Whether something that was asked for can be done now.
pub(super) enum Check {
    /// It can.
    Ready(Box<Ready>),
    /// Not now; the text says why, and the question stays open.
    Refused(Done),
    /// Not any more.
    Gone,
}

impl From<Ready> for Check {
    fn from(ready: Ready) -> Self {
        Self::Ready(Box::new(ready))
    }
}

/// Something that may be done, with the proof of it.
pub(super) enum Ready {
    /// The conversation gets another owner.
    Transfer(transfer::Ready),
    /// Something of the conversation is deleted.
    Delete(delete::Ready),
    /// The bot leaves.
    Leave(leave::Ready),
    /// Something is done to a member.
    Moderate(moderate::Ready),
    /// A request to the account is granted.
    Admit(admit::Ready),
    /// A turn goes on.
    Tool(Box<Parked>),
}

/// Lets the turn go on that waited; it sees by itself what the answer was.
async fn resume(
    call: &Call<'_>,
    desk: &Desk,
    row: &StoredPending,
    parked: &Parked,
) -> Result<(), StoreError> {
    let resumer = Resumer {
        store: &desk.store,
        directory: &desk.directory,
        dispatch: &desk.dispatch,
        keying: desk.keying,
        clock: desk.clock,
    };
    let context = call.body.reply_context.clone();
    resumer.resume(&row.pending, parked, context).await
}

fn allowed(call: Call<'_>, row: &StoredPending, parked: &Parked) -> Done {
    let tool = parked.tool.clone();
    let mut done = Done::text(Consent::ToolAllowed { tool }.render(call.language));
    let (event, target) = (AuditEvent::ToolApproved, parked.tool.clone());
    let record = call.proof.record(event, target, call.turn);
    let record = record.within(call.site.conversation);
    let asked = serde_json::json!({ "asked_in": code(row.pending.id), "hash": row.pending.hash });
    done.effects.push(record.with(&asked).into());
    done
}

/// Ends the row if it is open, and takes its buttons away; says whether this turn did.
async fn settle(
    call: &Call<'_>,
    desk: &Desk,
    row: &StoredPending,
    state: PendingState,
    answer: Option<&str>,
) -> Result<bool, StoreError> {
    let reason = (state == PendingState::Withdrawn).then(|| Reason::PendingClosed.code());
    let settle = Settle {
        id: row.pending.id,
        conversation: row.pending.conversation,
        hash: row.pending.hash.clone(),
        state,
        answer: answer.map(str::to_owned),
        by: call.actor.person,
        turn: call.turn,
        reason,
        at: desk.now(),
        notices: Vec::new(),
    };
    let write = |then| Write::Settle(Box::new(settle), then);
    let settled = commit(&desk.store, write).await?.is_some();
    if settled {
        let adapter = desk.deliverer.adapter(call.conversation);
        retire(row, call.conversation, adapter.as_deref()).await;
    }
    Ok(settled)
}

/// Somebody, or time, was faster.
async fn too_late(call: &Call<'_>, desk: &Desk, id: i64) -> Result<Done, StoreError> {
    let rows = desk.store.pendings(PendingFilter::Id(id), 1).await?;
    let state = rows.first().map(|row| row.state);
    let text = match state {
        Some(PendingState::Open | PendingState::Expired) => Consent::Over,
        Some(PendingState::Approved | PendingState::Denied) => Consent::TooLate,
        Some(PendingState::Withdrawn) => Consent::Withdrawn,
        None => Consent::Unknown,
    };
    Ok(refuse(call, Reason::PendingClosed, &text))
}

async fn withdraw(call: &Call<'_>, desk: &Desk, row: &StoredPending) -> Result<Done, StoreError> {
    if settle(call, desk, row, PendingState::Withdrawn, None).await? {
        return Ok(refuse(call, Reason::PendingClosed, &Consent::Withdrawn));
    }
    too_late(call, desk, row.pending.id).await
}

pub(super) fn denied(call: Call<'_>, row: &StoredPending, what: What) -> Done {
    let mut done = Done::text(Consent::Denied(what).render(call.language));
    let target = code(row.pending.id);
    let record = call
        .proof
        .record(AuditEvent::ApprovalDenied, target, call.turn);
    done.effects
        .push(record.within(call.site.conversation).into());
    done
}

fn not_yours(call: Call<'_>, row: &StoredPending, why: NotYours) -> Done {
    let (text, denial) = match why {
        NotYours::SomebodyElse => (Consent::SomebodyElse, None),
        NotYours::Lacks(denial) => (Consent::SomebodyElse, Some(denial)),
        NotYours::FourEyes => (Consent::FourEyes, None),
    };
    let text = text.render(call.language);
    let (event, target) = (AuditEvent::PermissionDenied, code(row.pending.id));
    let record = match denial {
        Some(denial) => denial.record(event, target, call.turn),
        None => call.proof.record(event, target, call.turn),
    };
    Done::refused_by(record.within(call.site.conversation), text)
}

pub(super) fn refuse(call: &Call<'_>, reason: Reason, text: &Consent) -> Done {
    Done {
        refused: Some(reason),
        ..Done::text(text.render(call.language))
    }
}
