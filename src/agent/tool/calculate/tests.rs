use proptest::prelude::*;

use super::*;

fn say(text: &str) -> String {
    evaluate(text).map_or_else(|wrong| format!("error: {wrong}"), |value| value.to_string())
}

#[test]
fn sums_are_exact() {
    for (text, expected) in [
        ("0.1 + 0.2", "0.3"),
        ("1/3", "1/3 ≈ 0.333333333333333"),
        ("-7/2", "-3.5"),
        ("2^10", "1024"),
        ("-2^2", "-4"),
        ("2^3^2", "512"),
        ("2^-2", "0.25"),
        ("(1 + 2) × 3 ÷ 4", "2.25"),
        ("10 % 3", "1"),
        ("-10 % 3", "2"),
        ("20!", "2432902008176640000"),
        ("sqrt(9/4)", "1.5"),
        ("1e3 + 2.5e-1", "1000.25"),
        ("max(1, 2.5, 2)", "2.5"),
        ("round(-2.5)", "-3"),
        ("ceil(1.2) + floor(-1.2)", "0"),
        ("gcd(12, 18) + lcm(4, 6)", "18"),
        ("1_000_000 * 3", "3000000"),
        ("9007199254740993 + 0", "9007199254740993"),
    ] {
        assert_eq!(say(text), expected, "{text}");
    }
}

#[test]
fn what_is_rounded_says_so() {
    assert_eq!(say("sqrt(2)"), "≈ 1.4142135623730951");
    assert!(say("2^200").starts_with("≈ 1.6069"));
    assert!(say("sin(0) + pi").starts_with("≈ 3.14159"));
    assert_eq!(say("10^400"), "too large for this calculator");
}

#[test]
fn what_is_wrong_is_told() {
    for text in [
        "",
        "1 +",
        "(1",
        "1)",
        "2 3",
        "1/0",
        "5 % 0",
        "0^-1",
        "sqrt(-1)",
        "ln(-1)",
        "(-1)!",
        "1.2.3",
        "foo(1)",
        "x",
        "gcd(1)",
        "gcd(1.5, 2)",
        "171!",
        "1 = 1",
    ] {
        assert!(say(text).starts_with("error"), "{text}: {}", say(text));
    }
    assert_eq!(evaluate(&"(".repeat(1_500)), Err(Wrong::TooDeep));
    assert_eq!(
        evaluate(&format!("1{}", "^1".repeat(900))),
        Err(Wrong::TooDeep)
    );
    assert_eq!(evaluate(&"1".repeat(5_000)), Err(Wrong::TooLong));
}

proptest! {
    #[test]
    fn nothing_panics(text in "[0-9a-z+*/%^!(),. -]{0,60}") {
        let _ = say(&text);
    }

    #[test]
    fn whole_numbers_agree_with_the_machine(a in -1_000_000_i64..1_000_000, b in 1_i64..10_000, c in -99_i64..99) {
        prop_assert_eq!(say(&format!("({a}) * ({c}) + {b}")), (a * c + b).to_string());
        prop_assert_eq!(say(&format!("floor(({a}) / {b})")), a.div_euclid(b).to_string());
    }
}
