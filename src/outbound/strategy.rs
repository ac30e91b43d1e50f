//! How an answer reaches the person: streamed, in segments, or whole.
//!
//! Owns the choice. Pure; what a platform supports and what a person prefers come as arguments.

pub use super::config::Strategy;

impl Strategy {
    /// The name in agent.yaml, in /output and in the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Streaming => "streaming",
            Self::Segmented => "segmented",
            Self::Full => "full",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Streaming, Self::Segmented, Self::Full]
            .into_iter()
            .find(|strategy| strategy.name() == name)
    }
}

/// What is possible.
#[derive(Debug, Clone, Copy)]
pub struct Possible {
    /// Streaming is enabled and the platform can show it.
    pub streaming: bool,
    /// Segmenting is enabled.
    pub segmented: bool,
}

impl Possible {
    fn has(self, strategy: Strategy) -> bool {
        match strategy {
            Strategy::Streaming => self.streaming,
            Strategy::Segmented => self.segmented,
            Strategy::Full => true,
        }
    }
}

/// The first wish that is possible: the person's, the platform's in agent.yaml, the default. `None`
/// means that none is: segment if the answer does not fit into one message, else send it whole.
#[must_use]
pub fn choose(wishes: [Option<Strategy>; 3], possible: Possible) -> Option<Strategy> {
    wishes
        .into_iter()
        .flatten()
        .find(|strategy| possible.has(*strategy))
}

#[cfg(test)]
mod tests {
    use super::{Strategy::*, *};

    #[test]
    fn the_first_possible_wish_wins() {
        let all = Possible {
            streaming: true,
            segmented: true,
        };
        let no_stream = Possible {
            streaming: false,
            ..all
        };
        let nothing = Possible {
            streaming: false,
            segmented: false,
        };
        let cases = [
            (
                [Some(Full), Some(Streaming), Some(Segmented)],
                all,
                Some(Full),
            ),
            (
                [None, Some(Streaming), Some(Segmented)],
                all,
                Some(Streaming),
            ),
            ([None, None, Some(Segmented)], all, Some(Segmented)),
            (
                [Some(Streaming), Some(Segmented), None],
                no_stream,
                Some(Segmented),
            ),
            ([Some(Streaming), None, Some(Streaming)], no_stream, None),
            (
                [Some(Streaming), Some(Segmented), Some(Full)],
                nothing,
                Some(Full),
            ),
            ([None, None, Some(Segmented)], nothing, None),
        ];
        for (wishes, possible, expected) in cases {
            assert_eq!(
                choose(wishes, possible),
                expected,
                "{wishes:?} {possible:?}"
            );
        }
    }

    #[test]
    fn names_come_back() {
        for strategy in [Streaming, Segmented, Full] {
            assert_eq!(Strategy::from_name(strategy.name()), Some(strategy));
        }
        assert_eq!(Strategy::from_name("other"), None);
    }
}
