use proptest::prelude::*;
use serde_json::json;

use super::*;

const SECRET: &str = "a secret of some length that two servers share";
const NOW: i64 = 1_800_000_000;

fn token_with(header: &Value, claims: &Value, secret: &str) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(header), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(sign(secret, &signed));
    format!("{signed}.{signature}")
}

fn token(claims: &Value) -> String {
    token_with(&json!({ "alg": "HS256", "typ": "JWT" }), claims, SECRET)
}

fn check(token: &str) -> Result<Visitor, Wrong> {
    verify(token, SECRET, "shop", NOW)
}

#[test]
fn the_example_of_the_standard_is_signed_as_it_says() {
    // RFC 7515, appendix A.1, has a key of 64 bytes; these keys are on both sides of a block.
    for (length, expected) in [(3, 3), (64, 64), (65, 65), (200, 200)] {
        let key = "k".repeat(length);
        assert_eq!(key.len(), expected);
        let good = token_with(
            &json!({ "alg": "HS256" }),
            &json!({ "sub": "a", "exp": NOW + 1 }),
            &key,
        );
        assert!(verify(&good, &key, "shop", NOW).is_ok());
        assert_eq!(
            verify(&good, &format!("{key}k"), "shop", NOW),
            Err(Wrong::NotOurs)
        );
    }
    // RFC 4231, test case 2.
    let mac = sign("Jefe", "what do ya want for nothing?");
    assert_eq!(mac[..4], [0x5b, 0xdc, 0xc1, 0x46]);
    // RFC 4231, test case 6: a key of 131 bytes is hashed first; here with a printable one, against itself hashed.
    assert_ne!(sign(&"a".repeat(131), "x"), sign(&"a".repeat(64), "x"));
}

#[test]
fn one_subject_is_one_visitor_and_no_other() {
    let one = check(&token(&json!({ "sub": "42", "exp": NOW + 600 }))).unwrap();
    let later = check(&token(
        &json!({ "sub": "42", "exp": NOW + 900, "iat": NOW, "aud": ["shop", "x"] }),
    ));
    assert_eq!(later, Ok(one.clone()));
    assert_eq!(one.id.len(), 32);
    let other = check(&token(&json!({ "sub": "43", "exp": NOW + 600 }))).unwrap();
    assert_ne!(one, other);
}

#[test]
fn what_is_not_signed_for_this_site_is_nobody() {
    let fine = json!({ "sub": "42", "exp": NOW + 600 });
    let good = token(&fine);
    let (signed, _) = good.rsplit_once('.').unwrap();
    let none = token_with(&json!({ "alg": "none" }), &fine, SECRET);
    let (unsigned, _) = none.rsplit_once('.').unwrap();
    for wrong in [
        String::new(),
        "a.b.c".to_owned(),
        signed.to_owned(),
        format!("{signed}."),
        format!("{unsigned}."),
        none.clone(),
        token_with(&json!({ "alg": "HS512" }), &fine, SECRET),
        token_with(&json!({ "alg": "HS256", "crit": ["x"] }), &fine, SECRET),
        token_with(&json!({ "alg": "HS256" }), &fine, "another secret"),
        token(&json!({ "sub": "", "exp": NOW + 600 })),
        token(&json!({ "sub": 42, "exp": NOW + 600 })),
        token(&json!({ "sub": "x".repeat(257), "exp": NOW + 600 })),
        token(&json!({ "sub": "42" })),
        token(&json!({ "sub": "42", "exp": "later" })),
        token(&json!({ "sub": "42", "exp": NOW + 600, "aud": "another" })),
        format!("{good}{}", "A".repeat(MAX_TOKEN)),
    ] {
        assert_eq!(check(&wrong), Err(Wrong::NotOurs), "{wrong}");
    }
}

#[test]
fn a_token_is_good_for_its_time_only() {
    for (claims, good) in [
        (json!({ "sub": "a", "exp": NOW - 59 }), true),
        (json!({ "sub": "a", "exp": NOW - 60 }), false),
        (json!({ "sub": "a", "exp": 1.5 }), false),
        (json!({ "sub": "a", "exp": NOW + 1, "nbf": NOW + 60 }), true),
        (
            json!({ "sub": "a", "exp": NOW + 900, "nbf": NOW + 61 }),
            false,
        ),
    ] {
        let expected = if good { None } else { Some(Wrong::Time) };
        assert_eq!(check(&token(&claims)).err(), expected, "{claims}");
    }
}

proptest! {
    #[test]
    fn no_change_of_a_token_is_taken(at in 0_usize..200, to in "[A-Za-z0-9_.-]") {
        let good = token(&json!({ "sub": "42", "exp": NOW + 600 }));
        let at = at % good.len();
        let mut changed = good.clone();
        changed.replace_range(at..=at, &to);
        // The last digit of a signature has bits that say nothing; every other change is another text.
        if changed != good {
            prop_assert!(check(&changed).is_err());
        }
    }

    #[test]
    fn nothing_from_outside_panics(text in "\\PC{0,300}") {
        prop_assert!(check(&text).is_err());
    }
}
