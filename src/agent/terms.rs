//! What an account of the bot gives its people: the words that the model is told for them, and the role of whoever has
//! no other there.
//!
//! Owns the keys and their limits. It never decides who somebody is.

use std::{collections::HashMap, sync::Arc};

use weirgate_sdk::{AccountName, Platform, settings::Fields};

/// Longest persona in characters.
const MAX_PERSONA: usize = 20_000;

/// The terms of one account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// What the model is told beside the system prompt; may be empty.
    pub persona: String,
    /// The role of whoever has no other; `None` is that of the gateway.
    pub default_role: Option<String>,
}

/// The terms of every account.
pub type AllTerms = HashMap<(Platform, AccountName), Arc<Terms>>;

impl Terms {
    /// The key of [`Terms::default_role`].
    pub const ROLE: &'static str = "default_role";

    /// Reads the keys of an account. Whether there is such a role is looked at where all roles are known.
    #[must_use]
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let persona = fields.text("persona", "");
        if persona.chars().count() > MAX_PERSONA {
            let what = format!("longer than {MAX_PERSONA} characters");
            fields.invalid("persona", what, None);
        }
        Self {
            persona: persona.trim().to_owned(),
            default_role: fields.optional_text(Self::ROLE),
        }
    }
}
