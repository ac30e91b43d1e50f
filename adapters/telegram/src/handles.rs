//! Whose a user name is: those of the people whom the platform told of.
//!
//! Owns a bounded memory. A user name has one bearer at a time, and he may change it or give it away: who was told of last
//! has it, nobody has two, and what was not heard of for a week is nobody's. It asks nobody.

use std::{num::NonZeroUsize, time::Duration};

use lru::LruCache;
use parking_lot::Mutex;
use serde_json::Value;
use weirgate_sdk::Timestamp;

/// People who are remembered, those that were told of last.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(16_384).expect("not zero");
/// How long a user name is believed.
const LIFETIME: Duration = Duration::from_secs(7 * 24 * 3_600);
/// The longest user name, in bytes; the platform's have at most 32.
const LONGEST: usize = 64;

/// User names and their bearers.
#[derive(Debug)]
pub struct Handles(Mutex<Known>);

#[derive(Debug)]
struct Known {
    /// By the name in lower case.
    bearers: LruCache<Box<str>, (i64, Timestamp)>,
    names: LruCache<i64, Box<str>>,
}

impl Default for Handles {
    fn default() -> Self {
        Self(Mutex::new(Known {
            bearers: LruCache::new(REMEMBERED),
            names: LruCache::new(REMEMBERED),
        }))
    }
}

impl Handles {
    /// The platform told of something that people did: who they are stands in it.
    pub fn learn_from(&self, done: &Value, now: Timestamp) {
        let replied = &done["reply_to_message"];
        for said in [done, replied] {
            // The accounts that stand in for chats are nobody.
            if said["sender_chat"].is_null() {
                self.learn(&said["from"], now);
            }
        }
        self.learn(&done["new_chat_member"]["user"], now);
        for user in done["new_chat_members"].as_array().into_iter().flatten() {
            self.learn(user, now);
        }
    }

    /// The platform told of a user.
    pub fn learn(&self, user: &Value, now: Timestamp) {
        let Some(id) = user["id"].as_i64() else {
            return;
        };
        let name = user["username"].as_str().unwrap_or_default();
        let name = name.to_ascii_lowercase().into_boxed_str();
        let mut known = self.0.lock();
        let old = known.names.pop(&id);
        if let Some(old) = old.filter(|old| *old != name)
            && known
                .bearers
                .peek(&old)
                .is_some_and(|(bearer, _)| *bearer == id)
        {
            known.bearers.pop(&old);
        }
        if name.is_empty() || name.len() > LONGEST {
            return;
        }
        known.names.put(id, name.clone());
        known.bearers.put(name, (id, now));
    }

    /// Whose a user name is, in any case and without the mark of mention.
    #[must_use]
    pub fn bearer(&self, name: &str, now: Timestamp) -> Option<i64> {
        let known = self.0.lock();
        let (id, at) = *known.bearers.peek(name.to_ascii_lowercase().as_str())?;
        let lifetime = i64::try_from(LIFETIME.as_millis()).unwrap_or(i64::MAX);
        (now.saturating_sub(at) < lifetime).then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(handles: &Handles, id: i64, name: Option<&str>, now: Timestamp) {
        handles.learn(&json!({ "id": id, "username": name }), now);
    }

    #[test]
    fn a_name_is_of_who_was_told_of_with_it_last() {
        let handles = Handles::default();
        assert_eq!(handles.bearer("bobby", 0), None);
        told(&handles, 7, Some("Bobby"), 0);
        assert_eq!(handles.bearer("BOBBY", 0), Some(7));
        // Another takes it over; what its first bearer is called later takes nothing away.
        told(&handles, 8, Some("bobby"), 1);
        told(&handles, 7, Some("robert"), 2);
        assert_eq!(handles.bearer("bobby", 2), Some(8));
        assert_eq!(handles.bearer("robert", 2), Some(7));
        // He has another, and then none.
        told(&handles, 8, Some("bobbie"), 3);
        assert_eq!(handles.bearer("bobby", 3), None);
        told(&handles, 8, None, 4);
        assert_eq!(handles.bearer("bobbie", 4), None);
        handles.learn(&json!({ "username": "nobody" }), 5);
        assert_eq!(handles.bearer("nobody", 5), None);
    }

    #[test]
    fn what_was_not_heard_of_for_a_week_is_nobodys() {
        let handles = Handles::default();
        told(&handles, 7, Some("bobby"), 0);
        let week = 7 * 24 * 3_600_000;
        assert_eq!(handles.bearer("bobby", week - 1), Some(7));
        assert_eq!(handles.bearer("bobby", week), None);
        told(&handles, 7, Some("bobby"), week);
        assert_eq!(handles.bearer("bobby", week), Some(7));
    }

    #[test]
    fn the_memory_is_bounded() {
        let handles = Handles::default();
        let all = i64::try_from(REMEMBERED.get()).unwrap();
        for id in 0..=all {
            told(&handles, id, Some(&format!("name{id}")), 0);
        }
        assert_eq!(handles.bearer("name0", 0), None);
        assert_eq!(handles.bearer("name1", 0), Some(1));
        let known = handles.0.lock();
        assert!(known.names.len() <= REMEMBERED.get() && known.bearers.len() <= REMEMBERED.get());
    }
}
