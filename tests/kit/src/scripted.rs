//! A platform in memory: an adapter whose every send ends as a script says, under virtual time.
//!
//! Owns what the platform shows, what it was asked for, and the way of events into the gateway. It
//! outlives the gateway: it may be run again and again, as a platform is there before and after a crash.

mod moderate;
mod render;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    fmt,
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use weirgate_sdk::{
    AccountName, Adapter, AdapterError, Batch, Capabilities, ChatKind, Connection, ConversationKey,
    DedupeKey, Event, InboundMessage, Ingress, Length, LengthUnit, MessageId, Outgoing, Platform,
    PlatformRole, Preview, PreviewStart, Rates, Receipt, Segment, SendError, Sender, SenderKind,
    Sent, Stop, Streaming, Streams, UserKey, Via,
    answer::{Block, Render},
};

pub use moderate::Bench;
pub use render::Tagged;

/// What a scripted account is like.
#[derive(Debug, Clone)]
pub struct Options {
    /// The platform's name.
    pub platform: &'static str,
    /// The account's name.
    pub account: &'static str,
    /// The longest message in characters.
    pub length: usize,
    /// How text that is being written is shown.
    pub streaming: Streaming,
    /// A second send of a part is taken and not shown again.
    pub idempotent: bool,
    /// Its pace.
    pub rates: Rates,
    /// It shows what is pending.
    pub transcript: bool,
    /// It moderates.
    pub moderates: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            platform: "stage",
            account: "main",
            length: 1_000,
            streaming: Streaming::None,
            idempotent: false,
            rates: Rates::UNLIMITED,
            transcript: false,
            moderates: false,
        }
    }
}

/// What becomes of one send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// It is shown at once.
    Show,
    /// It is shown after the first pause; the answer comes after the second.
    Slow(Duration, Duration),
    /// It is not shown, and this is the answer.
    Refuse(SendError),
    /// It is shown, and nobody learns of it.
    ShowUnknown,
    /// It is not shown, and nobody learns of that either.
    LoseUnknown,
    /// It is shown, and the call never returns.
    Hang,
}

/// One message that people see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Where.
    pub conversation: String,
    /// The answer.
    pub id: i64,
    /// The part.
    pub part: u32,
    /// How many parts the answer has.
    pub parts: u32,
    /// The text.
    pub text: String,
    /// The messages that it answers.
    pub answers: Vec<String>,
    /// The turn.
    pub turn: Option<Arc<str>>,
    /// When.
    pub at: Instant,
}

/// One call of [`Adapter::send`].
#[derive(Debug, Clone)]
pub struct Call {
    /// What was asked.
    pub outgoing: Outgoing,
    /// When.
    pub at: Instant,
}

type Mood = Box<dyn FnMut(&Outgoing) -> Reaction + Send>;

#[derive(Default)]
struct State {
    scripts: HashMap<String, VecDeque<Reaction>>,
    mood: Option<Mood>,
    calls: Vec<Call>,
    shown: Vec<Shown>,
    keys: HashSet<(i64, u32)>,
    busy: HashSet<ConversationKey>,
    overlaps: usize,
    previews: HashMap<Arc<str>, Vec<String>>,
    open_previews: usize,
    ended: Vec<String>,
    next_message: u64,
}

/// The account.
pub struct ScriptedAdapter {
    options: Options,
    render: Tagged,
    /// Its banned and muted members.
    pub bench: Bench,
    state: Arc<Mutex<State>>,
    ingress: watch::Sender<Option<Arc<dyn Ingress>>>,
}

impl ScriptedAdapter {
    /// An account that shows everything at once until told otherwise.
    #[must_use]
    pub fn new(options: Options) -> Arc<Self> {
        Arc::new(Self {
            render: Tagged::new(options.length),
            options,
            bench: Bench::default(),
            state: Arc::default(),
            ingress: watch::Sender::new(None),
        })
    }

    /// What happens to the next sends to a conversation, one each.
    pub fn script(&self, conversation: &str, reactions: impl IntoIterator<Item = Reaction>) {
        let mut state = self.state.lock();
        let script = state.scripts.entry(conversation.to_owned()).or_default();
        script.extend(reactions);
    }

    /// What happens to sends without a script.
    pub fn mood(&self, mood: impl FnMut(&Outgoing) -> Reaction + Send + 'static) {
        self.state.lock().mood = Some(Box::new(mood));
    }

    /// Everything that people saw, in order.
    #[must_use]
    pub fn shown(&self) -> Vec<Shown> {
        self.state.lock().shown.clone()
    }

    /// What people saw in a conversation, as texts.
    #[must_use]
    pub fn texts(&self, conversation: &str) -> Vec<String> {
        let state = self.state.lock();
        let there = state
            .shown
            .iter()
            .filter(|shown| shown.conversation == conversation);
        there.map(|shown| shown.text.clone()).collect()
    }

    /// Every send that was asked for, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        self.state.lock().calls.clone()
    }

    /// How often a send began in a conversation while another one was under way there.
    #[must_use]
    pub fn overlaps(&self) -> usize {
        self.state.lock().overlaps
    }

    /// The states that the preview of a turn showed.
    #[must_use]
    pub fn previews(&self, turn: &str) -> Vec<String> {
        self.state
            .lock()
            .previews
            .get(turn)
            .cloned()
            .unwrap_or_default()
    }

    /// Previews that were neither finished nor dropped.
    #[must_use]
    pub fn open_previews(&self) -> usize {
        self.state.lock().open_previews
    }

    /// The messages of which the gateway said that they ended without an answer.
    #[must_use]
    pub fn ended(&self) -> Vec<String> {
        self.state.lock().ended.clone()
    }

    /// Waits until the gateway runs this account.
    pub async fn running(&self) {
        let mut ingress = self.ingress.subscribe();
        // The sender is part of self.
        let _ = ingress.wait_for(Option::is_some).await;
    }

    /// Hands events in; `None` while the account does not run.
    pub async fn feed(&self, events: Vec<Event>) -> Option<Receipt> {
        let ingress = self.ingress.borrow().clone()?;
        let batch = Batch {
            platform: self.platform(),
            account: self.account(),
            events,
            cursor: None,
        };
        Some(ingress.accept(batch).await)
    }

    /// The gateway is gone: what it held of this account is dropped, calls under way are forgotten.
    pub fn crash(&self) {
        self.ingress.send_replace(None);
        let mut state = self.state.lock();
        state.busy.clear();
    }

    /// The key of a conversation of this account.
    #[must_use]
    pub fn key(&self, conversation: &str) -> ConversationKey {
        ConversationKey {
            platform: self.platform(),
            account: self.account(),
            conversation: conversation.into(),
            thread: None,
        }
    }

    /// The key of a person of this platform.
    #[must_use]
    pub fn user(&self, user: &str) -> UserKey {
        UserKey {
            platform: self.platform(),
            realm: "".into(),
            id: user.into(),
        }
    }

    /// A message of a person to the bot. A conversation that begins with `g` is a group.
    #[must_use]
    pub fn message(&self, conversation: &str, user: &str, id: &str, text: &str) -> InboundMessage {
        let group = conversation.starts_with('g');
        InboundMessage {
            conversation: self.key(conversation),
            chat: if group {
                ChatKind::Group
            } else {
                ChatKind::Private
            },
            sender: Sender {
                key: self.user(user),
                name: user.to_owned(),
                is_bot: false,
                role: PlatformRole::Member,
                kind: SenderKind::Person,
            },
            id: id.into(),
            segments: vec![Segment::Text(text.to_owned())],
            via: Via::Text,
            mentions_bot: group,
            reply_to: None,
            group_key: None,
            sent_at: 1,
            received_at: 1,
            reply_context: None,
            passed: Vec::new(),
            dedupe: DedupeKey {
                key: format!("{conversation}/{id}").into(),
                lifetime: Duration::from_secs(3_600),
            },
        }
    }

    fn reaction(&self, outgoing: &Outgoing) -> Reaction {
        let mut state = self.state.lock();
        state.calls.push(Call {
            outgoing: outgoing.clone(),
            at: Instant::now(),
        });
        if !state.busy.insert(outgoing.conversation.clone()) {
            state.overlaps += 1;
        }
        let conversation = outgoing.conversation.conversation.as_str();
        let scripted = state
            .scripts
            .get_mut(conversation)
            .and_then(VecDeque::pop_front);
        match (scripted, state.mood.as_mut()) {
            (Some(reaction), _) => reaction,
            (None, Some(mood)) => mood(outgoing),
            (None, None) => Reaction::Show,
        }
    }

    fn show(&self, outgoing: &Outgoing) -> Sent {
        let mut state = self.state.lock();
        let first = state.keys.insert((outgoing.id, outgoing.part));
        if first || !self.options.idempotent {
            state.shown.push(Shown {
                conversation: outgoing.conversation.conversation.as_str().to_owned(),
                id: outgoing.id,
                part: outgoing.part,
                parts: outgoing.parts,
                text: outgoing.rendered.text.clone(),
                answers: outgoing
                    .answers
                    .iter()
                    .map(|id| id.as_str().to_owned())
                    .collect(),
                turn: outgoing.turn.clone(),
                at: Instant::now(),
            });
        }
        state.next_message += 1;
        let message = MessageId::from(format!("out{}", state.next_message));
        Sent {
            message: Some(message),
        }
    }

    async fn react(&self, outgoing: &Outgoing, reaction: Reaction) -> Result<Sent, SendError> {
        match reaction {
            Reaction::Show => Ok(self.show(outgoing)),
            Reaction::Slow(before, after) => {
                sleep(before).await;
                let sent = self.show(outgoing);
                sleep(after).await;
                Ok(sent)
            }
            Reaction::Refuse(error) => Err(error),
            Reaction::ShowUnknown => {
                self.show(outgoing);
                Err(SendError::Ambiguous("scripted, shown".into()))
            }
            Reaction::LoseUnknown => Err(SendError::Ambiguous("scripted, lost".into())),
            Reaction::Hang => {
                self.show(outgoing);
                std::future::pending().await
            }
        }
    }
}

#[async_trait]
impl Adapter for ScriptedAdapter {
    fn platform(&self) -> Platform {
        self.options.platform.into()
    }

    fn account(&self) -> AccountName {
        self.options.account.into()
    }

    fn capabilities(&self, _conversation: &ConversationKey) -> Capabilities {
        Capabilities {
            max_length: Length {
                limit: self.options.length,
                unit: LengthUnit::Characters,
            },
            streaming: self.options.streaming,
            reply: true,
            idempotent: self.options.idempotent,
            transcript: self.options.transcript,
            buttons: None,
            pending: self.options.transcript,
            media: weirgate_sdk::MediaLimits::NONE,
            rates: self.options.rates,
        }
    }

    fn render(&self) -> &dyn Render {
        &self.render
    }

    async fn run(&self, ingress: Arc<dyn Ingress>, stop: Stop) -> Result<(), AdapterError> {
        ingress.connection(&self.platform(), &self.account(), Connection::Up);
        self.ingress.send_replace(Some(ingress));
        stop.stopped().await;
        self.ingress.send_replace(None);
        Ok(())
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        let reaction = self.reaction(&outgoing);
        let _busy = Busy {
            state: Arc::clone(&self.state),
            place: outgoing.conversation.clone(),
        };
        self.react(&outgoing, reaction).await
    }

    fn ended(&self, _conversation: &ConversationKey, messages: &[MessageId]) {
        let messages = messages.iter().map(|id| id.as_str().to_owned());
        self.state.lock().ended.extend(messages);
    }

    fn moderates(&self) -> Option<&dyn weirgate_sdk::moderation::Moderates> {
        self.options.moderates.then_some(self)
    }

    fn streams(&self) -> Option<&dyn Streams> {
        (self.options.streaming != Streaming::None).then_some(self)
    }
}

/// A send under way; dropped also when the gateway crashes in the middle of it.
struct Busy {
    state: Arc<Mutex<State>>,
    place: ConversationKey,
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.state.lock().busy.remove(&self.place);
    }
}

#[async_trait]
impl Streams for ScriptedAdapter {
    async fn open(&self, start: PreviewStart) -> Result<Box<dyn Preview>, SendError> {
        self.state.lock().open_previews += 1;
        Ok(Box::new(Writing {
            state: Arc::clone(&self.state),
            turn: start.turn,
        }))
    }
}

struct Writing {
    state: Arc<Mutex<State>>,
    turn: Arc<str>,
}

#[async_trait]
impl Preview for Writing {
    async fn push(&mut self, blocks: &[Block]) -> Result<(), SendError> {
        let text = Tagged::new(usize::MAX).render(blocks).text;
        let mut state = self.state.lock();
        state
            .previews
            .entry(Arc::clone(&self.turn))
            .or_default()
            .push(text);
        Ok(())
    }

    async fn finish(self: Box<Self>) {}
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.state.lock().open_previews -= 1;
    }
}

impl fmt::Debug for ScriptedAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedAdapter")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
