use proptest::prelude::*;

use super::*;

#[test]
fn text_loses_carriage_returns_and_control_characters_only() {
    assert_eq!(
        clean("a\r\nb\rc\u{0}\u{7}\td\n\u{200d}é"),
        "a\nb\nc\td\n\u{200d}é"
    );
}

#[test]
fn lines_are_single_and_short() {
    assert_eq!(line(" a \n\t b\u{0}\u{202e}c ", 10), "a b c");
    assert_eq!(line("日本語テキスト", 3), "日本語");
    assert_eq!(line("ab cd", 3), "ab ");
}

proptest! {
    #[test]
    fn lines_never_pass_their_limit(value in any::<String>(), longest in 0_usize..20) {
        prop_assert!(line(&value, longest).chars().count() <= longest);
    }
}
