//! The adapter of one bot.
//!
//! Owns what receiving and sending share. Sends are never repeated here; the platform knows a repeated one by its key.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::{sync::mpsc, time::timeout};
use weirgate_net::{
    report::Reporter,
    session::{Accepted, Frame},
};
use weirgate_sdk::{
    AccountName, Adapter, AdapterError, BotId, Buttons, Capabilities, ConversationKey, Downloads,
    Finding, Indicates, Ingress, Length, LengthUnit, Menu, MessageId, Moderates, Outgoing,
    Platform, SendError, Sent, Setup, Stop, Streaming, Streams, Timestamp, admins::Admins,
    answer::Render, patience::Patience,
};

use crate::{
    PLATFORM,
    api::Api,
    buttons, check,
    format::Markdown,
    intake::Intake,
    interaction::Interactions,
    leftover::{self, Leftovers},
    places::Snowflake,
    position::Position,
    send,
    server::Servers,
    session,
    settings::Settings,
    stream::Live,
    upload,
};

/// Events that wait to be handed in; while they are that many, nothing more is read.
const WAITING: usize = 256;
/// Least time between two edits: about five calls in five seconds into a channel are taken.
const EDIT_PAUSE: Duration = Duration::from_millis(1_500);
/// How long the platform shows that somebody is typing.
const TYPING_LIFE: Duration = Duration::from_secs(10);
/// At the end: how long what was read may take to be accepted.
const ACCEPT_LIMIT: Duration = Duration::from_secs(3);

/// One bot.
#[derive(Debug)]
pub struct Discord {
    shared: Arc<Shared>,
    format: Markdown,
}

/// What receiving and sending share.
pub struct Shared {
    /// The platform's name.
    pub platform: Platform,
    /// The account's name.
    pub account: AccountName,
    /// Its settings.
    pub settings: Settings,
    /// Interactions that wait for their answer.
    pub interactions: Interactions,
    /// Messages that show unfinished answers.
    pub live: Live,
    /// What is shown of answers that never come.
    pub leftovers: Leftovers,
    /// What is known of servers.
    pub servers: Mutex<Servers>,
    /// Their admins.
    pub admins: Admins,
    /// Whether a server that is not known is asked for.
    pub patience: Patience,
    /// What people can ask of the gateway.
    pub menu: Menu,
    /// What the keys of messages are made with.
    pub secret: [u8; 32],
    /// Tells of the connections.
    pub reporter: Reporter,
    /// The session of each connection, and how far of it is accepted.
    pub accepted: Accepted,
    /// The way to the platform, or why there is none.
    api: Result<Api, String>,
    /// The bot's number, once the platform said it.
    bot: Mutex<Option<Snowflake>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("account", &self.account)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Shared {
    fn new(setup: &Setup, settings: Settings) -> Self {
        let api = match &settings.token {
            Some(token) => Api::new(&settings.api_url, token.expose(), setup.version),
            None => Err("the account has no token".to_owned()),
        };
        let platform = Platform::from(PLATFORM);
        Self {
            reporter: Reporter::new(platform.clone(), setup.account.clone()),
            accepted: Accepted::default(),
            platform,
            account: setup.account.clone(),
            settings,
            interactions: Interactions::default(),
            live: Live::default(),
            leftovers: Leftovers::default(),
            servers: Mutex::default(),
            admins: Admins::default(),
            patience: Patience::default(),
            menu: setup.menu.clone(),
            secret: setup.secret,
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
    pub fn introduce(&self, bot: Snowflake) {
        *self.bot.lock() = Some(bot);
    }

    /// Who the bot is, once the platform said so.
    #[must_use]
    pub fn bot(&self) -> Option<Snowflake> {
        *self.bot.lock()
    }
}

impl Discord {
    pub(crate) fn new(setup: &Setup, settings: Settings) -> Self {
        Self {
            format: Markdown::new(settings.max_length),
            shared: Arc::new(Shared::new(setup, settings)),
        }
    }

    /// What receiving and sending share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// How answers are rendered.
    pub(crate) fn format(&self) -> &Markdown {
        &self.format
    }

    /// Connects and hands in, until `stop` or until nothing more is taken.
    async fn attend(&self, ingress: &Arc<dyn Ingress>, stop: &Stop) -> Result<(), AdapterError> {
        let shared = &*self.shared;
        let bot = tokio::select! {
            biased;
            () = stop.stopped() => return Ok(()),
            me = session::introduce(shared) => session::bot(&me?)?,
        };
        shared.introduce(bot);
        let bot_id = BotId::from(bot.to_string());
        let cursor = ingress.cursor(&shared.platform, &shared.account).await;
        let position = Position::from_cursor(cursor.as_ref(), &bot_id);
        let plan = tokio::select! {
            biased;
            () = stop.stopped() => return Ok(()),
            plan = session::plan(shared, shared.settings.shards) => plan?,
        };
        let mut position = position;
        position.divide(plan.count);
        let sessions = position.sessions();
        shared.reporter.divide(plan.count);
        shared.accepted.set(sessions.clone());
        let (frames, waiting) = mpsc::channel::<Frame>(WAITING);
        let intake = Intake::new(shared, Arc::clone(ingress), (bot, bot_id), position);
        let mut intake = Box::pin(intake.run(waiting));
        let ended = tokio::select! {
            biased;
            ended = session::run(&self.shared, frames, sessions, plan, stop) => ended,
            // The gateway takes nothing more.
            () = &mut intake => return Ok(()),
            () = leftover::clear(shared) => return Ok(()),
        };
        // What was read may still be accepted; if it is not, it comes again at the next start.
        let _ = timeout(ACCEPT_LIMIT, intake).await;
        ended
    }
}

#[async_trait]
impl Adapter for Discord {
    fn platform(&self) -> Platform {
        self.shared.platform.clone()
    }

    fn account(&self) -> AccountName {
        self.shared.account.clone()
    }

    fn capabilities(&self, _: &ConversationKey) -> Capabilities {
        let settings = &self.shared.settings;
        Capabilities {
            max_length: Length {
                limit: settings.max_length,
                unit: LengthUnit::Characters,
            },
            streaming: Streaming::Edit {
                min_interval: EDIT_PAUSE,
            },
            reply: true,
            // For a few minutes the platform shows a message with a known key only once.
            idempotent: true,
            transcript: false,
            buttons: Some(buttons::LIMITS),
            pending: true,
            media: upload::LIMITS,
            rates: settings.rates,
        }
    }

    fn render(&self) -> &dyn Render {
        &self.format
    }

    async fn run(&self, ingress: Arc<dyn Ingress>, stop: Stop) -> Result<(), AdapterError> {
        let shared = &self.shared;
        shared.calls()?;
        shared.reporter.begin(Arc::clone(&ingress));
        let ended = self.attend(&ingress, &stop).await;
        shared.reporter.end();
        ended
    }

    fn ended(&self, _: &ConversationKey, messages: &[MessageId]) {
        leftover::end(&self.shared, messages);
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        send::send(&self.shared, &outgoing).await
    }

    fn downloads(&self) -> Option<&dyn Downloads> {
        Some(self)
    }

    fn streams(&self) -> Option<&dyn Streams> {
        Some(self)
    }

    fn moderates(&self) -> Option<&dyn Moderates> {
        Some(self)
    }

    fn indicates(&self) -> Option<&dyn Indicates> {
        Some(self)
    }

    fn buttons(&self) -> Option<&dyn Buttons> {
        Some(self)
    }

    async fn check(&self, offline: bool) -> Vec<Finding> {
        check::check(&self.shared, offline).await
    }
}

#[async_trait]
impl Indicates for Discord {
    fn lasts(&self) -> Duration {
        TYPING_LIFE
    }

    async fn indicate(&self, conversation: &ConversationKey) -> Result<(), SendError> {
        send::indicate(&self.shared, conversation).await
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
