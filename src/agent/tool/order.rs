//! In which order the calls of one answer run.
//!
//! Owns the strategies. Pure: it puts places into groups; each group runs at once, one group after the other, and
//! the results are given back in the order of the calls whatever ran when.

use super::config::Strategy;

/// What the order depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// It changes something.
    pub writes: bool,
    /// What it is about.
    pub resource: Option<String>,
    /// It is an errand: it stands apart from other calls, and runs beside its like whatever these do.
    pub apart: bool,
}

/// The calls, as places in `kinds`, in groups.
#[must_use]
pub fn groups(strategy: Strategy, parallel: bool, kinds: &[Kind]) -> Vec<Vec<usize>> {
    let all = 0..kinds.len();
    match strategy {
        _ if !parallel => all.map(|place| vec![place]).collect(),
        Strategy::Sequential => all.map(|place| vec![place]).collect(),
        Strategy::Eager => vec![all.collect()],
        Strategy::Smart => smart(kinds),
    }
}

/// What is read after something was changed sees the change: a call that writes is a group of its own, and so are errands
/// that follow one another.
fn smart(kinds: &[Kind]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let (mut open, mut apart) = (false, false);
    for (place, kind) in kinds.iter().enumerate() {
        let about_the_same = |other: &usize| {
            let other = kinds.get(*other).and_then(|kind| kind.resource.as_ref());
            other.is_some() && other == kind.resource.as_ref()
        };
        let fits = match kind.apart {
            true => apart,
            false => open && !kind.writes,
        };
        match groups.last_mut() {
            Some(group) if fits && !group.iter().any(about_the_same) => group.push(place),
            _ => groups.push(vec![place]),
        }
        apart = kind.apart;
        open = !kind.apart && !kind.writes;
    }
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, prop_assert_eq, proptest};

    use super::*;

    fn kinds(text: &str) -> Vec<Kind> {
        text.chars()
            .map(|sign| Kind {
                writes: sign == 'W',
                apart: sign == 'E',
                resource: sign.is_ascii_lowercase().then(|| sign.to_string()),
            })
            .collect()
    }

    #[test]
    fn each_strategy_has_its_order() {
        let smart = |text: &str| groups(Strategy::Smart, true, &kinds(text));
        assert_eq!(smart("..."), [vec![0, 1, 2]]);
        assert_eq!(
            smart(".W.W."),
            [vec![0], vec![1], vec![2], vec![3], vec![4]]
        );
        assert_eq!(smart("..WW.."), [vec![0, 1], vec![2], vec![3], vec![4, 5]]);
        assert_eq!(smart("aba.b"), [vec![0, 1], vec![2, 3, 4]]);
        assert_eq!(
            smart(".EE.WEE"),
            [vec![0], vec![1, 2], vec![3], vec![4], vec![5, 6]]
        );
        let eager = groups(Strategy::Eager, true, &kinds(".W."));
        assert_eq!(eager, [vec![0, 1, 2]]);
        for (strategy, parallel) in [(Strategy::Sequential, true), (Strategy::Eager, false)] {
            let single = groups(strategy, parallel, &kinds(".W."));
            assert_eq!(single, [vec![0], vec![1], vec![2]]);
        }
    }

    proptest! {
        #[test]
        fn every_call_runs_once_and_nothing_passes_a_write(text in "[WE.ab]{0,30}") {
            let kinds = kinds(&text);
            let groups = groups(Strategy::Smart, true, &kinds);
            let flat: Vec<usize> = groups.iter().flatten().copied().collect();
            prop_assert_eq!(flat, (0..kinds.len()).collect::<Vec<_>>());
            for group in &groups {
                prop_assert!(group.len() == 1 || group.iter().all(|at| !kinds[*at].writes));
                let errands = group.iter().filter(|at| kinds[**at].apart).count();
                prop_assert!(errands == 0 || errands == group.len());
            }
        }
    }
}
