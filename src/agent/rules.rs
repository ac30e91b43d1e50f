//! The rules of a turn: what the configuration says of turns, models and answers.
//!
//! Owns the one snapshot that a turn takes when it starts and keeps to its end, whatever is reloaded
//! meanwhile. Only who may do what is always asked anew.

use std::sync::Arc;

use weirgate_sdk::ConversationKey;

use super::{
    Settings,
    choice::Choices,
    model::{Chain, embed::Embed},
    prompt::Prompts,
    terms::{AllTerms, Terms},
    tool::registry::Registry,
};
use crate::{
    outbound::compose::Composer, schedule::permits::ProviderPermits, security::guard::Guard,
};

/// What a turn keeps from its start to its end.
pub struct Rules {
    /// The sections that concern the agent.
    pub settings: Settings,
    /// The models.
    pub chain: Chain,
    /// What may be chosen instead, by whom, and what it costs.
    pub choices: Choices,
    /// The models that summarise.
    pub summaries: Chain,
    /// The model that tells what a text means.
    pub embed: Option<Arc<dyn Embed>>,
    /// The providers' limiters. One that stays over a reload is shared with the rules before.
    pub permits: Arc<ProviderPermits>,
    /// What of a turn's words reaches the model.
    pub guard: Guard,
    /// What models may have done.
    pub tools: Registry,
    /// What the model is told first.
    pub prompts: Prompts,
    /// How answers become replies.
    pub composer: Composer,
    /// What each account gives its people.
    pub terms: AllTerms,
}

impl Rules {
    /// What the account of a conversation gives its people; nothing of its own if it is not there any more.
    #[must_use]
    pub fn terms(&self, conversation: &ConversationKey) -> Arc<Terms> {
        let account = (conversation.platform.clone(), conversation.account.clone());
        self.terms.get(&account).cloned().unwrap_or_default()
    }
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules")
            .field("chain", &self.chain)
            .finish_non_exhaustive()
    }
}
