//! Assembles the calls of an answer of the responses format, each of which is an item.
//!
//! Owns which call a piece belongs to: the one at its place, of its id. A piece that names two calls or none, pieces
//! that are not what the provider says the whole is, and a call that is never said to be whole make all calls of the
//! answer unusable. Pure.

use super::super::super::{
    ToolCall,
    calls::{Assembler, Broken, MAX_CALLS, Piece},
};

/// What an event says of a call; empty words count as absent.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told<'a> {
    /// The item's place in the answer.
    pub(super) place: Option<i64>,
    /// The item's id.
    pub(super) item: &'a str,
    /// The id under which its result goes back.
    pub(super) call: &'a str,
    /// The tool.
    pub(super) name: &'a str,
}

/// One call on its way.
#[derive(Debug, Default)]
struct Open {
    place: Option<i64>,
    item: String,
    call: String,
    name: String,
    /// The arguments as far as they came.
    pieces: String,
    /// The arguments as the provider says that they are.
    whole: Option<String>,
}

/// The calls of one answer on their way.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<Open>,
    broken: Option<Broken>,
}

impl Calls {
    /// Whether none was made.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.broken.is_none()
    }

    /// A call as an item: at its beginning, or with its whole arguments.
    pub(super) fn item(&mut self, told: Told<'_>, arguments: Option<&str>) {
        let done = self.find(told).and_then(|at| {
            let at = match at {
                Some(at) => at,
                None => self.begin(told)?,
            };
            self.name(at, told)?;
            arguments.map_or(Ok(()), |whole| self.end(at, whole))
        });
        self.note(done);
    }

    /// More of a call's arguments.
    pub(super) fn piece(&mut self, told: Told<'_>, more: &str) {
        let done = self.known(told).and_then(|at| {
            let open = self.open.get_mut(at).ok_or(Broken::Mixed)?;
            if open.whole.is_some() {
                return Err(Broken::Mixed);
            }
            open.pieces.push_str(more);
            Ok(())
        });
        self.note(done);
    }

    /// The whole of a call's arguments.
    pub(super) fn whole(&mut self, told: Told<'_>, arguments: &str) {
        let done = self.known(told).and_then(|at| self.end(at, arguments));
        self.note(done);
    }

    /// The calls in order.
    ///
    /// # Errors
    /// Why none of them may run. `cut`: the answer ended at a limit.
    pub(super) fn finish(self, cut: bool) -> Result<Vec<ToolCall>, Broken> {
        if let Some(broken) = self.broken {
            return Err(broken);
        }
        if cut && !self.open.is_empty() {
            return Err(Broken::CutOff);
        }
        let mut open = self.open;
        open.sort_by_key(|call| call.place.unwrap_or(i64::MAX));
        let mut assembler = Assembler::default();
        for (index, call) in (0_i64..).zip(&open) {
            let arguments = call.whole.as_deref().ok_or(Broken::Arguments)?;
            assembler.event(&[Piece {
                index: Some(index),
                id: Some(&call.call),
                name: Some(&call.name),
                arguments: Some(arguments),
            }]);
        }
        assembler.finish(false)
    }

    fn note(&mut self, done: Result<(), Broken>) {
        if let Err(broken) = done {
            self.broken.get_or_insert(broken);
        }
    }

    /// The call that an event speaks of; none if it is a new one.
    fn find(&self, told: Told<'_>) -> Result<Option<usize>, Broken> {
        let by_id = (!told.item.is_empty())
            .then(|| self.open.iter().position(|open| open.item == told.item))
            .flatten();
        let by_place = told
            .place
            .and_then(|place| self.open.iter().position(|open| open.place == Some(place)));
        let differs = |at: usize| {
            let Some(open) = self.open.get(at) else {
                return true;
            };
            let other_id = !told.item.is_empty() && !open.item.is_empty() && told.item != open.item;
            let other_place =
                told.place.is_some() && open.place.is_some() && told.place != open.place;
            other_id || other_place
        };
        match by_id.or(by_place) {
            Some(at) if differs(at) => Err(Broken::Mixed),
            found => Ok(found),
        }
    }

    fn known(&self, told: Told<'_>) -> Result<usize, Broken> {
        self.find(told)?.ok_or(Broken::Mixed)
    }

    fn begin(&mut self, told: Told<'_>) -> Result<usize, Broken> {
        let at = self.open.len();
        if at >= MAX_CALLS {
            return Err(Broken::TooMany);
        }
        self.open.push(Open {
            place: told.place,
            item: told.item.to_owned(),
            ..Open::default()
        });
        Ok(at)
    }

    /// Takes the names of a call; it keeps those that it has.
    fn name(&mut self, at: usize, told: Told<'_>) -> Result<(), Broken> {
        let open = self.open.get_mut(at).ok_or(Broken::Mixed)?;
        for (kept, word) in [(&mut open.call, told.call), (&mut open.name, told.name)] {
            if kept.is_empty() {
                word.clone_into(kept);
            } else if !word.is_empty() && kept != word {
                return Err(Broken::Mixed);
            }
        }
        Ok(())
    }

    fn end(&mut self, at: usize, whole: &str) -> Result<(), Broken> {
        let open = self.open.get_mut(at).ok_or(Broken::Mixed)?;
        let before = open.whole.as_deref();
        let before = before.or((!open.pieces.is_empty()).then_some(open.pieces.as_str()));
        if before.is_some_and(|before| before.trim() != whole.trim()) {
            return Err(Broken::Mixed);
        }
        open.whole.get_or_insert_with(|| whole.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(place: Option<i64>, item: &str) -> Told<'_> {
        Told {
            place,
            item,
            ..Told::default()
        }
    }

    fn begun(calls: &[(i64, &'static str)]) -> Calls {
        let mut open = Calls::default();
        for (place, item) in calls {
            let told = Told {
                call: item,
                name: "f",
                ..told(Some(*place), item)
            };
            open.item(told, None);
        }
        open
    }

    fn arguments(calls: Calls) -> Result<Vec<String>, Broken> {
        let calls = calls.finish(false)?;
        Ok(calls.into_iter().map(|call| call.arguments).collect())
    }

    #[test]
    fn pieces_go_to_the_call_of_their_id_or_place_in_whatever_order() {
        let mut calls = begun(&[(2, "b"), (1, "a")]);
        calls.piece(told(Some(1), "a"), r#"{"x""#);
        calls.piece(told(None, "b"), "{}");
        calls.piece(told(Some(1), ""), ":1}");
        calls.whole(told(None, "a"), r#"{"x":1}"#);
        calls.item(told(Some(2), "b"), Some("{}"));
        assert_eq!(arguments(calls), Ok(vec![r#"{"x":1}"#.into(), "{}".into()]));
    }

    #[test]
    fn what_cannot_be_told_for_certain_runs_nothing() {
        let spoilt: [fn(&mut Calls); 7] = [
            |calls| calls.piece(told(Some(1), "b"), "{}"),
            |calls| calls.piece(told(Some(7), ""), "{}"),
            |calls| calls.piece(told(None, "c"), "{}"),
            |calls| calls.piece(told(None, ""), "{}"),
            |calls| calls.piece(told(Some(1), "a"), "more"),
            |calls| calls.whole(told(Some(1), "a"), r#"{"x":2}"#),
            |calls| {
                let other = Told {
                    name: "g",
                    ..told(Some(1), "a")
                };
                calls.item(other, None);
            },
        ];
        for (at, spoil) in spoilt.iter().enumerate() {
            let mut calls = begun(&[(1, "a"), (2, "b")]);
            calls.piece(told(Some(1), "a"), r#"{"x":1}"#);
            calls.whole(told(Some(1), "a"), r#"{"x":1}"#);
            calls.whole(told(Some(2), "b"), "{}");
            spoil(&mut calls);
            assert_eq!(arguments(calls), Err(Broken::Mixed), "{at}");
        }
    }

    #[test]
    fn a_call_that_is_never_whole_runs_nothing() {
        let calls = begun(&[(1, "a")]);
        assert_eq!(arguments(calls), Err(Broken::Arguments));
        let mut calls = begun(&[(1, "a")]);
        calls.piece(told(Some(1), "a"), "{}");
        assert_eq!(arguments(calls), Err(Broken::Arguments));
        let mut calls = begun(&[(1, "a")]);
        calls.whole(told(Some(1), "a"), r#"{"x":"#);
        assert_eq!(arguments(calls), Err(Broken::Arguments));
        let mut calls = begun(&[(1, "a")]);
        calls.whole(told(Some(1), "a"), "");
        assert_eq!(arguments(calls), Ok(vec!["{}".into()]));
    }

    #[test]
    fn there_may_not_be_too_many() {
        let mut calls = Calls::default();
        for place in 0..=i64::try_from(MAX_CALLS).unwrap() {
            calls.item(told(Some(place), ""), Some("{}"));
        }
        assert_eq!(arguments(calls), Err(Broken::TooMany));
    }
}
