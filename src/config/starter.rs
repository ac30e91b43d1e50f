//! A new agent.yaml with only what is needed.
//!
//! Owns its words and its quoting. Pure: whoever writes it to a file looks whether it can be used first.

use std::fmt::Write as _;

/// Where a key is taken from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// There is none.
    None,
    /// From a variable of the environment.
    Variable(String),
    /// From a file of its own.
    File(String),
    /// It stands in agent.yaml itself.
    Written(String),
}

/// The model that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answers {
    /// The built-in demonstration.
    Demo,
    /// A provider.
    Provider {
        /// Where it is.
        base_url: String,
        /// The model's name there.
        model: String,
        /// Its key.
        key: Key,
    },
}

/// What a new agent.yaml says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starter {
    /// `auto`, `zh-CN` or `en`.
    pub language: String,
    /// Who answers.
    pub answers: Answers,
    /// The platforms and the lines under their names.
    pub platforms: Vec<(&'static str, &'static str)>,
    /// Where the web server listens, if not at its default.
    pub listen: Option<String>,
    /// The database's file, if not at its default.
    pub database: Option<String>,
}

impl Starter {
    /// Whether it holds a secret.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        let Answers::Provider { key, .. } = &self.answers else {
            return false;
        };
        matches!(key, Key::Written(_))
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::from(HEAD);
        let _ = writeln!(
            text,
            "\n# The language of what the gateway itself says: auto | zh-CN | en.\nlanguage: {}",
            self.language
        );
        self.models(&mut text);
        if let Some(listen) = &self.listen {
            let _ = writeln!(
                text,
                "\n# Where the gateway listens for browsers, probes and metrics.\nhttp:\n  listen: {}",
                quoted(listen)
            );
        }
        if let Some(database) = &self.database {
            let url = quoted(&format!("sqlite:{database}"));
            let _ = writeln!(
                text,
                "\n# The database: what was accepted, what was said. Back it up with `weirgate backup`.\n\
                 storage:\n  url: {url}"
            );
        }
        text.push_str("\n# Where people reach the bot.\nplatforms:\n");
        for (name, lines) in &self.platforms {
            let _ = writeln!(text, "  {name}:");
            for line in lines.lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
        text
    }

    fn models(&self, text: &mut String) {
        let Answers::Provider {
            base_url,
            model,
            key,
        } = &self.answers
        else {
            text.push_str(DEMO);
            return;
        };
        let _ = writeln!(
            text,
            "\n# Where models are: anything that speaks the chat completions API.\nproviders:\n  main:\n    \
             kind: openai\n    base_url: {}",
            quoted(base_url)
        );
        let _ = match key {
            Key::None => Ok(()),
            Key::Variable(name) => writeln!(text, "    api_key: ${{{name}}}"),
            Key::File(name) => writeln!(text, "    api_key_file: {}", quoted(name)),
            Key::Written(key) => writeln!(text, "    api_key: {}", quoted(key)),
        };
        let _ = writeln!(
            text,
            "\n# Which models answer: the first, and when it fails the next.\nmodels:\n  chat: [{}]",
            quoted(&format!("main/{model}"))
        );
    }
}

const HEAD: &str = "\
# What differs from Weirgate's defaults. `weirgate check` shows everything that is wrong in this file,
# `weirgate doctor` whether the gateway can work with it.
#
# ${NAME} is replaced by an environment variable. A secret may be in a file of its own: write <key>_file
# instead of <key>.
";

const DEMO: &str = "
# The built-in demonstration answers. For a real model:
# providers:
#   main:
#     kind: openai
#     base_url: https://api.openai.com/v1
#     api_key: ${OPENAI_API_KEY}
# models:
#   chat: [main/gpt-4o-mini]
";

/// A value that is read back as it is: quoted, and no dollar of it is a variable's.
fn quoted(value: &str) -> String {
    // The quoting of JSON is one of those that YAML knows.
    serde_json::Value::from(value.replace('$', "$$")).to_string()
}

#[cfg(test)]
mod tests;
