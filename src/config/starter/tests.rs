use super::*;
use crate::config::{self, KnownPlatform};

const PLATFORM: KnownPlatform = KnownPlatform {
    name: "somewhere",
    serves: false,
    check: |section| {
        let mut fields = section.fields();
        drop(fields.map("accounts"));
        fields.finish();
    },
};

fn starter(answers: Answers) -> Starter {
    Starter {
        language: "auto".into(),
        answers,
        platforms: vec![("somewhere", "# A comment.\naccounts:\n  main: {}\n")],
        listen: None,
        database: None,
    }
}

fn read(starter: &Starter) -> config::Config {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agent.yaml");
    std::fs::write(&file, starter.text()).unwrap();
    std::fs::write(folder.path().join("key"), "key-of-a-file\n").unwrap();
    let env = |name: &str| match name {
        "A_KEY" => Some("key-of-a-variable".to_owned()),
        "HOME" => Some("/home/somebody".to_owned()),
        _ => None,
    };
    let (config, warnings) = config::load(Some(&file), &env, &[PLATFORM])
        .unwrap_or_else(|error| panic!("{error}\n{}", starter.text()));
    assert_eq!(warnings, [], "{}", starter.text());
    config
}

#[test]
fn the_demonstration_needs_next_to_nothing() {
    let starter = starter(Answers::Demo);
    let config = read(&starter);
    assert_eq!(config.models, config::Config::default().models);
    assert!(config.platforms.contains_key("somewhere"));
    assert!(!starter.is_secret());
}

#[test]
fn values_come_back_as_they_were_given() {
    for odd in [
        "plain-enough-key",
        "a$b${HOME}\"'# : \\ ü中{}[]",
        "$$$$$$$$$",
    ] {
        let mut starter = starter(Answers::Provider {
            base_url: "http://127.0.0.1:1/v1".into(),
            model: format!("vendor/{odd}"),
            key: Key::Written(odd.into()),
        });
        starter.database = Some(format!(
            "/somewhere/{}/weirgate.db",
            odd.replace(['#', '?'], "")
        ));
        starter.listen = Some("127.0.0.1:9999".into());
        let config = read(&starter);
        let provider = &config.providers["main"];
        assert_eq!(provider.api_key.as_ref().unwrap().expose(), odd);
        assert_eq!(config.models.chat[0].model, format!("vendor/{odd}"));
        assert_eq!(config.http.listen.port(), 9999);
        assert!(starter.is_secret());
    }
}

#[test]
fn a_key_comes_from_a_variable_or_a_file_too() {
    let answers = |key| Answers::Provider {
        base_url: "https://example.com/v1".into(),
        model: "m".into(),
        key,
    };
    for (key, value) in [
        (Key::Variable("A_KEY".into()), Some("key-of-a-variable")),
        (Key::File("key".into()), Some("key-of-a-file")),
        (Key::None, None),
    ] {
        let starter = starter(answers(key));
        let config = read(&starter);
        let found = config.providers["main"].api_key.as_ref();
        assert_eq!(found.map(|key| key.expose()), value);
        assert!(!starter.is_secret());
    }
}
