//! Codes are stored, so they must be unique, well formed and readable again.

use super::{Class, Reason};
use std::collections::HashSet;

#[test]
fn codes_are_unique_and_round_trip() {
    let mut seen = HashSet::new();
    for (index, &reason) in Reason::ALL.iter().enumerate() {
        assert!(seen.insert(reason.code()), "{} twice", reason.code());
        assert_eq!(Reason::from_code(reason.code()), Some(reason));
        assert_eq!(reason.index(), index);
        assert_eq!(reason.to_string(), reason.code());
    }
}

#[test]
fn a_code_is_the_name_in_snake_case() {
    for &reason in Reason::ALL {
        let mut expected = String::new();
        for letter in format!("{reason:?}").chars() {
            if letter.is_ascii_uppercase() && !expected.is_empty() {
                expected.push('_');
            }
            expected.push(letter.to_ascii_lowercase());
        }
        assert_eq!(reason.code(), expected);
    }
}

#[test]
fn unknown_codes_are_not_guessed() {
    for code in ["", "Duplicate", "duplicate ", "no_such_reason"] {
        assert_eq!(Reason::from_code(code), None);
    }
}

#[test]
fn every_class_is_used_and_named_once() {
    let used: HashSet<Class> = Reason::ALL.iter().map(|reason| reason.class()).collect();
    let names: HashSet<&str> = used.iter().map(|class| class.name()).collect();
    assert_eq!(used.len(), 6);
    assert_eq!(names.len(), 6);
}
