//! What a request took: seen in metrics and traces, and counted for its turn.
//!
//! Owns the estimate where a provider does not count. What tokens cost is in [`super::choice`].

use super::{
    Agent,
    choice::Choices,
    context::{costs, estimate_tokens},
    history::Cost,
    model::{Chain, ChatRequest, Completion, Offer, Usage},
    turn::Input,
};
use crate::{reason::Reason, telemetry::metrics};

impl Agent {
    /// Counts a request of a turn whose models are those of `chain`.
    pub(super) fn charge(
        &self,
        input: &Input,
        chain: &Chain,
        (request, completion): (&ChatRequest, &Completion),
        cost: &mut Cost,
    ) {
        let note = |reason| self.traces.note(input.turn, reason, self.clock.now());
        if completion.attempts > 1 {
            note(Reason::ModelRetried);
        }
        if completion.files_refused {
            note(Reason::MediaRefused);
        }
        let first = chain.models().first();
        if first.is_some_and(|model| model.name() != completion.model) {
            note(Reason::ModelFellBack);
        }
        let usage = usage_of(request, completion);
        let price = counted(&input.rules.choices, completion, usage);
        cost.model.clone_from(&completion.model);
        cost.requests = cost.requests.saturating_add(1);
        cost.prompt = cost.prompt.saturating_add(usage.prompt);
        cost.completion = cost.completion.saturating_add(usage.completion);
        cost.price = cost.price.saturating_add(price);
    }
}

/// Counts an answer in metrics; gives what it cost, in millionths of the currency.
pub(super) fn counted(choices: &Choices, completion: &Completion, usage: Usage) -> u64 {
    let provider = completion.model.split('/').next().unwrap_or_default();
    if let Some(usage) = &completion.usage {
        metrics::tokens(provider, usage.prompt, usage.completion);
    }
    let price = choices.cost(&completion.model, usage);
    metrics::cost(provider, price);
    price
}

/// What a request took.
pub(super) fn usage_of(request: &ChatRequest, completion: &Completion) -> Usage {
    let counted = completion.usage;
    counted.unwrap_or_else(|| estimated(request, completion))
}

/// What a request took, about, where the provider does not say.
fn estimated(request: &ChatRequest, completion: &Completion) -> Usage {
    let offered = request.offered.tools.iter().map(Offer::tokens);
    // Tools that cannot be called are not declared.
    let offered = offered.take_while(|_| request.offered.callable);
    let asked = costs(&request.messages) + offered.sum::<usize>();
    let calls = completion.calls.iter();
    let calls = calls.map(|call| estimate_tokens(&call.arguments) + estimate_tokens(&call.name));
    let reasoning = completion.reasoning.as_deref().map_or(0, estimate_tokens);
    let said = estimate_tokens(&completion.text) + reasoning + calls.sum::<usize>();
    let wide = |tokens: usize| u64::try_from(tokens).unwrap_or(u64::MAX);
    let (prompt, completion) = (wide(asked), wide(said));
    Usage {
        prompt,
        completion,
        total: prompt.saturating_add(completion),
        ..Usage::default()
    }
}
