//! What a model is asked in a turn.
//!
//! Owns the request of each step: system prompt, history, the new words, what was called so far, and the tools on
//! offer. It asks nobody.

use std::sync::Arc;

use super::{
    Agent,
    context::{self, Budget, Material, named},
    heard::Heard,
    history::Step,
    model::{ChatRequest, Message, Offer, Offered, Picture, Role},
    prompt,
    tool::usage::Usage,
    turn::{Input, Turn},
};
use crate::{
    command::persona,
    i18n::Text,
    permission::{Capability, Scope, decide},
    reason::Reason,
    store::{History, StoreError},
    trace::turn_id,
};

/// History rows read for one turn; the token budget decides what of them is used.
pub(super) const HISTORY_ROWS: usize = 200;

/// What stays the same in all requests of a turn.
pub(super) struct Question {
    history: Arc<Vec<History>>,
    newest: String,
    /// The pictures that came with it.
    pictures: Vec<Picture>,
    /// What the person said, without what the gateway puts before it.
    said: String,
}

impl Agent {
    /// Reads what the requests of a turn are made of.
    pub(super) async fn question(
        &self,
        input: &Input,
        turn: &Turn,
        heard: &Heard,
    ) -> Result<Question, StoreError> {
        // Who may not read what was said here is not told of it by the model either.
        let may_read = turn.actor.role.capabilities().contains(Capability::READ);
        let history = if may_read {
            self.recent_history(input, turn).await?
        } else {
            Arc::default()
        };
        let mut newest = named(&heard.name, heard.words.clone());
        if heard.untrusted {
            newest = format!("{}\n{newest}", Text::HintUntrusted.render(turn.language));
        }
        if let Some(dropped) = &input.dropped {
            let hint = Text::HintDropped {
                prefix: input.rules.settings.overflow_hint.clone(),
                count: dropped.count,
                span: dropped.last.saturating_sub(dropped.first) / 1_000_000,
            };
            newest = format!("{}\n{newest}", hint.render(turn.language));
        }
        Ok(Question {
            history,
            newest,
            pictures: heard.media.pictures.clone(),
            said: heard.words.clone(),
        })
    }

    /// The request of a step. `hint`: what the gateway has to say about the answer before, which is not kept.
    pub(super) fn request(
        &self,
        input: &Input,
        turn: &Turn,
        question: &Question,
        steps: &[Step],
        (usage, callable, hint): (&Usage, bool, Option<&str>),
    ) -> ChatRequest {
        let settings = &input.rules.settings.context;
        let budget = Budget {
            tokens: usize::try_from(settings.max_context_tokens).unwrap_or(usize::MAX),
            keep_recent: settings.keep_recent_messages,
        };
        let offers = self.offers(input, turn, question, usage);
        let system = input.rules.prompts.system(prompt::Wanted {
            instead: settings.system_prompt.as_deref(),
            persona: turn.rules.settings.get(persona::KEY).map(String::as_str),
            tools: !offers.is_empty(),
            ..prompt::Wanted::default()
        });
        let built = context::build(
            Material {
                system: &system,
                history: &question.history,
                newest: question.newest.clone(),
                pictures: question.pictures.clone(),
                steps,
            },
            budget,
        );
        if built.left_out > 0 || built.newest_cut || built.results_cut {
            self.traces
                .note(input.turn, Reason::ContextCut, self.clock.now());
        }
        let mut messages = built.messages;
        messages.extend(hint.map(|hint| Message::words(Role::User, hint.to_owned())));
        ChatRequest {
            messages,
            // Each model of the chain has its own.
            max_output_tokens: None,
            temperature: None,
            offered: Offered {
                tools: offers,
                callable,
            },
            turn: turn_id(input.turn),
        }
    }

    /// The tools that the person may have used here.
    fn offers(
        &self,
        input: &Input,
        turn: &Turn,
        question: &Question,
        usage: &Usage,
    ) -> Arc<[Offer]> {
        let here = Scope::Conversation(input.conversation);
        let (now, group) = (self.clock.now(), turn.body().group);
        input.rules.tools.offers(
            |spec| {
                let scope = if spec.global { Scope::Global } else { here };
                decide(&turn.actor, spec.needs(group), scope, now).is_ok()
            },
            &question.said,
            usage.names(),
        )
    }

    /// The newest rows of the turn's history: at hand, or read.
    async fn recent_history(
        &self,
        input: &Input,
        turn: &Turn,
    ) -> Result<Arc<Vec<History>>, StoreError> {
        let ambient = &input.rules.settings.context.ambient;
        if ambient.enable {
            // What others say meanwhile belongs to it, and passes by the turns.
            let bounds = (ambient.max_messages, ambient.max_age);
            let rows = self.store.history(turn.scope, HISTORY_ROWS, bounds).await?;
            return Ok(Arc::new(self.overheard(input, rows)));
        }
        let ticket = match self.recent.get(turn.scope, self.store.others()) {
            Ok(rows) => return Ok(rows),
            Err(ticket) => ticket,
        };
        let bounds = (0, std::time::Duration::ZERO);
        let rows = self.store.history(turn.scope, HISTORY_ROWS, bounds).await?;
        let rows = Arc::new(rows);
        ticket.put(&rows);
        Ok(rows)
    }
}
