//! Lenient reading: no field loses an event, no id loses a digit.

use proptest::prelude::*;

use super::*;

fn frame(json: &str) -> Frame<'_> {
    serde_json::from_str(json).expect("a frame")
}

fn read_id(written: &str) -> Option<String> {
    let json = format!(r#"{{"user_id":{written}}}"#);
    id(frame(&json).user_id, MAX_ID).map(Cow::into_owned)
}

#[test]
fn ids_keep_every_digit_and_are_one_whether_number_or_string() {
    let ids = [
        "20001",
        "0",
        "-912345678",
        "1712345678901",
        "7301234567890123456",
    ];
    for id in ids
        .into_iter()
        .chain(["18446744073709551615", "340282366920938463463374607431"])
    {
        assert_eq!(read_id(id).as_deref(), Some(id));
        assert_eq!(read_id(&format!("\"{id}\"")).as_deref(), Some(id));
    }
    assert_eq!(read_id(r#""Qm9z+Ab/01""#).as_deref(), Some("Qm9z+Ab/01"));
    assert_eq!(read_id(r#"" 20001 ""#).as_deref(), Some("20001"));
}

#[test]
fn nonsense_is_no_id() {
    for written in [
        "null",
        "true",
        "1.5",
        "1e9",
        "{}",
        "[]",
        "[1]",
        r#""""#,
        r#"" ""#,
        r#""undefined""#,
        r#""NaN""#,
        r#""null""#,
        r#""a\u0000b""#,
    ] {
        assert_eq!(read_id(written), None, "{written}");
    }
    assert_eq!(read_id(&format!("\"{}\"", "9".repeat(MAX_ID + 1))), None);
}

#[test]
fn fields_of_wrong_types_read_as_absent() {
    let frame = frame(r#"{"post_type":{"a":1},"time":"x","sender":7,"echo":[1],"extra":{"b":[]}}"#);
    assert_eq!(text(frame.post_type), None);
    assert_eq!(integer(frame.time), None);
    assert_eq!(integer(frame.echo), None);
    let sender: WireSender<'_> = object(frame.sender);
    assert!(sender.user_id.is_none());
}

proptest! {
    #[test]
    fn strings_are_read_as_they_were_written(value in any::<String>()) {
        let json = serde_json::json!({ "user_id": value }).to_string();
        let frame: Frame<'_> = serde_json::from_str(&json).expect("a frame");
        prop_assert_eq!(text(frame.user_id).map(Cow::into_owned), Some(value));
    }
}
