//! Calls that run only after a yes: what is stored, and what people are asked.
//!
//! Owns which call of a step waits, and the question. The row and its answer are those of any pending action
//! (`crate::pending`); how the turn goes on is `resumed`'s. It runs nothing.

use serde_json::{Map, Value};

use super::ready::{Ready, Refused};
use crate::{
    agent::{
        Agent,
        command::MOST_OPEN,
        history::Content,
        model::calls::object,
        skill::template::progress::Progress,
        turn::{Input, Turn},
        work::Work,
    },
    i18n::{Language, consent::Consent},
    pending::{Act, Ask, Elicited, Parked},
    permission::Level,
    reason::Reason,
    store::{Answerer, Body, PendingKind, StoreError},
};

/// The longest arguments that somebody is asked about, in characters: what he says yes to he has seen whole.
pub(in crate::agent) const MAX_SHOWN: usize = 4_000;

/// What a call waits for.
#[derive(Debug)]
pub(in crate::agent) enum Asks {
    /// A yes before it runs.
    Call,
    /// What it asked while it ran.
    Elicited(Elicited),
    /// A call inside of it, in a step of a skill, which has come so far.
    Within {
        parked: Box<Parked>,
        progress: Progress,
    },
}

impl Agent {
    /// The first call that waits for a yes. One about which nobody can be asked is refused.
    pub(super) async fn first_to_ask(
        &self,
        input: &Input,
        work: &mut Work,
        ready: &mut [Option<Ready>],
    ) -> Result<Option<usize>, StoreError> {
        let asks = |ready: &Option<Ready>| ready.as_ref().is_some_and(|ready| ready.asks);
        while let Some(place) = ready.iter().position(asks) {
            let found = ready.get_mut(place).and_then(Option::take);
            let Some(found) = found else { break };
            let arguments = shown(&found.arguments);
            let refused = self.cannot_be_asked(input, work, &arguments);
            let Some(refused) = refused.await? else {
                return Ok(Some(place));
            };
            let tool = &found.entry.tool.spec().name;
            let step = work.steps.last_mut();
            if let Some(result) = step.and_then(|step| step.results.get_mut(place)) {
                *result = Some(self.refuse_call(input, tool, refused));
            }
        }
        Ok(None)
    }

    /// Why nobody can be asked about this; nothing if somebody can.
    pub(super) async fn cannot_be_asked(
        &self,
        input: &Input,
        work: &Work,
        about: &str,
    ) -> Result<Option<Refused>, StoreError> {
        let refused = |text: &str| Some(Refused(text.to_owned(), Reason::ToolRefused));
        let errand = work.errand.as_ref();
        if errand.is_some_and(|errand| errand.result.is_none()) {
            return Ok(refused(
                "Somebody has to approve this, and in an errand nobody can be asked. Say in your answer that it is to be \
                 called outside of an errand, and with what.",
            ));
        }
        if about.chars().count() > MAX_SHOWN {
            return Ok(refused(
                "Somebody has to approve this, and the arguments are too long to be shown. Do it in smaller pieces.",
            ));
        }
        let (here, most) = (input.conversation, MOST_OPEN);
        if self.desk.open_pendings(here, most).await?.len() >= most {
            return Ok(refused(
                "Somebody has to approve this, and too many questions wait for an answer here already.",
            ));
        }
        Ok(None)
    }

    /// The question about a call: who is asked, and for how long.
    pub(in crate::agent) fn question_of(
        &self,
        input: &Input,
        turn: &Turn,
        parked: Box<Parked>,
    ) -> Ask {
        if parked.choices().is_some() {
            // It is about what he wants, and nobody else knows that.
            return Ask {
                act: Act::Tool(parked),
                kind: PendingKind::Question,
                answerer: Answerer::Person((*turn.person).clone()),
                four_eyes: false,
                time: turn.rules.policy.approval_time,
            };
        }
        let tool = input.rules.tools.get(&parked.tool);
        let global = tool.is_some_and(|entry| entry.tool.spec().global);
        let group = turn.body().group;
        let (kind, answerer) = match (global, group) {
            (true, _) => (PendingKind::Approval, Answerer::GlobalOwner),
            (false, true) => {
                let who = Answerer::Capability(Level::Admin.capability());
                (PendingKind::Approval, who)
            }
            // There is nobody else, and it is done with his rights.
            (false, false) => {
                let who = Answerer::Person((*turn.person).clone());
                (PendingKind::Confirmation, who)
            }
        };
        Ask {
            act: Act::Tool(parked),
            kind,
            answerer,
            four_eyes: group && turn.rules.policy.four_eyes,
            time: turn.rules.policy.approval_time,
        }
    }
}

/// What is stored of a turn that waits with a call of its last step; nothing if there is no such call.
pub(super) fn park(
    input: &Input,
    turn: &Turn,
    work: &Work,
    place: usize,
    asks: Asks,
) -> Option<Parked> {
    let step = work.steps.last()?;
    let elicited = match asks {
        Asks::Call => None,
        Asks::Elicited(elicited) => Some(elicited),
        Asks::Within { parked, .. } => {
            return Some(Parked {
                place,
                step: Content::step(step).encode(),
                ..*parked
            });
        }
    };
    let call = step.calls.get(place)?;
    let cleaned = input.rules.composer.redactor().clean(&call.arguments);
    let arguments = object(&cleaned.text)?;
    let redactor = input.rules.composer.redactor();
    let elicited = elicited.map(|asked| Elicited {
        message: redactor.clean(&asked.message).text.into_owned(),
        content: redactor.clean(&asked.content).text.into_owned(),
        digest: asked.digest,
        choices: asked.choices.map(|choices| {
            let clean = |choice: String| redactor.clean(&choice).text.into_owned();
            choices.into_iter().map(clean).collect()
        }),
    });
    Some(Parked {
        tool: call.name.clone(),
        arguments: Value::Object(arguments).to_string(),
        place,
        step: Content::step(step).encode(),
        elicited,
        within: None,
        body: Body {
            text: String::new(),
            segments: Vec::new(),
            reply_context: None,
            pressed: false,
            too_large: false,
            resumes: None,
            ..turn.body().clone()
        },
    })
}

/// What people are asked.
pub(in crate::agent) fn question(parked: &Parked, language: Language) -> String {
    let (arguments, message) = match &parked.elicited {
        Some(asked) if asked.choices.is_some() => return asked.message.clone(),
        Some(elicited) => (&elicited.content, Some(elicited.message.clone())),
        None => (&parked.arguments, None),
    };
    let tool = match &parked.within {
        Some(within) => format!("{} ({}: {})", parked.tool, within.skill, within.id),
        None => parked.tool.clone(),
    };
    let text = object(arguments).map_or_else(|| arguments.clone(), |arguments| shown(&arguments));
    let question = Consent::ToolAsked {
        tool,
        arguments: set_off(&text),
        message: message.map(|message| set_off(&message)),
    };
    question.render(language)
}

fn shown(arguments: &Map<String, Value>) -> String {
    serde_json::to_string_pretty(arguments).unwrap_or_default()
}

/// A text as a block of code that no line of it can end.
fn set_off(text: &str) -> String {
    let runs = text.split(|sign| sign != '`').map(str::len);
    let fence = "`".repeat(runs.max().unwrap_or(0).max(2) + 1);
    format!("{fence}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_own_block() {
        assert_eq!(set_off("a"), "```\na\n```");
        assert_eq!(set_off("a\n```\nb"), "````\na\n```\nb\n````");
        assert_eq!(set_off("`````"), "``````\n`````\n``````");
    }
}
