//! Who spoke in a chat lately, and under which name.
//!
//! Owns a bounded memory of it, filled by every message that comes. A name is whatever its bearer chose: it only ever
//! stands for somebody where it is that of one person alone.

use std::num::NonZeroUsize;

use lru::LruCache;
use parking_lot::Mutex;
use weirgate_sdk::{ConversationKey, UserId};

use super::chat;

/// People in chats that are remembered, those that were heard last: some megabytes at most.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(16_384).expect("not zero");
/// Characters of a name that are compared and shown.
const LONGEST: usize = 64;

/// Who spoke where. The names of one chat are looked for among all: that is done where somebody writes one.
pub struct Seen(Mutex<LruCache<(ConversationKey, UserId), String>>);

impl Default for Seen {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(REMEMBERED)))
    }
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seen").finish_non_exhaustive()
    }
}

impl Seen {
    /// Somebody of this name spoke.
    pub fn remember(&self, key: &ConversationKey, user: &UserId, name: &str) {
        let name: String = name.trim().chars().take(LONGEST).collect();
        if name.is_empty() {
            return;
        }
        let bearer = (chat(key), user.clone());
        let mut names = self.0.lock();
        if names.get(&bearer) != Some(&name) {
            names.put(bearer, name);
        }
    }

    /// Who is called so, whatever the case: his id and the name as he writes it.
    #[must_use]
    pub fn called(&self, key: &ConversationKey, name: &str) -> Vec<(UserId, String)> {
        let wanted = name.trim().to_lowercase();
        let chat = chat(key);
        let names = self.0.lock();
        let same = names.iter().filter(|((where_heard, _), name)| {
            *where_heard == chat && name.to_lowercase() == wanted
        });
        same.map(|((_, user), name)| (user.clone(), name.clone()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(thread: Option<&str>) -> ConversationKey {
        ConversationKey {
            platform: "stage".into(),
            account: "main".into(),
            conversation: "g1".into(),
            thread: thread.map(Into::into),
        }
    }

    #[test]
    fn a_name_stands_for_those_who_bear_it_now() {
        let seen = Seen::default();
        let called = |name| {
            let found = seen.called(&place(None), name);
            let mut ids: Vec<String> = found
                .into_iter()
                .map(|(id, _)| id.as_str().into())
                .collect();
            ids.sort();
            ids
        };
        seen.remember(&place(None), &"1".into(), "Bob");
        seen.remember(&place(Some("t")), &"2".into(), " Ann ");
        assert_eq!(called("bob"), ["1"]);
        assert_eq!(called("ANN"), ["2"], "also in a thread");
        seen.remember(&place(None), &"3".into(), "bob");
        assert_eq!(called("Bob"), ["1", "3"]);
        seen.remember(&place(None), &"1".into(), "Robert");
        assert_eq!(called("Bob"), ["3"]);
        seen.remember(&place(None), &"4".into(), "");
        assert!(called("").is_empty() && called("nobody").is_empty());
    }

    #[test]
    fn those_who_were_heard_long_ago_are_forgotten() {
        let seen = Seen::default();
        for user in 0..=REMEMBERED.get() {
            let user = user.to_string();
            seen.remember(&place(None), &user.as_str().into(), &format!("n{user}"));
        }
        assert!(seen.called(&place(None), "n0").is_empty());
        assert_eq!(seen.called(&place(None), "n1").len(), 1);
    }
}
