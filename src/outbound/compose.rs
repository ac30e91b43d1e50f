//! Composes a reply: filters the text, chooses how it is cut, and writes the body of the outbox row.
//!
//! Owns the way from a text to parts that fit the platform. Pure apart from the random pauses, whose
//! randomness is an argument. It never sends.

use std::{sync::Arc, time::Duration};

use weirgate_sdk::{
    Adapter, Capabilities, ChatKind, ConversationKey, ReplyContext, answer::Format,
};

use super::{
    blocks::blocks,
    budget,
    config::{Output, SegmentMode},
    split::{Mode, Pace, Piece, split},
    strategy::{Possible, Strategy, choose},
};
use crate::{
    i18n::{Language, Text},
    security::redact::Redactor,
    store::{Part, ReplyBody, ReplyFile},
};

/// Whom a reply answers.
#[derive(Debug, Clone, Default)]
pub struct Addressee {
    /// The platform ids of the messages that it answers, oldest first.
    pub answers: Vec<String>,
    /// Their author, as an encoded user key.
    pub author: Option<String>,
    /// What answering needs.
    pub reply_context: Option<ReplyContext>,
    /// The reply concerns its person alone.
    pub private: bool,
}

/// A text on its way out.
#[derive(Debug)]
pub struct Draft {
    /// The text.
    pub text: String,
    /// How it is to be read.
    pub format: Format,
    /// It has gone through the output filter already, as streamed text has.
    pub filtered: bool,
    /// The language in which it is said that something is left out.
    pub language: Language,
    /// Files that follow it.
    pub media: Vec<ReplyFile>,
}

/// What is cut, and how.
struct Cut<'a> {
    text: &'a str,
    format: Format,
    strategy: Option<Strategy>,
    /// The most messages that the platform takes.
    most: Option<usize>,
    language: Language,
}

/// Composes replies. One for the whole gateway.
#[derive(Debug)]
pub struct Composer {
    redactor: Arc<Redactor>,
    output: Output,
    pace: Pace,
}

/// The longest pause between two parts, in tenths of a second: a bound on what is stored.
const LONGEST_PAUSE: f64 = 600.0;

impl Composer {
    /// A composer.
    ///
    /// # Errors
    /// What is wrong with the regular expression for segments.
    pub fn new(redactor: Arc<Redactor>, output: Output) -> Result<Self, regex::Error> {
        let segmented = &output.segmented;
        let mode = match segmented.mode {
            SegmentMode::Sentence => Mode::Sentence,
            SegmentMode::WordCount => Mode::WordCount,
            SegmentMode::Regex => Mode::Regex(regex::Regex::new(&segmented.split_regex)?),
        };
        let pace = Pace {
            threshold: segmented.threshold,
            mode,
            min_segment_length: segmented.min_segment_length,
            add_ellipsis: segmented.add_ellipsis,
        };
        Ok(Self {
            redactor,
            output,
            pace,
        })
    }

    /// The settings of output.
    #[must_use]
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// The filter through which streamed text goes out.
    #[must_use]
    pub fn redactor(&self) -> &Arc<Redactor> {
        &self.redactor
    }

    /// The strategy for an answer in a conversation; see [`choose`].
    #[must_use]
    pub fn strategy(
        &self,
        key: &ConversationKey,
        chat: ChatKind,
        capabilities: Capabilities,
        preference: Option<Strategy>,
    ) -> Option<Strategy> {
        let adaptation = &self.output.platform_adaptation;
        let platform = adaptation.strategy_by_platform.get(key.platform.as_str());
        let platform = platform.and_then(|by_chat| match chat {
            ChatKind::Private => by_chat.private,
            ChatKind::Group => by_chat.group,
        });
        let can_stream = capabilities.streaming != weirgate_sdk::Streaming::None;
        let possible = Possible {
            streaming: self.output.streaming.enable && can_stream,
            segmented: self.output.segmented.enable,
        };
        choose(
            [preference, platform, Some(self.output.default_strategy)],
            possible,
        )
    }

    /// Composes the body of an outbox row. `None` if nothing is left to be seen. Where the platform counts what answers a
    /// message, it has at most so many parts; what is then left out is told in the last one, see [`is_cut`]. `random`
    /// gives numbers from 0 to 1.
    pub fn compose(
        &self,
        draft: Draft,
        to: Addressee,
        adapter: &dyn Adapter,
        key: &ConversationKey,
        strategy: Option<Strategy>,
        random: &mut dyn FnMut() -> f64,
    ) -> Option<ReplyBody> {
        let format = draft.format;
        let text = if draft.filtered {
            draft.text
        } else {
            self.redactor.redact(&draft.text).into_owned()
        };
        let most = to
            .reply_context
            .as_ref()
            .and_then(|context| context.uses_left);
        let most = most.and_then(|uses| usize::try_from(uses).ok());
        // Without a file the words have them all.
        let of_media = draft.media.iter().filter(|file| !file.joined).count();
        let cut = Cut {
            text: &text,
            format,
            strategy,
            most: most.map(|most| most.saturating_sub(of_media).max(1)),
            language: draft.language,
        };
        let (pieces, paced) = self.cut(&cut, adapter, key);
        if pieces.is_empty() && draft.media.is_empty() {
            return None;
        }
        let pauses = if paced {
            let later = pieces.iter().skip(1);
            later.map(|_| self.pause(random())).collect()
        } else {
            Vec::new()
        };
        Some(ReplyBody {
            parts: parts(&text, pieces),
            text,
            format,
            answers: to.answers,
            author: to.author,
            reply_context: to.reply_context,
            private: to.private,
            pauses,
            file: None,
            media: draft.media,
            buttons: Vec::new(),
        })
    }

    /// The pieces of a text, and whether they are sent with pauses.
    fn cut(
        &self,
        cut: &Cut<'_>,
        adapter: &dyn Adapter,
        key: &ConversationKey,
    ) -> (Vec<Piece>, bool) {
        let (text, format) = (cut.text, cut.format);
        let fits = self.fits(adapter, key, format);
        let whole_fits = fits(text);
        let pace = match cut.strategy {
            Some(Strategy::Segmented) => Some(&self.pace),
            None if !whole_fits && self.output.segmented.enable => Some(&self.pace),
            _ => None,
        };
        if whole_fits && pace.is_none() {
            return (whole(text).into_iter().collect(), false);
        }
        let pieces = split(text, format, pace, &fits);
        let platform = key.platform.as_str();
        let fold = self
            .output
            .platform_adaptation
            .fold_by_platform
            .get(platform);
        let long = fold.is_some_and(|fold| *fold > 0 && pieces.len() > *fold);
        if long && !whole_fits {
            let rendered = adapter
                .render()
                .render(&blocks(text, format, &self.redactor));
            if adapter.render().folds(&rendered) {
                return (whole(text).into_iter().collect(), false);
            }
        }
        match cut.most.filter(|most| pieces.len() > *most) {
            Some(most) => {
                let mark = |left| Text::BudgetMark { left }.render(cut.language);
                (budget::fit(text, format, most, &fits, &mark).0, false)
            }
            None => (pieces, pace.is_some()),
        }
    }

    fn fits<'a>(
        &self,
        adapter: &'a dyn Adapter,
        key: &ConversationKey,
        format: Format,
    ) -> impl Fn(&str) -> bool + use<'a> {
        let redactor = Arc::clone(&self.redactor);
        let mut length = adapter.capabilities(key).max_length;
        let by_platform = &self.output.platform_adaptation.max_length_by_platform;
        if let Some(limit) = by_platform.get(key.platform.as_str()) {
            length.limit = length.limit.min(*limit);
        }
        move |text: &str| {
            let rendered = adapter.render().render(&blocks(text, format, &redactor));
            length.unit.measure(&rendered.text) <= length.limit && adapter.render().fits(&rendered)
        }
    }

    /// A pause between two segments, in tenths of a second.
    fn pause(&self, random: f64) -> u32 {
        let interval = self.output.segmented.random_interval;
        let span = interval.max.saturating_sub(interval.min).as_secs_f64();
        let tenths = (interval.min.as_secs_f64() + span * random.clamp(0.0, 1.0)) * 10.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "clamped to 0..=600 just before"
        )]
        let tenths = tenths.clamp(0.0, LONGEST_PAUSE).round() as u32;
        tenths
    }
}

fn whole(text: &str) -> Option<Piece> {
    (!text.trim().is_empty()).then(|| Piece {
        source: 0..text.len(),
        prefix: String::new(),
        suffix: String::new(),
    })
}

/// The stored form of the pieces: nothing if the whole text is the only one.
fn parts(text: &str, pieces: Vec<Piece>) -> Vec<Part> {
    let single = |piece: &Piece| {
        piece.source == (0..text.len()) && piece.prefix.is_empty() && piece.suffix.is_empty()
    };
    if pieces.len() == 1 && pieces.iter().all(single) {
        return Vec::new();
    }
    let part = |piece: Piece| Part {
        start: piece.source.start,
        end: piece.source.end,
        before: piece.prefix,
        after: piece.suffix,
    };
    pieces.into_iter().map(part).collect()
}

/// The parts of a stored reply as texts; none if it has files alone. A body whose parts do not fit its text (it was
/// damaged) is sent as its whole text.
#[must_use]
pub fn part_texts(body: &ReplyBody) -> Vec<String> {
    let texts: Option<Vec<String>> = body
        .parts
        .iter()
        .map(|part| {
            let source = body.text.get(part.start..part.end)?;
            Some(format!("{}{source}{}", part.before, part.after))
        })
        .collect();
    match texts {
        Some(texts) if !texts.is_empty() => texts,
        _ if body.text.trim().is_empty() && !body.media.is_empty() => Vec::new(),
        _ => vec![body.text.clone()],
    }
}

/// The end of the text is in no part: the platform allows no more messages in reply.
#[must_use]
pub fn is_cut(body: &ReplyBody) -> bool {
    let shown = body.parts.last().map(|last| last.end);
    shown.is_some_and(|end| end < body.text.trim_end().len())
}

/// The pause before a part.
#[must_use]
pub fn pause_before(body: &ReplyBody, part: usize) -> Duration {
    let tenths = part
        .checked_sub(1)
        .and_then(|index| body.pauses.get(index))
        .copied();
    Duration::from_millis(u64::from(tenths.unwrap_or(0)) * 100)
}
