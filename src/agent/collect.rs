//! Collects what a model says while it comes, free of what must not leave, and shows it.
//!
//! Owns what is said last, and what of the calls of a step is shown. It decides nothing.

use std::sync::Arc;

use super::{
    history::Step,
    model::{Listener, ToolCall},
    thoughts::Thoughts,
    tool::in_use::in_use,
};
use crate::{
    i18n::{Language, Text},
    outbound::preview::Board,
    security::redact::{Filter, Redactor},
};

/// Collects the answer while it comes, filtered, and shows it.
pub(super) struct Collector {
    redactor: Arc<Redactor>,
    filter: Filter,
    board: Board,
    /// Where an errand shows what it has done, and as whom; what it says is nobody's to see.
    aside: Option<(Board, String)>,
    /// What it thinks, if that is shown.
    thoughts: Option<Thoughts>,
    piece: String,
    /// Requests of the steps before.
    before: u32,
    /// What was replaced in the steps before.
    replaced: (bool, bool),
    /// What the last step said, while its calls run.
    said: Option<String>,
}

/// What the model said, free of what must not leave.
pub(super) struct Said {
    pub(super) text: String,
    /// What is shown of its thoughts, in Markdown; empty for nothing.
    pub(super) thoughts: String,
    /// A secret was replaced.
    pub(super) secrets: bool,
    /// A word of the blocklist was replaced.
    pub(super) words: bool,
}

impl Listener for Collector {
    fn attempt(&mut self, number: u32, _model: &str) {
        self.said = None;
        self.filter = self.redactor.filter();
        self.board.restart(self.before + number);
        if let Some(thoughts) = &mut self.thoughts {
            thoughts.restart();
            self.board.lead(thoughts.text());
        }
    }

    fn text(&mut self, delta: &str) {
        self.piece.clear();
        self.filter.push(delta, &mut self.piece);
        self.board.push(&self.piece);
    }

    fn reasoning(&mut self, delta: &str) {
        if let Some(thoughts) = &mut self.thoughts {
            thoughts.push(delta);
            self.board.lead(thoughts.text());
        }
    }
}

impl Collector {
    /// Shows on a board.
    pub(super) fn new(redactor: &Arc<Redactor>, board: Board) -> Self {
        Self {
            filter: redactor.filter(),
            redactor: Arc::clone(redactor),
            board,
            aside: None,
            thoughts: None,
            piece: String::new(),
            before: 0,
            replaced: (false, false),
            said: None,
        }
    }

    /// Shows what is thought as well, in a language.
    pub(super) fn with_thoughts(mut self, language: Language) -> Self {
        self.thoughts = Some(Thoughts::new(&self.redactor, language));
        self
    }

    /// Shows what is done on the board of somebody else, who has it done under this name.
    pub(super) fn aside(redactor: &Arc<Redactor>, board: Board, name: &str) -> Self {
        Self {
            aside: Some((board, name.to_owned())),
            ..Self::new(redactor, Board::default())
        }
    }

    /// The answer of a step is whole and took so many requests; gives what it says.
    pub(super) fn end_step(&mut self, requests: u32) -> String {
        self.piece.clear();
        self.filter.finish(&mut self.piece);
        self.board.push(&self.piece);
        if let Some(thoughts) = &mut self.thoughts {
            thoughts.end_step();
        }
        self.before = self.before.saturating_add(requests);
        self.replaced.0 |= self.filter.has_replaced();
        self.replaced.1 |= self.filter.has_filtered();
        let said = self.board.text();
        self.said = Some(said.clone());
        said
    }

    /// Shows what is being done, behind what was said.
    pub(super) fn show(&self, calls: &[ToolCall], language: Language) {
        let progress = progress(calls, language);
        let Some((board, name)) = &self.aside else {
            let said = self.board.text();
            let gap = if said.trim().is_empty() { "" } else { "\n\n" };
            self.board.push(&format!("{gap}{progress}"));
            return;
        };
        board.push(&format!("\n{name}: {progress}"));
    }

    /// Shows how far the calls of a step have come, apart from the text. Those of an errand are not shown one by one.
    pub(super) fn show_tools(&self, wanted: bool, step: Option<&Step>) {
        if let Some(step) = step.filter(|_| wanted && self.aside.is_none()) {
            self.board.tools(in_use(step, &self.redactor));
        }
    }

    /// The whole filtered text of the last step, and what was replaced in all.
    pub(super) fn finish(mut self) -> Said {
        let text = match self.said.take() {
            Some(said) => said,
            None => self.end_step(0),
        };
        let mut said = Said {
            text,
            thoughts: String::new(),
            secrets: self.replaced.0,
            words: self.replaced.1,
        };
        if !self.filter.is_of(&self.redactor) {
            // What a reload brought while it was written.
            let cleaned = self.redactor.clean(&said.text);
            said.secrets |= cleaned.secrets;
            said.words |= cleaned.words;
            said.text = cleaned.text.into_owned();
        }
        if let Some(thoughts) = self.thoughts {
            let shown = thoughts.finish();
            said.secrets |= shown.secrets;
            said.words |= shown.words;
            said.thoughts = shown.text;
        }
        said
    }
}

/// What a person is shown while tools run.
fn progress(calls: &[ToolCall], language: Language) -> String {
    let mut names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    names.dedup();
    let tools = names.join(", ");
    Text::ToolsRunning { tools }.render(language)
}
