//! Which model answers whom, and what that costs.
//!
//! Owns the order of a turn's models: the one that the conversation chose, then those of the configuration, as far as the
//! role of who asks may use them. It asks none.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    model::{Chain, Model, Usage, config::Price},
    turn::{Input, Turn},
};
use crate::command::model;

/// The models that may be chosen.
#[derive(Clone, Default)]
pub struct Choices {
    /// All of them: those that answer unless somebody chooses, then the others.
    pub all: Vec<Arc<dyn Model>>,
    /// What roles may use, by name; the others may use all.
    pub roles: BTreeMap<String, Vec<String>>,
    /// What they cost, by name.
    pub prices: BTreeMap<String, Price>,
    /// In which currency.
    pub currency: String,
}

impl std::fmt::Debug for Choices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.all.iter().map(|model| model.name());
        f.debug_list().entries(names).finish()
    }
}

impl Choices {
    /// Whether a role may use a model; `None` is an owner of the gateway.
    #[must_use]
    pub fn may_use(&self, role: Option<&str>, model: &str) -> bool {
        let list = role.and_then(|role| self.roles.get(role));
        list.is_none_or(|list| list.iter().any(|name| name == model))
    }

    /// The names of the models that a role may use, in order.
    #[must_use]
    pub fn names(&self, role: Option<&str>) -> Vec<String> {
        let names = self.all.iter().map(|model| model.name());
        let usable = names.filter(|name| self.may_use(role, name));
        usable.map(str::to_owned).collect()
    }

    /// The model that somebody means by its whole name, or by its name without the provider's if there is only one.
    #[must_use]
    pub fn meant(&self, role: Option<&str>, given: &str) -> Option<String> {
        let names = self.names(role);
        if names.iter().any(|name| name == given) {
            return Some(given.to_owned());
        }
        let short = |name: &&String| name.split_once('/').is_some_and(|(_, own)| own == given);
        let mut fitting = names.iter().filter(short);
        let found = fitting.next()?;
        fitting.next().is_none().then(|| found.clone())
    }

    /// The models of a turn in the order in which they are tried: the chosen one, then those of the chain. If the role may
    /// use none of them, those that it may.
    #[must_use]
    pub fn chain(&self, chain: &Chain, role: Option<&str>, chosen: Option<&str>) -> Chain {
        let may = |model: &&Arc<dyn Model>| self.may_use(role, model.name());
        let chosen = chosen.and_then(|name| self.all.iter().find(|model| model.name() == name));
        let chosen: Vec<_> = chosen.into_iter().filter(may).cloned().collect();
        let first = chosen.first().map(|model| model.name().to_owned());
        let others = chain.models().iter().filter(may);
        let others = others.filter(|model| Some(model.name()) != first.as_deref());
        let mut models: Vec<_> = chosen.iter().cloned().chain(others.cloned()).collect();
        if models.is_empty() {
            models = self.all.iter().filter(may).cloned().collect();
        }
        chain.over(models)
    }

    /// What tokens of a model cost, in millionths of the currency.
    #[must_use]
    pub fn cost(&self, model: &str, usage: Usage) -> u64 {
        let Some(price) = self.prices.get(model) else {
            return 0;
        };
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "prices and numbers of tokens are small and not negative"
        )]
        // A price for a million tokens in the currency is one for a token in its millionths.
        let cost = {
            let fresh = usage.prompt.saturating_sub(usage.cached);
            let fresh = fresh.saturating_sub(usage.cache_written);
            let parts = [
                (fresh, price.input),
                (usage.cached, price.cached.unwrap_or(price.input)),
                (
                    usage.cache_written,
                    price.cache_write.unwrap_or(price.input),
                ),
                (usage.completion, price.output),
            ];
            let cost: f64 = parts
                .iter()
                .map(|(tokens, price)| *tokens as f64 * price)
                .sum();
            cost.round() as u64
        };
        cost
    }
}

/// The models of a turn: the one that the conversation chose, then those of the configuration.
pub(in crate::agent) fn of_turn(input: &Input, turn: &Turn) -> Chain {
    let chosen = turn.rules.settings.get(model::KEY).map(String::as_str);
    let role = turn.actor.role_for_models();
    input.rules.choices.chain(&input.rules.chain, role, chosen)
}

/// The models of a turn with this one before them, as far as the role of who asks may use it.
pub(in crate::agent) fn with_first(input: &Input, turn: &Turn, first: Option<&str>) -> Chain {
    let chain = of_turn(input, turn);
    let role = turn.actor.role_for_models();
    match first {
        Some(first) => input.rules.choices.chain(&chain, role, Some(first)),
        None => chain,
    }
}

/// Millionths of a currency as people read them: four digits, more while it is next to nothing.
#[must_use]
pub fn amount(micros: u64, currency: &str) -> String {
    let digits = if (1..100).contains(&micros) { 6 } else { 4 };
    #[expect(clippy::cast_precision_loss, reason = "it is rounded anyway")]
    let value = micros as f64 / 1e6;
    format!("{value:.digits$} {currency}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::model::{Recovery, remote};

    fn model(name: &str) -> Arc<dyn Model> {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (provider, model) = name.split_once('/').unwrap();
        let options = remote::RemoteOptions::new(provider, model, "http://127.0.0.1:9/v1", None);
        Arc::new(remote::Remote::new(options).unwrap())
    }

    fn choices() -> (Choices, Chain) {
        let all = vec![
            model("a/one"),
            model("a/two"),
            model("b/two"),
            model("b/three"),
        ];
        let chain = Chain::new(all.iter().take(2).cloned().collect(), Recovery::default());
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let roles = BTreeMap::from([
            ("guest".to_owned(), list(&["b/three"])),
            ("member".to_owned(), list(&["a/two", "b/three"])),
        ]);
        let prices = BTreeMap::from([(
            "a/one".to_owned(),
            Price {
                input: 0.5,
                output: 2.0,
                cached: Some(0.05),
                cache_write: None,
            },
        )]);
        let choices = Choices {
            all,
            roles,
            prices,
            currency: "USD".to_owned(),
        };
        (choices, chain)
    }

    fn order(role: Option<&str>, chosen: Option<&str>) -> Vec<String> {
        let (choices, chain) = choices();
        let chain = choices.chain(&chain, role, chosen);
        let models = chain.models().iter();
        models.map(|model| model.name().to_owned()).collect()
    }

    #[test]
    fn the_chosen_model_is_tried_first_as_far_as_the_role_may_use_it() {
        assert_eq!(order(None, None), ["a/one", "a/two"]);
        assert_eq!(
            order(Some("admin"), Some("b/three")),
            ["b/three", "a/one", "a/two"]
        );
        assert_eq!(order(Some("admin"), Some("a/two")), ["a/two", "a/one"]);
        assert_eq!(order(Some("member"), Some("a/one")), ["a/two"]);
        assert_eq!(order(Some("guest"), Some("a/one")), ["b/three"]);
        assert_eq!(order(None, Some("gone/away")), ["a/one", "a/two"]);
    }

    #[test]
    fn a_short_name_means_the_only_model_of_it() {
        let (choices, _) = choices();
        let meant = |role, given| choices.meant(role, given);
        assert_eq!(meant(None, "three").as_deref(), Some("b/three"));
        assert_eq!(meant(None, "two"), None);
        assert_eq!(meant(Some("member"), "two").as_deref(), Some("a/two"));
        assert_eq!(meant(None, "b/two").as_deref(), Some("b/two"));
        assert_eq!(meant(Some("guest"), "a/one"), None);
    }

    #[test]
    fn tokens_cost_what_their_model_costs() {
        let (choices, _) = choices();
        let usage = Usage {
            prompt: 1_000,
            completion: 500,
            total: 1_500,
            ..Usage::default()
        };
        assert_eq!(choices.cost("a/one", usage), 1_500);
        let cached = Usage {
            cached: 800,
            cache_written: 100,
            ..usage
        };
        // 100 fresh and 100 written at 0.5, 800 at 0.05, 500 at 2.
        assert_eq!(choices.cost("a/one", cached), 1_140);
        assert_eq!(choices.cost("a/two", usage), 0);
        assert_eq!(amount(1_500, "USD"), "0.0015 USD");
        assert_eq!(amount(7, "CNY"), "0.000007 CNY");
        assert_eq!(amount(0, "USD"), "0.0000 USD");
    }
}
