//! Assembles tool calls from the pieces in which they come.
//!
//! Owns the rules for which piece belongs to which call: by its index, its id, its name or its place, whatever
//! the provider sends of these. What cannot be told for certain, or ends before its arguments do, makes all calls
//! of the answer unusable: none of them is to run. Pure; it runs nothing.

use serde_json::{Map, Value};

use super::ToolCall;

/// Most calls of one answer.
pub const MAX_CALLS: usize = 128;
/// Longest name or id that is taken, in bytes.
const MAX_WORD: usize = 256;

/// One piece of a call, as an event carries it. Empty words count as absent.
#[derive(Debug, Clone, Copy, Default)]
pub struct Piece<'a> {
    /// Which of the calls of the answer.
    pub index: Option<i64>,
    /// The provider's id of the call.
    pub id: Option<&'a str>,
    /// The tool.
    pub name: Option<&'a str>,
    /// More of the arguments' JSON.
    pub arguments: Option<&'a str>,
}

/// Why the calls of an answer cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// The arguments of a call end too early, or are no JSON object.
    #[error("the arguments of a call are cut off or are no JSON object")]
    Arguments,
    /// The answer ended at a limit in the middle of its calls.
    #[error("the answer was cut off at its limit")]
    CutOff,
    /// A call without the name of a tool.
    #[error("a call names no tool")]
    NoName,
    /// It cannot be told which call a piece belongs to.
    #[error("the pieces of several calls are mixed up")]
    Mixed,
    /// There are more than [`MAX_CALLS`], or a name is too long.
    #[error("there are too many calls")]
    TooMany,
}

#[derive(Debug, Default)]
struct Open {
    index: Option<i64>,
    id: String,
    name: String,
    arguments: String,
}

impl Open {
    /// Whether the arguments are whole already.
    fn is_whole(&self) -> bool {
        self.arguments.trim_end().ends_with('}') && object(&self.arguments).is_some()
    }
}

/// The calls of one answer on their way.
#[derive(Debug, Default)]
pub struct Assembler {
    calls: Vec<Open>,
    /// The calls that the newest event which opened any has opened, as places in `calls`.
    opened: Vec<usize>,
    broken: Option<Broken>,
}

impl Assembler {
    /// Whether no piece has come.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.broken.is_none()
    }

    /// Takes the pieces of one event, in their order.
    pub fn event(&mut self, pieces: &[Piece<'_>]) {
        let mut opened = Vec::new();
        for (place, piece) in pieces.iter().enumerate() {
            let before = self.calls.len();
            let found = self.find(*piece, place, pieces.len());
            match found.and_then(|at| self.add(at, *piece)) {
                Ok(()) if self.calls.len() > before => opened.push(before),
                Ok(()) => {}
                Err(broken) => {
                    self.broken.get_or_insert(broken);
                }
            }
        }
        if !opened.is_empty() {
            self.opened = opened;
        }
    }

    /// The calls in order, each with an id of its own and whole arguments.
    ///
    /// # Errors
    /// Why none of them may run. `cut`: the answer ended at a limit.
    pub fn finish(self, cut: bool) -> Result<Vec<ToolCall>, Broken> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        if cut {
            return Err(Broken::CutOff);
        }
        let mut open = self.calls;
        open.sort_by_key(|call| call.index.unwrap_or(i64::MAX));
        let mut calls: Vec<ToolCall> = Vec::with_capacity(open.len());
        for call in open {
            if call.name.is_empty() {
                return Err(Broken::NoName);
            }
            let arguments = if call.arguments.trim().is_empty() {
                // A tool without parameters.
                "{}".to_owned()
            } else {
                object(&call.arguments).ok_or(Broken::Arguments)?;
                call.arguments
            };
            let taken = |id: &str| id.is_empty() || calls.iter().any(|call| call.id == id);
            let id = if taken(&call.id) {
                format!("call_{}", calls.len())
            } else {
                call.id
            };
            let id = if taken(&id) { format!("{id}_") } else { id };
            calls.push(ToolCall {
                id,
                name: call.name,
                arguments,
            });
        }
        Ok(calls)
    }

    /// The place of the call that a piece belongs to; that of a new one if it begins one.
    fn find(&self, piece: Piece<'_>, place: usize, of: usize) -> Result<usize, Broken> {
        let id = word(piece.id);
        let name = word(piece.name);
        let new = self.calls.len();
        if let Some(index) = piece.index {
            let newest = self.calls.iter().rposition(|c| c.index == Some(index));
            return Ok(newest
                .filter(|at| !self.begins(*at, id, name, piece))
                .unwrap_or(new));
        }
        if !id.is_empty() {
            let same = self.calls.iter().rposition(|call| call.id == id);
            return Ok(same
                .filter(|at| !self.begins(*at, id, name, piece))
                .unwrap_or(new));
        }
        let Some(newest) = new.checked_sub(1) else {
            return Ok(new);
        };
        if !name.is_empty() {
            let begins = self.begins(newest, id, name, piece);
            return Ok(if begins { new } else { newest });
        }
        // Neither index, id nor name: by its place among the calls that were opened together.
        if of > 1 || self.opened.len() > 1 {
            return match self.opened.get(place) {
                Some(at) if of == self.opened.len() => Ok(*at),
                _ => Err(Broken::Mixed),
            };
        }
        Ok(newest)
    }

    /// Whether a piece that names the same index, id or place begins another call than the one there.
    fn begins(&self, at: usize, id: &str, name: &str, piece: Piece<'_>) -> bool {
        let Some(call) = self.calls.get(at) else {
            return true;
        };
        let other_id = !id.is_empty() && !call.id.is_empty() && id != call.id;
        let other_name = !name.is_empty() && !call.name.is_empty() && name != call.name;
        // Providers that repeat the name in every piece are told from a second call by whole arguments.
        let repeats = !name.is_empty()
            && piece
                .arguments
                .is_some_and(|more| more.trim_start().starts_with('{'))
            && call.is_whole();
        other_id || other_name || (repeats && !self.is_copy(at, piece))
    }

    /// Whether a piece says a whole call again, as some providers do in their last event.
    fn is_copy(&self, at: usize, piece: Piece<'_>) -> bool {
        let same_id = |call: &Open| word(piece.id) == call.id && !call.id.is_empty();
        self.calls.get(at).is_some_and(|call| {
            same_id(call) && piece.arguments.map(str::trim) == Some(call.arguments.trim())
        })
    }

    fn add(&mut self, at: usize, piece: Piece<'_>) -> Result<(), Broken> {
        let (id, name) = (word(piece.id), word(piece.name));
        if at >= MAX_CALLS || id.len() > MAX_WORD || name.len() > MAX_WORD {
            return Err(Broken::TooMany);
        }
        let copy = self.is_copy(at, piece) && self.calls.get(at).is_some_and(Open::is_whole);
        if at == self.calls.len() {
            self.calls.push(Open {
                index: piece.index,
                ..Open::default()
            });
        }
        let Some(call) = self.calls.get_mut(at) else {
            return Err(Broken::Mixed);
        };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        if !copy {
            call.arguments.push_str(piece.arguments.unwrap_or_default());
        }
        Ok(())
    }
}

fn word(text: Option<&str>) -> &str {
    text.unwrap_or_default().trim()
}

/// The arguments of a call; `None` if they are no whole JSON object.
#[must_use]
pub fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests;
