//! Who is not known: with `permissions.pairing` a stranger in a private chat is told a code, and not heard before an owner
//! of the gateway has let him in.
//!
//! Owns when a code is told. What it is, and who may use it, is in [`crate::command::pair`].

use weirgate_sdk::ChatKind;

use super::{
    super::{
        Agent,
        ending::Ending,
        turn::{Input, Turn},
    },
    Rights,
};
use crate::{
    command::{
        Parsed,
        claim::NAME as CLAIM,
        pair::{self, Codes, GOOD_FOR},
        parse,
    },
    reason::Reason,
    store::{Effect, Place, StoreError},
};

impl Agent {
    /// Why a stranger is not heard. He is told his code once as long as it is good.
    ///
    /// # Errors
    /// The store's.
    pub(in crate::agent) async fn not_paired(
        &self,
        input: &Input,
        turn: &Turn,
    ) -> Result<Option<Ending>, StoreError> {
        let wanted = self.rules.get().settings.permissions.pairing;
        let given = turn.rules.grants.get(turn.person.id.as_str());
        let now = self.clock.now();
        let known = turn.actor.global_owner || given.is_some_and(|grant| grant.holds(now));
        // The first owner of all comes in with another code.
        let own = crate::inbound::body::own_text(turn.body());
        let claims =
            matches!(parse(&own), Parsed::Command(command, _) if command.spec().name == CLAIM);
        if !wanted || known || claims || turn.body().chat() != ChatKind::Private {
            return Ok(None);
        }
        let directory = &self.desk.directory;
        if directory
            .preference(input.person, pair::KEY)
            .await?
            .is_some()
        {
            return Ok(None);
        }
        let codes = Codes::read(&directory.of_gateway().await?, now);
        let silent = Ending::failed(String::new(), Reason::NotPaired);
        if codes.has(input.person) || codes.is_full() {
            return Ok(Some(silent));
        }
        let code = pair::code(rand::random());
        let text = Rights::PairWith {
            code: code.clone(),
            good_for: GOOD_FOR,
        };
        let mut ending = self.refused(input, turn, Some(&text), Reason::NotPaired);
        if ending.text.is_empty() {
            return Ok(Some(ending));
        }
        let forget = codes.over.into_iter().map(|key| (key, None));
        let open = (
            pair::code_key(&code),
            Some(pair::code_value(input.person, now)),
        );
        let effects = forget.chain([open]).map(|(key, value)| Effect::Set {
            of: Place::GATEWAY,
            key: key.into(),
            value,
        });
        ending.effects.extend(effects);
        Ok(Some(ending))
    }
}
