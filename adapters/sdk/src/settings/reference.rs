//! The reference of what can be set: what the readers themselves ask for.
//!
//! Owns the describing mode: the readers run over nothing, every key is there without a value, and each
//! conversion notes what it would have taken. So the reference cannot say anything else than what is read.
//! It knows no comments and writes no page.

use std::cell::RefCell;

/// What a value may be.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// A map with known keys, which follow.
    Section,
    /// A map with free keys; what stands under them follows under `*`.
    Map,
    /// A list; what its items are follows under `[]`.
    List,
    /// A whole number in a range.
    Whole {
        /// Least allowed.
        least: u64,
        /// Most allowed.
        most: u64,
    },
    /// A number in a range.
    Decimal {
        /// Least allowed.
        least: f64,
        /// Most allowed.
        most: f64,
        /// `seconds`, `days`, or nothing.
        unit: &'static str,
    },
    /// `true` or `false`.
    Truth,
    /// A text.
    Text {
        /// It may be empty.
        empty: bool,
    },
    /// An id of a platform.
    Id,
    /// A secret.
    Secret,
    /// The name of a file that holds a secret.
    SecretFile,
    /// One of a few words.
    Choice(Vec<String>),
    /// Anything: it is taken and has no effect.
    Ignored,
}

/// One key.
#[derive(Debug, Clone, PartialEq)]
pub struct Described {
    /// The path from the top of the file; `*` stands for a free key, `[]` for an item of a list.
    pub path: String,
    /// What may stand there; more than one where a key can be written in several ways.
    pub shapes: Vec<Shape>,
    /// What holds without it, as it would be written, where a reader said so.
    pub default: Option<String>,
    /// It must be there.
    pub required: bool,
}

/// What was noted so far, in the order of the reading.
#[derive(Debug, Default)]
pub(super) struct Reference(RefCell<Vec<Described>>);

impl Reference {
    fn with(&self, path: &str, note: impl FnOnce(&mut Described)) {
        let mut all = self.0.borrow_mut();
        let found = all.iter().position(|known| known.path == path);
        let at = found.unwrap_or_else(|| {
            all.push(Described {
                path: path.to_owned(),
                shapes: Vec::new(),
                default: None,
                required: false,
            });
            all.len() - 1
        });
        if let Some(described) = all.get_mut(at) {
            note(described);
        }
    }

    /// The key may be written like this.
    pub(super) fn shape(&self, path: &str, shape: Shape) {
        self.with(path, |described| {
            if !described.shapes.contains(&shape) {
                described.shapes.push(shape);
            }
        });
    }

    /// This holds without the key.
    pub(super) fn holds(&self, path: &str, default: String) {
        self.with(path, |described| described.default = Some(default));
    }

    /// The key must be there.
    pub(super) fn required(&self, path: &str) {
        self.with(path, |described| described.required = true);
    }

    pub(super) fn all(&self) -> Vec<Described> {
        self.0.borrow().clone()
    }
}
