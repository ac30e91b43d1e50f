//! /answer: words for a question that the model asked.
//!
//! Owns how they are read off the command. Who may answer, and that it is done once, is `approve`'s.

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    approve::{Given, answer_it, list, refuse},
    argument::{Kind, Takes, always},
    public,
};
use crate::{
    i18n::{About, arguments::Label, consent::Consent},
    pending::id_of,
    permission::{Capability, Level, Scope},
    reason::Reason,
    store::StoreError,
};

/// /answer
#[derive(Debug)]
pub struct Answer;

static SPEC: Spec = Spec {
    name: "answer",
    aliases: &[],
    about: About::Answer,
    takes: Takes::These(&[
        always(Kind::Word(&[]), Label::Id),
        always(Kind::Text(&[]), Label::Reply),
    ]),
    level: Level::Public,
    when: When::Now,
};

#[async_trait]
impl Command for Answer {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        public()
    }

    fn answers(&self) -> bool {
        true
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let arguments = call.arguments.trim();
        if arguments.is_empty() {
            return list(&call, desk).await;
        }
        let (name, words) = arguments
            .split_once(char::is_whitespace)
            .unwrap_or((arguments, ""));
        let Some(id) = id_of(name) else {
            return Ok(refuse(&call, Reason::BadArguments, &Consent::Unknown));
        };
        let words = words.trim();
        let given = Given {
            id,
            hash: String::new(),
            choice: (!words.is_empty()).then(|| words.to_owned()),
            yes: true,
        };
        answer_it(call, desk, given).await
    }
}
