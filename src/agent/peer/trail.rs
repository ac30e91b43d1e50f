//! The way of a task through gateways that give it to each other.
//!
//! Owns when a task has come far enough. A gateway puts its mark on each task that it gives away, and does none that has
//! its own mark already: it would give it away again, and the others to it. Pure.

/// Most gateways that a task comes through.
const MOST: usize = 5;

/// Whether a task that came this way is not to be done by the gateway of this mark.
#[must_use]
pub fn ends_here(passed: &[String], mark: &str) -> bool {
    passed.len() >= MOST || passed.iter().any(|known| known == mark)
}

/// The way of what this gateway gives away because of it.
#[must_use]
pub fn onward(passed: &[String], mark: &str) -> Vec<String> {
    let own = std::iter::once(mark.to_owned());
    passed.iter().cloned().chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_goes_through_no_gateway_twice_and_through_few_at_all() {
        let mut passed = Vec::new();
        for mark in ["a", "b", "c", "d", "e"] {
            assert!(!ends_here(&passed, mark));
            passed = onward(&passed, mark);
            assert!(ends_here(&passed, mark) && ends_here(&passed, "a"));
        }
        assert!(ends_here(&passed, "f"), "it came far enough");
    }
}
