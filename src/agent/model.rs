//! The language model as the turn sees it: a request, a stream of deltas, one kind of error.
//!
//! Owns the types that every provider shares and the two traits a provider implements. What a
//! provider sends over the wire stays in its own file; when to try again is decided in `recovery`
//! and carried out by `chain`. Nothing here touches the history, the store or a platform.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::context::estimate_tokens;

pub mod calls;
pub mod chain;
pub mod config;
pub mod demo;
pub mod embed;
pub mod fault;
pub mod recovery;
pub mod remote;
pub mod sse;
pub mod think;

pub use chain::{Chain, ChainError, Completion, Failure, Listener, Outcome, Permits, Silent};
pub use fault::{ErrorClass, ModelError};
pub use recovery::Recovery;

/// Tokens that a tool takes in a request beside its words.
pub(super) const PER_TOOL: usize = 12;

/// Who speaks in a message of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The instructions of the operator.
    System,
    /// A person, or what stands for one.
    User,
    /// The model itself, earlier.
    Assistant,
    /// The result of a call that the model made.
    Tool,
}

/// A call of a tool that the model made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Names the call to the provider; no other call of the same answer has it.
    pub id: String,
    /// The tool.
    pub name: String,
    /// A whole JSON object, as the model wrote it.
    pub arguments: String,
}

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Offer {
    /// Its name: letters, digits, `_` and `-`, at most 64 of them.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub parameters: Value,
}

impl Offer {
    /// Tokens that it takes in a request, as [`estimate_tokens`] counts.
    #[must_use]
    pub fn tokens(&self) -> usize {
        let declared = [&self.name, &self.description, &self.parameters.to_string()];
        let words: usize = declared.iter().map(|text| estimate_tokens(text)).sum();
        words + PER_TOOL
    }
}

/// The tools that a request offers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Offered {
    /// The tools.
    pub tools: Arc<[Offer]>,
    /// The model may call them; else it is to answer with what it has.
    pub callable: bool,
}

/// One message of a request, in the order of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The words, as plain text.
    pub text: String,
    /// The speaker's name. Providers take only short ASCII names; another one is left out.
    pub name: Option<String>,
    /// Hidden reasoning that came with an assistant message, played back word for word: an empty
    /// one stays empty, an absent one stays absent.
    pub reasoning: Option<String>,
    /// Reasoning that came with an assistant message and that only its model can read.
    pub sealed: Option<Sealed>,
    /// Files that belong to it, for models that take them.
    pub enclosed: Vec<Enclosed>,
    /// What an assistant message called, in order. Each call has its result in the messages behind it.
    pub calls: Vec<ToolCall>,
    /// The id of the call whose result a message of [`Role::Tool`] is.
    pub answers: Option<String>,
}

impl Message {
    /// Nothing but words.
    #[must_use]
    pub fn words(role: Role, text: String) -> Self {
        Self {
            role,
            text,
            name: None,
            reasoning: None,
            sealed: None,
            enclosed: Vec::new(),
            calls: Vec::new(),
            answers: None,
        }
    }
}

/// Reasoning that only the model that gave it can read. Within a turn it goes back to that model, and to no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// The model, as `provider/model`.
    pub model: String,
    /// A JSON list of what it gave, as it came.
    pub items: String,
}

/// What a file is to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// It is seen.
    Picture,
    /// It is heard.
    Sound,
    /// It is read, as it is.
    Document,
}

impl Medium {
    /// What a file of a media type is; none if no model takes such.
    #[must_use]
    pub fn of(mime: &str) -> Option<Self> {
        match mime {
            "image/jpeg" | "image/png" | "image/gif" | "image/webp" => Some(Self::Picture),
            "audio/mpeg" | "audio/x-wav" => Some(Self::Sound),
            "application/pdf" => Some(Self::Document),
            _ => None,
        }
    }
}

/// What a model takes beside words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Takes {
    /// It sees pictures.
    pub pictures: bool,
    /// It hears MP3 and WAV.
    pub sounds: bool,
    /// It reads PDF.
    pub documents: bool,
}

impl Takes {
    /// Whether a file is taken.
    #[must_use]
    pub const fn has(self, medium: Medium) -> bool {
        match medium {
            Medium::Picture => self.pictures,
            Medium::Sound => self.sounds,
            Medium::Document => self.documents,
        }
    }

    /// What either takes.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            pictures: self.pictures || other.pictures,
            sounds: self.sounds || other.sounds,
            documents: self.documents || other.documents,
        }
    }
}

/// A file of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enclosed {
    /// What it is to a model.
    pub medium: Medium,
    /// Its name in the media store.
    pub id: String,
    /// Its media type, by its content.
    pub mime: String,
    /// The name that its sender gave it; untrusted.
    pub name: Option<String>,
    /// Its size in bytes.
    pub size: u64,
    /// Its bytes as a `data:` URL, once they are loaded.
    pub url: Option<Arc<str>>,
}

impl Enclosed {
    /// The bytes in base64, without what stands before them; none if they are not loaded.
    #[must_use]
    pub fn base64(&self) -> Option<&str> {
        Some(self.url.as_deref()?.split_once(";base64,")?.1)
    }

    /// A name for a provider that wants one.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.name.as_deref().unwrap_or("document.pdf")
    }
}

/// One request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// At most so many tokens of answer, reasoning included; the provider's default when absent.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature; the provider's default when absent.
    pub temperature: Option<f32>,
    /// The tools that it may call.
    pub offered: Offered,
    /// Id of the turn, sent along as `x-request-id`.
    pub turn: String,
}

impl ChatRequest {
    /// Whether a model would be given a file.
    #[must_use]
    pub fn encloses(&self, takes: Takes) -> bool {
        let files = self.messages.iter().flat_map(|message| &message.enclosed);
        files
            .into_iter()
            .any(|file| file.url.is_some() && takes.has(file.medium))
    }

    /// The same with the words alone.
    #[must_use]
    pub fn without_files(&self) -> Self {
        let mut bare = self.clone();
        for message in &mut bare.messages {
            message.enclosed.clear();
        }
        bare
    }

    /// The text of the last message of a person, if there is one.
    #[must_use]
    pub fn last_user_text(&self) -> Option<&str> {
        self.messages
            .iter()
            .rev()
            .find(|message| message.role == Role::User)
            .map(|message| message.text.as_str())
    }
}

/// A piece of the answer, in the order in which it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Words for the person; never empty.
    Text(String),
    /// Hidden reasoning; empty when the provider sent the field with nothing in it.
    Reasoning(String),
    /// Reasoning that only the model can read, as in [`Sealed::items`]; at most once, near the end.
    Sealed(String),
    /// The tools to be called, whole and in order, or why none of them may be; at most once, near the end.
    Calls(Result<Vec<ToolCall>, calls::Broken>),
    /// What the request cost; at most once, near the end.
    Usage(Usage),
    /// Why the model stopped; exactly once, last.
    Finish(FinishReason),
}

/// What a request cost, in tokens of the provider's own tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens of the request.
    pub prompt: u64,
    /// Tokens of the answer, reasoning included.
    pub completion: u64,
    /// The provider's own sum, or ours when it gave none.
    pub total: u64,
    /// Those of the request that the provider had in its cache.
    pub cached: u64,
    /// Those of the request that it wrote into its cache.
    pub cache_written: u64,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// It reached the limit of tokens.
    Length,
    /// The provider's content filter stepped in.
    ContentFilter,
    /// It wants tools to be called.
    ToolCalls,
    /// A reason of the provider's own, at most 40 characters of it.
    Other(String),
}

/// The models of a configuration.
#[derive(Clone, Default)]
pub struct Lineup {
    /// Those that answer, first choice first.
    pub chat: Vec<Arc<dyn Model>>,
    /// Those that summarise, likewise; empty for those that answer.
    pub summaries: Vec<Arc<dyn Model>>,
    /// Those that may be chosen besides.
    pub choices: Vec<Arc<dyn Model>>,
    /// The one that tells what a text means.
    pub embed: Option<Arc<dyn embed::Embed>>,
}

impl From<Vec<Arc<dyn Model>>> for Lineup {
    /// Models that do everything.
    fn from(chat: Vec<Arc<dyn Model>>) -> Self {
        Self {
            chat,
            ..Self::default()
        }
    }
}

/// A model of a provider.
#[async_trait]
pub trait Model: Send + Sync {
    /// `provider/model`, as the configuration names it.
    fn name(&self) -> &str;

    /// The provider, whose limits all its models share.
    fn provider(&self) -> &str;

    /// Which files of a request it takes. Of the others it is given the words alone.
    fn takes(&self) -> Takes {
        Takes::default()
    }

    /// Sends the request and returns once the provider has begun to answer. Does not retry.
    ///
    /// # Errors
    /// When the provider cannot be reached, refuses, or stays silent for too long.
    async fn open(&self, request: &ChatRequest) -> Result<Box<dyn ModelStream>, ModelError>;
}

/// An answer on its way. Dropping it cancels the request.
#[async_trait]
pub trait ModelStream: Send {
    /// The next piece; `None` when the answer is complete. After an error there is only `None`.
    async fn next(&mut self) -> Option<Result<Delta, ModelError>>;
}

/// Default for the time in which a connection must stand.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Default for the longest silence of a provider, before and between pieces of the answer.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
