//! /audit: what was decided and done, newest first: in a group that of the group, in private that of the whole gateway.
//!
//! Owns how a record looks in a chat. What is recorded, and for how long, is not its business.

use async_trait::async_trait;
use weirgate_sdk::{ChatKind, UserKey};

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, PERHAPS_SOMEBODY, Takes, perhaps},
    target,
    words::Words,
};
use crate::{
    i18n::{About, arguments::Label, oversight::Oversight},
    permission::{Capability, Level, Scope},
    store::{AuditFilter, StoreError, audit::StoredAudit},
};

/// /audit
#[derive(Debug)]
pub struct AuditCommand;

static SPEC: Spec = Spec {
    name: "audit",
    aliases: &[],
    about: About::Audit,
    takes: Takes::These(&[PERHAPS_SOMEBODY, perhaps(Kind::Number, Label::Count)]),
    level: Level::Admin,
    when: When::Now,
};

/// Records that are shown unless a number is given, and at most.
const SHOWN: (usize, usize) = (10, 50);
/// Details that are shown with a record.
const DETAILS: [&str; 5] = ["reason", "outcome", "value", "seconds", "approved_by"];
/// Characters of a detail that are shown.
const LONGEST: usize = 80;

#[async_trait]
impl Command for AuditCommand {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        match site.chat {
            ChatKind::Private => (Level::Member.capability(), Scope::Global),
            _ => {
                let here = Scope::Conversation(site.conversation);
                (Level::Admin.capability(), here)
            }
        }
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mut words = Words::of(call.body);
        let count = |word: &str| {
            word.parse()
                .ok()
                .filter(|count| (1..=SHOWN.1).contains(count))
        };
        let before = words.take_if(count);
        // The author of an answered message is not meant unless he is named: the log is of everybody.
        let named = match target::named(&call, desk, &mut words) {
            Ok(named) => named,
            Err(text) => return Ok(Done::declined(text.render(call.language))),
        };
        let limit = before.or_else(|| words.take_if(count)).unwrap_or(SHOWN.0);
        if !words.is_empty() {
            let given = words.rest().chars().take(LONGEST).collect();
            let text = Oversight::NotUnderstood { given };
            return Ok(Done::declined(text.render(call.language)));
        }
        let everywhere = call.proof.scope() == Scope::Global;
        let filter = AuditFilter::Newest {
            conversation: (!everywhere).then_some(call.site.conversation),
            person: named.map(|person| UserKey {
                id: person.id,
                ..call.person.clone()
            }),
        };
        let page = desk.store.audit(filter, limit).await?;
        let mut lines = Vec::with_capacity(page.rows.len());
        for row in &page.rows {
            lines.push(line(row, desk, everywhere).await?);
        }
        Ok(Done::text(Oversight::Audit { lines }.render(call.language)))
    }
}

async fn line(row: &StoredAudit, desk: &Desk, everywhere: bool) -> Result<String, StoreError> {
    let mut parts = vec![
        format!("{} UTC", crate::clock::minute(row.at)),
        row.event.clone(),
    ];
    if !row.result.is_empty() {
        parts.push(row.result.clone());
    }
    if row.operator != 0 {
        let person = desk.directory.person(row.operator).await?;
        parts.push(person.id.as_str().to_owned());
    }
    if !row.target.is_empty() {
        parts.push(format!("→ {}", short(&row.target)));
    }
    let details = serde_json::from_str::<serde_json::Value>(&row.details).unwrap_or_default();
    for key in DETAILS {
        let shown = match details.get(key) {
            Some(serde_json::Value::String(text)) if !text.is_empty() => short(text),
            Some(serde_json::Value::Number(number)) => number.to_string(),
            _ => continue,
        };
        parts.push(format!("{key}={shown}"));
    }
    if everywhere && row.conversation != 0 {
        let key = desk.directory.conversation(row.conversation).await?;
        parts.push(format!("({})", key.encode()));
    }
    Ok(parts.join("  "))
}

fn short(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
