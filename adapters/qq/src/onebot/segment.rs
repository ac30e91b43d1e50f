//! The content of a message: wire segments, in either encoding, into the contract's segments.
//!
//! Owns the meaning of each kind of segment. The encoding is decided by the JSON type of each payload,
//! never by configuration; array text is literal. A kind that is not known becomes a placeholder.

mod forwarded;

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;
use weirgate_sdk::{
    Attachment, AttachmentKind, Segment,
    text::{clean, line},
};

use super::{
    card, cq,
    download::{self, MAX_REFERENCE},
    wire::{self, MAX_ID, MAX_MESSAGE_ID, Raw},
};

/// More segments than this are counted, not read.
const MAX_SEGMENTS: usize = 1_000;
/// Longest name of a person or file, in characters.
const MAX_NAME: usize = 200;
/// Longest words of a placeholder, in characters.
const MAX_WORDS: usize = 120;

/// What a message says.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The segments, in order. Empty for an empty message.
    pub segments: Vec<Segment>,
    /// The bot is mentioned by its id; `all` does not count.
    pub mentions_bot: bool,
    /// The id of the message that is answered.
    pub reply_to: Option<String>,
}

/// Reads the content: `message` in whichever encoding it has, else `raw_message`.
#[must_use]
pub fn read(message: Raw<'_>, raw_message: Raw<'_>, bot: &str) -> Content {
    let mut reader = Reader {
        content: Content::default(),
        bot,
        after_mention: false,
        passed: 0,
    };
    let chosen = if wire::is_set(message) {
        message
    } else {
        raw_message
    };
    let Some(raw) = chosen else {
        return reader.content;
    };
    match raw.get().as_bytes().first() {
        Some(b'[') => {
            let list: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
            for one in list {
                reader.wire(wire::object(Some(one)));
            }
        }
        Some(b'{') => reader.wire(wire::object(Some(raw))),
        _ => {
            for part in cq::split(&wire::text(Some(raw)).unwrap_or_default()) {
                match part {
                    cq::Part::Text(text) => reader.text(&text),
                    cq::Part::Code { kind, parameters } => {
                        reader.segment(kind, &Data::Cq(parameters));
                    }
                }
            }
        }
    }
    if reader.passed > 0 {
        let rest = format!("{} more parts", reader.passed);
        reader.content.segments.push(Segment::Placeholder(rest));
    }
    reader.content
}

/// Segments as a text of at most `longest` characters, for quoting: words as they are, anything else as a
/// short description in brackets.
#[must_use]
pub fn describe(segments: &[Segment], longest: usize) -> String {
    let mut text = String::new();
    for segment in segments {
        match segment {
            Segment::Text(words) | Segment::Quote(words) => text.push_str(words),
            Segment::Mention { user, name } => {
                text.push('@');
                text.push_str(if name.is_empty() { user.as_str() } else { name });
                text.push(' ');
            }
            Segment::Handle(name) => text.push_str(&format!("@{name} ")),
            Segment::MentionAll => text.push_str("@all "),
            Segment::Placeholder(words) => text.push_str(&format!("[{words}]")),
            Segment::Attachment(attachment) => text.push_str(match attachment.kind {
                AttachmentKind::Image => "[image]",
                AttachmentKind::Audio => "[voice message]",
                AttachmentKind::Video => "[video]",
                AttachmentKind::File => "[file]",
            }),
        }
    }
    if text.chars().nth(longest).is_some() {
        text = text.chars().take(longest.saturating_sub(1)).collect();
        text.push('…');
    }
    text
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireSegment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    data: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WireFace<'a> {
    #[serde(borrow, rename = "faceText")]
    face_text: Raw<'a>,
}

/// The parameters of one segment.
enum Data<'a> {
    Json(Pairs<'a>),
    Cq(Vec<(&'a str, &'a str)>),
}

impl Data<'_> {
    fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        match self {
            Self::Json(pairs) => wire::text(pairs.get(name)),
            Self::Cq(pairs) => pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| cq::unescape(value)),
        }
    }

    /// A parameter as it was written; CQ codes hold texts only.
    fn raw(&self, name: &str) -> Raw<'_> {
        match self {
            Self::Json(pairs) => pairs.get(name),
            Self::Cq(_) => None,
        }
    }

    /// The name of a face, which newer implementations add to its number.
    fn face(&self) -> Option<Cow<'_, str>> {
        let raw: WireFace<'_> = wire::object(self.raw("raw"));
        let name = wire::text(raw.face_text)?;
        let name = name.trim().trim_start_matches('/').to_owned();
        (!name.is_empty()).then_some(Cow::Owned(name))
    }

    /// The first of several names that is there and not blank.
    fn first(&self, names: &[&str]) -> Option<Cow<'_, str>> {
        names
            .iter()
            .filter_map(|name| self.get(name))
            .find(|text| !text.trim().is_empty())
    }

    fn id(&self, name: &str, longest: usize) -> Option<String> {
        match self {
            Self::Json(pairs) => wire::id(pairs.get(name), longest).map(Cow::into_owned),
            Self::Cq(_) => {
                let text = self.get(name)?;
                let text = text.trim();
                (!text.is_empty() && text.len() <= longest).then(|| text.to_owned())
            }
        }
    }
}

/// A JSON object as keys and unread values.
#[derive(Default)]
struct Pairs<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Pairs<'a> {
    fn get(&self, name: &str) -> Raw<'a> {
        self.0
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| *value)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(transparent)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::with_capacity(2);
                while let Some((Key(key), value)) = map.next_entry()? {
                    pairs.push((key, value));
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

struct Reader<'b> {
    content: Content,
    bot: &'b str,
    /// Clients write a space after a mention, which nobody typed.
    after_mention: bool,
    /// Segments over the limit.
    passed: usize,
}

impl Reader<'_> {
    fn wire(&mut self, segment: WireSegment<'_>) {
        let kind = wire::text(segment.kind).unwrap_or_default();
        self.segment(&kind, &Data::Json(wire::object(segment.data)));
    }

    fn push(&mut self, segment: Segment) {
        self.after_mention = false;
        if self.content.segments.len() < MAX_SEGMENTS {
            self.content.segments.push(segment);
        } else {
            self.passed += 1;
        }
    }

    fn text(&mut self, text: &str) {
        let mut text = clean(text);
        if self.after_mention {
            let typed = text.trim_start_matches([' ', '\u{A0}', '\u{2005}']).len();
            text.drain(..text.len() - typed);
        }
        if !text.is_empty() {
            self.push(Segment::Text(text));
        }
    }

    fn placeholder(&mut self, kind: &str, words: Option<Cow<'_, str>>) {
        let words = line(words.as_deref().unwrap_or_default(), MAX_WORDS);
        let text = if words.is_empty() {
            kind.to_owned()
        } else {
            format!("{kind}: {words}")
        };
        self.push(Segment::Placeholder(text));
    }

    fn segment(&mut self, kind: &str, data: &Data<'_>) {
        match kind {
            "text" => self.text(&data.get("text").unwrap_or_default()),
            "markdown" => self.text(&data.get("content").unwrap_or_default()),
            "at" => self.mention(data),
            "reply" => {
                if self.content.reply_to.is_none() {
                    self.content.reply_to = data.id("id", MAX_MESSAGE_ID);
                }
            }
            "image" => self.attachment(AttachmentKind::Image, kind, data),
            "record" => self.attachment(AttachmentKind::Audio, "voice message", data),
            "video" => self.attachment(AttachmentKind::Video, kind, data),
            "file" | "onlinefile" => self.attachment(AttachmentKind::File, "file", data),
            "json" => {
                let words = card::json(&data.get("data").unwrap_or_default());
                self.push(Segment::Placeholder(words));
            }
            "xml" => {
                let words = card::xml(&data.get("data").unwrap_or_default());
                self.push(Segment::Placeholder(words));
            }
            "share" => {
                let title = data.first(&["title", "content"]).unwrap_or_default();
                let link = data.get("url").unwrap_or_default();
                self.placeholder("link", Some(format!("{title} {link}").into()));
            }
            "location" => {
                let title = data.first(&["title", "content"]).unwrap_or_default();
                let place = [data.get("lat"), data.get("lon")].map(Option::unwrap_or_default);
                let words = format!("{title} {} {}", place[0], place[1]);
                self.placeholder("location", Some(words.into()));
            }
            "face" => self.placeholder("emoji", data.face().or_else(|| data.get("id"))),
            "mface" | "marketface" => self.placeholder("sticker", data.first(&["summary", "text"])),
            "music" => self.placeholder("music", data.first(&["title", "url"])),
            "contact" => self.placeholder("contact", data.get("id")),
            "forward" | "node" => match data.raw("content").and_then(forwarded::read) {
                Some(quoted) => self.push(Segment::Quote(quoted)),
                None => self.placeholder("forwarded messages", None),
            },
            "dice" | "rps" => self.placeholder(kind, data.get("result")),
            "anonymous" => {}
            other => {
                let name = line(other, 64);
                self.placeholder(if name.is_empty() { "unknown" } else { &name }, None);
            }
        }
    }

    fn mention(&mut self, data: &Data<'_>) {
        let Some(user) = data.id("qq", MAX_ID) else {
            return self.placeholder("mention", None);
        };
        if user == "all" || user == "0" {
            return self.push(Segment::MentionAll);
        }
        let is_bot = user == self.bot;
        // The bot's own name would only be noise in front of the question.
        let name = if is_bot {
            String::new()
        } else {
            let shown = data.first(&["name", "nickname"]).unwrap_or_default();
            let shown = line(shown.trim_start().trim_start_matches('@'), MAX_NAME);
            if shown.is_empty() {
                user.clone()
            } else {
                shown
            }
        };
        self.push(Segment::Mention {
            user: user.into(),
            name,
        });
        self.content.mentions_bot |= is_bot;
        self.after_mention = is_bot;
    }

    fn attachment(&mut self, kind: AttachmentKind, words: &str, data: &Data<'_>) {
        let fit = |name: &&str| {
            let text = data.get(name)?;
            let fits =
                !text.trim().is_empty() && text.len() <= MAX_REFERENCE && !text.contains('\n');
            fits.then_some(text)
        };
        let own = if kind == AttachmentKind::File {
            ["file_id", "file", "path"]
        } else {
            ["file", "file_id", "path"]
        };
        let Some(reference) = download::reference(fit(&"url"), own.iter().find_map(fit)) else {
            return self.placeholder(words, None);
        };
        let name = data
            .first(&["name", "file"])
            .map(|name| line(&name, MAX_NAME));
        let size = data
            .first(&["file_size", "size"])
            .and_then(|size| size.trim().parse().ok());
        self.push(Segment::Attachment(Attachment {
            kind,
            reference,
            name,
            size,
            expires_at: None,
        }));
    }
}

#[cfg(test)]
mod tests;
