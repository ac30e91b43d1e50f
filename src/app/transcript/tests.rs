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

#[test]
fn files_stand_beside_the_words_and_a_press_has_none() {
    let redactor = Redactor::new(Vec::<String>::new()).0;
    let file = r#"{"i":"m1","s":[{"attachment":{"kind":"image","reference":"ab","name":"cat.png","size":3}},{"text":"look"}]}"#;
    let shown = entry(row(7, false, file), &redactor);
    assert_eq!(
        shown.blocks,
        markdown::parse("look", Format::Plain),
        "the file is not in the words"
    );
    assert_eq!(shown.brought.len(), 1);
    assert_eq!(shown.brought[0].name.as_deref(), Some("cat.png"));
    let press = r#"{"i":"m2","t":"p/abcd/01234567/yes","q":"7","b":true}"#;
    let shown = entry(row(8, false, press), &redactor);
    assert!(shown.pressed && shown.blocks.is_empty() && shown.pending);
    let asks = r#"{"t":"Really?","f":"plain","k":[{"l":"Yes","i":"p/abcd/01234567/yes"}]}"#;
    let shown = entry(row(9, true, asks), &redactor);
    let choice = shown.choice.expect("the buttons");
    assert_eq!(choice.buttons[0].label, "Yes");
    assert!(
        !choice.open && choice.chosen.is_none(),
        "until it is looked up"
    );
}
