//! Disguises: what a text says once a simple encoding is taken off.
//!
//! Owns the ways of hiding that any model undoes by itself: letters set apart, digits for letters, Base64, hex,
//! bits, escapes, shifted alphabets, words written backwards. What is taken off is only looked at. One layer is
//! taken off, not two: what is inside another encoding is left to the model, which then has to be asked to.

mod encoded;
mod loosened;

use std::ops::Range;

use crate::security::normalise::Normalised;

/// Words that give a cipher away: no ordinary text has one of them shifted or backwards.
const TELLING: [&str; 8] = [
    "ignore",
    "disregard",
    "forget",
    "previous",
    "instructions",
    "instruction",
    "password",
    "prompt",
];

/// A cipher over the whole text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cipher {
    /// Every letter is this many further in the alphabet.
    Shift(u8),
    /// Written from right to left.
    Backwards,
}

/// A text without its disguise.
#[derive(Debug)]
pub(super) struct Revealed {
    /// What it says.
    pub(super) text: String,
    /// The name of the disguise.
    pub(super) name: &'static str,
    /// Where its parts come from.
    origin: Origin,
}

#[derive(Debug)]
enum Origin {
    /// All of it from one stretch of the normalised text.
    Stretch(Range<usize>),
    /// From the same places.
    Same,
    /// From the same places, counted from the end of a text of this length.
    Mirrored(usize),
    /// Each byte from the place that stands in the list.
    Listed(Vec<u32>),
}

impl Revealed {
    /// Where in the normalised text a part comes from.
    pub(super) fn place(&self, part: Range<usize>) -> Range<usize> {
        match &self.origin {
            Origin::Stretch(stretch) => stretch.clone(),
            Origin::Same => part,
            Origin::Mirrored(length) => {
                length.saturating_sub(part.end)..length.saturating_sub(part.start)
            }
            Origin::Listed(places) => {
                let at = |index: usize| places.get(index).map_or(0, |place| *place as usize);
                at(part.start)..part.end.checked_sub(1).map_or(0, at) + 1
            }
        }
    }
}

/// The words that give ciphers away.
pub(super) fn words() -> impl Iterator<Item = (String, Cipher)> {
    TELLING.iter().flat_map(|word| {
        let shifted = (1..26).map(|by| (shift(word, by), Cipher::Shift(by)));
        shifted.chain([(word.chars().rev().collect(), Cipher::Backwards)])
    })
}

/// Hands over everything that the text says without a disguise, if it may wear one.
pub(super) fn each(
    source: &str,
    form: &Normalised,
    ciphers: &[Cipher],
    found: &mut dyn FnMut(&Revealed),
) {
    let text = form.text();
    if let Some((loose, places)) = loosened::loosened(source, form) {
        found(&Revealed {
            text: loose,
            name: "spelling",
            origin: Origin::Listed(places),
        });
    }
    for cipher in ciphers {
        found(&match *cipher {
            Cipher::Shift(by) => Revealed {
                text: shift(text, 26 - by),
                name: "shifted alphabet",
                origin: Origin::Same,
            },
            Cipher::Backwards => Revealed {
                text: text.chars().rev().collect(),
                name: "backwards",
                origin: Origin::Mirrored(text.len()),
            },
        });
    }
    // Letters matter in Base64, so the source is looked at; the place is one of the normalised text.
    encoded::each(source, &mut |name, stretch, decoded| {
        found(&Revealed {
            text: decoded,
            name,
            origin: Origin::Stretch(form.form_of(stretch)),
        });
    });
}

/// Shifts the letters of a text in lower case.
fn shift(text: &str, by: u8) -> String {
    let shifted = |letter: char| match letter {
        'a'..='z' => char::from((letter as u8 - b'a' + by) % 26 + b'a'),
        other => other,
    };
    text.chars().map(shifted).collect()
}
