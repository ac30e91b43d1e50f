//! A model in memory: slow, faulty, and suspicious of two turns at once.
//!
//! Owns what it answers, and the check that no queue and no person has two turns under way.

use std::{collections::HashMap, sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::time::sleep;
use weirgate::{
    agent::model::{ChatRequest, Delta, ErrorClass, FinishReason, Model, ModelError, ModelStream},
    inbound::config::InputBuffer,
};

use super::dice::Dice;

/// How a model is.
#[derive(Debug, Clone, Copy)]
pub struct Manner {
    /// Faults of all kinds, in thousandths.
    pub faults: u64,
    /// It panics in a while.
    pub panics: bool,
    /// Milliseconds to the first word, at most.
    pub thinking: u64,
}

/// What was seen of all requests, over all processes.
#[derive(Debug, Default)]
pub struct Watch {
    /// Requests under way by what they must be alone in.
    under_way: HashMap<String, usize>,
    /// Where two were under way.
    pub together: Vec<String>,
    /// Requests in all.
    pub requests: usize,
    /// The most requests at once.
    pub most: usize,
    now: usize,
}

/// The model.
pub struct SimModel {
    name: String,
    manner: Manner,
    /// Whether a queue is one of a user, and one of a conversation.
    keying: (bool, bool),
    dice: Mutex<Dice>,
    watch: Arc<Mutex<Watch>>,
}

impl SimModel {
    pub fn new(
        manner: Manner,
        input: &InputBuffer,
        dice: Dice,
        watch: Arc<Mutex<Watch>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            name: "sim/one".to_owned(),
            manner,
            keying: (input.per_user_queue, input.per_conversation_queue),
            dice: Mutex::new(dice),
            watch,
        })
    }
}

/// The marks `#user.conversation.number` in a text, in order.
pub fn marks(text: &str) -> Vec<String> {
    let words = text.split_whitespace().filter(|word| word.starts_with('#'));
    words.map(str::to_owned).collect()
}

/// A place that only one request may hold.
struct Alone {
    places: Vec<String>,
    watch: Arc<Mutex<Watch>>,
}

impl Alone {
    fn enter(watch: &Arc<Mutex<Watch>>, keying: (bool, bool), text: &str) -> Self {
        let mut seen = watch.lock();
        let mut places: Vec<String> = Vec::new();
        if let Some(mark) = marks(text).first()
            && let Some((user, rest)) = mark.split_once('.')
        {
            // A person has one turn at a time; so has a queue. The last sign of a name tells the account.
            let conversation = rest.split('.').next().unwrap_or_default();
            let account = user.chars().last().unwrap_or_default();
            let queue = match keying {
                (true, true) => format!("{user}.{conversation}"),
                (true, false) => format!("{user}.everywhere"),
                (false, true) => format!("everybody.{account}.{conversation}"),
                (false, false) => format!("everybody.{account}.everywhere"),
            };
            places.extend([user.to_owned(), queue]);
        }
        for place in &places {
            let count = seen.under_way.entry(place.clone()).or_default();
            *count += 1;
            if *count > 1 {
                seen.together.push(place.clone());
            }
        }
        seen.requests += 1;
        seen.now += 1;
        seen.most = seen.most.max(seen.now);
        drop(seen);
        Self {
            places,
            watch: Arc::clone(watch),
        }
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        let mut seen = self.watch.lock();
        seen.now -= 1;
        for place in &self.places {
            if let Some(count) = seen.under_way.get_mut(place) {
                *count -= 1;
                if *count == 0 {
                    seen.under_way.remove(place);
                }
            }
        }
    }
}

#[async_trait]
impl Model for SimModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &str {
        "sim"
    }

    async fn open(&self, request: &ChatRequest) -> Result<Box<dyn ModelStream>, ModelError> {
        let manner = self.manner;
        let mut dice = self.dice.lock().fork();
        let text = request.last_user_text().unwrap_or_default();
        let alone = Alone::enter(&self.watch, self.keying, text);
        sleep(Duration::from_millis(dice.within(1, manner.thinking))).await;
        if dice.chance(manner.faults) {
            return Err(fault(&mut dice));
        }
        assert!(
            !(manner.panics && dice.chance(4)),
            "a scripted panic in a turn"
        );
        let mut pieces: Vec<Piece> = Vec::new();
        let answer = format!("answer to {}", marks(text).join(" "));
        let filling = dice.pick(&[0, 0, 0, 30, 150]);
        let filler = std::iter::repeat_n("and so on, word by word.", filling / 4);
        for word in answer
            .split_inclusive(' ')
            .chain(filler.flat_map(|line| [line, " "]))
        {
            pieces.push(Piece::Word(word.to_owned()));
        }
        if dice.chance(manner.faults) {
            let place = dice.index(pieces.len());
            let (place, piece) = match dice.below(5) {
                0 | 1 => (place, Piece::Fault(fault(&mut dice))),
                2 => (place, Piece::Silence),
                3 => (place, Piece::End(FinishReason::Length)),
                _ => (0, Piece::End(FinishReason::ContentFilter)),
            };
            pieces.truncate(place);
            pieces.push(piece);
        }
        pieces.push(Piece::End(FinishReason::Stop));
        pieces.reverse();
        let pace = dice.within(1, 40);
        Ok(Box::new(Stream {
            pieces,
            pace,
            _alone: alone,
        }))
    }
}

fn fault(dice: &mut Dice) -> ModelError {
    let kind = dice.pick(&[
        ErrorClass::RateLimit,
        ErrorClass::Timeout,
        ErrorClass::Network,
        ErrorClass::Api,
        ErrorClass::Security,
    ]);
    let mut error = ModelError::new(kind, "scripted");
    if kind == ErrorClass::RateLimit && dice.chance(500) {
        error.retry_after = Some(Duration::from_millis(dice.within(100, 4_000)));
    }
    if dice.chance(200) {
        error = error.permanent();
    }
    error
}

enum Piece {
    Word(String),
    Fault(ModelError),
    Silence,
    End(FinishReason),
}

struct Stream {
    /// In reverse.
    pieces: Vec<Piece>,
    pace: u64,
    _alone: Alone,
}

#[async_trait]
impl ModelStream for Stream {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        sleep(Duration::from_millis(self.pace)).await;
        match self.pieces.pop()? {
            Piece::Word(word) => Some(Ok(Delta::Text(word))),
            Piece::Fault(error) => {
                self.pieces.clear();
                Some(Err(error))
            }
            // Until the turn's time is over.
            Piece::Silence => std::future::pending().await,
            Piece::End(reason) => {
                self.pieces.clear();
                Some(Ok(Delta::Finish(reason)))
            }
        }
    }
}
