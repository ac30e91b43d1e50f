//! The automaton that finds all patterns in one pass: a trie with failure links, and a table that
//! skips over text in which no pattern can begin.
//! Every byte is looked at a constant number of times on average, whatever the patterns are.

use super::runs::Runs;
use std::collections::VecDeque;

/// The state at the start of a text.
pub(super) const ROOT: u32 = 0;

/// Shortest piece of a secret that is hidden at the end of a text, in bytes.
const MIN_TAIL_BYTES: usize = 8;
/// A text that ends with so much of a secret, or with half of a shorter one, loses it.
const MAX_TAIL_BYTES: usize = super::PLACEHOLDER.len();

/// Entries of the skip table; a power of two, small enough to stay in the first-level cache.
const SKIP_ENTRIES: usize = 4096;

/// Patterns compiled for scanning.
pub(super) struct Trie {
    nodes: Vec<Node>,
    /// Children of all nodes but the root: byte and node.
    edges: Vec<(u8, u32)>,
    /// Children of the root by byte; the root itself where there is none.
    root: [u32; 256],
    /// For a hash of two bytes, how far a scan may jump at least.
    skip: Vec<u8>,
    /// Length of the part of a pattern that the skip table knows, in bytes.
    window: usize,
}

/// One beginning of patterns. Lengths in bytes, of endings of that beginning.
#[derive(Clone, Default)]
struct Node {
    first_edge: u32,
    edge_count: u32,
    /// The longest proper ending that is also a beginning of a pattern.
    fail: u32,
    /// Longest ending that could still grow into a (longer) pattern.
    open: usize,
    /// Longest ending that is a whole pattern, 0 for none.
    matched: usize,
    /// Longest ending that must be hidden if the text stops here, 0 for none.
    tail: usize,
}

/// A node while the trie is built.
#[derive(Default)]
struct Draft {
    children: Vec<(u8, usize)>,
    depth: usize,
    terminal: bool,
    hidden_at_end: bool,
}

impl Trie {
    /// Compiles the patterns, none of them empty.
    pub(super) fn new<P: AsRef<[u8]>>(patterns: &[P]) -> Self {
        let mut drafts = vec![Draft::default()];
        for pattern in patterns {
            insert(&mut drafts, pattern.as_ref());
        }
        let mut trie = Self {
            nodes: vec![Node::default(); drafts.len()],
            edges: Vec::with_capacity(drafts.len()),
            root: [ROOT; 256],
            skip: Vec::new(),
            window: patterns
                .iter()
                .map(|pattern| pattern.as_ref().len())
                .min()
                .unwrap_or(0),
        };
        trie.window = trie.window.min(usize::from(u8::MAX));
        trie.link(&drafts);
        trie.fill_skip(patterns);
        trie
    }

    /// Fills nodes and edges level by level: a failure link points to a level above.
    fn link(&mut self, drafts: &[Draft]) {
        let mut queue = VecDeque::from([(0, ROOT)]);
        while let Some((at, fail)) = queue.pop_front() {
            let draft = &drafts[at];
            let above = self.nodes[fail as usize].clone();
            self.nodes[at] = Node {
                first_edge: id(self.edges.len()),
                edge_count: id(draft.children.len()),
                fail,
                open: if draft.children.is_empty() {
                    above.open
                } else {
                    draft.depth
                },
                matched: if draft.terminal {
                    draft.depth
                } else {
                    above.matched
                },
                tail: if draft.hidden_at_end {
                    draft.depth
                } else {
                    above.tail
                },
            };
            for &(byte, child) in &draft.children {
                // From the root's failure link a child would find itself.
                let child_fail = if at == 0 { ROOT } else { self.step(fail, byte) };
                self.edges.push((byte, id(child)));
                queue.push_back((child, child_fail));
                if at == 0 {
                    self.root[usize::from(byte)] = id(child);
                }
            }
        }
    }

    /// For each pair of bytes in the first `window` bytes of a pattern, the distance to its end: a
    /// window of text that ends in another pair can be jumped over.
    fn fill_skip<P: AsRef<[u8]>>(&mut self, patterns: &[P]) {
        let farthest = u8::try_from(self.window.saturating_sub(1)).unwrap_or(u8::MAX);
        self.skip = vec![farthest; SKIP_ENTRIES];
        for pattern in patterns {
            for (at, pair) in pattern
                .as_ref()
                .windows(2)
                .take(self.window.saturating_sub(1))
                .enumerate()
            {
                let entry = &mut self.skip[pair_hash(pair[0], pair[1])];
                *entry =
                    (*entry).min(farthest.saturating_sub(u8::try_from(at + 1).unwrap_or(u8::MAX)));
            }
        }
    }

    /// Reads `bytes`, which begin at `from`, adds what is found to `runs` and gives the new state.
    pub(super) fn scan(&self, mut state: u32, bytes: &[u8], from: usize, runs: &mut Runs) -> u32 {
        let mut at = 0;
        loop {
            if state == ROOT {
                at = self.jump(bytes, at);
            }
            let Some(&byte) = bytes.get(at) else {
                return state;
            };
            state = self.step(state, byte);
            at += 1;
            let matched = self.nodes[state as usize].matched;
            if matched > 0 {
                runs.add(from + at - matched, from + at);
            }
        }
    }

    /// The next place at or after `at` where a pattern may begin.
    fn jump(&self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(&[.., first, second]) = bytes.get(at..at + self.window) {
            let distance = self.skip[pair_hash(first, second)];
            if distance == 0 {
                break;
            }
            at += usize::from(distance);
        }
        at
    }

    /// The state after one more byte.
    fn step(&self, mut state: u32, byte: u8) -> u32 {
        while state != ROOT {
            let node = &self.nodes[state as usize];
            let first = node.first_edge as usize;
            let edges = &self.edges[first..first + node.edge_count as usize];
            if let Some(&(_, next)) = edges.iter().find(|(label, _)| *label == byte) {
                return next;
            }
            state = node.fail;
        }
        self.root[usize::from(byte)]
    }

    /// How many of the last bytes could still become part of a pattern that is not whole yet.
    pub(super) fn open(&self, state: u32) -> usize {
        self.nodes[state as usize].open
    }

    /// How many of the last bytes must be hidden if the text ends now.
    pub(super) fn tail(&self, state: u32) -> usize {
        self.nodes[state as usize].tail
    }
}

/// Adds one pattern to the drafts.
fn insert(drafts: &mut Vec<Draft>, pattern: &[u8]) {
    // However long a secret is, no more of it is shown at the end than a placeholder is long.
    let half = pattern.len().div_ceil(2);
    let hidden_from = half.clamp(MIN_TAIL_BYTES, MAX_TAIL_BYTES);
    let mut at = 0;
    for (read, &byte) in pattern.iter().enumerate() {
        let known = drafts[at].children.iter().find(|(label, _)| *label == byte);
        at = if let Some(&(_, child)) = known {
            child
        } else {
            let child = drafts.len();
            drafts[at].children.push((byte, child));
            drafts.push(Draft {
                depth: read + 1,
                ..Draft::default()
            });
            child
        };
        drafts[at].hidden_at_end |= read + 1 >= hidden_from && read + 1 < pattern.len();
    }
    drafts[at].terminal = true;
}

/// Place of a pair of bytes in the skip table.
fn pair_hash(first: u8, second: u8) -> usize {
    ((usize::from(first) << 5) ^ usize::from(second)) % SKIP_ENTRIES
}

/// A node number. Memory ends long before the numbers do.
fn id(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
