//! English.

use super::{Console, Heading};
use crate::{
    i18n::rough,
    operate::ask::{Answer, Refusal},
    store::audit::{Fault, Verdict},
};

/// The text.
pub(super) fn render(text: &Console<'_>) -> String {
    match text {
        Console::Head(heading) => head(*heading).to_owned(),
        Console::Age(age) => rough(*age, ["d", "h", "m", "s"]),
        Console::Nothing => "nothing".into(),
        Console::More { after } => format!("There may be more: --after {after}"),
        Console::BadId { text } => format!(
            "{text:?} is no id: write it as it is listed, r and a number for a reply, m and a number \
             for a message"
        ),
        Console::Done { id, answer } => format!("{id}: {}", done(answer)),
        Console::Refused { id: "", refusal } => refused(refusal),
        Console::Refused { id, refusal } => format!("{id}: {}", refused(refusal)),
        Console::NoDatabase { path } => format!(
            "there is no database at {}: start the gateway once, or name its configuration with --config",
            path.display()
        ),
        Console::OnServer => {
            "the database is on a PostgreSQL server: copy it with pg_dump, put it back with pg_restore"
                .to_owned()
        }
        Console::SocketForbidden { folder } => format!(
            "the gateway on {} belongs to another user: run this as that user",
            folder.display()
        ),
        Console::SocketFailed { error } => format!("the running gateway does not answer: {error}"),
        Console::NoAnswer => {
            "  the gateway starts or stops, or is of an older version: try again in a moment".into()
        }
        Console::BackedUp { path, bytes } => format!("{} ({bytes} bytes)", path.display()),
        Console::CopyFailed { error } => (*error).to_owned(),
        Console::Restored { path, kept } => {
            let kept = kept.map_or_else(String::new, |kept| {
                format!("; the one before is kept as {}", kept.display())
            });
            format!(
                "{} is restored{kept}. What waited in it is answered after the next start; what was \
                 answered after the copy was made is answered once more.",
                path.display()
            )
        }
        Console::AuditWhole(Verdict { records, head, .. }) => format!(
            "{records} records, whole and in order. The newest is {}: {}",
            head.seq, head.hash
        ),
        Console::AuditFault(fault) => audit_fault(*fault),
        Console::AuditBroken { records } => {
            format!("the audit log is not what the gateway wrote ({records} records)")
        }
        Console::NoSuchMove => {
            "a store moves from SQLite to PostgreSQL only: --from sqlite:///path/to/weirgate.db --to \
             postgres://user@host/name"
                .to_owned()
        }
        Console::MovedTable { table, rows } => format!("{table:<14}{rows:>12}"),
        Console::MovedReplaced { texts } => format!(
            "{texts} texts had the character NUL, which PostgreSQL cannot hold: it is U+FFFD in them now"
        ),
        Console::MoveRehearsed { rows } => {
            format!("{rows} rows arrived, were counted, and were taken back: this was a rehearsal")
        }
        Console::Moved { rows, from } => format!(
            "{rows} rows have arrived and were counted. Set storage.url to the new address and start the \
             gateway. {} is what it was: keep it as a copy, and let no gateway run on it any more, or what \
             waits in it is answered a second time.",
            from.display()
        ),
    }
}

fn audit_fault(fault: Fault) -> String {
    match fault {
        Fault::Changed { seq } => format!("record {seq}: it, or the one before it, was changed"),
        Fault::PersonalChanged { seq } => {
            format!("record {seq}: operator, target or details were changed")
        }
        Fault::Gap { expected, found } => {
            format!(
                "record {found} stands where {expected} should: missing, moved or added records"
            )
        }
        Fault::StartCut { found } => {
            format!(
                "the log begins with record {found}, and retention did not remove those before it"
            )
        }
        Fault::EndCut { expected, found } => {
            format!(
                "the log ends with record {found}, and {expected} was the last that was written"
            )
        }
        Fault::Erased { seq } => {
            format!(
                "record {seq}: operator, target and details were removed, and no record says so"
            )
        }
        Fault::HeadMissing => "no record has the hash of --head".into(),
    }
}

fn head(heading: Heading) -> &'static str {
    match heading {
        Heading::Id => "ID",
        Heading::State => "STATE",
        Heading::Age => "AGE",
        Heading::Conversation => "CONVERSATION",
        Heading::From => "FROM",
        Heading::Lane => "LANE",
        Heading::Attempts => "TRIES",
        Heading::Part => "PART",
        Heading::Reason => "REASON",
        Heading::Text => "TEXT",
    }
}

fn done(answer: &Answer) -> String {
    match answer {
        Answer::Ready { now: true } => "is being sent".into(),
        Answer::Ready { now: false } => "is sent after the next start".into(),
        Answer::Accepted { ids, now } => {
            let ids: Vec<String> = ids.iter().map(|id| format!("m{id}")).collect();
            let when = if *now {
                "waits for its turn"
            } else {
                "is answered after the next start"
            };
            format!("{when} as {}", ids.join(", "))
        }
        Answer::Dropped => "dropped".into(),
        Answer::Hello { .. }
        | Answer::Audit { .. }
        | Answer::Waiting(_)
        | Answer::Replies(_)
        | Answer::Failed(_)
        | Answer::Settings { .. }
        | Answer::SettingsThere(_) => "done".into(),
    }
}

fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotFound => "there is no such entry".into(),
        Refusal::State { state } => format!("nothing to do: it is {state}"),
        Refusal::Sending => "it is being sent right now".into(),
        Refusal::Elsewhere => "it belongs to another gateway on this database: ask that one".into(),
        Refusal::Full => {
            "too many replies wait for this conversation: try again when some have left".into()
        }
        Refusal::Store { error } => format!("the store failed: {error}"),
        Refusal::Protocol { error } => format!("the gateway did not understand: {error}"),
    }
}
