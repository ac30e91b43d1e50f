//! How a tool asks a model for the one who called it.
//!
//! Owns what that took: it counts like what the turn itself asks. Which models may be asked is decided before, as for a
//! turn. It offers the model no tools.

use parking_lot::Mutex;

use crate::{
    agent::{
        charge::{counted, usage_of},
        history::Cost,
        model::{Chain, ChainError, ChatRequest, Completion, Message, Offered, Silent},
        rules::Rules,
    },
    trace::turn_id,
};

/// The models of somebody's turn, and what tools took of them.
#[derive(Debug)]
pub struct Asking {
    chain: Chain,
    turn: i64,
    random: fn() -> f64,
    cost: Mutex<Cost>,
}

impl Asking {
    /// Nothing was asked yet.
    #[must_use]
    pub fn new(chain: Chain, turn: i64, random: fn() -> f64) -> Self {
        Self {
            chain,
            turn,
            random,
            cost: Mutex::default(),
        }
    }

    /// Asks the models in their order, with retries. Dropping the future stops it.
    ///
    /// # Errors
    /// No model answered.
    pub async fn ask(
        &self,
        rules: &Rules,
        messages: Vec<Message>,
    ) -> Result<Completion, ChainError> {
        let request = ChatRequest {
            messages,
            max_output_tokens: None,
            temperature: None,
            offered: Offered::default(),
            turn: turn_id(self.turn),
        };
        let (permits, mut unseen) = (&*rules.permits, Silent);
        let run = self
            .chain
            .run(&request, permits, None, &mut unseen, &self.random);
        let completion = run.await?;
        let usage = usage_of(&request, &completion);
        let price = counted(&rules.choices, &completion, usage);
        self.cost.lock().add(&Cost {
            model: completion.model.clone(),
            requests: 1,
            prompt: usage.prompt,
            completion: usage.completion,
            price,
            ..Cost::default()
        });
        Ok(completion)
    }

    /// What it took.
    #[must_use]
    pub fn into_cost(self) -> Cost {
        self.cost.into_inner()
    }
}
