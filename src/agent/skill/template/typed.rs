//! Inputs as a person types them: `KEY=VALUE …`, a JSON object, or the value alone where there is one input only.
//!
//! Owns how words become values of the inputs' types. Whether these fit is the schema's to say. Pure.

use serde_json::{Map, Value};

use super::Template;

impl Template {
    /// The inputs that a text gives; they fit.
    ///
    /// # Errors
    /// What does not fit.
    pub fn typed(&self, text: &str) -> Result<Map<String, Value>, String> {
        let given = self.read(text.trim())?;
        self.filled(&given)?;
        Ok(given)
    }

    fn read(&self, text: &str) -> Result<Map<String, Value>, String> {
        if text.starts_with('{') {
            return serde_json::from_str(text).map_err(|error| error.to_string());
        }
        let properties = self.inputs.get("properties").and_then(Value::as_object);
        let known = |key: &str| properties.and_then(|map| map.get(key));
        let only = properties.filter(|map| map.len() == 1);
        let only = only.and_then(|map| map.iter().next());
        if let Some((key, about)) = only
            && !text.is_empty()
            && !text.starts_with(&format!("{key}="))
        {
            return Ok(Map::from_iter([(key.clone(), value(about, text))]));
        }
        let mut given = Map::new();
        for word in words(text)? {
            let Some((key, written)) = word.split_once('=') else {
                return Err(format!("{word} is not of the form KEY=VALUE"));
            };
            let about = known(key).ok_or_else(|| format!("there is no input {key}"))?;
            if given
                .insert(key.to_owned(), value(about, written))
                .is_some()
            {
                return Err(format!("{key} stands there twice"));
            }
        }
        Ok(given)
    }

    /// The inputs as a person is told them: those that must be given, and the others in brackets.
    #[must_use]
    pub fn usage(&self) -> String {
        let required = self.inputs.get("required").and_then(Value::as_array);
        let must = |key: &str| {
            let mut keys = required.into_iter().flatten();
            keys.any(|one| one == key) && !self.defaults.contains_key(key)
        };
        let properties = self.inputs.get("properties").and_then(Value::as_object);
        let each = properties.into_iter().flatten().map(|(key, _)| {
            if must(key) {
                format!("{key}=…")
            } else {
                format!("[{key}=…]")
            }
        });
        each.collect::<Vec<_>>().join(" ")
    }
}

/// A value of the type that is wanted, as far as the text is one.
fn value(about: &Value, text: &str) -> Value {
    let is_text = about.get("type").and_then(Value::as_str) == Some("string");
    let read = || serde_json::from_str(text).ok();
    let read = (!is_text).then(read).flatten();
    read.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The words of a text; what stands in quotation marks is one, with the spaces in it.
fn words(text: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for sign in text.chars() {
        match sign {
            // Phones write them in pairs.
            '"' | '“' | '”' => quoted = !quoted,
            sign if sign.is_whitespace() && !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            sign => word.push(sign),
        }
    }
    if quoted {
        return Err("a quotation mark has no end".to_owned());
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::agent::skill::template::read::tests::of_inputs;

    const TWO: &str = "{required: [n], properties: {n: {type: integer}, what: {type: string}, deep: {type: object}}}";
    const ONE: &str = "{required: [url], properties: {url: {type: string}}}";

    #[test]
    fn words_become_values_of_the_types_that_are_wanted() {
        let two = of_inputs(TWO);
        for (text, given) in [
            ("n=5", json!({ "n": 5 })),
            ("n=5 what=6", json!({ "n": 5, "what": "6" })),
            (
                "what=\"two words\"  n=5",
                json!({ "n": 5, "what": "two words" }),
            ),
            ("n=5 what=“两 个”", json!({ "n": 5, "what": "两 个" })),
            (
                "n=5 deep={\"x\":1} what=a=b",
                json!({ "n": 5, "what": "a=b" }),
            ),
            (
                "{\"n\": 5, \"deep\": {\"x\": 1}}",
                json!({ "n": 5, "deep": { "x": 1 } }),
            ),
        ] {
            let typed = two.typed(text);
            if text.contains("deep={") {
                // The marks are gone: it is no object any more.
                assert!(typed.is_err(), "{text}");
            } else {
                assert_eq!(typed.map(Value::Object), Ok(given), "{text}");
            }
        }
        let one = of_inputs(ONE);
        for text in ["https://h/?a=b c", "url=\"https://h/?a=b c\""] {
            let given = json!({ "url": "https://h/?a=b c" });
            assert_eq!(one.typed(text).map(Value::Object), Ok(given), "{text}");
        }
        assert_eq!(two.usage(), "[deep=…] n=… [what=…]");
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let two = of_inputs(TWO);
        for (text, part) in [
            ("", "n"),
            ("five", "not of the form"),
            ("m=5", "no input m"),
            ("n=5 n=6", "twice"),
            ("n=five", "integer"),
            ("n=5 what=\"x", "no end"),
            ("{\"n\"", "EOF"),
        ] {
            let told = two.typed(text).unwrap_err();
            assert!(told.contains(part), "{text}: {told}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "\\PC{0,80}") {
            let _ = of_inputs(TWO).typed(&text);
            let given = of_inputs(ONE).typed(&text);
            let plain = text.trim();
            if !plain.is_empty() && !plain.starts_with('{') && !plain.starts_with("url=") {
                prop_assert_eq!(given.map(Value::Object), Ok(json!({ "url": plain })));
            }
        }
    }
}
