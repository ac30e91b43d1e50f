//! How much of its tools a turn has used.
//!
//! Owns the count of calls and retries and the guard against calls that go in circles. Pure.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicUsize, Ordering},
};

use super::search;
use crate::agent::model::{ToolCall, calls::object};

/// How often the same call may follow itself.
const IN_A_ROW: usize = 3;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admitted {
    /// It runs.
    Yes,
    /// The turn has made as many as it may.
    TooMany,
    /// It is the same as those before.
    Repeated,
    /// It is one more search than a turn, or an errand of one, may make.
    Searched,
}

/// How much a turn may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Most {
    /// Calls, with those of errands.
    pub calls: usize,
    /// Searches of the web, without those of errands.
    pub searches: usize,
}

/// What a turn has used.
#[derive(Debug, Default)]
pub struct Usage {
    /// Those of its errands count as well, like retries and files.
    calls: Arc<AtomicUsize>,
    last: Option<ToolCall>,
    in_a_row: usize,
    searches: usize,
    retries: Arc<AtomicU32>,
    files: Arc<AtomicU32>,
    /// The tools that were called or will be wanted, each once.
    names: Vec<String>,
}

impl Usage {
    /// Counts a call and says what becomes of it.
    pub fn admit(&mut self, call: &ToolCall, most: Most) -> Admitted {
        if !self.names.contains(&call.name) {
            self.names.push(call.name.clone());
        }
        if self.last.as_ref().is_some_and(|last| is_same(last, call)) {
            self.in_a_row += 1;
        } else {
            self.last = Some(call.clone());
            self.in_a_row = 1;
        }
        let before = self.calls.fetch_add(1, Ordering::Relaxed);
        self.searches += usize::from(call.name == search::NAME);
        if before >= most.calls {
            Admitted::TooMany
        } else if self.in_a_row >= IN_A_ROW {
            Admitted::Repeated
        } else if call.name == search::NAME && self.searches > most.searches {
            Admitted::Searched
        } else {
            Admitted::Yes
        }
    }

    /// The usage of an errand: what the turn has of calls, retries and files it has with its errands together.
    #[must_use]
    pub fn shared(&self) -> Self {
        Self {
            calls: Arc::clone(&self.calls),
            retries: Arc::clone(&self.retries),
            files: Arc::clone(&self.files),
            ..Self::default()
        }
    }

    /// Counts calls that were made before.
    pub fn count(&self, calls: usize) {
        self.calls.fetch_add(calls, Ordering::Relaxed);
    }

    /// Takes one of the retries that the turn has, at most `most` in all; says whether there was one.
    pub fn take_retry(&self, most: u32) -> bool {
        one_more(&self.retries, most)
    }

    /// Counts a file that is to go out, at most `most` in all; says whether it may.
    pub fn take_file(&self, most: u32) -> bool {
        one_more(&self.files, most)
    }

    /// Tools that will be wanted are offered as if they had been called.
    pub fn expect(&mut self, names: Vec<String>) {
        for name in names {
            if !self.names.contains(&name) {
                self.names.push(name);
            }
        }
    }

    /// The tools that were called or will be wanted.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

fn one_more(count: &AtomicU32, most: u32) -> bool {
    let more = |used: u32| (used < most).then_some(used + 1);
    let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
    count.fetch_update(set, get, more).is_ok()
}

/// Whether two calls ask for the same, whatever the spaces and the order of the arguments.
fn is_same(one: &ToolCall, other: &ToolCall) -> bool {
    one.name == other.name
        && (one.arguments == other.arguments || object(&one.arguments) == object(&other.arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall {
            id: String::new(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }

    fn at_most(calls: usize) -> Most {
        Most { calls, searches: 2 }
    }

    #[test]
    fn searches_have_a_limit_of_their_own_in_the_turn_and_in_each_errand() {
        let mut usage = Usage::default();
        let search = |words: &str| call(search::NAME, &format!(r#"{{"query":{words}}}"#));
        assert_eq!(usage.admit(&search("1"), at_most(9)), Admitted::Yes);
        let mut errand = usage.shared();
        for words in ["2", "3"] {
            assert_eq!(errand.admit(&search(words), at_most(9)), Admitted::Yes);
        }
        assert_eq!(errand.admit(&search("4"), at_most(9)), Admitted::Searched);
        assert_eq!(errand.admit(&call("f", "{}"), at_most(9)), Admitted::Yes);
        assert_eq!(usage.admit(&search("5"), at_most(9)), Admitted::Yes);
        assert_eq!(usage.admit(&search("6"), at_most(9)), Admitted::Searched);
    }

    #[test]
    fn the_third_equal_call_in_a_row_does_not_run() {
        let mut usage = Usage::default();
        let mut admit = |name, arguments| usage.admit(&call(name, arguments), at_most(99));
        assert_eq!(admit("f", r#"{"a":1,"b":2}"#), Admitted::Yes);
        assert_eq!(admit("f", r#"{ "b": 2, "a": 1 }"#), Admitted::Yes);
        assert_eq!(admit("f", r#"{"a":1,"b":2}"#), Admitted::Repeated);
        assert_eq!(admit("f", "{}"), Admitted::Yes);
        assert_eq!(admit("g", "{}"), Admitted::Yes);
        assert_eq!(admit("f", "{}"), Admitted::Yes);
        assert_eq!(usage.names(), ["f", "g"]);
    }

    #[test]
    fn calls_and_retries_are_counted_over_the_turn() {
        let mut usage = Usage::default();
        assert_eq!(usage.admit(&call("f", "{}"), at_most(1)), Admitted::Yes);
        assert_eq!(usage.admit(&call("g", "{}"), at_most(1)), Admitted::TooMany);
        assert!(usage.take_retry(2) && usage.take_retry(2) && !usage.take_retry(2));
        let mut errand = usage.shared();
        assert_eq!(errand.admit(&call("h", "{}"), at_most(3)), Admitted::Yes);
        assert_eq!(usage.admit(&call("i", "{}"), at_most(3)), Admitted::TooMany);
        assert!(!errand.take_retry(2));
    }
}
