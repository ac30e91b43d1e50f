//! How a pending action is named to people: a few letters and digits that can be typed and read out.
//!
//! Owns both directions; pure. The name is the number of the turn that asks, so it needs no table of its own, and it
//! is mixed so that two neighbours do not look alike. It is no secret: in another conversation it names nothing.

/// Crockford's Base32: no letter looks like a digit.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// The shortest name has so many characters, the longest so many.
const LENGTHS: std::ops::RangeInclusive<u32> = 4..=12;
/// An odd number: multiplying by it within a power of two loses nothing.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// The name of a pending action.
#[must_use]
pub fn code(id: i64) -> String {
    let id = u64::try_from(id).unwrap_or_default();
    let fits = |length: &u32| id >> (5 * length) == 0;
    // Beyond the longest name lie more ids than a store ever has.
    let length = LENGTHS.clone().find(fits).unwrap_or(*LENGTHS.end());
    let mixed = id.wrapping_mul(MIX) & mask(length);
    let digit = |place: u32| {
        let index = usize::try_from(mixed >> (5 * place) & 31).unwrap_or_default();
        char::from(ALPHABET[index])
    };
    (0..length).rev().map(digit).collect()
}

/// The id behind a name as somebody typed it: in any case, with `o` for 0, and `i` or `l` for 1. `None` for anything
/// that is no name.
#[must_use]
pub fn id_of(code: &str) -> Option<i64> {
    let length = u32::try_from(code.chars().count()).ok()?;
    if !LENGTHS.contains(&length) {
        return None;
    }
    let mut mixed = 0_u64;
    for character in code.chars() {
        let character = match character.to_ascii_lowercase() {
            'o' => '0',
            'i' | 'l' => '1',
            other => other,
        };
        let digit = ALPHABET
            .iter()
            .position(|known| char::from(*known) == character)?;
        mixed = mixed << 5 | u64::try_from(digit).ok()?;
    }
    let id = mixed.wrapping_mul(inverse(MIX)) & mask(length);
    // Each id has one name: a longer one is for larger ids.
    let shorter = length - 1;
    let is_own = id > 0 && (!LENGTHS.contains(&shorter) || id >> (5 * shorter) != 0);
    is_own.then(|| i64::try_from(id).ok())?
}

fn mask(length: u32) -> u64 {
    (1 << (5 * length)) - 1
}

/// The number that undoes the multiplication by an odd one, modulo 2^64: each step of Newton's doubles the bits.
fn inverse(odd: u64) -> u64 {
    let step = |x: u64, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x)));
    (0..6).fold(odd, step)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_short_and_neighbours_differ() {
        let names: Vec<String> = (1..=3).map(code).collect();
        assert!(names.iter().all(|name| name.len() == 4), "{names:?}");
        for (one, other) in names.iter().zip(names.iter().skip(1)) {
            let same = one.chars().zip(other.chars()).filter(|(a, b)| a == b);
            assert!(same.count() < 3, "{names:?}");
        }
        assert_eq!(code(1 << 20).len(), 5);
    }

    #[test]
    fn what_looks_alike_is_alike_and_the_rest_is_no_name() {
        let name = code(42);
        assert_eq!(id_of(&name.to_uppercase()), Some(42));
        let typed = name.replace('0', "O").replace('1', "l");
        assert_eq!(id_of(&typed), Some(42));
        for text in [
            "",
            "abc",
            "u000",
            "ab-c",
            "0000000000000",
            "0000",
            "十百千万",
        ] {
            assert_eq!(id_of(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_id_comes_back(id in 1_i64..1 << 59) {
            prop_assert_eq!(id_of(&code(id)), Some(id));
        }

        #[test]
        fn every_name_is_that_of_one_id(text in "[0-9a-z]{0,14}") {
            if let Some(id) = id_of(&text) {
                let plain = text.replace('o', "0").replace(['i', 'l'], "1");
                prop_assert_eq!(code(id), plain);
            }
        }
    }
}
