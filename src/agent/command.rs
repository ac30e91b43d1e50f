//! Commands as turns: found, allowed, run.
//!
//! Owns the decision in front of every command. What a command does is in its own file.

use super::{
    Agent,
    ending::Ending,
    turn::{Input, Turn},
};
use crate::{
    command::{Call, Parsed, Site, When, need, parse},
    i18n::Text,
    inbound::body,
    outbound::strategy::Strategy,
    permission::{AuditEvent, decide},
    reason::Reason,
    store::StoreError,
};

impl Agent {
    /// Runs a command.
    pub(super) async fn command(&self, input: &Input, turn: &Turn) -> Result<Ending, StoreError> {
        let text = body::own_text(turn.body());
        let (command, arguments) = match parse(&text) {
            Parsed::Command(command, arguments) => (command, arguments),
            Parsed::Unknown(name) => {
                let text = Text::UnknownCommand(name.to_owned()).render(turn.language);
                return Ok(Ending::failed(text, Reason::UnknownCommand));
            }
            Parsed::Text => {
                // Journaled as a command by a version that knew more of them.
                let text = Text::UnknownCommand(String::new()).render(turn.language);
                return Ok(Ending::failed(text, Reason::UnknownCommand));
            }
        };
        let site = Site {
            chat: turn.body().chat(),
            account: input.account,
            conversation: input.conversation,
            own_history: turn.scope.person != 0,
        };
        let levels = &input.rules.settings.permissions.commands;
        let (capability, scope) = need(command, arguments, site, levels);
        let proof = match decide(&turn.actor, capability, scope, self.clock.now()) {
            Ok(proof) => proof,
            Err(denial) => {
                let name = command.spec().name.to_owned();
                return Ok(self.denied(input, turn, denial, (AuditEvent::CommandBlocked, name)));
            }
        };
        // What stops a turn is always taken.
        if command.spec().when != When::Control
            && let Some(ending) = self.command_not_taken(input, turn)
        {
            return Ok(ending);
        }
        let call = Call {
            arguments,
            language: turn.language,
            actor: &turn.actor,
            proof,
            again: self.is_recovered(input.turn),
            turn: input.turn,
            site,
            conversation: &turn.conversation,
            person: &turn.person,
            body: turn.body(),
        };
        let done = command.run(call, &self.desk).await?;
        let strategy = Some(Strategy::Full);
        let ending = match done.refused {
            Some(reason) => Ending {
                private: true,
                ..Ending::failed(done.text, reason)
            },
            None => Ending::done(done.text),
        };
        Ok(Ending {
            effects: done.effects,
            also_ends: done.also_ends,
            strategy,
            ..ending
        })
    }
}
