//! Commands as turns: found, allowed, run.
//!
//! Owns the decision in front of every command. What a command does is in its own file.

use std::borrow::Cow;

use super::{
    Agent,
    choice::of_turn,
    ending::Ending,
    history::Step,
    media::Media,
    model::ToolCall,
    running::RunningTurn,
    tool::asking::Asking,
    turn::{Input, Turn},
    work::Work,
};
use crate::{
    command::{Call, Command, Done, Parsed, When, admit::Petition, approve::Press, need, parse},
    i18n::{
        Text,
        consent::{Consent, HowToAnswer},
    },
    inbound::body,
    outbound::strategy::Strategy,
    pending::{self, Act, Ask, Asked},
    permission::{AuditEvent, decide},
    reason::Reason,
    store::{Effect, StoreError},
};

/// What may wait for an answer in one conversation at once.
pub(super) const MOST_OPEN: usize = 20;

/// The command that a message is, and its arguments.
///
/// # Errors
/// The name of none that there is.
fn meant<'a>(turn: &Turn, text: &'a str) -> Result<(&'static dyn Command, Cow<'a, str>), &'a str> {
    let (command, arguments): (&'static dyn Command, &str) = match parse(text) {
        _ if turn.body().pressed => (&Press, text),
        _ if turn.body().request => (&Petition, text),
        Parsed::Command(command, arguments) => (command, arguments),
        Parsed::Unknown(name) => return Err(name),
        // Journaled as a command by a version that knew more of them.
        Parsed::Text => return Err(""),
    };
    Ok(match command.stands_for(arguments) {
        Some((other, arguments)) => (other, arguments.into()),
        None => (command, arguments.into()),
    })
}

/// What a command makes of its turn.
enum Commanded {
    /// Its end.
    Ends(Box<Ending>),
    /// The beginning of the model's part.
    Begins(ToolCall),
}

impl From<Ending> for Commanded {
    fn from(ending: Ending) -> Self {
        Self::Ends(Box::new(ending))
    }
}

impl Agent {
    /// Runs a command, and what of the turn it leaves to the model.
    pub(super) async fn command(
        &self,
        input: &Input,
        turn: &Turn,
        running: &RunningTurn,
    ) -> Result<Ending, StoreError> {
        match self.commanded(input, turn).await? {
            Commanded::Ends(ending) => Ok(self.noted(input, *ending)),
            Commanded::Begins(call) => self.begin_with(input, turn, running, call).await,
        }
    }

    /// Has the model answer as if it had made this call, from where the turn was if it ran before.
    async fn begin_with(
        &self,
        input: &Input,
        turn: &Turn,
        running: &RunningTurn,
        call: ToolCall,
    ) -> Result<Ending, StoreError> {
        running.asks();
        let heard = match self.hear(input, turn, Media::default()) {
            Ok(heard) => heard,
            Err(ending) => return Ok(*ending),
        };
        let mut work = Work::default();
        self.take_up(input, &mut work).await?;
        if work.steps.is_empty() {
            work.steps.push(Step {
                calls: vec![call],
                results: vec![None],
                ..Step::default()
            });
        }
        self.go_on(input, turn, running, Some(heard), work).await
    }

    async fn commanded(&self, input: &Input, turn: &Turn) -> Result<Commanded, StoreError> {
        let text = body::own_text(turn.body());
        let (command, arguments) = match meant(turn, &text) {
            Ok(meant) => meant,
            Err(name) => {
                let text = Text::UnknownCommand(name.to_owned()).render(turn.language);
                return Ok(Ending::failed(text, Reason::UnknownCommand).into());
            }
        };
        let arguments = &*arguments;
        let site = turn.place(input);
        let levels = &input.rules.settings.permissions.commands;
        let (capability, scope) = need(command, arguments, site, levels);
        let proof = match decide(&turn.actor, capability, scope, self.clock.now()) {
            Ok(proof) => proof,
            Err(denial) => {
                let name = command.spec().name.to_owned();
                let what = (AuditEvent::CommandBlocked, name);
                return Ok(self.denied(input, turn, denial, what).into());
            }
        };
        if !self.is_always_taken(input, turn, command).await?
            && let Some(ending) = self.command_not_taken(input, turn)
        {
            return Ok(ending.into());
        }
        if command.asks_model()
            && let Some(ending) = self.no_model(input, turn).await?
        {
            return Ok(ending.into());
        }
        let asking = Asking::new(of_turn(input, turn), input.turn, self.random);
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
            asking: &asking,
        };
        let mut done = command.run(call, &self.desk).await?;
        if let Some(begins) = done.begins {
            return Ok(Commanded::Begins(ToolCall {
                // No other call of the history has it.
                id: format!("run{:09}", input.turn),
                name: begins.tool.to_owned(),
                arguments: begins.arguments.to_string(),
            }));
        }
        let used = self.spend(input, &asking.into_cost()).await?;
        done.effects.extend(used);
        Ok(self.ended_by(input, turn, done).await?.into())
    }

    /// What stops a turn is always taken, and so is an answer while something waits for one.
    async fn is_always_taken(
        &self,
        input: &Input,
        turn: &Turn,
        command: &dyn Command,
    ) -> Result<bool, StoreError> {
        if command.spec().when == When::Control || turn.body().pressed {
            return Ok(true);
        }
        if !command.answers() {
            return Ok(false);
        }
        let open = self.desk.open_pendings(input.conversation, 1).await?;
        Ok(!open.is_empty())
    }

    /// The end that a command makes of its turn.
    async fn ended_by(
        &self,
        input: &Input,
        turn: &Turn,
        mut done: Done,
    ) -> Result<Ending, StoreError> {
        if done.refused == Some(Reason::PermissionDenied) && !self.may_tell(input) {
            // Presses have no limit of their own; a flood of them must not fill the log.
            done.effects
                .retain(|effect| !matches!(effect, Effect::Audit(_)));
        }
        let mut ending = match done.refused {
            // Why somebody may not, or was too late, is nobody else's business.
            Some(reason) => Ending {
                private: true,
                ..Ending::failed(done.text, reason)
            },
            None => Ending::done(done.text),
        };
        ending.effects = done.effects;
        ending.also_ends = done.also_ends;
        ending.alone = done.alone;
        ending.strategy = Some(Strategy::Full);
        match done.ask {
            Some(ask) => self.asked(input, turn, ending, &ask).await,
            None => Ok(ending),
        }
    }

    /// The end of a turn that asks: the row is written with the question, and what to press or to type stands under it.
    pub(super) async fn asked(
        &self,
        input: &Input,
        turn: &Turn,
        mut ending: Ending,
        ask: &Ask,
    ) -> Result<Ending, StoreError> {
        let open = self
            .desk
            .open_pendings(input.conversation, MOST_OPEN)
            .await?;
        if open.len() >= MOST_OPEN {
            let text = Consent::TooManyOpen { most: MOST_OPEN };
            let mut refused = Ending::failed(text.render(turn.language), Reason::TooMany);
            if let Act::Tool(_) = &ask.act {
                // What its tools did until now stays known.
                refused.history = ending.history;
                refused.effects = ending.effects;
            }
            return Ok(refused);
        }
        let pending = ask.row(Asked {
            turn: input.turn,
            conversation: input.conversation,
            asker: input.person,
            at: self.clock.now(),
        });
        let adapter = self.deliverer.adapter(&turn.conversation);
        let limits = adapter.and_then(|adapter| adapter.capabilities(&turn.conversation).buttons);
        ending.buttons = pending::buttons(&pending, &ask.act, limits, turn.language);
        let options = ask.act.options();
        let has_buttons = !ending.buttons.is_empty();
        let how = if ask.act.is_question() {
            self.inquiries.asked(input.conversation, input.person);
            let shown = options.iter().filter(|_| !has_buttons);
            Consent::HowToAnswer(HowToAnswer {
                code: pending::code(pending.id),
                time: ask.time,
                choices: shown.map(|one| ask.act.label(one, turn.language)).collect(),
                group: turn.body().group,
            })
        } else {
            Consent::HowTo {
                code: pending::code(pending.id),
                time: ask.time,
                options: if options.len() > 1 {
                    options.to_vec()
                } else {
                    Vec::new()
                },
                buttons: has_buttons,
            }
        };
        ending.text = format!("{}\n{}", ending.text, how.render(turn.language));
        ending.effects.push(Effect::Ask(Box::new(pending)));
        Ok(ending)
    }
}
