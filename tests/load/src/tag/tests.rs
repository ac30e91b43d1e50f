use super::{sequence, words, write};

fn found(text: &str) -> Vec<&str> {
    words(text).collect()
}

#[test]
fn tags_are_found_wherever_they_stand() {
    assert_eq!(found("/ping #a1x7"), ["a1x7"]);
    assert_eq!(
        found("[10:00] user: hello #a1x7, #a1x8。"),
        ["a1x7", "a1x8"]
    );
    assert_eq!(found("# heading, ## and #，no tag"), [""; 0]);
    assert_eq!(found(""), [""; 0]);
}

#[test]
fn a_tag_gives_its_number_back() {
    for number in [0, 7, 10, 99_999] {
        let tag = write("a1", number);
        assert_eq!(
            found(&tag).first().and_then(|word| sequence("a1", word)),
            Some(number)
        );
    }
}

#[test]
fn other_words_are_no_tags_of_the_run() {
    for word in ["a2x1", "a1", "a1x", "a1x1y", "a1x-1", "a1x01", "xa1x1"] {
        assert_eq!(sequence("a1", word), None, "{word}");
    }
}
