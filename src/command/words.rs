//! The words behind a command: texts and mentioned people, in order.
//!
//! Owns how arguments are taken apart, and who is meant by them. A mention counts by the id that the
//! platform gave, never by the name that is shown. Pure.

use std::collections::VecDeque;

use weirgate_sdk::{Segment, UserId};

use crate::store::Body;

/// Words that a name has at most.
const LONGEST_NAME: usize = 4;
/// The longest id in bytes that is taken for one.
const LONGEST_ID: usize = 128;

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// A text without white space.
    Text(String),
    /// A person was mentioned.
    Person {
        /// His id.
        id: UserId,
        /// The name that was shown.
        name: String,
    },
    /// Somebody was called by a handle, and nobody knows whose it is.
    Handle(String),
}

impl Word {
    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Person { .. } | Self::Handle(_) => None,
        }
    }
}

/// Whom words name, of whom it is not known who he is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown(pub String);

/// Who is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// His id on the platform.
    pub id: UserId,
    /// How to call him: the name that the mention showed, or the id.
    pub shown: String,
}

/// The words behind a command's name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    words: VecDeque<Word>,
    answered: Option<UserId>,
}

impl Words {
    /// The words of a message, without the command's name and whatever stands before it.
    #[must_use]
    pub fn of(body: &Body) -> Self {
        Self::between(body, char::is_whitespace)
    }

    /// Like [`Words::of`], where commas end words as well.
    #[must_use]
    pub fn of_list(body: &Body) -> Self {
        Self::between(body, |c| c.is_whitespace() || ",，、".contains(c))
    }

    /// The words of a text that is no message.
    #[must_use]
    pub fn written(text: &str) -> Self {
        let words = text
            .split_whitespace()
            .map(|word| Word::Text(word.to_owned()));
        Self {
            words: words.collect(),
            answered: None,
        }
    }

    fn between(body: &Body, separates: impl Fn(char) -> bool) -> Self {
        let mut words = VecDeque::new();
        let mut name_passed = false;
        let text = Segment::Text(body.text.clone());
        for segment in std::iter::once(&text).chain(&body.segments) {
            match segment {
                Segment::Text(text) => {
                    for word in text.split(&separates).filter(|word| !word.is_empty()) {
                        if std::mem::replace(&mut name_passed, true) {
                            words.push_back(Word::Text(word.to_owned()));
                        }
                    }
                }
                // In front of the command it is the bot's own, to address it. Behind it is somebody without a name.
                Segment::Mention { name, .. } if name.is_empty() && !name_passed => {}
                Segment::Mention { user, name } => {
                    let shown = if name.is_empty() { user.as_str() } else { name };
                    words.push_back(Word::Person {
                        id: user.clone(),
                        name: shown.to_owned(),
                    });
                }
                Segment::Handle(name) => words.push_back(Word::Handle(name.clone())),
                _ => {}
            }
        }
        Self {
            words,
            answered: body.reply_author.as_deref().map(UserId::from),
        }
    }

    /// The next word, if it is a text.
    pub fn text(&mut self) -> Option<String> {
        self.take_if(|text| Some(text.to_owned()))
    }

    /// Takes the next word away if it is a text that `read` understands.
    pub fn take_if<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let Some(Word::Text(text)) = self.words.front() else {
            return None;
        };
        let value = read(text)?;
        self.words.pop_front();
        Some(value)
    }

    /// Takes the first word away that is one of `options`, wherever it stands; says whether there was one.
    pub fn take(&mut self, options: &[&str]) -> bool {
        let is_one = |word: &Word| matches!(word, Word::Text(text) if options.contains(&&**text));
        let found = self.words.iter().position(is_one);
        found.and_then(|at| self.words.remove(at)).is_some()
    }

    /// The first words, at most so many, as far as they are texts.
    #[must_use]
    pub fn front(&self, most: usize) -> Vec<&str> {
        let texts = self.words.iter().map_while(Word::as_text);
        texts.take(most).collect()
    }

    /// The last words, at most so many, as far as they are texts, as one text.
    #[must_use]
    pub fn back(&self, most: usize) -> String {
        let texts = self.words.iter().rev().map_while(Word::as_text);
        let mut texts: Vec<&str> = texts.take(most).collect();
        texts.reverse();
        texts.join(" ")
    }

    /// Takes so many words away.
    pub fn skip(&mut self, count: usize) {
        self.words.drain(..count.min(self.words.len()));
    }

    /// Takes what stands in front of a word away, and the word; `None` if it is not there.
    pub fn until(&mut self, mark: &str) -> Option<Self> {
        let is_mark = |word: &Word| word.as_text() == Some(mark);
        let at = self.words.iter().position(is_mark)?;
        let words = self.words.drain(..at).collect();
        self.words.pop_front();
        let answered = None;
        Some(Self { words, answered })
    }

    /// The person that is named: by an id in front, or else by a mention anywhere. Is taken from the words. Nobody if a
    /// name is written in front: who is mentioned behind it belongs to what is said of him. `looks_like_id` knows the
    /// platform's ids.
    ///
    /// # Errors
    /// A handle that is nobody's who is known: who else shows it as his name is not meant.
    pub fn named(
        &mut self,
        looks_like_id: impl Fn(&str) -> bool,
    ) -> Result<Option<Person>, Unknown> {
        if let Some(Word::Text(text)) = self.words.front() {
            let id = text.trim_start_matches('@');
            if id.len() <= LONGEST_ID && looks_like_id(id) {
                let id = id.strip_prefix("id:").unwrap_or(id).to_owned();
                self.words.pop_front();
                return Ok(Some(Person {
                    id: UserId::from(id.as_str()),
                    shown: id,
                }));
            }
            if text.len() > 1 && text.starts_with('@') {
                return Ok(None);
            }
        }
        let mentioned = |word: &Word| !matches!(word, Word::Text(_));
        let at = self.words.iter().position(mentioned);
        match at.and_then(|at| self.words.remove(at)) {
            Some(Word::Person { id, name }) => Ok(Some(Person { id, shown: name })),
            Some(Word::Handle(name)) => Err(Unknown(name)),
            Some(Word::Text(_)) | None => Ok(None),
        }
    }

    /// The names that may be meant by what is written with an `@` in front, the longest first: a name may have several
    /// words.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let texts = self.front(LONGEST_NAME);
        let Some(first) = texts.first().and_then(|text| text.strip_prefix('@')) else {
            return Vec::new();
        };
        let name = |count: usize| {
            let rest = texts.iter().take(count).skip(1).copied();
            let words: Vec<&str> = std::iter::once(first).chain(rest).collect();
            words.join(" ")
        };
        (1..=texts.len()).rev().map(name).collect()
    }

    /// Takes the first words away that make up a name.
    pub fn take_name(&mut self, name: &str) {
        self.skip(name.split(' ').count());
    }

    /// Who wrote the message that is answered.
    #[must_use]
    pub fn answered(&self) -> Option<Person> {
        let id = self.answered.clone()?;
        let shown = id.as_str().to_owned();
        Some(Person { id, shown })
    }

    /// What is left, as one text.
    #[must_use]
    pub fn rest(&self) -> String {
        let texts = self.words.iter().map(|word| match word {
            Word::Text(text) => text.clone(),
            Word::Person { name, .. } | Word::Handle(name) => format!("@{name}"),
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// Whether a word is taken for the id of a user: the platforms' are numbers of five digits and more, and
/// anything may be written as `id:…`, which is then without its mark.
#[must_use]
pub fn looks_like_id(word: &str) -> bool {
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    word.starts_with("id:") && word.len() > 3 || digits && (5..=20).contains(&word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(segments: Vec<Segment>) -> Body {
        Body {
            message: "1".into(),
            name: "Ann".into(),
            text: String::new(),
            segments,
            group: true,
            role: weirgate_sdk::PlatformRole::Member,
            kind: weirgate_sdk::SenderKind::Person,
            reply_to: None,
            reply_author: None,
            reply_context: None,
            pressed: false,
            request: false,
            too_large: false,
            resumes: None,
            due: None,
            passed: Vec::new(),
        }
    }

    fn mention(id: &str, name: &str) -> Segment {
        Segment::Mention {
            user: id.into(),
            name: name.into(),
        }
    }

    fn number(text: &str) -> bool {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
    }

    #[test]
    fn people_are_found_by_mention_or_id_then_by_answer() {
        let mut words = Words::of(&body(vec![
            mention("9", ""),
            Segment::Text(" /mute 10m ".into()),
            mention("7", "Bob the builder"),
            Segment::Text(" spam".into()),
        ]));
        let bob = words.named(number).expect("known").expect("a person");
        assert_eq!(
            (bob.id.as_str(), bob.shown.as_str()),
            ("7", "Bob the builder")
        );
        assert_eq!(words.text().as_deref(), Some("10m"));
        assert_eq!(words.rest(), "spam");

        let mut words = Words::of(&body(vec![Segment::Text("/kick 42 he spams".into())]));
        assert_eq!(
            words
                .named(number)
                .expect("known")
                .expect("a person")
                .id
                .as_str(),
            "42"
        );
        assert_eq!(words.rest(), "he spams");

        let mut answer = body(vec![Segment::Text("/kick for spam".into())]);
        answer.reply_author = Some("8".into());
        let mut words = Words::of(&answer);
        assert_eq!(words.named(number), Ok(None));
        assert_eq!(words.answered().expect("a person").id.as_str(), "8");
        assert_eq!(words.rest(), "for spam");
    }

    #[test]
    fn who_is_mentioned_in_a_reason_is_not_meant() {
        for front in ["42", "@42", "id:42"] {
            let mut words = Words::of(&body(vec![
                Segment::Text(format!("/ban {front} insulted ")),
                mention("7", "Bob"),
            ]));
            let named = words
                .named(looks_like_42)
                .expect("known")
                .expect("a person");
            assert_eq!(named.id.as_str(), "42", "{front}");
            assert_eq!(words.rest(), "insulted @Bob");
        }
        let mut words = Words::of(&body(vec![
            Segment::Text("/ban @Ann insulted ".into()),
            mention("7", "Bob"),
        ]));
        assert_eq!(words.named(number), Ok(None), "a name is in front");
        assert_eq!(words.names(), ["Ann insulted", "Ann"]);
    }

    fn looks_like_42(word: &str) -> bool {
        matches!(word, "42" | "id:42")
    }

    #[test]
    fn somebody_without_a_name_is_somebody() {
        let mut answer = body(vec![
            mention("9", ""),
            Segment::Text("/ban ".into()),
            mention("7", ""),
            Segment::Text(" spam".into()),
        ]);
        answer.reply_author = Some("8".into());
        let mut words = Words::of(&answer);
        let named = words.named(number).expect("known").expect("a person");
        assert_eq!((named.id.as_str(), named.shown.as_str()), ("7", "7"));
        assert_eq!(words.rest(), "spam");
    }

    #[test]
    fn a_handle_means_nobody_but_its_bearer() {
        let handle = || Segment::Handle("bobby".into());
        let unknown = || Err(Unknown("bobby".into()));
        for text in ["/ban ", "/ban 10m "] {
            let said = body(vec![Segment::Text(text.into()), handle()]);
            let mut words = Words::of(&said);
            assert_eq!(words.names(), [""; 0], "no name that somebody shows");
            assert_eq!(words.named(number_of_five), unknown(), "{text}");
        }
        // In front of a mention it is meant, behind an id or a mention it belongs to the reason.
        let mut words = Words::of(&body(vec![
            Segment::Text("/ban ".into()),
            handle(),
            mention("7", "Bob"),
        ]));
        assert_eq!(words.named(number), unknown());
        for meant in [Segment::Text("42 ".into()), mention("42", "Ann")] {
            let mut words = Words::of(&body(vec![
                Segment::Text("/ban ".into()),
                meant,
                Segment::Text(" insulted ".into()),
                handle(),
            ]));
            let named = words.named(number).expect("known").expect("a person");
            assert_eq!(named.id.as_str(), "42");
            assert_eq!(words.rest(), "insulted @bobby");
        }
    }

    fn number_of_five(text: &str) -> bool {
        text.len() >= 5 && number(text)
    }

    #[test]
    fn a_name_that_is_only_written_is_nobody_by_itself() {
        let mut words = Words::of(&body(vec![Segment::Text("/kick @Bob the builder".into())]));
        assert_eq!(words.named(number), Ok(None));
        assert_eq!(words.names(), ["Bob the builder", "Bob the", "Bob"]);
        words.take_name("Bob the");
        assert_eq!(words.rest(), "builder");
        let words = Words::of(&body(vec![Segment::Text("/kick Bob".into())]));
        assert_eq!(words.names(), [""; 0]);
    }
}
