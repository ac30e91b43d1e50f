//! Which channels are threads, and of what.
//!
//! Owns what is remembered of channels: a message names its channel only, and whether that is a thread of another one
//! is told when a server is entered, when a thread begins, or on request. Pure.

use std::num::NonZeroUsize;

use lru::LruCache;
use serde_json::Value;

use crate::places::{Place, Snowflake, number};

/// Channels that are remembered; the one that was longest of no use is forgotten, and asked for again.
const MAX_CHANNELS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(19_999);

/// Kinds of channels that are threads: of announcements, open to all, private (Channel Types).
const THREADS: [u64; 3] = [10, 11, 12];
/// Kinds of channels with one person or a few.
const DIRECT: [u64; 2] = [1, 3];

/// What is known of channels.
#[derive(Debug)]
pub struct Channels(LruCache<Snowflake, Channel>);

/// What a channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// One with a person.
    Direct,
    /// One of a server.
    Plain,
    /// A thread of this channel.
    ThreadOf(Snowflake),
}

impl Default for Channels {
    fn default() -> Self {
        Self(LruCache::new(MAX_CHANNELS))
    }
}

impl Channels {
    /// Takes in a description of a channel. Says which it was, and the newest message in it, which may be deleted.
    pub fn learn(&mut self, channel: &Value) -> Option<(Snowflake, Option<Snowflake>)> {
        let id = id(&channel["id"])?;
        self.0.put(id, Channel::read(channel)?);
        Some((id, self::id(&channel["last_message_id"])))
    }

    /// A message came in a channel without a server.
    pub fn is_direct(&mut self, channel: Snowflake) {
        self.0.put(channel, Channel::Direct);
    }

    /// What the platform does not tell of a channel is not asked for again.
    pub fn is_plain(&mut self, channel: Snowflake) {
        self.0.put(channel, Channel::Plain);
    }

    /// What a channel is, if that is known.
    pub fn get(&mut self, channel: Snowflake) -> Option<Channel> {
        self.0.get(&channel).copied()
    }

    /// The place of a channel; as it says itself where nothing is known of it.
    pub fn place(&mut self, channel: Snowflake) -> Place {
        match self.get(channel) {
            Some(Channel::ThreadOf(parent)) => Place {
                channel: parent,
                thread: Some(channel),
            },
            _ => Place {
                channel,
                thread: None,
            },
        }
    }
}

impl Channel {
    fn read(channel: &Value) -> Option<Self> {
        let kind = channel["type"].as_u64()?;
        let parent = id(&channel["parent_id"]);
        Some(match parent.filter(|_| THREADS.contains(&kind)) {
            Some(parent) => Self::ThreadOf(parent),
            None if DIRECT.contains(&kind) => Self::Direct,
            None => Self::Plain,
        })
    }
}

/// A number of the platform, which it writes as a text.
#[must_use]
pub fn id(value: &Value) -> Option<Snowflake> {
    number(value.as_str()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn threads_belong_to_their_channels() {
        let mut channels = Channels::default();
        let plain = json!({ "id": "5", "type": 0, "parent_id": "1", "last_message_id": "77" });
        assert_eq!(channels.learn(&plain), Some((5, Some(77))));
        let thread = json!({ "id": "6", "type": 11, "parent_id": "5", "last_message_id": null });
        assert_eq!(channels.learn(&thread), Some((6, None)));
        // The parent of a channel that is no thread is the category in which it is shown.
        assert_eq!(
            channels.place(5),
            Place {
                channel: 5,
                thread: None
            }
        );
        assert_eq!(
            channels.place(6),
            Place {
                channel: 5,
                thread: Some(6)
            }
        );
        assert_eq!(
            channels.place(7),
            Place {
                channel: 7,
                thread: None
            }
        );
        assert_eq!(channels.get(7), None);
        channels.is_direct(8);
        assert_eq!(channels.get(8), Some(Channel::Direct));
    }

    #[test]
    fn odd_descriptions_teach_nothing() {
        let mut channels = Channels::default();
        for odd in [
            json!(null),
            json!([]),
            json!({ "id": 5, "type": 0 }),
            json!({ "id": "5" }),
        ] {
            assert_eq!(channels.learn(&odd), None, "{odd}");
        }
        // A thread without a parent is a place of its own.
        channels.learn(&json!({ "id": "6", "type": 12 }));
        assert_eq!(channels.get(6), Some(Channel::Plain));
    }
}
