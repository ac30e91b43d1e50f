//! Conversation ids come back as they went, ids go out with the digits that came in.

use proptest::prelude::*;

use super::*;

#[test]
fn ids_go_out_exactly() {
    assert_eq!(id_value("20001"), Value::from(20001));
    assert_eq!(id_value("-912345678"), Value::from(-912_345_678_i64));
    assert_eq!(
        id_value("1712345678901"),
        Value::from(1_712_345_678_901_i64)
    );
    // Readers that keep numbers as floats would change it.
    assert_eq!(
        id_value("7301234567890123456"),
        Value::from("7301234567890123456")
    );
    for text in ["Qm9z+Ab/01", "-0", "007", "+5", "1.0", "", "-", "all"] {
        assert_eq!(id_value(text), Value::from(text));
    }
}

#[test]
fn foreign_conversations_are_refused() {
    for id in ["", "g", "p", "t", "t1", "t1:", "t:1", "x1", "群1", "🙂"] {
        assert_eq!(Place::parse(id), None, "{id}");
    }
}

proptest! {
    #[test]
    fn places_come_back(group in "[0-9]{1,12}", user in "[-0-9a-z]{1,12}") {
        for place in [
            Place::Group(&group),
            Place::Private(&user),
            Place::Temporary { group: &group, user: &user },
        ] {
            let id = place.conversation();
            prop_assert_eq!(Place::parse(id.as_str()), Some(place));
        }
    }

    #[test]
    fn the_digits_never_change(id in any::<i64>()) {
        let text = id.to_string();
        let value = id_value(&text);
        let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        prop_assert_eq!(written, text);
    }
}
