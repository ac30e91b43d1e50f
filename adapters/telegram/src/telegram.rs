//! The adapter of one bot.
//!
//! Owns what receiving and sending share. Sends are never repeated here: the platform has no idempotency key, so an
//! unknown outcome is reported as such.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use axum::Router;
use parking_lot::Mutex;
use teloxide_core::{
    payloads::SendChatAction,
    types::{ChatAction, ChatId, MessageId, ThreadId},
};
use tokio::time::Instant;
use weirgate_net::report::Reporter;
use weirgate_sdk::{
    AccountName, Adapter, AdapterError, Buttons, Capabilities, ConversationKey, Downloads, Finding,
    Indicates, Ingress, Leaves, Length, LengthUnit, Menu, Moderates, Outgoing, Platform, Rates,
    SendError, Sent, Setup, Stop, Streaming, Streams, Timestamp, admins::Admins, answer::Render,
    patience::Patience,
};

use crate::{
    PLATFORM,
    api::Api,
    buttons, check,
    floods::Floods,
    format::Entities,
    handles::Handles,
    moves::Moves,
    places::{Place, is_private},
    poll,
    receive::Bot,
    send,
    settings::{Mode, Settings},
    stream::Live,
    upload,
    webhook::{self, Hook},
};

/// Least time between two states of a draft, and how long it is shown.
const DRAFT_PAUSE: Duration = Duration::from_secs(1);
const DRAFT_LIFE: Duration = Duration::from_secs(30);
/// Least time between two edits of a message in a group: they count like messages, of which there may be twenty a
/// minute.
const EDIT_PAUSE: Duration = Duration::from_secs(3);
/// How long "is typing" is shown.
const ACTION_LIFE: Duration = Duration::from_secs(5);

/// One bot.
#[derive(Debug)]
pub struct Telegram {
    shared: Arc<Shared>,
    format: Entities,
}

/// What receiving and sending share.
#[derive(Debug)]
pub struct Shared {
    /// The platform's name.
    pub platform: Platform,
    /// The account's name.
    pub account: AccountName,
    /// Its settings.
    pub settings: Settings,
    /// Where the platform demands a pause.
    pub floods: Floods,
    /// Messages that show unfinished answers.
    pub live: Live,
    /// The administrators of groups that were asked about.
    pub admins: Admins,
    /// Whether administrators are asked for.
    pub patience: Patience,
    /// Groups that have another number now.
    pub moves: Moves,
    /// User names and their bearers.
    pub handles: Handles,
    /// The commands.
    pub menu: Menu,
    /// How the platform reaches the gateway, and what it proves itself with, where it posts updates.
    pub hook: Hook,
    /// Tells of the connection.
    pub reporter: Reporter,
    /// The way to the platform, or why there is none.
    api: Result<Api, String>,
    /// Who the bot is, once the platform said so.
    bot: Mutex<Option<Arc<Bot>>>,
}

impl Shared {
    /// An account that does not run yet.
    #[must_use]
    pub fn new(setup: &Setup, settings: Settings) -> Self {
        let api = match &settings.token {
            Some(token) => Api::new(&settings.api_url, token.expose()),
            None => Err("the account has no token".to_owned()),
        };
        let platform = Platform::from(PLATFORM);
        Self {
            reporter: Reporter::new(platform.clone(), setup.account.clone()),
            platform,
            account: setup.account.clone(),
            settings,
            floods: Floods::default(),
            live: Live::default(),
            admins: Admins::default(),
            patience: Patience::default(),
            moves: Moves::default(),
            handles: Handles::default(),
            menu: setup.menu.clone(),
            hook: Hook::new(setup),
            api,
            bot: Mutex::default(),
        }
    }

    /// The way to the platform.
    ///
    /// # Errors
    /// What makes the account unusable.
    pub fn calls(&self) -> Result<&Api, AdapterError> {
        let api = self.api.as_ref();
        api.map_err(|why| AdapterError::Config(why.clone()))
    }

    /// The way to the platform, for sending.
    ///
    /// # Errors
    /// [`SendError::Unavailable`] unless the account runs.
    pub fn api(&self) -> Result<&Api, SendError> {
        self.reporter.running()?;
        let api = self.api.as_ref();
        api.map_err(|why| SendError::Unavailable(why.clone()))
    }

    /// The platform said who the bot is.
    pub fn introduce(&self, bot: Bot) -> Arc<Bot> {
        let bot = Arc::new(bot);
        *self.bot.lock() = Some(Arc::clone(&bot));
        bot
    }

    /// Who the bot is, once the platform said so.
    #[must_use]
    pub fn bot(&self) -> Option<Arc<Bot>> {
        self.bot.lock().clone()
    }

    /// The key of a place.
    #[must_use]
    pub fn key(&self, place: Place) -> ConversationKey {
        let chat = self.moves.first(place.chat);
        Place { chat, ..place }.key(&self.platform, &self.account)
    }

    /// The refusal of a call told that a chat has another number now. Whether that is news.
    pub fn moved(&self, from: i64, to: i64) -> bool {
        let news = self.moves.learn(from, to);
        if news {
            tracing::info!(account = %self.account, from, to, "the group is a supergroup now");
            self.hook.moved();
        }
        news
    }

    /// Where a conversation is now.
    #[must_use]
    pub fn place(&self, conversation: &ConversationKey) -> Option<Place> {
        let place = Place::parse(conversation)?;
        let chat = self.moves.present(place.chat);
        Some(Place { chat, ..place })
    }
}

impl Telegram {
    pub(crate) fn new(setup: &Setup, settings: Settings) -> Self {
        Self {
            format: Entities::new(settings.max_length),
            shared: Arc::new(Shared::new(setup, settings)),
        }
    }

    /// The route to which the platform posts updates, for an account with a webhook.
    #[must_use]
    pub fn router(&self) -> Option<Router> {
        webhook::router(&self.shared)
    }

    /// What receiving and sending share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// How answers are rendered.
    pub(crate) fn format(&self) -> &Entities {
        &self.format
    }
}

#[async_trait]
impl Adapter for Telegram {
    fn platform(&self) -> Platform {
        self.shared.platform.clone()
    }

    fn account(&self) -> AccountName {
        self.shared.account.clone()
    }

    fn capabilities(&self, conversation: &ConversationKey) -> Capabilities {
        let settings = &self.shared.settings;
        let is_group = Place::parse(conversation).is_some_and(|place| !is_private(place.chat));
        let (rates, streaming) = if is_group {
            let rates = Rates {
                conversation: settings.group.0,
                conversation_burst: settings.group.1,
                ..settings.rates
            };
            let min_interval = EDIT_PAUSE;
            (rates, Streaming::Edit { min_interval })
        } else {
            let (min_interval, ttl) = (DRAFT_PAUSE, DRAFT_LIFE);
            (settings.rates, Streaming::Draft { min_interval, ttl })
        };
        Capabilities {
            max_length: Length {
                limit: settings.max_length,
                unit: LengthUnit::Utf16,
            },
            streaming,
            reply: true,
            idempotent: false,
            transcript: false,
            buttons: Some(buttons::LIMITS),
            pending: false,
            media: upload::LIMITS,
            rates,
        }
    }

    fn render(&self) -> &dyn Render {
        &self.format
    }

    async fn run(&self, ingress: Arc<dyn Ingress>, stop: Stop) -> Result<(), AdapterError> {
        let shared = &self.shared;
        shared.calls()?;
        shared.reporter.begin(Arc::clone(&ingress));
        let ended = match shared.settings.mode {
            Mode::Polling => poll::run(shared, Arc::clone(&ingress), &stop).await,
            Mode::Webhook => webhook::run(shared, &stop).await,
        };
        shared.reporter.end();
        ended
    }

    async fn check(&self, offline: bool) -> Vec<Finding> {
        check::check(&self.shared, offline).await
    }

    fn streams(&self) -> Option<&dyn Streams> {
        Some(self)
    }

    fn indicates(&self) -> Option<&dyn Indicates> {
        Some(self)
    }

    fn downloads(&self) -> Option<&dyn Downloads> {
        Some(self)
    }

    fn moderates(&self) -> Option<&dyn Moderates> {
        Some(self)
    }

    fn buttons(&self) -> Option<&dyn Buttons> {
        Some(self)
    }

    fn leaves(&self) -> Option<&dyn Leaves> {
        Some(self)
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        send::send(&self.shared, &outgoing).await
    }
}

#[async_trait]
impl Indicates for Telegram {
    fn lasts(&self) -> Duration {
        ACTION_LIFE
    }

    async fn indicate(&self, conversation: &ConversationKey) -> Result<(), SendError> {
        let shared = &self.shared;
        let place = send::place(shared, conversation)?;
        let api = shared.api()?;
        shared.floods.ask(place.chat, Instant::now())?;
        let mut call = SendChatAction::new(ChatId(place.chat), ChatAction::Typing);
        call.message_thread_id = place.topic.map(|topic| ThreadId(MessageId(topic)));
        let done = api.call(&call, shared.settings.call_timeout).await;
        done.map(|_| ())
            .map_err(|error| send::failure(shared, place, &error))
    }
}

/// The time, in milliseconds since the epoch.
#[must_use]
pub fn unix_time() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO);
    Timestamp::try_from(since.as_millis()).unwrap_or(Timestamp::MAX)
}
