//! How a command asks a tool, without a model.
//!
//! Owns the right that it needs, the check of the arguments and the time limit. What the tool tells is for the person
//! as it is.

use serde_json::{Map, Value};

use super::{Call, Desk, Done, Site, memory::site_of};
use crate::{
    agent::tool,
    i18n::{Text, trouble::Trouble},
    permission::{Capability, Scope},
    reason::Reason,
};

/// What came of it.
#[derive(Debug)]
pub enum Asked {
    /// What it told, or why it did not.
    Told(Done),
    /// There is no such tool here.
    Absent,
    /// The arguments do not fit.
    Misfit,
}

/// What such a command needs: the right to run tools, besides that to use commands.
#[must_use]
pub fn needs(site: Site) -> (Capability, Scope) {
    let capability = Capability::SEND_COMMAND | Capability::EXECUTE;
    (capability, Scope::Conversation(site.conversation))
}

/// Runs a tool for a command.
pub async fn tool(
    call: &Call<'_>,
    desk: &Desk,
    name: &str,
    arguments: &Map<String, Value>,
) -> Asked {
    let refuse = |reason, text: &Text| Asked::Told(Done::refuse(reason, text, call.language));
    let rules = desk.rules.get();
    let Some(entry) = rules.tools.get(name) else {
        return Asked::Absent;
    };
    if entry.schema.check(arguments).is_err() {
        return Asked::Misfit;
    }
    let asker = tool::Asker {
        person: call.person,
        body: call.body,
        language: call.language,
        place: call.site,
    };
    let run = entry.tool.run(tool::Call {
        proof: &call.proof,
        arguments,
        consent: None,
        conversation: call.conversation,
        site: site_of(call),
        rules: &rules,
        zone: &rules.settings.zone,
        now: desk.now(),
        counter: Some((asker, desk)),
        contents: None,
        asking: call.asking,
        sending: None,
        effects: None,
        errands: None,
    });
    match tokio::time::timeout(rules.settings.tool_calling.timeout, run).await {
        Ok(Ok(given)) => Asked::Told(Done::text(given.text)),
        Ok(Err(fault)) => {
            let own = fault.trouble.map(|trouble| trouble.render(call.language));
            let why = own.unwrap_or(fault.given.text);
            refuse(Reason::ToolFailed, &Text::AskFailed(why))
        }
        Err(_) => {
            let why = Trouble::TooSlow.render(call.language);
            refuse(Reason::ToolTimeout, &Text::AskFailed(why))
        }
    }
}
