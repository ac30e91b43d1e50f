//! /memory: what is remembered here, and adding to it.
//!
//! Owns the syntax and who may do what: in private everything is one's own; in a group members look, who may change what
//! all share adds, who moderates sets rules, and what is for everybody needs an owner of the gateway.

use async_trait::async_trait;
use weirgate_sdk::ChatKind;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always, form},
};
use crate::{
    agent::memory::{self, Kept, MAX_CHARS, New},
    i18n::{
        About, Language,
        arguments::Label,
        mind::{Mind, Remembered},
    },
    permission::{AuditEvent, Capability, Level, Scope},
    reason::Reason,
    store::{MemoryKind, MemoryRow, MemorySource, MemoryTier, Place, StoreError},
};

/// /memory
#[derive(Debug)]
pub struct Memory;

static SPEC: Spec = Spec {
    name: "memory",
    aliases: &[],
    about: About::Memory,
    takes: Takes::PerhapsOneOf(&[
        form("page", &[always(Kind::Number, Label::Number)]),
        form("show", &[always(Kind::Number, Label::Number)]),
        form("find", &[always(Kind::Text(&[]), Label::Words)]),
        form("add", &[always(Kind::Text(&[]), Label::Note)]),
        form(
            "rule",
            &[
                always(Kind::Word(&[]), Label::Name),
                always(Kind::Text(&[]), Label::Note),
            ],
        ),
        form("global", &[always(Kind::Text(&[]), Label::Note)]),
    ]),
    level: Level::Member,
    when: When::Now,
};

/// Entries that are shown.
const SHOWN: usize = 20;
/// Characters of the name of a rule.
const NAME: usize = 40;
/// Characters that are shown of each.
const SHORT: usize = 200;

/// What a call wants.
#[derive(Debug, PartialEq, Eq)]
enum Ask<'a> {
    /// A page of the list, from 1 on.
    List(usize),
    /// An entry, whole.
    Show(i64),
    Find(&'a str),
    Add(&'a str),
    /// A name and the rule; none takes it back.
    Rule(&'a str, &'a str),
    Global(&'a str),
}

fn ask(arguments: &str) -> Option<Ask<'_>> {
    let (word, rest) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    let rest = rest.trim();
    Some(match word.to_ascii_lowercase().as_str() {
        "" => Ask::List(1),
        "page" | "页" => Ask::List(rest.parse().ok().filter(|page| *page > 0)?),
        "show" | "查看" => Ask::Show(rest.trim_start_matches('#').parse().ok()?),
        "find" | "search" | "查找" => Ask::Find(rest),
        "add" | "记住" => Ask::Add(rest),
        "rule" | "规则" => {
            let (name, rule) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            Ask::Rule(name, rule.trim())
        }
        "global" | "全局" => Ask::Global(rest),
        _ => return None,
    })
}

/// Where a command was given, for the memory.
pub(super) fn site_of(call: &Call<'_>) -> memory::Site {
    memory::Site {
        conversation: call.site.conversation,
        person: call.actor.person,
        group: call.site.chat == ChatKind::Group,
        turn: call.turn,
    }
}

#[async_trait]
impl Command for Memory {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, arguments: &str, site: Site) -> (Capability, Scope) {
        let here = Scope::Conversation(site.conversation);
        let group = site.chat == ChatKind::Group;
        let more = match ask(arguments) {
            Some(Ask::Global(_)) => return (Capability::SEND_COMMAND, Scope::Global),
            Some(Ask::Add(_)) if group => Capability::WRITE,
            Some(Ask::Rule(..)) if group => Capability::MANAGE_MEMBER,
            _ => Capability::READ,
        };
        (Capability::SEND_COMMAND | more, here)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let language = call.language;
        let Some(memories) = &desk.memories else {
            return Ok(refused(Reason::BadArguments, &Mind::MemoryOff, language));
        };
        match run(&call, desk, memories).await {
            Ok((done, changed)) => Ok(recorded(call, done, changed)),
            Err(error) => away(error, language),
        }
    }
}

/// What was changed of what others are told as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Changed {
    /// How, in a word for the record.
    pub(super) how: &'static str,
    /// What: numbers, a name or a count. Never the words.
    pub(super) what: String,
}

/// What a command did, with the record of what it changed for others.
pub(super) fn recorded(call: Call<'_>, mut done: Done, changed: Option<Changed>) -> Done {
    if let Some(Changed { how, what }) = changed {
        let record = call
            .proof
            .record(AuditEvent::MemoryChanged, what, call.turn)
            .within(call.site.conversation)
            .with(&serde_json::json!({ "value": how }));
        done.effects.push(record.into());
    }
    done
}

/// What is told when the memory does not answer: it may be on a server of its own, without which the gateway goes on.
pub(super) fn away(error: StoreError, language: Language) -> Result<Done, StoreError> {
    let StoreError::Database(error) = error else {
        return Err(error);
    };
    tracing::warn!(error, "the memory did not answer a command");
    Ok(refused(Reason::MemoryFailed, &Mind::MemoryAway, language))
}

async fn run(
    call: &Call<'_>,
    desk: &Desk,
    memories: &memory::Memories,
) -> Result<(Done, Option<Changed>), StoreError> {
    let language = call.language;
    let Some(ask) = ask(call.arguments) else {
        let given = call.arguments.chars().take(40).collect();
        let possible =
            "page NUMBER, show NUMBER, find WORDS, add TEXT, rule NAME TEXT, global TEXT";
        return Ok((Done::bad_argument(given, possible, language), None));
    };
    let site = site_of(call);
    let rules = desk.rules.get();
    let kept = match ask {
        Ask::List(page) => {
            let rows = seen(memories, site).await?;
            return Ok((Done::text(listed(&rows, site, page, language)), None));
        }
        Ask::Show(id) => {
            let rows = memories.entries(vec![id]).await?;
            let mut rows = rows.into_iter();
            let Some(row) = rows.find(|row| may_see(row, site)) else {
                let nothing = refused(Reason::BadArguments, &Mind::NothingForgotten, language);
                return Ok((nothing, None));
            };
            return Ok((Done::text(whole(&row, site, language)), None));
        }
        Ask::Find(words) => {
            let found = memories.look_up(&rules, site, words).await?;
            let rows: Vec<MemoryRow> = found.into_iter().map(|(row, _)| row).collect();
            return Ok((Done::text(listed(&rows, site, 0, language)), None));
        }
        Ask::Add(text) => {
            let kept = memories.keep(&rules, site, of_person(text, None)).await?;
            return Ok((told(kept, language), None));
        }
        Ask::Global(text) => {
            let kept = memories.keep_for_all(&rules, site, of_person(text, None));
            ("global", String::new(), kept.await?)
        }
        Ask::Rule(name, "") if !name.is_empty() => {
            return take_back(memories, site, name, language).await;
        }
        Ask::Rule(name, rule) => {
            let name: String = name.chars().take(NAME).collect();
            let new = of_person(rule, Some(name.clone()));
            let kept = memories.keep(&rules, site, new).await?;
            ("rule", name, kept)
        }
    };
    let (how, name, kept) = kept;
    let changed = match kept {
        Kept::Added(id) | Kept::Updated(id) if how == "global" || site.group => Some(Changed {
            how,
            what: format!("#{id} {name}").trim_end().to_owned(),
        }),
        _ => None,
    };
    Ok((told(kept, language), changed))
}

/// What a person has remembered by a command; with a name it is a rule.
fn of_person(text: &str, name: Option<String>) -> New {
    New {
        content: text.to_owned(),
        kind: MemoryKind::Semantic,
        tier: if name.is_some() {
            MemoryTier::System
        } else {
            MemoryTier::Important
        },
        name,
        importance: 0.6,
        source: MemorySource::Person,
    }
}

async fn take_back(
    memories: &memory::Memories,
    site: memory::Site,
    name: &str,
    language: Language,
) -> Result<(Done, Option<Changed>), StoreError> {
    let rows = memories.of_place(site.own()).await?;
    let named = rows.iter().find(|row| row.name.as_deref() == Some(name));
    let Some(row) = named else {
        let nothing = refused(Reason::BadArguments, &Mind::NothingForgotten, language);
        return Ok((nothing, None));
    };
    memories.forget(vec![row.id]).await?;
    let changed = site.group.then(|| Changed {
        how: "rule taken back",
        what: format!("#{} {name}", row.id),
    });
    Ok((Done::text(Mind::Forgotten(1).render(language)), changed))
}

fn told(kept: Kept, language: Language) -> Done {
    match kept {
        Kept::Added(id) | Kept::Updated(id) => Done::text(Mind::Kept(id).render(language)),
        Kept::Empty => {
            let most = MAX_CHARS;
            refused(Reason::BadArguments, &Mind::RememberWhat { most }, language)
        }
        Kept::Suspicious => refused(Reason::InjectionBlocked, &Mind::NotKept, language),
        Kept::Full => refused(Reason::TooMany, &Mind::MemoryFull, language),
    }
}

pub(super) fn refused(reason: Reason, text: &Mind, language: Language) -> Done {
    Done {
        refused: Some(reason),
        ..Done::text(text.render(language))
    }
}

/// What is listed where somebody asks: in private what is kept about him, in a group what the group has. Newest first.
async fn seen(
    memories: &memory::Memories,
    site: memory::Site,
) -> Result<Vec<MemoryRow>, StoreError> {
    if site.group {
        memories.of_place(site.own()).await
    } else {
        memories.about(site.person).await
    }
}

/// Whether an entry is told where somebody asks for it by its number.
fn may_see(row: &MemoryRow, site: memory::Site) -> bool {
    row.place == site.own()
        || row.place == Place::GATEWAY
        || (!site.group && row.from_person == site.person)
}

/// A page of entries with where they come from.
fn listed(rows: &[MemoryRow], site: memory::Site, page: usize, language: Language) -> String {
    let before = page.saturating_sub(1).saturating_mul(SHOWN);
    let shown = rows.iter().skip(before).take(SHOWN);
    let text = Mind::Memory {
        entries: shown.map(|row| remembered(row, site, SHORT)).collect(),
        more: rows.len().saturating_sub(before.saturating_add(SHOWN)),
        page,
    };
    text.render(language)
}

/// One entry with all of its words.
fn whole(row: &MemoryRow, site: memory::Site, language: Language) -> String {
    let text = Mind::Memory {
        entries: vec![remembered(row, site, MAX_CHARS)],
        more: 0,
        page: 0,
    };
    text.render(language)
}

fn remembered(row: &MemoryRow, site: memory::Site, most: usize) -> Remembered {
    let mut text: String = row.content.chars().take(most).collect();
    if text.len() < row.content.len() {
        text.push('…');
    }
    Remembered {
        id: row.id,
        text,
        at: row.updated_at,
        source: row.source,
        tier: row.tier,
        elsewhere: row.place != site.own() && row.place != Place::GATEWAY,
        archived: row.archived,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_what_is_wanted() {
        assert_eq!(ask(""), Some(Ask::List(1)));
        assert_eq!(ask("page 3"), Some(Ask::List(3)));
        assert_eq!(ask("show #12"), Some(Ask::Show(12)));
        assert!(
            ["page 0", "page x", "show", "show x"]
                .into_iter()
                .all(|text| ask(text).is_none())
        );
        assert_eq!(ask("find  the code "), Some(Ask::Find("the code")));
        assert_eq!(ask("记住 我对花生过敏"), Some(Ask::Add("我对花生过敏")));
        assert_eq!(ask("rule tone be kind"), Some(Ask::Rule("tone", "be kind")));
        assert_eq!(ask("rule tone"), Some(Ask::Rule("tone", "")));
        assert_eq!(
            ask("GLOBAL closed on Sunday"),
            Some(Ask::Global("closed on Sunday"))
        );
        assert_eq!(ask("what"), None);
    }
}
