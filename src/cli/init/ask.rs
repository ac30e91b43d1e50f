//! The questions of `weirgate init`.
//!
//! Owns their order. It asks again what cannot be used, and stops at the end of the input.

use std::{
    io::{self, BufRead, Write},
    os::fd::AsFd,
};

use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use crate::{
    config::starter::{Answers, Key, Starter},
    i18n::{Language, setup::Setup},
};

/// The longest line that is taken, in bytes.
const LONGEST: usize = 4_096;

/// Who is asked.
pub(super) struct Terminal<R, W> {
    input: R,
    output: W,
}

impl<R: BufRead, W: Write> Terminal<R, W> {
    pub(super) fn new(input: R, output: W) -> Self {
        Self { input, output }
    }

    /// Asks for everything; `None` if the input ends first.
    pub(super) fn ask(
        &mut self,
        language: Language,
        known: &[(&'static str, &'static str)],
    ) -> io::Result<Option<Starter>> {
        let Some(tag) = self.choice(&Setup::Language, language, &["auto", "zh-CN", "en"])? else {
            return Ok(None);
        };
        let language = Language::from_tag(&tag).unwrap_or(language);
        let Some(base_url) = self.line(&Setup::BaseUrl, language)? else {
            return Ok(None);
        };
        let answers = if base_url.is_empty() {
            Answers::Demo
        } else {
            let Some(model) = self.needed(&Setup::Model, language)? else {
                return Ok(None);
            };
            let Some(key) = self.key(language)? else {
                return Ok(None);
            };
            Answers::Provider {
                base_url,
                model,
                key,
            }
        };
        let Some(platforms) = self.platforms(language, known)? else {
            return Ok(None);
        };
        Ok(Some(Starter {
            language: tag,
            answers,
            platforms,
            listen: None,
            database: None,
        }))
    }

    fn platforms(
        &mut self,
        language: Language,
        known: &[(&'static str, &'static str)],
    ) -> io::Result<Option<Vec<(&'static str, &'static str)>>> {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let all = names.join(", ");
        loop {
            let Some(said) = self.line(&Setup::Platforms { known: &all }, language)? else {
                return Ok(None);
            };
            let wanted: Vec<&str> = said
                .split(|c: char| c == ',' || c == '，' || c.is_whitespace())
                .filter(|name| !name.is_empty())
                .collect();
            if wanted.is_empty() {
                return Ok(Some(
                    crate::app::adapters::first_starter().into_iter().collect(),
                ));
            }
            match wanted.iter().find(|name| !names.contains(name)) {
                Some(name) => self.tell(&Setup::NoPlatform { name }, language)?,
                None => {
                    let chosen = known.iter().filter(|(name, _)| wanted.contains(name));
                    return Ok(Some(chosen.copied().collect()));
                }
            }
        }
    }

    fn key(&mut self, language: Language) -> io::Result<Option<Key>> {
        self.tell_inline(&Setup::Key, language)?;
        let hidden = Hidden::new();
        let said = self.read()?;
        drop(hidden);
        writeln!(self.output)?;
        Ok(said.map(|said| match said.strip_prefix('$') {
            Some(name) => Key::Variable(name.trim_matches(['{', '}']).to_owned()),
            None if said.is_empty() => Key::None,
            None => Key::Written(said),
        }))
    }

    fn choice(
        &mut self,
        question: &Setup<'_>,
        language: Language,
        choices: &[&str],
    ) -> io::Result<Option<String>> {
        loop {
            let Some(said) = self.line(question, language)? else {
                return Ok(None);
            };
            let found = choices
                .iter()
                .find(|choice| said.is_empty() || choice.eq_ignore_ascii_case(&said));
            if let Some(found) = found {
                return Ok(Some((*found).to_owned()));
            }
        }
    }

    fn needed(&mut self, question: &Setup<'_>, language: Language) -> io::Result<Option<String>> {
        loop {
            match self.line(question, language)? {
                Some(said) if said.is_empty() => {}
                other => return Ok(other),
            }
        }
    }

    fn line(&mut self, question: &Setup<'_>, language: Language) -> io::Result<Option<String>> {
        self.tell_inline(question, language)?;
        self.read()
    }

    fn read(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let limit = u64::try_from(LONGEST).unwrap_or(u64::MAX);
        io::Read::take(&mut self.input, limit).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let text = String::from_utf8(line)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "not UTF-8"))?;
        Ok(Some(text.trim().to_owned()))
    }

    fn tell(&mut self, text: &Setup<'_>, language: Language) -> io::Result<()> {
        writeln!(self.output, "{}", text.render(language))
    }

    fn tell_inline(&mut self, text: &Setup<'_>, language: Language) -> io::Result<()> {
        write!(self.output, "{} ", text.render(language))?;
        self.output.flush()
    }
}

/// What is typed is not shown as long as this lives.
struct Hidden(Option<rustix::termios::Termios>);

impl Hidden {
    fn new() -> Self {
        let terminal = io::stdin();
        let before = tcgetattr(terminal.as_fd()).ok();
        let hidden = before.as_ref().and_then(|before| {
            let mut quiet = before.clone();
            quiet.local_modes.remove(LocalModes::ECHO);
            tcsetattr(terminal.as_fd(), OptionalActions::Flush, &quiet).ok()
        });
        Self(before.filter(|_| hidden.is_some()))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // A terminal that is gone shows nothing anyway.
            let _ = tcsetattr(io::stdin().as_fd(), OptionalActions::Flush, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [(&str, &str); 2] = [("here", "accounts: {}"), ("there", "accounts: {}")];

    fn talk(said: &str) -> (Option<Starter>, String) {
        let mut output = Vec::new();
        let starter = Terminal::new(said.as_bytes(), &mut output)
            .ask(Language::En, &KNOWN)
            .unwrap();
        (starter, String::from_utf8(output).unwrap())
    }

    #[test]
    fn answers_become_a_file_and_what_cannot_be_used_is_asked_again() {
        let said =
            "what?\nzh-cn\nhttps://example.com/v1\n\nsome/model\n${A_KEY}\nnowhere\nthere, here\n";
        let (starter, asked) = talk(said);
        let starter = starter.unwrap();
        assert_eq!(starter.language, "zh-CN");
        assert_eq!(
            starter.answers,
            Answers::Provider {
                base_url: "https://example.com/v1".into(),
                model: "some/model".into(),
                key: Key::Variable("A_KEY".into()),
            }
        );
        assert_eq!(starter.platforms, KNOWN);
        assert!(asked.contains("nowhere"), "{asked}");
    }

    #[test]
    fn a_key_that_is_typed_is_kept_as_it_is() {
        let (starter, asked) = talk("\nhttp://127.0.0.1/v1\nm\nsecret-key\nhere\n");
        let Answers::Provider { key, .. } = starter.unwrap().answers else {
            panic!("a provider")
        };
        assert_eq!(key, Key::Written("secret-key".into()));
        assert!(!asked.contains("secret-key"));
    }

    #[test]
    fn the_end_of_the_input_ends_the_questions() {
        for said in ["", "en\n", "en\nhttps://example.com\n", "en\n\n"] {
            assert!(talk(said).0.is_none(), "{said:?}");
        }
    }
}
