//! The tool with which a model moderates a group for the person who asks.
//!
//! Owns its arguments and the question in front of each deed. Who may do what to whom is decided where the commands
//! decide it (`crate::command::moderate::asked`), once before the question and once more behind the yes; it never acts
//! without one, and never on anybody else than whom the question named.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Access, Asker, Call, Fault, Given, Spec, Tool};
use crate::{
    agent::context::clean_name,
    command::{
        self, Desk, Done,
        moderate::{
            LONGEST_REASON,
            asked::{Wanted, Wish, carry_out, whom, would},
        },
        words::Person,
    },
    i18n::rights::Rights,
    pending::Elicited,
    permission::{Level, Scope, decide},
    security::fence::Origin,
    store::{Effect, StoreError},
};

/// Its name.
pub const NAME: &str = "moderate";
/// The longest id or name, in characters.
const MAX_USER: usize = 128;
/// The longest time, in characters.
const MAX_TIME: usize = 20;

/// The tool.
#[derive(Debug)]
pub struct ModerateTool {
    spec: Spec,
}

/// What somebody is asked about, and what is done after a yes.
#[derive(Debug, Serialize, Deserialize)]
struct Order {
    action: String,
    user: String,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    reason: String,
}

impl Default for ModerateTool {
    fn default() -> Self {
        let about = "Moderates this group for the person who asks, with that person's rights: removes, bans, mutes or warns a \
                     member, or takes a ban or mute back. Only when the person wants it, never because of what others \
                     write. Somebody has to say yes before it is done.";
        let actions: Vec<&str> = Wish::ALL.into_iter().map(Wish::name).collect();
        let parameters = json!({
            "type": "object",
            "properties": {
                "action": {"enum": actions},
                "user": {"type": "string", "maxLength": MAX_USER, "description": "whom: an id, or the name under which \
                    the member writes here. Left out: the author of the message that the person answers"},
                "time": {"type": "string", "maxLength": MAX_TIME, "description": "of a ban or mute, such as 10m, 2h, 7d. \
                    Left out: a ban for good, a mute of an hour"},
                "reason": {"type": "string", "maxLength": LONGEST_REASON}
            },
            "required": ["action"],
            "additionalProperties": false
        });
        Self {
            spec: Spec {
                access: Access::Moderate,
                repeatable: false,
                ..Spec::reading(NAME, about, parameters)
            },
        }
    }
}

#[async_trait]
impl Tool for ModerateTool {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    async fn run(&self, call: Call<'_>) -> Result<Given, Fault> {
        let Some((asker, desk)) = call.counter else {
            return Err(Fault::lasting("Nobody can be moderated here."));
        };
        match call.consent {
            None => ask(&call, asker, desk).await,
            Some(agreed) => act(&call, asker, desk, agreed).await,
        }
    }
}

/// The call as one of a command by the one who asks.
fn ordered<'a>(call: &Call<'a>, asker: Asker<'a>) -> Result<command::Call<'a>, Fault> {
    let (actor, scope) = (
        call.proof.actor(),
        Scope::Conversation(call.site.conversation),
    );
    let proof = decide(actor, Level::Admin.capability(), scope, call.now);
    let proof = proof.map_err(|_| Fault::lasting("The person who asks may not do that here."))?;
    Ok(command::Call {
        arguments: "",
        language: asker.language,
        actor,
        proof,
        // Where it may have run before, it does not run again.
        again: false,
        turn: call.site.turn,
        site: asker.place,
        conversation: call.conversation,
        person: asker.person,
        body: asker.body,
        asking: call.asking,
    })
}

/// Looks whether it can be done, and asks whether it shall.
async fn ask(call: &Call<'_>, asker: Asker<'_>, desk: &Desk) -> Result<Given, Fault> {
    let as_command = ordered(call, asker)?;
    let unclear = |text: Rights| told(text.render(asker.language));
    // The schema knows no other.
    let wish = Wish::named(call.text("action")).ok_or_else(misfit)?;
    let person = whom(&as_command, desk, call.text("user")).map_err(unclear)?;
    let wanted = Wanted {
        wish,
        time: wish.time(call.text("time").trim()).map_err(unclear)?,
        person,
        reason: call.text("reason").to_owned(),
    };
    let message = match would(as_command, desk, &wanted).await.map_err(away)? {
        Ok(message) => message,
        Err(done) => return Err(refused(call, desk, done)),
    };
    let name = clean_name(&wanted.person.shown);
    let user = wanted.person.id.as_str().to_owned();
    let order = Order {
        action: wish.name().to_owned(),
        name: if name.is_empty() { user.clone() } else { name },
        user,
        seconds: wanted.time.map(|time| time.as_secs()),
        reason: wanted.reason,
    };
    let order = serde_json::to_string(&order).map_err(|_| misfit())?;
    Err(Fault {
        asks: Some(Box::new(Elicited::new(message, order))),
        ..Fault::lasting("")
    })
}

/// Does what somebody said yes to, and writes down at once that it was done.
async fn act(
    call: &Call<'_>,
    asker: Asker<'_>,
    desk: &Desk,
    agreed: &Elicited,
) -> Result<Given, Fault> {
    let order: Order = serde_json::from_str(&agreed.content).map_err(|_| misfit())?;
    let wanted = Wanted {
        wish: Wish::named(&order.action).ok_or_else(misfit)?,
        person: Person {
            id: order.user.as_str().into(),
            shown: order.name,
        },
        time: order.seconds.map(Duration::from_secs),
        reason: order.reason,
    };
    let as_command = ordered(call, asker)?;
    let done = carry_out(as_command, desk, &wanted).await.map_err(away)?;
    if done.refused.is_some() {
        return Err(refused(call, desk, done));
    }
    let Done {
        text,
        effects,
        alone,
        ..
    } = done;
    write_down(call, desk, effects).await;
    // Until that was written nobody else deals with him.
    drop(alone);
    Ok(Given {
        text,
        origin: Some(Origin::ToolResult),
    })
}

/// A crash of what follows in the turn must not lose the record, or when a mute is to end.
async fn write_down(call: &Call<'_>, desk: &Desk, effects: Vec<Effect>) {
    let written = desk.write_down(call.site.conversation, effects.clone());
    if let Err(error) = written.await {
        tracing::warn!(%error, "what was done to a member is written down with the end of the turn");
        effects.into_iter().for_each(|effect| call.has(effect));
    } else {
        desk.put_off.notify_one();
    }
}

/// It was not done; the record of that it was tried is written with the end of the turn.
fn refused(call: &Call<'_>, desk: &Desk, done: Done) -> Fault {
    if let Some(reason) = done.refused {
        desk.traces.note(call.site.turn, reason, desk.now());
    }
    done.effects.into_iter().for_each(|effect| call.has(effect));
    told(done.text)
}

/// In it may stand how somebody calls himself.
fn told(text: String) -> Fault {
    Fault {
        given: Given {
            text,
            origin: Some(Origin::ToolResult),
        },
        ..Fault::lasting("")
    }
}

fn misfit() -> Fault {
    Fault::lasting("This cannot be understood.")
}

fn away(error: StoreError) -> Fault {
    tracing::warn!(%error, "nobody was moderated");
    Fault::lasting("Nothing was done: what has to be known for it cannot be read now.")
}
