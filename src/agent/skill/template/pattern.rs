//! Texts with references to inputs and earlier results, and how their values take their place.
//!
//! Owns the form `{{inputs.NAME}}` and `{{steps.ID}}`, each with a path of further keys or places if wanted. What is put in is
//! never read again, so that no value can refer to anything. Pure.

use serde_json::{Map, Value};

use super::{MAX_FILLED, progress::Came};

/// Most keys of a reference.
const MAX_PATH: usize = 16;
/// Longest key, in bytes.
const MAX_KEY: usize = 64;

/// What references may name.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// The inputs.
    pub(super) inputs: Vec<String>,
    /// The steps before, in their order.
    pub(super) steps: Vec<String>,
}

/// What they stand for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'a> {
    /// The inputs.
    pub(super) inputs: &'a Map<String, Value>,
    /// What the steps before came to.
    pub(super) came: &'a [Came],
}

/// A text with references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Words(String),
    Reference(Reference),
}

/// What a text refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reference {
    root: Root,
    /// Keys of objects and places of lists below it.
    path: Vec<String>,
    /// As it is written, for messages.
    written: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Root {
    Input(String),
    Step(usize),
}

impl Pattern {
    /// Reads a text. `\{{` stands for two braces that begin no reference.
    ///
    /// # Errors
    /// What is no reference, or names nothing that there is.
    pub(super) fn read(text: &str, names: &Names) -> Result<Self, String> {
        let (mut pieces, mut words, mut rest) = (Vec::new(), String::new(), text);
        while let Some((before, behind)) = rest.split_once("{{") {
            if let Some(before) = before.strip_suffix('\\') {
                words.push_str(before);
                words.push_str("{{");
                rest = behind;
                continue;
            }
            words.push_str(before);
            let Some((inside, behind)) = behind.split_once("}}") else {
                return Err("{{ has no }} behind it; \\{{ stands for two braces".to_owned());
            };
            if !words.is_empty() {
                pieces.push(Piece::Words(std::mem::take(&mut words)));
            }
            pieces.push(Piece::Reference(Reference::read(inside.trim(), names)?));
            rest = behind;
        }
        words.push_str(rest);
        if !words.is_empty() {
            pieces.push(Piece::Words(words));
        }
        Ok(Self(pieces))
    }

    /// The value: that of the reference, of whatever type, where there is nothing beside it, else a text. `None` where
    /// the only reference stands for nothing.
    ///
    /// # Errors
    /// What a reference looks for is not in the value.
    pub(super) fn value(&self, values: Values<'_>) -> Result<Option<Value>, String> {
        if let [Piece::Reference(reference)] = self.0.as_slice() {
            return reference.find(values);
        }
        let text = self.text(values, |_, text| text)?;
        Ok(Some(Value::String(text)))
    }

    /// The text. What comes from a step goes through `dress`; what stands for nothing is left out.
    ///
    /// # Errors
    /// As [`Pattern::value`].
    pub(super) fn text(
        &self,
        values: Values<'_>,
        dress: impl Fn(&Came, String) -> String,
    ) -> Result<String, String> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Words(words) => out.push_str(words),
                Piece::Reference(reference) => {
                    let Some(found) = reference.find(values)? else {
                        continue;
                    };
                    let text = match found {
                        Value::String(text) => text,
                        other => other.to_string(),
                    };
                    match reference.came(values) {
                        Some(came) => out.push_str(&dress(came, text)),
                        None => out.push_str(&text),
                    }
                    if out.len() > MAX_FILLED {
                        return Err(format!("the text has more than {MAX_FILLED} bytes"));
                    }
                }
            }
        }
        Ok(out)
    }
}

impl Reference {
    fn read(inside: &str, names: &Names) -> Result<Self, String> {
        let keys: Vec<&str> = inside.split('.').collect();
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let fits = |key: &&str| (1..=MAX_KEY).contains(&key.len()) && key.bytes().all(letter);
        let form = || {
            format!(
                "{{{{{inside}}}}} is no reference: write inputs.NAME or steps.ID, and .KEY behind it for a part"
            )
        };
        let [root, name, path @ ..] = keys.as_slice() else {
            return Err(form());
        };
        if !keys.iter().all(fits) || path.len() > MAX_PATH {
            return Err(form());
        }
        let root = match *root {
            "inputs" if names.inputs.iter().any(|input| input == name) => {
                Root::Input((*name).to_owned())
            }
            "inputs" => return Err(format!("there is no input {name}")),
            "steps" => match names.steps.iter().position(|step| step == name) {
                Some(place) => Root::Step(place),
                None => return Err(format!("there is no step {name} before this one")),
            },
            _ => return Err(form()),
        };
        Ok(Self {
            root,
            path: path.iter().map(|key| (*key).to_owned()).collect(),
            written: inside.to_owned(),
        })
    }

    fn came<'a>(&self, values: Values<'a>) -> Option<&'a Came> {
        match self.root {
            Root::Input(_) => None,
            Root::Step(place) => values.came.get(place),
        }
    }

    /// What it stands for; nothing for an input that was not given and a step that gave nothing.
    fn find(&self, values: Values<'_>) -> Result<Option<Value>, String> {
        let read;
        let found = match &self.root {
            Root::Input(name) => values.inputs.get(name),
            Root::Step(_) => match self.came(values).filter(|came| came.ok) {
                None => None,
                Some(came) if self.path.is_empty() => {
                    return Ok(Some(Value::String(came.text.clone())));
                }
                Some(came) => {
                    let told = |_| format!("{} looks into a result that is no JSON", self.written);
                    read = serde_json::from_str(&came.text).map_err(told)?;
                    Some(&read)
                }
            },
        };
        let Some(found) = found else {
            return Ok(None);
        };
        let part = self.path.iter().try_fold(found, below);
        let part = part.ok_or_else(|| format!("there is nothing at {}", self.written));
        part.map(|part| Some(part.clone()))
    }
}

fn below<'a>(value: &'a Value, key: &String) -> Option<&'a Value> {
    match value {
        Value::Object(map) => map.get(key),
        Value::Array(list) => list.get(key.parse::<usize>().ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn names() -> Names {
        Names {
            inputs: vec!["who".to_owned(), "n".to_owned()],
            steps: vec!["find".to_owned(), "2".to_owned()],
        }
    }

    fn came(ok: bool, text: &str) -> Came {
        Came {
            ok,
            text: text.to_owned(),
            origin: None,
        }
    }

    fn value(text: &str) -> Result<Option<Value>, String> {
        let inputs = json!({ "n": 5 });
        let all = [
            came(true, r#"{"items":[{"id":7,"a-b":null}]}"#),
            came(false, "no"),
        ];
        let values = Values {
            inputs: inputs.as_object().unwrap(),
            came: &all,
        };
        Pattern::read(text, &names())?.value(values)
    }

    #[test]
    fn a_reference_alone_keeps_its_type_and_in_a_text_it_is_text() {
        assert_eq!(value("{{inputs.n}}"), Ok(Some(json!(5))));
        assert_eq!(value("{{ inputs.n }}"), Ok(Some(json!(5))));
        assert_eq!(value("n={{inputs.n}}."), Ok(Some(json!("n=5."))));
        assert_eq!(value("{{steps.find.items.0.id}}"), Ok(Some(json!(7))));
        assert_eq!(
            value("{{steps.find.items.0}}!"),
            Ok(Some(json!(r#"{"a-b":null,"id":7}!"#)))
        );
        assert_eq!(
            value("{{steps.find}}"),
            Ok(Some(json!(r#"{"items":[{"id":7,"a-b":null}]}"#)))
        );
        assert_eq!(value(r"\{{inputs.n}}"), Ok(Some(json!("{{inputs.n}}"))));
        assert_eq!(value("}} {a}"), Ok(Some(json!("}} {a}"))));
    }

    #[test]
    fn what_was_not_given_or_failed_is_nothing() {
        assert_eq!(value("{{inputs.who}}"), Ok(None));
        assert_eq!(value("{{steps.2}}"), Ok(None));
        assert_eq!(value("{{steps.2.deep}}"), Ok(None));
        assert_eq!(value("[{{inputs.who}}{{steps.2}}]"), Ok(Some(json!("[]"))));
    }

    #[test]
    fn what_is_put_in_is_bounded() {
        let inputs = json!({ "who": "x".repeat(MAX_FILLED / 2) });
        let values = Values {
            inputs: inputs.as_object().unwrap(),
            came: &[],
        };
        let text = |times| {
            let pattern = Pattern::read(&"{{inputs.who}}".repeat(times), &names());
            pattern.unwrap().text(values, |_, text| text)
        };
        assert!(text(2).is_ok());
        assert!(text(3).unwrap_err().contains("more than"));
    }

    #[test]
    fn what_a_reference_looks_for_must_be_there() {
        for text in [
            "{{steps.find.items.1}}",
            "{{steps.find.x}}",
            "{{inputs.n.x}}",
        ] {
            assert!(value(text).unwrap_err().contains("nothing at"), "{text}");
        }
        let plain = [came(true, "words")];
        let inputs = Map::new();
        let values = Values {
            inputs: &inputs,
            came: &plain,
        };
        let pattern = Pattern::read("{{steps.find.x}}", &names()).unwrap();
        assert!(pattern.value(values).unwrap_err().contains("no JSON"));
    }

    #[test]
    fn what_is_no_reference_is_refused() {
        for text in [
            "{{",
            "{{}}",
            "{{inputs}}",
            "{{inputs.}}",
            "{{inputs.none}}",
            "{{steps.later}}",
            "{{env.HOME}}",
            "{{inputs.n | upper}}",
            "{{inputs.n..x}}",
            "{{ inputs . n }}",
            "a {{inputs.n",
        ] {
            assert!(Pattern::read(text, &names()).is_err(), "{text}");
        }
        let deep = format!("{{{{inputs.n{}}}}}", ".x".repeat(MAX_PATH + 1));
        assert!(Pattern::read(&deep, &names()).is_err());
    }

    proptest! {
        #[test]
        fn no_text_breaks_it_and_one_without_braces_is_itself(text in "\\PC{0,200}") {
            let read = Pattern::read(&text, &names());
            if !text.contains("{{") {
                let values = Values { inputs: &Map::new(), came: &[] };
                let whole = read.unwrap().text(values, |_, text| text);
                prop_assert_eq!(whole, Ok(text));
            }
        }

        #[test]
        fn what_is_put_in_is_never_read_again(
            before in "[a-z {}\\\\]{0,9}", given in "[a-z{}.\\\\ ]{0,40}", behind in "[a-z ]{0,9}"
        ) {
            prop_assume!(!before.contains("{{") && !before.ends_with(['\\', '{']));
            let text = format!("{before}{{{{inputs.who}}}}{behind}{{{{steps.find}}}}");
            let pattern = Pattern::read(&text, &names()).unwrap();
            let inputs = json!({ "who": given });
            let all = [came(true, "{{inputs.n}}")];
            let values = Values { inputs: inputs.as_object().unwrap(), came: &all };
            let marked = pattern.text(values, |_, text| format!("<{text}>"));
            prop_assert_eq!(marked, Ok(format!("{before}{given}{behind}<{{{{inputs.n}}}}>")));
        }
    }
}
