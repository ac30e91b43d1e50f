//! `providers.<id>.models.<name>`: what one model wants.
//!
//! Owns the keys of the entry, and which of them the format of a provider knows and go together. It never opens a connection.

use weirgate_sdk::settings::Fields;

use super::{super::Takes, ProviderKind};

/// The least tokens of reasoning that a provider takes.
const MIN_BUDGET: u32 = 1_024;

/// What the limit of an answer is called in requests; newer models refuse the first.
const LIMIT_NAMES: [(&str, bool); 2] = [("max_tokens", false), ("max_completion_tokens", true)];

/// What becomes of earlier reasoning.
const BACK: [(&str, ReasoningBack); 3] = [
    ("as_it_came", ReasoningBack::AsItCame),
    ("never", ReasoningBack::Never),
    ("always", ReasoningBack::Always),
];

/// What one model wants; `None` leaves it to the provider.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelOptions {
    /// Most tokens of an answer.
    pub max_output_tokens: Option<u32>,
    /// That limit is called `max_completion_tokens` in requests.
    pub completion_limit: bool,
    /// Its answers come whole: it cannot stream.
    pub whole: bool,
    /// How freely it chooses words.
    pub temperature: Option<f64>,
    /// Most tokens of a request, if fewer than `context.max_context_tokens`.
    pub context_tokens: Option<u32>,
    /// What it takes beside words.
    pub takes: Takes,
    /// It reasons, and gets what it thought back within a turn.
    pub reasoning: bool,
    /// A summary of what it thought is asked for.
    pub reasoning_summary: bool,
    /// It reasons with at most so many tokens.
    pub reasoning_budget: Option<u32>,
    /// What becomes of earlier reasoning in requests.
    pub reasoning_back: ReasoningBack,
    /// The provider is not asked to keep the beginning of requests in its cache.
    pub uncached: bool,
    /// What it costs.
    pub price: Option<Price>,
}

/// What becomes of earlier reasoning in requests of the chat completions format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReasoningBack {
    /// It goes back as it came; where none came there is none.
    #[default]
    AsItCame,
    /// It never goes back: some refuse the field.
    Never,
    /// Where none came something stands in its place: some refuse a message without the field.
    Always,
}

/// What a million tokens cost, in `models.currency`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Price {
    /// Of requests.
    pub input: f64,
    /// Of answers.
    pub output: f64,
    /// Of what of a request the provider had in its cache; `None` for as much as of others.
    pub cached: Option<f64>,
    /// Of what of a request it wrote into its cache; `None` for as much as of others.
    pub cache_write: Option<f64>,
}

impl ModelOptions {
    /// Reads the entry of a model of a provider of this kind.
    pub(super) fn read(mut fields: Fields<'_>, kind: ProviderKind) -> Self {
        let read = Self {
            max_output_tokens: fields.optional_u32("max_output_tokens", 1..=100_000_000),
            completion_limit: fields.choice("limit_name", false, &LIMIT_NAMES),
            whole: !fields.bool("stream", true),
            temperature: fields.optional_f64("temperature", 0.0..=10.0),
            context_tokens: fields.optional_u32("context_tokens", 256..=100_000_000),
            takes: Takes {
                pictures: fields.bool("images", false),
                sounds: fields.bool("audio", false),
                documents: fields.bool("files", false),
            },
            reasoning: fields.bool("reasoning", false),
            reasoning_summary: fields.bool("reasoning_summary", false),
            reasoning_budget: fields
                .optional_u32("reasoning_budget", 0..=100_000_000)
                .filter(|most| *most > 0),
            reasoning_back: fields.choice("reasoning_back", ReasoningBack::AsItCame, &BACK),
            uncached: !fields.bool("prompt_cache", true),
            price: fields.get("price").map(|price| Price::read(price.fields())),
        };
        let responses = ("openai-responses", ProviderKind::OpenAiResponses);
        let completions = ("openai", ProviderKind::OpenAi);
        let messages = ("anthropic", ProviderKind::Anthropic);
        let budget = read.reasoning_budget.is_some();
        let back = read.reasoning_back != ReasoningBack::AsItCame;
        let mut fits = true;
        for (key, wanted, formats) in [
            ("reasoning", read.reasoning, &[responses, messages][..]),
            (
                "reasoning_summary",
                read.reasoning_summary,
                &[responses, messages],
            ),
            ("reasoning_budget", budget, &[messages]),
            ("limit_name", read.completion_limit, &[completions]),
            ("stream", read.whole, &[completions, responses, messages]),
            ("audio", read.takes.sounds, &[completions]),
            ("reasoning_back", back, &[completions]),
            ("prompt_cache", read.uncached, &[messages]),
        ] {
            if wanted && formats.iter().all(|(_, format)| kind != *format) {
                let names: Vec<&str> = formats.iter().map(|(name, _)| *name).collect();
                let hint = format!("write kind: {}, or remove the key", names.join(" or "));
                let problem = "the format of this provider has no such thing";
                fields.invalid(key, problem, Some(&hint));
                fits = false;
            }
        }
        if fits && kind == ProviderKind::Anthropic {
            read.agrees(&mut fields);
        }
        fields.finish();
        read
    }

    /// Looks whether what is said of the reasoning of a model of Anthropic goes together.
    fn agrees(&self, fields: &mut Fields<'_>) {
        let budget = self.reasoning_budget;
        let reasons = self.reasoning || budget.is_some();
        let is_full = |budget| self.max_output_tokens.is_some_and(|most| budget >= most);
        for (key, wrong, problem, hint) in [
            (
                "reasoning_budget",
                budget.is_some_and(|most| most < MIN_BUDGET),
                "the provider takes no less than 1024 tokens",
                "write 1024 or more, or 0 for none",
            ),
            (
                "reasoning_budget",
                self.reasoning && budget.is_some(),
                "with reasoning, the model decides how long it thinks",
                "keep one of reasoning and reasoning_budget",
            ),
            (
                "reasoning_budget",
                budget.is_some_and(is_full),
                "it leaves no room for the answer",
                "write less than max_output_tokens",
            ),
            (
                "reasoning_summary",
                self.reasoning_summary && !reasons,
                "it says nothing about a model that does not reason",
                "write reasoning: true, or remove the key",
            ),
            (
                "temperature",
                self.temperature.is_some() && reasons,
                "a model that reasons takes no temperature",
                "remove the key",
            ),
        ] {
            if wrong {
                fields.invalid(key, problem, Some(hint));
            }
        }
    }
}

impl Price {
    fn read(mut fields: Fields<'_>) -> Self {
        let read = Self {
            input: fields.f64("input", 0.0, 0.0..=1_000_000.0),
            output: fields.f64("output", 0.0, 0.0..=1_000_000.0),
            cached: fields.optional_f64("cached", 0.0..=1_000_000.0),
            cache_write: fields.optional_f64("cache_write", 0.0..=1_000_000.0),
        };
        fields.finish();
        read
    }
}
