//! Answers in private chats, shown while they are written.
//!
//! Owns the message that grows, from its first words to its last: it becomes the first part of the answer, and is one of
//! the few messages that may answer another. The platform takes only a text that begins with the one before, to the
//! letter, so nothing is shown that a later word may make look otherwise. A message that is never ended vanishes by
//! itself (reported of the platform's clients); an answer that does not begin with what is shown is sent beside it.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use serde_json::{Value, json};
use weirgate_sdk::{
    Freeze, MessageId, Outgoing, Preview, PreviewStart, SendError, Streams,
    answer::{Block, Inline, Render},
};

use super::{
    api::{CallError, Refusal, Trouble},
    bot::{Official, Shared, unix_time},
    escape::Form,
    places::Place,
    send::{self, Answered, Manner},
};

/// Least time between two states of a text: Tencent's own program takes half of it.
pub const PAUSE: Duration = Duration::from_secs(1);
/// Messages that grow at once; the oldest is forgotten, and its answer comes beside it.
const MAX_LIVE: usize = 1_024;
/// Signs that may begin a mark, whose end is not known yet; between words `_` as well.
const MARKS: [char; 7] = ['*', '~', '`', '[', '<', '|', '\\'];
/// What is said of a text that goes on, and of one that is whole.
const WRITING: u64 = 1;
const WHOLE: u64 = 10;

/// Messages that grow, by turn.
#[derive(Debug, Default)]
pub struct Live(Mutex<Vec<Growing>>);

/// A message that grows.
#[derive(Debug, Clone)]
struct Growing {
    turn: Arc<str>,
    /// The platform's name for it.
    message: String,
    /// What it answers.
    context: String,
    /// By which its repetition is known, and how many states the platform took.
    number: u32,
    states: u64,
    shown: String,
    /// The platform was told that it is whole, and its answer was lost.
    told: bool,
}

impl Live {
    fn put(&self, growing: Growing) {
        let mut all = self.0.lock();
        all.retain(|one| one.turn != growing.turn);
        if all.len() >= MAX_LIVE {
            all.remove(0);
        }
        all.push(growing);
    }

    fn of(&self, turn: &str) -> Option<Growing> {
        let all = self.0.lock();
        all.iter().find(|one| *one.turn == *turn).cloned()
    }

    fn forget(&self, turn: &str) {
        self.0.lock().retain(|one| *one.turn != *turn);
    }
}

#[async_trait]
impl Streams for Official {
    async fn open(&self, start: PreviewStart) -> Result<Box<dyn Preview>, SendError> {
        let place = Place::parse(start.conversation.conversation.as_str());
        if !matches!(place, Some(Place::Private(_))) {
            return Err(SendError::Rejected("only private chats have it".into()));
        }
        Ok(Box::new(Message {
            shared: Arc::clone(self.shared()),
            form: self.form(),
            start,
        }))
    }
}

/// A message that grows, as the gateway sees it.
struct Message {
    shared: Arc<Shared>,
    form: Form,
    start: PreviewStart,
}

#[async_trait]
impl Preview for Message {
    async fn push(&mut self, blocks: &[Block]) -> Result<(), SendError> {
        let shared = &*self.shared;
        let rendered = self.form.render(&settled(blocks));
        if !self.form.fits(&rendered) {
            return Ok(());
        }
        let manner = manner(shared);
        let text = send::worded(&rendered.text, manner);
        let growing = shared.live.of(&self.start.turn);
        let Some(mut growing) = growing.or_else(|| self.begin()) else {
            // Nothing can be answered any more: what there is to say comes as a message.
            return Ok(());
        };
        let is_more = text.len() > growing.shown.len() && text.starts_with(&growing.shown);
        if !is_more || text.trim().is_empty() {
            return Ok(());
        }
        let place = Place::parse(self.start.conversation.conversation.as_str());
        let place = place.ok_or_else(|| SendError::Rejected("not a private chat".into()))?;
        match state(shared, place, &growing, &text, WRITING).await {
            Ok(message) => {
                growing.message = message;
                growing.states += 1;
                growing.shown = text;
                shared.live.put(growing);
                Ok(())
            }
            // The next one may be taken.
            Err(CallError::Lost(_) | CallError::Unreachable(_)) => Ok(()),
            Err(error) => send::failure(shared, &error, manner.refused, false).map(|_| ()),
        }
    }

    async fn finish(self: Box<Self>) {
        // What it shows becomes the first part of the answer.
    }
}

impl Message {
    /// A message that shows nothing yet; `None` if there is nothing that it can answer.
    fn begin(&self) -> Option<Growing> {
        let context = self.start.reply_context.as_ref();
        let lives = |until| unix_time() < until;
        let context = context.filter(|context| context.expires_at.is_none_or(lives))?;
        Some(Growing {
            turn: Arc::clone(&self.start.turn),
            message: String::new(),
            context: context.data.clone(),
            // Numbers of parts are greater.
            number: self.start.attempt % 64 + 1,
            states: 0,
            shown: String::new(),
            told: false,
        })
    }
}

/// Ends the message that shows the beginning of this answer, if there is one and it does; gives its id.
///
/// # Errors
/// The class of what went wrong; it is to be tried again as it is.
pub async fn end(
    shared: &Shared,
    place: Place<'_>,
    outgoing: &Outgoing,
    said: &Value,
) -> Result<Option<MessageId>, SendError> {
    let turn = outgoing.turn.as_deref().filter(|_| outgoing.part == 0);
    let growing = turn.and_then(|turn| shared.live.of(turn));
    let Some(growing) = growing else {
        return Ok(None);
    };
    let text = said["markdown"]["content"].as_str();
    let text = text.or_else(|| said["content"].as_str());
    let whole = text.filter(|text| text.starts_with(&growing.shown) && said["keyboard"].is_null());
    let Some(whole) = whole else {
        shared.live.forget(&growing.turn);
        return Ok(None);
    };
    match state(shared, place, &growing, whole, WHOLE).await {
        Ok(message) => {
            shared.live.forget(&growing.turn);
            Ok(Some(message.into()))
        }
        Err(CallError::Lost(why)) => {
            let told = true;
            shared.live.put(Growing { told, ..growing });
            Err(SendError::Ambiguous(why))
        }
        Err(error @ (CallError::Unreachable(_) | CallError::Secret(_))) => {
            Err(SendError::Unavailable(error.to_string()))
        }
        Err(CallError::Refused(refusal)) => {
            match refusal.trouble() {
                Trouble::Flood(after) => {
                    return Err(SendError::RateLimited {
                        after,
                        scope: Freeze::Conversation,
                    });
                }
                // It is whole already.
                Trouble::Repeated | Trouble::Reviewed => {}
                _ if growing.told => {}
                _ => {
                    beside(shared, &growing, &refusal);
                    return Ok(None);
                }
            }
            shared.live.forget(&growing.turn);
            Ok(Some(growing.message.into()))
        }
    }
}

/// A message that grew cannot be ended.
fn beside(shared: &Shared, growing: &Growing, refusal: &Refusal) {
    tracing::debug!(account = %shared.account, %refusal, "a message that grew is not ended: its text is sent beside it");
    shared.live.forget(&growing.turn);
}

/// Shows a state of a text; gives the message's id.
async fn state(
    shared: &Shared,
    place: Place<'_>,
    growing: &Growing,
    text: &str,
    state: u64,
) -> Result<String, CallError> {
    let api = shared.calls();
    let api = api.map_err(|error| CallError::Unreachable(error.to_string()))?;
    let mut said = json!({
        "input_mode": "replace", "input_state": state, "content_raw": text,
        "content_type": if manner(shared).is_markdown() { "markdown" } else { "text" },
        "msg_seq": growing.number, "index": growing.states,
    });
    Answered::read(&growing.context).write(&mut said);
    if !growing.message.is_empty() {
        said["stream_msg_id"] = growing.message.as_str().into();
    }
    let path = format!("{}/stream_messages", place.path());
    let answer = api.post(&path, &said).await?;
    let message = answer["id"].as_str().map(str::to_owned);
    let known = Some(growing.message.clone()).filter(|known| !known.is_empty());
    message
        .or(known)
        .ok_or_else(|| CallError::Lost("the message has no name".into()))
}

fn manner(shared: &Shared) -> Manner {
    Manner {
        markdown: shared.settings.markdown,
        reply: shared.settings.reply,
        refused: shared.refused(),
    }
}

/// The blocks that no further word changes: all but the last one, and of that, if it is plain text, the words that are
/// complete and stand before any sign that may begin a mark.
fn settled(blocks: &[Block]) -> Vec<Block> {
    let Some((last, before)) = blocks.split_last() else {
        return Vec::new();
    };
    let mut settled = before.to_vec();
    if let Block::Paragraph(content) = last {
        let mut words = String::new();
        for inline in content {
            match inline {
                Inline::Text(text) => match mark(text) {
                    Some(at) => {
                        words.push_str(text.get(..at).unwrap_or_default());
                        break;
                    }
                    None => words.push_str(text),
                },
                Inline::SoftBreak | Inline::HardBreak => words.push('\n'),
                _ => break,
            }
        }
        if let Some(end) = words.rfind(char::is_whitespace) {
            words.truncate(end);
            settled.push(Block::Paragraph(lines(words.trim_end())));
        }
    }
    settled
}

/// Where a mark may begin.
fn mark(text: &str) -> Option<usize> {
    let mut before = ' ';
    for (at, sign) in text.char_indices() {
        if MARKS.contains(&sign) || sign == '_' && !before.is_alphanumeric() {
            return Some(at);
        }
        before = sign;
    }
    None
}

/// Text as inlines, line by line.
fn lines(text: &str) -> Vec<Inline> {
    let mut inlines = Vec::new();
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            inlines.push(Inline::SoftBreak);
        }
        inlines.push(Inline::Text(line.to_owned()));
    }
    inlines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraph(content: Vec<Inline>) -> Block {
        Block::Paragraph(content)
    }

    fn text(text: &str) -> Inline {
        Inline::Text(text.to_owned())
    }

    #[test]
    fn only_what_no_further_word_changes_is_shown() {
        let shown = |blocks: &[Block]| Form::new(1_000, true).render(&settled(blocks)).text;
        assert_eq!(shown(&[]), "");
        assert_eq!(shown(&[paragraph(vec![text("one")])]), "");
        assert_eq!(shown(&[paragraph(vec![text("one two thr")])]), "one two");
        assert_eq!(
            shown(&[paragraph(vec![text("one two *thr ee")])]),
            "one two"
        );
        let strong = Inline::Strong(vec![text("loud")]);
        let said = [paragraph(vec![text("one two "), strong, text(" more")])];
        assert_eq!(shown(&said), "one two");
        let first = paragraph(vec![text("a *b")]);
        let code = Block::Code {
            language: None,
            text: "x".into(),
        };
        assert_eq!(shown(&[first.clone(), code]), "a \\*b");
        let said = [
            first,
            paragraph(vec![text("c"), Inline::SoftBreak, text("d e")]),
        ];
        assert_eq!(shown(&said), "a \\*b\n\nc\nd");
    }

    #[test]
    fn each_state_begins_with_the_one_before() {
        let whole =
            "It is so. See https://example.com/a_b for more, e.g. <@x> or @everyone!\nLast line.";
        let form = Form::new(1_000, true);
        let full = form.render(&[paragraph(lines(whole))]).text;
        let mut before = String::new();
        for (at, _) in whole.char_indices() {
            let blocks = [paragraph(lines(whole.get(..at).unwrap_or_default()))];
            let now = form.render(&settled(&blocks)).text;
            assert!(now.starts_with(&before) && full.starts_with(&now), "{now}");
            before = now;
        }
        assert!(before.len() > 20, "{before}");
    }
}
