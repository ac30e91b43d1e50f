//! Pauses that the platform demands.
//!
//! Owns which calls have to wait: all of them, or those of one kind in one channel. Bounded. Pure: the time is an
//! argument.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use weirgate_sdk::Freeze;

/// Kinds of calls that are kept; the one whose pause ends first is forgotten.
const MAX_PAUSES: usize = 1_024;

/// A kind of call, and the channel in which it is made.
type Route = (u8, u64);

/// The pauses under way.
#[derive(Debug, Default)]
pub struct Pauses(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    all: Option<Instant>,
    routes: Vec<(Route, Instant)>,
}

impl Pauses {
    /// A pause begins; it never makes one shorter that is under way.
    pub fn begin(&self, route: Route, after: Duration, scope: Freeze, now: Instant) {
        let until = now + after;
        let mut state = self.0.lock();
        if scope == Freeze::Account {
            state.all = state.all.max(Some(until));
            return;
        }
        state.routes.retain(|(_, until)| *until > now);
        if let Some((_, known)) = state.routes.iter_mut().find(|(known, _)| *known == route) {
            *known = until.max(*known);
            return;
        }
        if state.routes.len() >= MAX_PAUSES {
            let first = state.routes.iter().enumerate();
            let first = first.min_by_key(|(_, (_, until))| *until);
            if let Some(index) = first.map(|(index, _)| index) {
                state.routes.swap_remove(index);
            }
        }
        state.routes.push((route, until));
    }

    /// What is left of the pause for a call, and what it freezes.
    pub fn left(&self, route: Route, now: Instant) -> Option<(Duration, Freeze)> {
        let state = self.0.lock();
        let left = |until: Instant| {
            Some(until.saturating_duration_since(now)).filter(|left| !left.is_zero())
        };
        if let Some(left) = state.all.and_then(left) {
            return Some((left, Freeze::Account));
        }
        let known = state.routes.iter().find(|(known, _)| *known == route);
        let left = known.and_then(|(_, until)| left(*until))?;
        Some((left, Freeze::Conversation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test]
    async fn a_pause_is_for_its_route_alone_until_it_ends() {
        let (pauses, now) = (Pauses::default(), Instant::now());
        pauses.begin((4, 5), 7 * SECOND, Freeze::Conversation, now);
        pauses.begin((4, 5), SECOND, Freeze::Conversation, now);
        let left = pauses.left((4, 5), now + 3 * SECOND);
        assert_eq!(left, Some((4 * SECOND, Freeze::Conversation)));
        assert_eq!(pauses.left((3, 5), now), None);
        assert_eq!(pauses.left((4, 6), now), None);
        assert_eq!(pauses.left((4, 5), now + 7 * SECOND), None);
    }

    #[tokio::test]
    async fn a_pause_of_all_is_for_all() {
        let (pauses, now) = (Pauses::default(), Instant::now());
        pauses.begin((4, 5), 2 * SECOND, Freeze::Account, now);
        assert_eq!(
            pauses.left((0, 0), now),
            Some((2 * SECOND, Freeze::Account))
        );
        assert_eq!(pauses.left((0, 0), now + 2 * SECOND), None);
    }

    #[tokio::test]
    async fn only_so_many_are_kept() {
        let (pauses, now) = (Pauses::default(), Instant::now());
        for channel in 0..=1_024_u32 {
            let after = (1 + channel) * SECOND;
            pauses.begin((4, channel.into()), after, Freeze::Conversation, now);
        }
        assert_eq!(pauses.0.lock().routes.len(), MAX_PAUSES);
        assert_eq!(pauses.left((4, 0), now), None, "the shortest made room");
    }
}
