use super::*;

#[test]
fn the_key_of_an_account_is_not_printed() {
    let setup = Setup {
        account: "site".into(),
        secret: [201; 32],
        version: "1",
        public_origin: Some("https://chat.example.com".into()),
        models: ChatModels::new(vec!["a/b".into()]),
        menu: Menu::default(),
    };
    for text in [format!("{setup:?}"), format!("{setup:#?}")] {
        assert!(!text.contains("201"), "{text}");
        assert!(
            text.contains("***") && text.contains("chat.example.com"),
            "{text}"
        );
    }
}
