//! The adapter of one bot.
//!
//! Owns what receiving and sending share. Sends are never repeated here: the platform has no idempotency key, so an
//! unknown outcome is reported as such.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use parking_lot::Mutex;
use weirgate_sdk::{
    AccountName, Adapter, AdapterError, Capabilities, Connection, ConversationKey, Ingress, Length,
    LengthUnit, Outgoing, Platform, Rates, SendError, Sent, Setup, Stop, Streaming, Streams,
    Timestamp, answer::Render,
};

use crate::{
    PLATFORM,
    api::Api,
    floods::Floods,
    format::Entities,
    places::{Place, is_private},
    poll,
    receive::Bot,
    send,
    settings::Settings,
    stream::Live,
};

/// Least time between two states of a draft, and how long it is shown.
const DRAFT_PAUSE: Duration = Duration::from_secs(1);
const DRAFT_LIFE: Duration = Duration::from_secs(30);
/// Least time between two edits of a message in a group: they count like messages, of which there may be twenty a
/// minute.
const EDIT_PAUSE: Duration = Duration::from_secs(3);

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
    /// The way to the platform, or why there is none.
    api: Result<Api, String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Who is told of the connection, while the account runs.
    ingress: Option<Arc<dyn Ingress>>,
    connection: Option<Connection>,
    bot: Option<Arc<Bot>>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("connection", &self.connection)
            .field("bot", &self.bot)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// An account that does not run yet.
    #[must_use]
    pub fn new(setup: &Setup, settings: Settings) -> Self {
        let api = match &settings.token {
            Some(token) => Api::new(&settings.api_url, token.expose()),
            None => Err("the account has no token".to_owned()),
        };
        Self {
            platform: Platform::from(PLATFORM),
            account: setup.account.clone(),
            settings,
            floods: Floods::default(),
            live: Live::default(),
            api,
            state: Mutex::default(),
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
        if self.state.lock().ingress.is_none() {
            return Err(SendError::Unavailable("the account does not run".into()));
        }
        let api = self.api.as_ref();
        api.map_err(|why| SendError::Unavailable(why.clone()))
    }

    /// The platform said who the bot is.
    pub fn introduce(&self, bot: Bot) -> Arc<Bot> {
        let bot = Arc::new(bot);
        self.state.lock().bot = Some(Arc::clone(&bot));
        bot
    }

    /// Tells the gateway of the connection, and the log when it changes.
    pub fn report(&self, connection: Connection) {
        let ingress = {
            let mut state = self.state.lock();
            if state.connection.as_ref() == Some(&connection) {
                return;
            }
            state.connection = Some(connection.clone());
            state.ingress.clone()
        };
        let account = &self.account;
        match &connection {
            Connection::Waiting => {}
            Connection::Up => tracing::info!(%account, "connected"),
            Connection::Degraded(why) => tracing::warn!(%account, why, "connected, with trouble"),
            Connection::Down(why) => tracing::warn!(%account, why, "not connected"),
        }
        if let Some(ingress) = ingress {
            ingress.connection(&self.platform, account, connection);
        }
    }

    /// The key of a place.
    #[must_use]
    pub fn key(&self, place: Place) -> ConversationKey {
        place.key(&self.platform, &self.account)
    }
}

impl Telegram {
    pub(crate) fn new(setup: &Setup, settings: Settings) -> Self {
        Self {
            format: Entities::new(settings.max_length),
            shared: Arc::new(Shared::new(setup, settings)),
        }
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
            rates,
        }
    }

    fn render(&self) -> &dyn Render {
        &self.format
    }

    async fn run(&self, ingress: Arc<dyn Ingress>, stop: Stop) -> Result<(), AdapterError> {
        let shared = &self.shared;
        shared.calls()?;
        {
            let mut state = shared.state.lock();
            state.ingress = Some(Arc::clone(&ingress));
            state.connection = None;
        }
        shared.report(Connection::Waiting);
        let ended = poll::run(shared, Arc::clone(&ingress), &stop).await;
        shared.state.lock().ingress = None;
        let end = Connection::Down("the account was stopped".into());
        ingress.connection(&shared.platform, &shared.account, end);
        ended
    }

    fn streams(&self) -> Option<&dyn Streams> {
        Some(self)
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        send::send(&self.shared, &outgoing).await
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
