//! /remind: what one wants to be told at a time, and what is noted.
//!
//! Owns how many a person may have in a conversation and how long they are. When it is said is put off; it never
//! waits for it.

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, always, form},
};
use crate::{
    clock::{
        Zone, minute_in,
        plan::{Misread, Plan, SHORTEST},
    },
    i18n::{
        About,
        arguments::Label,
        remind::{Reminding, Waiting},
    },
    outbound::due::{Remind, subjects},
    permission::{Capability, Level, Scope},
    store::{Due, Effect, StoreError},
};

/// /remind
#[derive(Debug)]
pub struct RemindCommand;

static SPEC: Spec = Spec {
    name: "remind",
    aliases: &[],
    about: About::Remind,
    takes: Takes::PerhapsOneOf(&[
        form(
            "",
            &[
                always(Kind::Text(&[]), Label::When),
                always(Kind::Text(&[]), Label::Task),
            ],
        ),
        form("drop", &[always(Kind::Number, Label::Entry)]),
    ]),
    level: Level::Member,
    when: When::InOrder,
};

/// Reminders and tasks of a person in a conversation at most.
pub const MOST: usize = 20;
/// Characters of one at most.
pub const LONGEST: usize = 1_000;
/// Characters of one that a list shows.
const SHOWN: usize = 60;
/// The words that list, and those that drop.
const LIST: [&str; 2] = ["list", "列表"];
const DROP: [&str; 3] = ["drop", "cancel", "取消"];

#[async_trait]
impl Command for RemindCommand {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, site: Site) -> (Capability, Scope) {
        let capability = Level::Member.capability();
        (capability, Scope::Conversation(site.conversation))
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let mine = subjects(call.actor.person);
        let waiting = desk
            .store
            .put_off(call.site.conversation, &mine, MOST)
            .await?;
        let (first, rest) = call
            .arguments
            .split_once(char::is_whitespace)
            .unwrap_or((call.arguments, ""));
        if first.is_empty() || LIST.contains(&first) {
            let zone = &desk.rules.get().settings.zone;
            return Ok(say(&call, &list(&waiting, zone, call.actor.person)));
        }
        if DROP.contains(&first) {
            return Ok(dropped(&call, &waiting, rest.trim()));
        }
        let refuse = |told: &Reminding| Ok(Done::declined(told.render(call.language)));
        if waiting.len() >= MOST {
            return refuse(&Reminding::TooMany { most: MOST });
        }
        let zone = &desk.rules.get().settings.zone;
        let (plan, text) = match Plan::read(call.arguments, desk.now(), zone) {
            Ok(read) => read,
            Err(Misread::NoTime) => return refuse(&Reminding::NoTime),
            Err(Misread::Over) => return refuse(&Reminding::Over),
            Err(Misread::TooOften) => {
                let minutes = SHORTEST.as_secs() / 60;
                return refuse(&Reminding::TooOften { minutes });
            }
        };
        let text = text.trim();
        if text.is_empty() || text.chars().count() > LONGEST {
            return refuse(&Reminding::NoText { longest: LONGEST });
        }
        let told = Reminding::Set {
            number: call.turn.to_string(),
            at: minute_in(plan.first, zone),
            again: plan.pattern.is_some(),
        };
        let remind = Remind {
            text: text.to_owned(),
            who: call.person.encode(),
            role: call.body.role,
            message: call.body.message.clone(),
            pattern: plan.pattern,
            language: call.language.tag().to_owned(),
            zone: None,
            task: None,
        };
        let (conversation, turn) = (call.site.conversation, call.turn);
        let subject = format!("{mine}{turn}");
        let mut done = say(&call, &told);
        let put_off = remind.at(plan.first, conversation, turn, subject);
        done.effects.push(Effect::Defer(put_off));
        Ok(done)
    }
}

fn say(call: &Call<'_>, told: &Reminding) -> Done {
    Done::text(told.render(call.language))
}

/// The number of what a person has put off, as he is told it.
#[must_use]
pub fn numbered(due: &Due, person: i64) -> Option<&str> {
    due.subject.strip_prefix(&subjects(person))
}

/// What waits of a person here.
#[must_use]
pub fn list(waiting: &[Due], zone: &Zone, person: i64) -> Reminding {
    let shown = waiting.iter().filter_map(|due| {
        let remind = Remind::of(due)?;
        let mut text: String = remind.text.chars().take(SHOWN).collect();
        if text.len() < remind.text.len() {
            text.push('…');
        }
        let own = remind.zone.as_deref().and_then(Zone::named);
        let zone_name = own.as_ref().and(remind.zone.as_deref());
        let at = minute_in(due.due_at, own.as_ref().unwrap_or(zone));
        Some(Waiting {
            number: numbered(due, person)?.to_owned(),
            at: zone_name.map_or_else(|| at.clone(), |name| format!("{at} {name}")),
            pattern: remind.pattern,
            task: remind.task.is_some(),
            text: text.replace('\n', " "),
        })
    });
    Reminding::List(shown.collect())
}

/// Takes one back.
fn dropped(call: &Call<'_>, waiting: &[Due], number: &str) -> Done {
    let number = number.trim_start_matches('#');
    let person = call.actor.person;
    let found = waiting
        .iter()
        .find(|due| numbered(due, person) == Some(number));
    let Some(due) = found else {
        return Done::declined(Reminding::Unknown.render(call.language));
    };
    let told = Reminding::Dropped {
        number: number.to_owned(),
    };
    let mut done = say(call, &told);
    done.effects.push(Effect::Withdraw {
        conversation: call.site.conversation,
        subject: due.subject.clone().into(),
    });
    done
}
