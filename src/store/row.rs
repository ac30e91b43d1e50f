//! Rows of the tables as a question reads them, and what they come to: the same for every database.
//!
//! Owns the shapes of rows, the rules that are told from them, and how lists are cut into pages. It runs no
//! SQL: each database selects its columns so that they have these types.

use weirgate_sdk::ConversationKey;

use super::{
    Answerer, Due, FailedMessage, Fate, History, NumberedRow, Page, Pending, PendingReply, Shown,
    ShownThread, StoredPending, StoredReply, Waiting,
    audit::{Head, StoredAudit},
    sqlite::code,
};

/// Rows that one statement of a slice goes through.
pub const SLICE: i64 = 20_000;

/// Rows of a slice, and where the next slice begins, if there is one.
pub type Slice<T> = (Vec<T>, Option<i64>);

/// A limit as SQL takes it.
pub fn rows_of(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Between which keys the threads of a conversation are: they begin with the key without a thread, which ends in a
/// slash.
pub fn thread_keys(conversation: &ConversationKey) -> (String, String) {
    let from = ConversationKey {
        thread: None,
        ..conversation.clone()
    }
    .encode();
    let to = format!("{}0", from.strip_suffix('/').unwrap_or(&from));
    (from, to)
}

/// Of a thread: its key, the body of its first message, the time of its last.
pub type ThreadRow = (String, String, i64);

/// Threads, in the order of the rows.
pub fn threads(rows: Vec<ThreadRow>) -> Vec<ShownThread> {
    rows.into_iter()
        .filter_map(|(key, first, at)| {
            Some(ShownThread {
                thread: ConversationKey::decode(&key)?.thread?,
                first: first.into_boxed_str(),
                at,
            })
        })
        .collect()
}

/// A small number; the tables hold no other in its place.
fn small<T: TryFrom<i64> + Default>(number: i64) -> T {
    T::try_from(number).unwrap_or_default()
}

/// Of a message: id, account, conversation, person, time, route, priority, attempts, body.
pub type WaitingRow = (i64, i64, i64, i64, i64, i64, i64, i64, String);

/// A message that waits.
pub fn waiting(row: WaitingRow) -> Waiting {
    let (id, account, conversation, person, at, route, priority, attempts, body) = row;
    Waiting {
        id,
        account: small(account),
        conversation,
        person,
        at,
        route: small(route),
        priority: small(priority),
        attempts: small(attempts),
        body: body.into_boxed_str(),
    }
}

/// Of a reply: id, conversation, turn, part, state, attempts, who wrote the last intent, doubtful, due, made, body.
pub type PendingRow = (
    i64,
    i64,
    Option<i64>,
    i64,
    i64,
    i64,
    i64,
    bool,
    i64,
    i64,
    String,
);

/// A reply that is not sent, as this start of the gateway sees it: what another one was sending is in doubt.
pub fn pending(process: i64, row: PendingRow) -> PendingReply {
    let (
        id,
        conversation,
        turn,
        part,
        state,
        attempts,
        written_by,
        doubtful,
        due_at,
        created_at,
        body,
    ) = row;
    let in_doubt = state == code::SENDING && written_by != process;
    PendingReply {
        id,
        conversation,
        turn,
        part: small(part),
        in_doubt,
        attempts: small::<u32>(attempts).saturating_add(u32::from(in_doubt)),
        doubtful,
        unknown: state == code::UNKNOWN,
        due_at,
        created_at,
        body: body.into_boxed_str(),
    }
}

/// Of a pending action: id, conversation, asker, kind, answerer, four eyes, action, hash, made, expires, state, answer,
/// who answered, platform ids of the messages that ask.
pub type PendingActionRow = (
    i64,
    i64,
    i64,
    i64,
    String,
    bool,
    String,
    String,
    i64,
    i64,
    i64,
    Option<String>,
    i64,
    Option<String>,
);

/// A pending action; `None` if a later version wrote it.
pub fn pending_action(row: PendingActionRow) -> Option<StoredPending> {
    Some(StoredPending {
        pending: Pending {
            id: row.0,
            conversation: row.1,
            asker: row.2,
            kind: code::pending_kind_of(row.3)?,
            answerer: Answerer::decode(&row.4)?,
            four_eyes: row.5,
            action: row.6,
            hash: row.7,
            created_at: row.8,
            expires_at: row.9,
        },
        state: code::pending_of(row.10)?,
        answer: row.11,
        answered_by: row.12,
        shown_as: row.13,
    })
}

/// Of history: role, turn, time, parts.
pub type HistoryRow = (i64, i64, i64, String);

/// A row of history.
pub fn history((role, turn, at, parts): HistoryRow) -> History {
    History {
        role: code::role_of(role),
        turn,
        at,
        parts,
    }
}

/// Of history: number, role, turn, time, parts.
pub type NumberedColumns = (i64, i64, i64, i64, String);

/// A row of history with its number.
pub fn numbered((id, role, turn, at, parts): NumberedColumns) -> NumberedRow {
    (id, history((role, turn, at, parts)))
}

/// Where messages were sent: a reply has one line for each part that was.
pub fn sent(rows: &[(String, String)]) -> Vec<(ConversationKey, String)> {
    let lines = rows.iter().filter_map(|(key, messages)| {
        let key = ConversationKey::decode(key)?;
        Some(
            messages
                .lines()
                .map(move |message| (key.clone(), message.to_owned())),
        )
    });
    lines.flatten().collect()
}

/// Of a conversation that is shown: id, answer, turn, time, pending, body.
pub type ShownRow = (i64, bool, Option<i64>, i64, bool, String);

/// Cuts a page so that it parts no message from its answer, and puts it in order.
pub fn shown(mut rows: Vec<ShownRow>, limit: usize) -> Vec<Shown> {
    let pair = |one: &ShownRow, other: &ShownRow| one.0 == other.0;
    let cut = limit
        .checked_sub(1)
        .and_then(|last| rows.get(last))
        .zip(rows.get(limit));
    let kept = if cut.is_some_and(|(last, next)| pair(last, next)) {
        limit + 1
    } else {
        limit
    };
    rows.truncate(kept);
    // An answer shares the id of the first message that it answers, and comes after the others too.
    rows.sort_by_key(|(id, answer, _, at, ..)| (*at, *id, *answer));
    rows.into_iter()
        .map(|(id, answer, turn, at, pending, body)| Shown {
            id,
            answer,
            turn,
            at,
            pending,
            body: body.into_boxed_str(),
        })
        .collect()
}

/// Of a reply in a list: id, conversation, turn, state, part, attempts, reason, due, made, body.
pub type ReplyRow = (
    i64,
    i64,
    Option<i64>,
    i64,
    i64,
    i64,
    Option<String>,
    i64,
    i64,
    String,
);

/// A reply in a list.
pub fn reply(row: ReplyRow) -> StoredReply {
    let (id, conversation, turn, state, part, attempts, reason, due_at, created_at, body) = row;
    StoredReply {
        id,
        conversation,
        turn,
        state: code::answer_name(state),
        part: small(part),
        attempts: small(attempts),
        reason,
        due_at,
        created_at,
        body: body.into_boxed_str(),
    }
}

/// Of a message that failed: id, account, conversation, person, time, end, reason, attempts, body.
pub type FailedRow = (i64, i64, i64, i64, i64, i64, Option<String>, i64, String);

/// A message that failed.
pub fn failed(row: FailedRow) -> FailedMessage {
    let (id, account, conversation, person, at, ended_at, reason, attempts, body) = row;
    FailedMessage {
        id,
        account: small(account),
        conversation,
        person,
        at,
        ended_at,
        reason,
        attempts: small(attempts),
        body: body.into_boxed_str(),
    }
}

/// Of what was put off: id, conversation, turn, due, body.
pub type DueRow = (i64, i64, i64, String, i64, String);

/// Something that was put off.
pub fn due((id, conversation, turn, subject, due_at, body): DueRow) -> Due {
    Due {
        id,
        conversation,
        turn,
        subject,
        due_at,
        body,
    }
}

/// Conversations by number; a key that cannot be read is left out.
pub fn conversations(rows: Vec<(i64, String)>) -> Vec<(i64, ConversationKey)> {
    let read = |(id, key): (i64, String)| Some((id, ConversationKey::decode(&key)?));
    rows.into_iter().filter_map(read).collect()
}

/// The newest record of the audit log: number, hash.
pub type HeadRow = (i64, String);

/// The newest record of the audit log. One that somebody made unreadable fits no record: verification says so.
pub fn head((seq, hash): HeadRow) -> Head {
    let hash = hash.parse().unwrap_or_default();
    Head { seq, hash }
}

/// Of the audit log: id, number, writer, time, event, result, conversation, turn, operator, target, details, salt, hash
/// of what is personal, hash.
pub type AuditRow = (
    i64,
    i64,
    i64,
    i64,
    String,
    String,
    i64,
    i64,
    i64,
    String,
    String,
    Option<String>,
    String,
    String,
);

/// A record of the audit log.
pub fn audit(row: AuditRow) -> StoredAudit {
    let (
        id,
        seq,
        writer,
        at,
        event,
        result,
        conversation,
        turn,
        operator,
        target,
        details,
        salt,
        personal,
        hash,
    ) = row;
    StoredAudit {
        seq,
        id,
        writer,
        at,
        event,
        result,
        conversation,
        turn,
        operator,
        target,
        details,
        salt,
        personal,
        hash,
    }
}

/// A page of a list that goes through a slice up to the row `last`; `None` if there is no row left. A full page
/// is followed from its last row, another one from the end of its slice.
pub fn page<T>(rows: Vec<T>, limit: usize, last: Option<i64>, id: impl Fn(&T) -> i64) -> Page<T> {
    let full = rows.len() >= limit;
    let next = last.map(|last| rows.last().filter(|_| full).map_or(last, id));
    Page { rows, next }
}

/// Of a message and what came of it: id, person, time; state, reason and turn of its end; attempts, state and
/// reason of its turn; state and reason of the answer.
pub type FateRow = (
    i64,
    i64,
    i64,
    Option<i64>,
    Option<String>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<String>,
    Option<i64>,
    Option<String>,
);

/// What became of a message.
pub fn fate(row: FateRow) -> Fate {
    let (
        id,
        person,
        received_at,
        end_state,
        end_reason,
        end_turn,
        attempts,
        turn_state,
        turn_reason,
        answer,
        answer_reason,
    ) = row;
    let failed = matches!(turn_state, Some(code::TURN_FAILED | code::TURN_SETTLED));
    let processed = end_turn.is_some() || answer.is_some();
    let state = match end_state {
        Some(end) if end_turn.is_none() => code::end_name(end),
        _ if processed && failed => "failed",
        Some(end) => code::end_name(end),
        None if processed => "done",
        None if turn_state == Some(code::RUNNING) => "running",
        None => "waiting",
    };
    let taken = processed || (turn_state.is_some() && end_state.is_none());
    Fate {
        id,
        person,
        turn: taken.then_some(end_turn.unwrap_or(id)),
        received_at,
        state,
        reason: end_reason.or(turn_reason),
        // A turn that needed no begin began once.
        attempts: attempts.map_or(u32::from(processed), small),
        answer: answer.map(code::answer_name),
        answer_reason,
    }
}
