//! /remind: what one wants to be told at a time, and what is noted.
//!
//! Owns how many a person may have in a conversation and how long they are. When it is said is put off; it never
//! waits for it.

use async_trait::async_trait;

use super::{Call, Command, Desk, Done, Site, Spec, When};
use crate::{
    clock::{
        minute_in,
        plan::{Misread, Plan, SHORTEST},
    },
    i18n::{
        About,
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
    level: Level::Member,
    when: When::InOrder,
};

/// Reminders of a person in a conversation at most.
const MOST: usize = 20;
/// Characters of one at most.
const LONGEST: usize = 1_000;
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
            return Ok(say(&call, &list(&waiting, desk)));
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
            number: call.turn,
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

/// What waits of a person here.
fn list(waiting: &[Due], desk: &Desk) -> Reminding {
    let zone = &desk.rules.get().settings.zone;
    let shown = waiting.iter().filter_map(|due| {
        let remind = Remind::of(due)?;
        let mut text: String = remind.text.chars().take(SHOWN).collect();
        if text.len() < remind.text.len() {
            text.push('…');
        }
        Some(Waiting {
            number: due.turn,
            at: minute_in(due.due_at, zone),
            pattern: remind.pattern,
            text: text.replace('\n', " "),
        })
    });
    Reminding::List(shown.collect())
}

/// Takes one back.
fn dropped(call: &Call<'_>, waiting: &[Due], number: &str) -> Done {
    let number: Option<i64> = number.trim_start_matches('#').parse().ok();
    let found = waiting.iter().find(|due| Some(due.turn) == number);
    let Some(due) = found else {
        return Done::declined(Reminding::Unknown.render(call.language));
    };
    let mut done = say(call, &Reminding::Dropped { number: due.turn });
    done.effects.push(Effect::Withdraw {
        conversation: call.site.conversation,
        subject: due.subject.clone().into(),
    });
    done
}
