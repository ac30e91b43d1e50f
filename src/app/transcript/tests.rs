use super::*;

fn row(id: i64, answer: bool, body: &str) -> Shown {
    Shown {
        id,
        answer,
        turn: None,
        at: 5,
        pending: !answer,
        body: body.into(),
    }
}

#[test]
fn a_body_that_cannot_be_read_keeps_its_place_on_the_page() {
    let redactor = Redactor::new(Vec::<String>::new()).0;
    for (answer, message) in [(true, None), (false, Some("unreadable-7".into()))] {
        for body in ["", "{", "null", "[]"] {
            let entry = entry(row(7, answer, body), &redactor);
            assert_eq!((entry.id, entry.at), (7, 5));
            assert_eq!(entry.message, message);
            assert!(!entry.blocks.is_empty() && !entry.pending);
        }
    }
}
