//! How a message is queued: its kind and lane, and the small number under which that is stored.
//!
//! Owns the encoding in the journal's `route` column: the numbers never change their meaning.

use super::queue::Kind;
use crate::schedule::lane::Lane;

/// What a message is to the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// A control command: acts at once and never waits in a queue.
    Control,
    /// Anything that is queued.
    Queued(Kind, Lane),
    /// A message to the model that never shares a turn with its neighbours.
    Alone(Lane),
}

const CONTROL: u8 = 0x0f;
/// Versions that do not know it read an ordinary message.
const ALONE: u8 = 3;

impl Route {
    /// The number that is stored.
    #[must_use]
    pub fn code(self) -> u8 {
        let (kind, lane) = match self {
            Self::Control => return CONTROL,
            Self::Queued(Kind::Message, lane) => (0, lane),
            Self::Queued(Kind::InOrder, lane) => (1, lane),
            Self::Queued(Kind::Now, lane) => (2, lane),
            Self::Alone(lane) => (ALONE, lane),
        };
        let lane = match lane {
            Lane::Control => 0,
            Lane::Command => 1,
            Lane::Direct => 2,
            Lane::Ambient => 3,
            Lane::Background => 4,
        };
        lane << 4 | kind
    }

    /// How it waits: its kind, its lane, and whether it never shares a turn; `None` for what never waits.
    #[must_use]
    pub fn queued(self) -> Option<(Kind, Lane, bool)> {
        match self {
            Self::Control => None,
            Self::Queued(kind, lane) => Some((kind, lane, false)),
            Self::Alone(lane) => Some((Kind::Message, lane, true)),
        }
    }

    /// Reads a stored number; an unknown one is an ordinary message, so that nothing is lost.
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        if code == CONTROL {
            return Self::Control;
        }
        let kind = match code & 0x0f {
            1 => Kind::InOrder,
            2 => Kind::Now,
            _ => Kind::Message,
        };
        let lane = match code >> 4 {
            0 => Lane::Control,
            1 => Lane::Command,
            3 => Lane::Ambient,
            4 => Lane::Background,
            _ => Lane::Direct,
        };
        if code & 0x0f == ALONE {
            return Self::Alone(lane);
        }
        Self::Queued(kind, lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_come_back_as_they_went() {
        let kinds = [Kind::Message, Kind::InOrder, Kind::Now];
        let lanes = [
            Lane::Control,
            Lane::Command,
            Lane::Direct,
            Lane::Ambient,
            Lane::Background,
        ];
        assert_eq!(Route::from_code(Route::Control.code()), Route::Control);
        for kind in kinds {
            for lane in lanes {
                let route = Route::Queued(kind, lane);
                assert_eq!(Route::from_code(route.code()), route);
            }
            let alone = Route::Alone(lanes[0]);
            assert_eq!(Route::from_code(alone.code()), alone);
        }
    }
}
