//! What a model is asked in a turn.
//!
//! Owns the request of each step: system prompt, history, the new words, what was called so far, and the tools on
//! offer. It asks nobody.

pub mod contents;

use std::{borrow::Cow, sync::Arc};

use super::{
    Agent,
    compact::Compacted,
    context::{self, Budget, Material, TooLarge, estimate_tokens, named, parts, row_cost},
    enclosed::Known,
    heard::Heard,
    history::{Part, Step},
    memory::recall::Recalled,
    model::{ChatRequest, Enclosed, Message, Offered, Role},
    prompt,
    skill::{self, listing},
    subagent,
    tool::{
        Access, Spec, memory,
        registry::{Offers, Wanted},
        usage::Usage,
    },
    turn::{Input, Turn, long},
    work::{Errand, Work},
};
use crate::{
    command::persona,
    i18n::Text,
    permission::{Capability, Scope, decide},
    reason::Reason,
    store::{History, StoreError},
    trace::turn_id,
};

/// Put before a task whose time has come.
const DUE: &str = "[From the gateway: the person is not here now. What follows is a task that he had put off until {at}, in \
his words or yours. Do it now, and answer with what came of it.]";

/// The part of the context that the declarations of tools may take: one in so many.
const TOOLS_SHARE: usize = 3;
/// The part that the list of skills may take with the words before it, which take about so many tokens.
const SKILLS_SHARE: usize = 16;
const SKILLS_WORDS: usize = 60;

/// The part of the context that the list of agents may take: one in so many.
const AGENTS_SHARE: usize = 16;

/// What stays the same in all requests of a turn, or of an errand.
#[derive(Default)]
pub(super) struct Question {
    /// Most tokens of a request.
    tokens: usize,
    system: String,
    history: Arc<Vec<History>>,
    newest: String,
    /// The files that came with it, as far as requests may carry them.
    enclosed: Vec<Enclosed>,
    /// The files that requests may carry.
    known: Known,
    /// What the person said, without what the gateway puts before it.
    said: String,
    /// The history is to be shortened, to so many tokens at most.
    pub(super) long: Option<usize>,
}

impl Question {
    /// What the person said, or what the task of an errand is.
    pub(super) fn said(&self) -> &str {
        &self.said
    }
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
        let mut history = if may_read {
            self.recent_history(input, turn).await?
        } else {
            Arc::default()
        };
        let recalled = if may_read {
            self.recalled(input, turn, heard, history.is_empty()).await
        } else {
            Recalled::default()
        };
        let newest = newest(input, turn, heard, &recalled.notes);
        let budget = input.rules.settings.context.budget();
        let offers = (&Usage::default(), budget);
        let offers = self.offers(input, turn, &heard.words, None, offers);
        let skills = self.skills(input, turn, &offers, budget);
        let system = self.system(input, turn, (&recalled.rules, &skills), &offers);
        let fixed = estimate_tokens(&newest) + estimate_tokens(&system) + offers.tokens;
        let room = budget.saturating_sub(fixed);
        if history.iter().map(row_cost).sum::<usize>() > room {
            // Shortening it behind an earlier turn came too late, or failed.
            let compacted = self.compactor.compact(long(input, turn, room)).await;
            if compacted == Compacted::Done {
                history = self.recent_history(input, turn).await?;
            }
        }
        let long = self.compactor.is_due(&input.rules, &history, room);
        let known = self.known_files(input, turn, (&history, heard)).await;
        let parts = heard.media.parts.iter();
        let enclosed = parts.filter_map(|part| match part {
            Part::Media { reference, .. } => known.get(reference).cloned(),
            _ => None,
        });
        Ok(Question {
            tokens: budget,
            enclosed: enclosed.collect(),
            known,
            system,
            history,
            newest,
            long: long.then_some(room),
            said: heard.words.clone(),
        })
    }

    /// The system prompt: the same for the whole turn.
    fn system(
        &self,
        input: &Input,
        turn: &Turn,
        (rules, skills): (&str, &str),
        offers: &Offers,
    ) -> String {
        let terms = input.rules.terms(&turn.conversation);
        let settings = &input.rules.settings.context;
        input.rules.prompts.system(prompt::Wanted {
            instead: settings.system_prompt.as_deref(),
            persona: turn.rules.settings.get(persona::KEY).map(String::as_str),
            site: &terms.persona,
            rules: &standing(rules),
            skills,
            memory: self.desk.memories.is_some(),
            tools: !offers.tools.is_empty(),
            errand: None,
        })
    }

    /// What the requests of an errand are made of: the layers, and the task. Of the conversation it knows nothing.
    pub(super) fn errand_question(
        &self,
        input: &Input,
        turn: &Turn,
        task: &str,
        (errand, limits, own): (&Errand, &prompt::Limits, &str),
    ) -> Question {
        let tokens = limits.tokens;
        let offers = (&Usage::default(), tokens);
        let offers = self.offers(input, turn, task, Some(errand), offers);
        let skills = self.skills(input, turn, &offers, tokens);
        let system = input.rules.prompts.system(prompt::Wanted {
            instead: input.rules.settings.context.system_prompt.as_deref(),
            persona: turn.rules.settings.get(persona::KEY).map(String::as_str),
            site: &input.rules.terms(&turn.conversation).persona,
            rules: "",
            skills: &skills,
            memory: offers.has(memory::NAME),
            tools: !offers.tools.is_empty(),
            errand: Some((limits, own)),
        });
        Question {
            tokens,
            system,
            newest: task.to_owned(),
            said: task.to_owned(),
            ..Question::default()
        }
    }

    /// What the prompt says of the skills: of those that the one who asks may use, if the model can read them.
    fn skills(&self, input: &Input, turn: &Turn, offers: &Offers, tokens: usize) -> String {
        if !offers.has(skill::tool::NAME) {
            return String::new();
        }
        let here = Scope::Conversation(input.conversation);
        let sorted = input.rules.tools.skills();
        let mine = sorted.of(&turn.actor, here, self.clock.now());
        // An errand runs none.
        let runs = offers.has(skill::RUN);
        let mine = mine.filter(|skill| runs || skill.steps.is_none());
        let mine: Vec<(&str, String)> = mine.map(|skill| (&*skill.name, skill.summary())).collect();
        let mine = mine.iter().map(|(name, about)| (*name, about.as_str()));
        let room = (tokens / SKILLS_SHARE).saturating_sub(SKILLS_WORDS);
        listing(mine, skill::MORE, room)
    }

    /// What is remembered of use for a turn. Without it the turn goes on.
    async fn recalled(&self, input: &Input, turn: &Turn, heard: &Heard, fresh: bool) -> Recalled {
        let Some(memories) = &self.desk.memories else {
            return Recalled::default();
        };
        let site = turn.site(input);
        let recalled = memories.recall(&input.rules, site, &heard.words, fresh);
        recalled.await.unwrap_or_else(|error| {
            tracing::warn!(turn = %turn_id(input.turn), %error, "the memory did not answer");
            self.traces
                .note(input.turn, Reason::MemoryFailed, self.clock.now());
            Recalled::default()
        })
    }

    /// The request of a step. `hint`: what the gateway has to say about the answer before, which is not kept.
    pub(super) fn request(
        &self,
        input: &Input,
        turn: &Turn,
        question: &Question,
        work: &Work,
        (callable, hint): (bool, Option<&str>),
    ) -> Result<ChatRequest, TooLarge> {
        let settings = &input.rules.settings;
        let errand = work.errand.as_ref();
        let used = (&work.usage, question.tokens);
        let offers = self.offers(input, turn, &question.said, errand, used);
        let budget = Budget {
            // What is declared is part of the request, and counts.
            tokens: question.tokens.saturating_sub(offers.tokens),
            keep_recent: settings.keep_recent(),
        };
        let (history, steps) = undropped(question, work);
        let built = context::build(
            Material {
                system: &question.system,
                history: &history,
                newest: question.newest.clone(),
                enclosed: question.enclosed.clone(),
                known: &question.known,
                digest: &work.digest.text,
                steps: steps.get(work.digest.steps..).unwrap_or_default(),
            },
            budget,
        )?;
        let reasons = [
            (built.left_out > 0 || built.results_cut, Reason::ContextCut),
            (built.repaired > 0, Reason::HistoryRepaired),
        ];
        for (_, reason) in reasons.into_iter().filter(|(holds, _)| *holds) {
            self.traces.note(input.turn, reason, self.clock.now());
        }
        let mut messages = built.messages;
        messages.extend(hint.map(|hint| Message::words(Role::User, hint.to_owned())));
        Ok(ChatRequest {
            messages,
            // Each model of the chain has its own.
            max_output_tokens: None,
            temperature: None,
            offered: Offered {
                tools: offers.tools,
                callable,
            },
            turn: turn_id(input.turn),
        })
    }

    /// The tools on offer: what the one who asks may use, and the errand if it is one, in a request of so many tokens.
    fn offers(
        &self,
        input: &Input,
        turn: &Turn,
        said: &str,
        errand: Option<&Errand>,
        (usage, tokens): (&Usage, usize),
    ) -> Offers {
        let here = Scope::Conversation(input.conversation);
        let (now, group) = (self.clock.now(), turn.body().group);
        let sorted = std::cell::OnceCell::new();
        let has_skills = |steps: bool| {
            let sorted = sorted.get_or_init(|| input.rules.tools.skills());
            let mut mine = sorted.of(&turn.actor, here, now);
            mine.any(|skill| !steps || skill.steps.is_some())
        };
        let may = |spec: &Spec| {
            let scope = if spec.global { Scope::Global } else { here };
            decide(&turn.actor, spec.needs(group), scope, now).is_ok()
                && errand.is_none_or(|errand| errand.has(&spec.name))
                && (spec.name != skill::tool::NAME || has_skills(false))
                && (spec.name != skill::RUN || has_skills(true))
                && (spec.access != Access::Moderate || self.moderates(turn))
        };
        let wanted = Wanted {
            said,
            used: usage.names(),
            tokens: tokens / TOOLS_SHARE,
        };
        let offers = input.rules.tools.offers(may, wanted);
        let keeps = decide(&turn.actor, Access::WriteShared.needs(group), here, now).is_ok();
        let offers = offers.about(memory::NAME, if keeps { "" } else { memory::LOOKS });
        if !offers.has(subagent::tool::NAME) {
            return offers;
        }
        let agents = input.rules.tools.agents();
        let mine = agents.of(&turn.actor, here, now);
        let mine = mine.map(|agent| (agent.name.as_str(), agent.description.as_str()));
        let listed = listing(mine, subagent::MORE, tokens / AGENTS_SHARE);
        offers.about(subagent::tool::NAME, &listed)
    }

    /// Whether members can be moderated where a turn is.
    fn moderates(&self, turn: &Turn) -> bool {
        let adapter = self.deliverer.adapter(&turn.conversation);
        turn.body().group && adapter.is_some_and(|adapter| adapter.moderates().is_some())
    }

    /// The newest rows of the turn's history: at hand, or read.
    async fn recent_history(
        &self,
        input: &Input,
        turn: &Turn,
    ) -> Result<Arc<Vec<History>>, StoreError> {
        let most = input.rules.settings.history_rows();
        let ambient = &input.rules.settings.context.ambient;
        if ambient.enable {
            // What others say meanwhile belongs to it, and passes by the turns.
            let bounds = (ambient.max_messages, ambient.max_age);
            let rows = self.store.history(turn.scope, most, bounds).await?;
            return Ok(Arc::new(self.overheard(input, rows)));
        }
        let as_of = (self.store.others(), most);
        let ticket = match self.recent.get(turn.scope, as_of) {
            Ok(rows) => return Ok(rows),
            Err(ticket) => ticket,
        };
        let bounds = (0, std::time::Duration::ZERO);
        let rows = self.store.history(turn.scope, most, bounds).await?;
        let rows = Arc::new(rows);
        ticket.put(&rows);
        Ok(rows)
    }
}

/// The earlier rows and the steps without what the turn has had dropped.
fn undropped<'a>(question: &'a Question, work: &'a Work) -> (Cow<'a, [History]>, Cow<'a, [Step]>) {
    let (history, steps) = (question.history.as_slice(), work.steps.as_slice());
    let gone = parts::dropped(steps);
    if gone.is_empty() {
        return (history.into(), steps.into());
    }
    let rows = history.iter();
    let rows = rows.map(|row| parts::row_without(row, &gone).unwrap_or_else(|| row.clone()));
    let mut steps = steps.to_vec();
    for step in &mut steps {
        parts::drop_from(step, &gone);
    }
    (rows.collect(), steps.into())
}

/// The newest message of a request: the person's words, and before them what the gateway has to say of them.
fn newest(input: &Input, turn: &Turn, heard: &Heard, notes: &str) -> String {
    let mut newest = named(&heard.name, heard.words.clone());
    if !notes.is_empty() {
        newest = format!("{notes}\n{newest}");
    }
    if heard.untrusted {
        newest = format!("{}\n{newest}", Text::HintUntrusted.render(turn.language));
    }
    if let Some(due) = turn.body().due {
        let at = crate::clock::minute_in(due, &input.rules.settings.zone);
        newest = format!("{}\n{newest}", DUE.replace("{at}", &at));
    }
    if let Some(dropped) = &input.dropped {
        let hint = Text::HintDropped {
            prefix: input.rules.settings.overflow_hint.clone(),
            count: dropped.count,
            span: dropped.last.saturating_sub(dropped.first) / 1_000_000,
        };
        newest = format!("{}\n{newest}", hint.render(turn.language));
    }
    newest
}

/// Standing rules as the end of the system prompt; nothing if there are none.
fn standing(rules: &str) -> String {
    if rules.is_empty() {
        return String::new();
    }
    format!(
        "What the people here want, as long as it does not go against what stands above:\n{rules}"
    )
}
