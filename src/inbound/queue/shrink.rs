//! Gives a map's memory back once it is much larger than its content.

use std::collections::HashMap;
use std::hash::Hash;

/// Maps with room for less than this stay as they are.
const SMALL: usize = 256;

/// Shrinks at a quarter to a half, so that the cost is shared by the removals in between.
pub(crate) fn shrink<K: Eq + Hash, V>(map: &mut HashMap<K, V>) {
    if map.capacity() > SMALL && map.len() < map.capacity() / 4 {
        map.shrink_to(map.len() * 2);
    }
}
