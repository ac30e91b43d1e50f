//! What a message says: text, mentions, faces and attachments.
//!
//! Owns the marks in texts. Only who is listed as mentioned is one; anything else that looks like a mark stays text.

use serde_json::Value;
use weirgate_sdk::{
    Attachment, AttachmentKind, Segment,
    text::{clean, line},
};

use super::text;

/// Attachments of one message; further ones are told of by number.
const MAX_ATTACHMENTS: usize = 32;
/// The longest address of an attachment, in bytes.
const MAX_REFERENCE: usize = 2_048;
/// Longest name of a file or a person, in characters.
const MAX_NAME: usize = 200;
/// Longest transcript of a voice message, in characters.
const MAX_TRANSCRIPT: usize = 4_000;
/// What a face's mark begins with.
const FACE: &str = "<faceType=";

/// What was read.
#[derive(Debug, Default)]
pub struct Content {
    /// The pieces in order.
    pub segments: Vec<Segment>,
    /// The bot is among those who are mentioned.
    pub mentions_bot: bool,
}

/// Somebody who is mentioned.
struct Mention<'a> {
    id: &'a str,
    name: &'a str,
    is_bot: bool,
}

/// Reads the content of a message for the bot with this id.
#[must_use]
pub fn read(data: &Value, bot: &str) -> Content {
    let listed: Vec<Mention<'_>> = data["mentions"]
        .as_array()
        .map_or_else(Vec::new, |mentions| {
            let known = mentions.iter().filter_map(|mention| {
                let id = ["id", "member_openid", "user_openid"];
                let id = id.into_iter().find_map(|field| text(&mention[field]))?;
                Some(Mention {
                    id,
                    name: text(&mention["username"]).unwrap_or_default(),
                    is_bot: mention["is_you"] == true || (!bot.is_empty() && id == bot),
                })
            });
            known.collect()
        });
    let mut content = Content {
        mentions_bot: listed.iter().any(|mention| mention.is_bot),
        segments: Vec::new(),
    };
    let said = clean(data["content"].as_str().unwrap_or_default());
    content.marks(&said, &listed, data["mention_everyone"] == true);
    content.trim();
    content.attachments(data);
    content
}

impl Content {
    /// Texts and what their marks stand for.
    fn marks(&mut self, said: &str, listed: &[Mention<'_>], everyone: bool) {
        let mut rest = said;
        while let Some(at) = rest.find(['<', '@']) {
            let (before, mark) = rest.split_at(at);
            self.text(before);
            let found = face(mark).or_else(|| mention(mark, listed)).or_else(|| {
                mark.starts_with("@everyone")
                    .then_some((Some(Segment::MentionAll), 9))
                    .filter(|_| everyone)
            });
            let length = match found {
                Some((segment, length)) => {
                    self.segments.extend(segment);
                    length
                }
                None => {
                    self.text(mark.get(..1).unwrap_or_default());
                    1
                }
            };
            rest = mark.get(length..).unwrap_or_default();
        }
        self.text(rest);
    }

    fn text(&mut self, text: &str) {
        match self.segments.last_mut() {
            _ if text.is_empty() => {}
            Some(Segment::Text(last)) => last.push_str(text),
            _ => self.segments.push(Segment::Text(text.to_owned())),
        }
    }

    /// Without the white space at both ends: where the bot was mentioned, a space is left over.
    fn trim(&mut self) {
        if let Some(Segment::Text(first)) = self.segments.first_mut() {
            *first = first.trim_start().to_owned();
        }
        if let Some(Segment::Text(last)) = self.segments.last_mut() {
            *last = last.trim_end().to_owned();
        }
        self.segments
            .retain(|segment| !matches!(segment, Segment::Text(text) if text.is_empty()));
    }

    fn attachments(&mut self, data: &Value) {
        let Some(attachments) = data["attachments"].as_array() else {
            return;
        };
        for attachment in attachments.iter().take(MAX_ATTACHMENTS) {
            self.segments.push(described(attachment));
            // The platform writes down what is said in a voice message.
            if let Some(said) = text(&attachment["asr_refer_text"]) {
                let said = line(said, MAX_TRANSCRIPT);
                self.segments
                    .push(Segment::Placeholder(format!("voice message: {said}")));
            }
        }
        let more = attachments.len().saturating_sub(MAX_ATTACHMENTS);
        if more > 0 {
            self.segments
                .push(Segment::Placeholder(format!("{more} more attachments")));
        }
    }
}

fn described(attachment: &Value) -> Segment {
    let content_type = text(&attachment["content_type"]).unwrap_or_default();
    let kind = match content_type.split('/').next() {
        Some("image") => AttachmentKind::Image,
        Some("video") => AttachmentKind::Video,
        Some("audio" | "voice") => AttachmentKind::Audio,
        _ => AttachmentKind::File,
    };
    let name = text(&attachment["filename"]).map(|name| line(name, MAX_NAME));
    // A voice message that everybody can play, beside the platform's own form of it.
    let urls = [&attachment["voice_wav_url"], &attachment["url"]];
    let mut urls = urls.into_iter().filter_map(text);
    let url = urls.find(|url| url.len() <= MAX_REFERENCE);
    let Some(url) = url else {
        let name = name.unwrap_or_else(|| "without a name".to_owned());
        return Segment::Placeholder(format!("attachment: {name}"));
    };
    // Those of channels come without a scheme.
    let reference = if url.contains("://") {
        url.to_owned()
    } else {
        format!("https://{url}")
    };
    Segment::Attachment(Attachment {
        kind,
        reference,
        name,
        size: attachment["size"].as_u64(),
        expires_at: None,
    })
}

/// A face at the beginning of a text: `<faceType=1,faceId="13",ext="…">`.
fn face(text: &str) -> Option<(Option<Segment>, usize)> {
    let end = text.starts_with(FACE).then(|| text.find('>'))??;
    Some((Some(Segment::Placeholder("face".to_owned())), end + 1))
}

/// A mention of somebody who is listed: `<@!id>`, `<@id>`. The bot's own leaves nothing.
fn mention(text: &str, listed: &[Mention<'_>]) -> Option<(Option<Segment>, usize)> {
    let inner = text.strip_prefix("<@")?;
    let end = inner.find('>')?;
    let id = inner.get(..end)?.trim_start_matches('!');
    let mention = listed.iter().find(|mention| mention.id == id)?;
    // Only the bot's own mention has no name.
    let name = Some(line(mention.name, MAX_NAME)).filter(|name| !name.is_empty());
    let segment = (!mention.is_bot).then(|| Segment::Mention {
        user: mention.id.into(),
        name: name.unwrap_or_else(|| line(mention.id, MAX_NAME)),
    });
    Some((segment, "<@".len() + end + 1))
}
