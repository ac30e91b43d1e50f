//! The model that answers while no real one is configured.
//!
//! Offline and honest: it says in the person's language that it is a demonstration, quotes a
//! little of what was said and shows the lines of agent.yaml that bring in a real model. It streams
//! like one, so that everything around it can be seen at work.

use std::collections::VecDeque;
use std::time::Duration;

use async_trait::async_trait;

use super::{ChatRequest, Delta, FinishReason, Model, ModelError, ModelStream};

/// Most characters quoted from the person.
const MAX_QUOTE_CHARS: usize = 40;

const EXAMPLE: &str = "```yaml
providers:
  main:
    kind: openai
    base_url: https://api.example.com/v1
    api_key: ${MODEL_API_KEY}
models:
  chat: [main/your-model]
```";

/// The built-in demonstration model.
#[derive(Debug, Clone)]
pub struct Demo {
    delay: Duration,
}

impl Demo {
    /// A demonstration that waits `delay` before each word.
    #[must_use]
    pub fn new(delay: Duration) -> Self {
        Self { delay }
    }
}

#[async_trait]
impl Model for Demo {
    fn name(&self) -> &str {
        "demo/demo"
    }

    fn provider(&self) -> &str {
        "demo"
    }

    async fn open(&self, request: &ChatRequest) -> Result<Box<dyn ModelStream>, ModelError> {
        let words = words(&reply(request.last_user_text().unwrap_or_default()));
        Ok(Box::new(DemoStream {
            words,
            delay: self.delay,
            finished: false,
        }))
    }
}

struct DemoStream {
    words: VecDeque<String>,
    delay: Duration,
    finished: bool,
}

#[async_trait]
impl ModelStream for DemoStream {
    async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        match self.words.pop_front() {
            Some(word) => {
                tokio::time::sleep(self.delay).await;
                Some(Ok(Delta::Text(word)))
            }
            None if std::mem::replace(&mut self.finished, true) => None,
            None => Some(Ok(Delta::Finish(FinishReason::Stop))),
        }
    }
}

/// What the demonstration answers to a text.
#[must_use]
pub fn reply(said: &str) -> String {
    let quote = quote(said);
    let chinese = said.chars().any(is_cjk);
    let heard = match (quote.is_empty(), chinese) {
        (true, _) => String::new(),
        (false, true) => format!("你刚才说：“{quote}”。\n\n"),
        (false, false) => format!("You said: \"{quote}\".\n\n"),
    };
    if chinese {
        format!(
            "这里是演示模式：还没有接入真正的模型，我只会这一段固定的回答。\n\n\
             {heard}要接入模型，请在 agent.yaml 中写上：\n\n{EXAMPLE}"
        )
    } else {
        format!(
            "This is the demo mode: no real model is connected, and this set answer is all I \
             know.\n\n{heard}To connect a model, put this into agent.yaml:\n\n{EXAMPLE}"
        )
    }
}

/// The beginning of a text on one line, without marks that would change the answer's own layout.
fn quote(said: &str) -> String {
    let words: Vec<&str> = said.split_whitespace().collect();
    let line = words.join(" ");
    let plain = |c: &char| !c.is_control() && !matches!(c, '`' | '*' | '_' | '<' | '>' | '@' | '"');
    let mut rest = line.chars().filter(plain);
    let mut quote: String = rest.by_ref().take(MAX_QUOTE_CHARS).collect();
    if rest.next().is_some() {
        quote.push('…');
    }
    quote.trim().to_owned()
}

/// Cuts behind each run of white space and behind each Chinese, Japanese or Korean character.
fn words(text: &str) -> VecDeque<String> {
    let mut words = VecDeque::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        word.push(c);
        let space_ends = c.is_whitespace() && chars.peek().is_none_or(|next| !next.is_whitespace());
        if space_ends || is_cjk(c) {
            words.push_back(std::mem::take(&mut word));
        }
    }
    if !word.is_empty() {
        words.push_back(word);
    }
    words
}

fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3134F}')
}

#[cfg(test)]
mod tests;
