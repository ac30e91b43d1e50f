//! The tool `schedule`: reminders of the person who asks, and tasks that the model is given at their time.
//!
//! Owns its arguments and what it says. What it notes is what /remind notes, within the same number; whether the person
//! may still speak there is looked at when it is due. A task that is due schedules nothing more.

use async_trait::async_trait;
use serde_json::json;

use super::{Access, Asker, Call, Fault, Given, Spec, Tool};
use crate::{
    clock::{
        Zone, minute_in,
        plan::{Misread, Plan, SHORTEST},
    },
    command::{
        Desk,
        remind::{LONGEST, MOST, list, numbered},
    },
    outbound::due::{Remind, subjects},
    security::{fence::Origin, guard::Verdict},
    store::{Due, Effect, StoreError},
};

/// Its name.
pub const NAME: &str = "schedule";
/// Longest time as it is written, in characters.
const MAX_WHEN: usize = 120;
/// Longest name of a zone, in characters.
const MAX_ZONE: usize = 64;

/// The tool.
#[derive(Debug)]
pub struct Schedule {
    spec: Spec,
}

impl Default for Schedule {
    fn default() -> Self {
        let about = "Reminders and tasks of the person who asks, in this conversation; they are kept over restarts. remind: \
                     the person is told the text at the time. task: at the time you are given the text as an order of the \
                     person, and your answer is sent here; for what has to be looked up, worked out or done then. list: what \
                     waits. cancel: drop one by its number.";
        let parameters = json!({
            "type": "object",
            "properties": {
                "action": {"enum": ["remind", "task", "list", "cancel"]},
                "when": {"type": "string", "maxLength": MAX_WHEN, "description": "10m (from now), 18:30 (the next one), \
                    2026-12-24 18:30, daily 08:00, or a pattern: cron MINUTE HOUR DAY MONTH WEEKDAY, such as cron 0 9 * * 1-5"},
                "zone": {"type": "string", "maxLength": MAX_ZONE,
                    "description": "the IANA time zone in which the time is meant, such as Europe/Paris, if not that of the gateway"},
                "text": {"type": "string", "maxLength": LONGEST,
                    "description": "what the person is told, or the whole task as it is understood without this conversation"},
                "number": {"type": "string", "maxLength": 40, "description": "of what is cancelled"}
            },
            "required": ["action"],
            "additionalProperties": false
        });
        Self {
            spec: Spec {
                access: Access::Write,
                repeatable: false,
                ..Spec::reading(NAME, about, parameters)
            },
        }
    }
}

#[async_trait]
impl Tool for Schedule {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let Some((asker, desk)) = call.counter else {
            return Err(Fault::lasting("Nothing can be scheduled here."));
        };
        let mine = subjects(call.site.person);
        let waiting = desk.store.put_off(call.site.conversation, &mine, MOST);
        let waiting = waiting.await.map_err(away)?;
        match call.text("action") {
            "list" => Ok(Given {
                text: list(&waiting, call.zone, call.site.person).render(asker.language),
                origin: Some(Origin::ToolResult),
            }),
            "cancel" => cancel(&call, desk, &waiting).await,
            action => add(&call, (asker, desk), &waiting, action == "task").await,
        }
    }
}

fn away(error: StoreError) -> Fault {
    tracing::warn!(%error, "nothing was scheduled");
    Fault::lasting("What waits cannot be read or written now.")
}

async fn cancel(call: &Call<'_>, desk: &Desk, waiting: &[Due]) -> Result<Given, Fault> {
    let person = call.site.person;
    let number = call.text("number").trim_start_matches('#');
    let found = waiting
        .iter()
        .find(|due| numbered(due, person) == Some(number));
    let Some(due) = found else {
        return Err(Fault::lasting(
            "The person has nothing of this number here. list shows what there is.",
        ));
    };
    let withdraw = Effect::Withdraw {
        conversation: call.site.conversation,
        subject: due.subject.clone().into(),
    };
    let done = desk.write_down(call.site.conversation, vec![withdraw]);
    done.await.map_err(away)?;
    Ok(Given::own(format!("Number {number} is cancelled.")))
}

async fn add(
    call: &Call<'_>,
    (asker, desk): (Asker<'_>, &Desk),
    waiting: &[Due],
    task: bool,
) -> Result<Given, Fault> {
    let refuse = |text: &str| Err(Fault::lasting(text));
    if asker.body.due.is_some() {
        return refuse("A task that is due schedules nothing more: the person has to ask for it.");
    }
    if waiting.len() >= MOST {
        return refuse("The person has as many here as there may be. cancel one first.");
    }
    let zone_name = Some(call.text("zone")).filter(|name| !name.is_empty());
    let own = zone_name.and_then(Zone::named);
    if zone_name.is_some() && own.is_none() {
        return refuse("There is no such time zone. Write an IANA name such as Europe/Paris.");
    }
    let zone = own.as_ref().unwrap_or(call.zone);
    let plan = planned(call, zone)?;
    let checked = call.rules.guard.check(call.text("text").trim().to_owned());
    if checked.verdict == Verdict::Blocked || checked.forbidden().next().is_some() {
        return refuse("This text is not kept: it reads like an attempt to change instructions.");
    }
    if checked.text.is_empty() {
        return refuse("A text is missing.");
    }
    let (at, again) = (minute_in(plan.first, zone), plan.pattern.is_some());
    let (subject, number) = free(call, waiting);
    let remind = Remind {
        text: checked.text,
        who: asker.person.encode(),
        role: asker.body.role,
        message: asker.body.message.clone(),
        pattern: plan.pattern,
        language: asker.language.tag().to_owned(),
        zone: zone_name.map(str::to_owned),
        task: task.then(|| asker.task()),
    };
    let conversation = call.site.conversation;
    let put_off = remind.at(plan.first, conversation, call.site.turn, subject);
    let done = desk.write_down(conversation, vec![Effect::Defer(put_off)]);
    done.await.map_err(away)?;
    desk.put_off.notify_one();
    let first = if again { "first " } else { "" };
    Ok(Given::own(format!(
        "Noted as number {number}: {first}at {at}. The person can see it with /remind, and drop it with /remind drop {number}."
    )))
}

/// The time that is meant.
fn planned(call: &Call<'_>, zone: &Zone) -> Result<Plan, Fault> {
    let text = match Plan::read(call.text("when"), call.now, zone) {
        Ok((plan, "")) => return Ok(plan),
        Ok(_) | Err(Misread::NoTime) => {
            "The time is not understood. See the examples of `when`.".to_owned()
        }
        Err(Misread::Over) => "That time is over.".to_owned(),
        Err(Misread::TooOften) => {
            let minutes = SHORTEST.as_secs() / 60;
            format!("That is too often: at least {minutes} minutes lie between two times.")
        }
    };
    Err(Fault::lasting(text))
}

/// A subject that nothing has yet, and the number in it: several may be noted in one turn.
fn free(call: &Call<'_>, waiting: &[Due]) -> (String, String) {
    let mine = subjects(call.site.person);
    let taken = |number: &str| {
        let number = Some(number);
        waiting
            .iter()
            .any(|due| numbered(due, call.site.person) == number)
    };
    let mut numbers = (1..=MOST + 1).map(|count| format!("{}.{count}", call.site.turn));
    let number = numbers.find(|number| !taken(number));
    let number = number.unwrap_or_else(|| call.site.turn.to_string());
    (format!("{mine}{number}"), number)
}
