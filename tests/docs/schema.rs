//! The JSON Schema of agent.yaml, tried with a validator by others: it takes what the program takes.

use std::fs;

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Map, Value, json};
use weirgate::{
    app::adapters,
    config::{
        DEFAULT_FILE,
        check::{Checked, check},
        reference::{Entry, reference},
        schema::schema,
    },
    i18n::Language,
};
use weirgate_sdk::settings::Shape;

/// The schema, ready to be used.
struct Validator {
    schemas: Schemas,
    root: SchemaIndex,
}

impl Validator {
    fn new() -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler
            .add_resource("agent.json", schema(&adapters::known()))
            .expect("a resource");
        let root = compiler.compile("agent.json", &mut schemas);
        Self {
            root: root.expect("the schema is one"),
            schemas,
        }
    }

    fn takes(&self, document: &Value) -> Result<(), String> {
        let valid = self.schemas.validate(document, self.root);
        valid.map_err(|error| error.to_string())
    }
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).expect("YAML")
}

/// What the program itself says.
fn checked(text: &str) -> Checked {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("agent.yaml");
    fs::write(&file, text).expect("the file is written");
    let env = |name: &str| match name {
        "LANGUAGE" => Some("en".to_owned()),
        "TIME" => None,
        _ => Some(format!("the-value-of-{name}")),
    };
    check(Some(&file), &env, &adapters::known(), |_| Language::En)
}

#[test]
fn what_is_shipped_and_shown_is_valid() {
    let validator = Validator::new();
    validator.takes(&yaml(DEFAULT_FILE)).expect("agent.yaml");
    for name in super::READ_MES {
        for example in super::blocks(&super::read(name), "yaml") {
            let valid = validator.takes(&yaml(&example));
            assert_eq!(valid, Ok(()), "{name}:\n{example}");
        }
    }
    for text in [
        "",
        "input_buffer:\n",
        "language: ${LANGUAGE}\n",
        "flow_control: {turn_timeout: \"${TIME:-20}\", user: {rate: \"0.5\", burst: 3}}\n",
        "output: {platform_adaptation: {strategy_by_platform: {qq: {private: full}, webchat: segmented}}}\n",
        "permissions: {owners: {qq: [10001, \"10002\"]}}\n",
        "observability: {metrics: \"False\", log: {level: \"info,weirgate::store=debug\"}}\n",
        "context: {compress_threshold: 0.8, retention: {recent_hours: 3}}\n",
    ] {
        assert_eq!(validator.takes(&yaml(text)), Ok(()), "{text}");
        assert_eq!(checked(text).exit_code, 0, "{}", checked(text).text);
    }
}

#[test]
fn what_is_wrong_is_wrong_for_both() {
    let validator = Validator::new();
    for text in [
        "nonsense: 1\n",
        "memory: {capacity: 1}\n",
        "input_buffer: {max_queue_sise: 3}\n",
        "input_buffer: [1]\n",
        "flow_control: {turn_timeout: soon}\n",
        "flow_control: {mode: fast}\n",
        "flow_control: {auto: {safety_margin: 1.5}}\n",
        "http: {admin_token: x}\n",
        "permissions: {owners: {msn: [1]}}\n",
        "permissions: {owners: {qq: [1.5]}}\n",
        "permissions: {platform_roles: 1}\n",
        "providers: {p: {base_url: \"http://a\"}}\nmodels: {chat: [p/m]}\n",
        "providers: {p: {kind: gemini}}\nmodels: {chat: [p/m]}\n",
        "models: {chat: p/m}\n",
        "platforms: {qq: {accounts: {main: {reply: shout}}}}\n",
        "platforms: {qq: {accounts: {main: {limits: {per_hour: 1}}}}}\n",
        "platforms: {webchat: {accounts: {default: {max_sockets: 0}}}}\n",
        "storage: {url: null}\n",
    ] {
        assert!(validator.takes(&yaml(text)).is_err(), "{text}");
        assert_eq!(checked(text).exit_code, 78, "{text}");
    }
}

/// A document in which a value stands at a path.
fn document(path: &str, value: Value) -> Value {
    path.rsplit('.').fold(value, |inner, name| {
        let (name, list) = match name.strip_suffix("[]") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let inner = if list { json!([inner]) } else { inner };
        let name = if name == "*" { "some" } else { name };
        Value::Object(Map::from_iter([(name.to_owned(), inner)]))
    })
}

/// Values of which the first two are the bounds of a shape, and the others are beyond them.
fn trials(shape: &Shape) -> (Vec<Value>, Vec<Value>) {
    match shape {
        Shape::Whole { least, most } => {
            let below = least.checked_sub(1).map(Value::from);
            let beyond = [json!(most + 1), json!("many"), json!([]), json!(-1)];
            (
                vec![json!(least), json!(most)],
                below.into_iter().chain(beyond).collect(),
            )
        }
        Shape::Decimal { least, most, .. } => (
            vec![json!(least), json!(most)],
            vec![
                json!(least - 1.0),
                json!(most + 1.0),
                json!("much"),
                json!({}),
            ],
        ),
        Shape::Truth => (
            vec![json!(true), json!(false)],
            vec![json!("yes"), json!(3)],
        ),
        Shape::Choice(words) => (
            words.iter().map(|word| json!(word)).collect(),
            vec![json!("no such word"), json!([])],
        ),
        Shape::Text { empty } => (
            vec![json!("a")],
            if *empty {
                vec![json!([]), json!({ "a": 1 })]
            } else {
                vec![json!(""), json!([]), json!({ "a": 1 })]
            },
        ),
        Shape::Id => (vec![json!(5), json!("a")], vec![json!(""), json!([])]),
        Shape::Secret | Shape::SecretFile => (vec![], vec![json!(""), json!([])]),
        Shape::Section | Shape::Map => (vec![json!(null)], vec![json!(5), json!([1])]),
        Shape::List => (vec![json!([])], vec![json!(5), json!({ "a": 1 })]),
        Shape::Ignored => (vec![json!(1)], vec![]),
    }
}

/// Every key, with values at and beyond its bounds: what the program complains about there, the schema
/// refuses, and the other way round.
#[test]
fn every_key_has_the_same_bounds_for_both() {
    let validator = Validator::new();
    let entries = reference(&adapters::known());
    let mut tried = 0;
    for entry in entries.iter().filter(|entry| entry.shapes.len() == 1) {
        let path = entry.path.replace('*', "some").replace("[]", "[0]");
        let (good, bad) = trials(&entry.shapes[0]);
        for value in good {
            let document = document(&entry.path, value);
            let said = checked(&document.to_string()).text;
            if !complains(&said, &path) {
                let valid = validator.takes(&document);
                let at = valid.as_ref().err().is_some_and(|error| at(error, entry));
                assert!(!at, "{document}: {valid:?}");
            }
        }
        for value in bad {
            let document = document(&entry.path, value);
            let said = checked(&document.to_string()).text;
            assert!(complains(&said, &path), "{document}: {said}");
            assert!(validator.takes(&document).is_err(), "{document}");
            tried += 1;
        }
    }
    assert!(tried > 200, "{tried}");
}

/// The program says that something is wrong with the value of a key, beyond what it is made of.
fn complains(said: &str, path: &str) -> bool {
    said.lines()
        .any(|line| line.contains(&format!(" {path}: ")) && !line.contains(": warning: "))
}

/// The validator's fault is at the key.
fn at(error: &str, entry: &Entry) -> bool {
    let pointer = entry
        .path
        .replace("[]", ".0")
        .replace('*', "some")
        .replace('.', "/");
    error.contains(&format!("'/{pointer}'"))
}

#[test]
fn every_key_is_told_in_words() {
    let entries = reference(&adapters::known());
    assert!(entries.len() > 120, "{}", entries.len());
    let silent: Vec<&str> = entries
        .iter()
        .filter(|entry| !entry.is_ignored() && !entry.is_part() && entry.comment.is_empty())
        .map(|entry| entry.path.as_str())
        // What it holds has no effect yet.
        .filter(|path| *path != "context.retention")
        // What stands for each platform alike is told once, above them.
        .filter(|path| {
            let alike = ["permissions.owners.", "permissions.blocked."];
            !path.contains("_by_platform.") && !alike.iter().any(|part| path.starts_with(*part))
        })
        .collect();
    assert_eq!(silent, Vec::<&str>::new(), "no comment in agent.yaml");
}
