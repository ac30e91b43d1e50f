//! /forget: what is remembered goes, for good.
//!
//! Owns who may have what forgotten: everybody what is his own or comes from his words, wherever it is; who moderates what
//! belongs to a group; an owner of the gateway what is for everybody.

use async_trait::async_trait;
use weirgate_sdk::ChatKind;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always, form},
    memory::{Changed, away, recorded, refused, site_of},
    reset,
};
use crate::{
    agent::memory,
    i18n::{About, Language, arguments::Label, mind::Mind},
    permission::{Actor, Capability, Level, Scope},
    reason::Reason,
    store::{Effect, MemoryRow, Place, StoreError},
};

/// /forget
#[derive(Debug)]
pub struct Forget;

static SPEC: Spec = Spec {
    name: "forget",
    aliases: &[],
    about: About::Forget,
    takes: Takes::OneOf(&[
        form("", &[always(Kind::Number, Label::Number)]),
        form("all", &[]),
    ]),
    level: Level::Public,
    when: When::Now,
};

/// Words for everything.
const ALL: [&str; 2] = ["all", "全部"];
/// Most numbers of one call.
const MOST: usize = 50;

#[async_trait]
impl Command for Forget {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, arguments: &str, site: Site) -> (Capability, Scope) {
        // A group's memory is everybody's: only who moderates has all of it forgotten. One's own is anybody's right.
        if ALL.contains(&arguments) && site.chat == ChatKind::Group {
            (
                Level::Admin.capability(),
                Scope::Conversation(site.conversation),
            )
        } else {
            (Capability::SEND_MESSAGE, Scope::Own)
        }
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

async fn run(
    call: &Call<'_>,
    desk: &Desk,
    memories: &memory::Memories,
) -> Result<(Done, Option<Changed>), StoreError> {
    let language = call.language;
    let site = site_of(call);
    if ALL.contains(&call.arguments) {
        desk.note_forgotten(site).await?;
        let mut changed = None;
        let count = if site.group {
            let count = memories.of_place(site.own()).await?.len();
            memories.forget_place(site.own()).await?;
            changed = Some(Changed {
                how: "all forgotten",
                what: count.to_string(),
            });
            count
        } else {
            let count = memories.about(site.person).await?.len();
            memories.forget_person(site.person).await?;
            count
        };
        let mut done = forgotten(count, language);
        // The model would tell it again from what was said here, or remember it again.
        done.effects.push(Effect::Reset(reset::scope(call)));
        return Ok((done, changed));
    }
    let Some(ids) = numbers(call.arguments) else {
        let what = refused(Reason::BadArguments, &Mind::ForgetWhat, language);
        return Ok((what, None));
    };
    let rows = memories.entries(ids).await?;
    let may = rows.iter().filter(|row| may_forget(row, site, call.actor));
    let may: Vec<&MemoryRow> = may.collect();
    let gone: Vec<i64> = may.iter().map(|row| row.id).collect();
    if gone.is_empty() {
        let nothing = refused(Reason::BadArguments, &Mind::NothingForgotten, language);
        return Ok((nothing, None));
    }
    let count = gone.len();
    desk.note_forgotten(site).await?;
    memories.forget(gone).await?;
    // What comes from one's own words is one's own.
    let others = may.iter().filter(|row| !is_own(row, site));
    let numbers: Vec<String> = others.map(|row| format!("#{}", row.id)).collect();
    let changed = (!numbers.is_empty()).then(|| Changed {
        how: "forgotten",
        what: numbers.join(" "),
    });
    Ok((forgotten(count, language), changed))
}

fn forgotten(count: usize, language: Language) -> Done {
    Done::text(Mind::Forgotten(count).render(language))
}

/// `12`, `#12 #13`, `12, 13`.
fn numbers(text: &str) -> Option<Vec<i64>> {
    let parts = text.split(|sign: char| sign.is_whitespace() || matches!(sign, ',' | '，' | '、'));
    let numbers: Option<Vec<i64>> = parts
        .filter(|part| !part.is_empty())
        .map(|part| part.trim_start_matches('#').parse().ok())
        .collect();
    numbers.filter(|numbers| (1..=MOST).contains(&numbers.len()))
}

/// Whether an entry is of a person alone, or of his words; what is for everybody is nobody's own.
fn is_own(row: &MemoryRow, site: memory::Site) -> bool {
    let own = row.place == Place::of_person(site.person) || row.from_person == site.person;
    own && row.place != Place::GATEWAY
}

fn may_forget(row: &MemoryRow, site: memory::Site, actor: &Actor) -> bool {
    let moderates = actor
        .role
        .capabilities()
        .contains(Capability::MANAGE_MEMBER);
    let here = site.group && row.place == site.own() && moderates;
    // What is for everybody was said by an owner of the gateway, and is theirs.
    if row.place == Place::GATEWAY {
        actor.global_owner
    } else {
        is_own(row, site) || here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_any_form_and_nothing_else_is() {
        assert_eq!(numbers("12"), Some(vec![12]));
        assert_eq!(numbers("#12, 13、14"), Some(vec![12, 13, 14]));
        assert_eq!(numbers(""), None);
        assert_eq!(numbers("12 cats"), None);
        assert_eq!(numbers(&"1 ".repeat(51)), None);
    }
}
