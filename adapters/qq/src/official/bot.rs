//! The adapter of one official bot.
//!
//! Owns what receiving and sending share. Sends are never repeated here; the platform knows a repeated one in groups
//! and private chats by its number.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use axum::Router;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::{sync::mpsc, time::timeout};
use weirgate_net::{
    report::Reporter,
    session::{Accepted, Plan, Session},
};
use weirgate_sdk::{
    AccountName, Adapter, AdapterError, Buttons, Capabilities, Connection, ConversationKey,
    Downloads, Event, Finding, Ingress, Length, LengthUnit, Moderates, Outgoing, Platform,
    SendError, Sent, Setup, Stop, Streaming, Streams, Timestamp, admins::Admins, answer::Render,
    patience::Patience,
};

use super::{
    api::Api,
    check,
    escape::Form,
    intake::{Parcel, Position, Stream},
    media,
    places::Place,
    press,
    receive::Receiver,
    send::{self, Refused},
    session,
    settings::{Settings, Way},
    sign::Key,
    standing::Standings,
    stream::{self, Live},
    webhook::{self, Posts},
};
use crate::{
    PLATFORM,
    intake::{CHANNEL, Intake},
};

/// At the end: how long what was read may take to be accepted.
const ACCEPT_LIMIT: Duration = Duration::from_secs(3);

/// The event of an answer that the platform reviewed and does not show (bot-docs, MESSAGE_AUDIT).
const REJECTED: &str = "MESSAGE_AUDIT_REJECT";

/// One bot.
#[derive(Debug)]
pub struct Official {
    shared: Arc<Shared>,
    form: Form,
    public_origin: Option<String>,
}

/// What receiving and sending share.
pub struct Shared {
    /// The platform's name.
    pub platform: Platform,
    /// The account's name.
    pub account: AccountName,
    /// Its settings.
    pub settings: Settings,
    /// What posts are signed with.
    pub key: Option<Key>,
    /// Posts that are read.
    pub posts: Posts,
    /// Answers that are shown while they are written.
    pub live: Live,
    /// The admins of groups and guilds.
    pub admins: Admins,
    /// Who stands how, as messages told it of late.
    pub standings: Standings,
    /// Whether it is asked for where they did not.
    pub patience: Patience,
    /// Tells of the connections.
    pub reporter: Reporter,
    /// The session of each connection, and how far of it is accepted.
    pub accepted: Accepted,
    /// The way to the platform, or why there is none.
    api: Result<Api, String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Where posted events go, while the account runs.
    events: Option<mpsc::Sender<Parcel>>,
    /// The bot's own id in guilds, once the platform said it.
    bot: Option<String>,
    refused: Refused,
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
        let secret = settings.app_secret.as_ref();
        let platform = Platform::from(PLATFORM);
        Self {
            reporter: Reporter::new(platform.clone(), setup.account.clone()),
            accepted: Accepted::default(),
            platform,
            account: setup.account.clone(),
            key: secret.and_then(|secret| Key::new(secret.expose())),
            posts: Posts::default(),
            live: Live::default(),
            admins: Admins::default(),
            standings: Standings::default(),
            patience: Patience::default(),
            api: Api::new(&settings, setup.version),
            state: Mutex::default(),
            settings,
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

    /// Reads an event; `id` is its own, where the platform gives one.
    #[must_use]
    pub fn read(&self, kind: &str, id: Option<&str>, data: &Value, now: Timestamp) -> Event {
        let bot = self.bot();
        let receiver = Receiver {
            platform: &self.platform,
            account: &self.account,
            app_id: &self.settings.app_id,
            bot: bot.as_deref().unwrap_or_default(),
            replies: self.settings.replies,
            streams: self.settings.streaming,
        };
        if kind == REJECTED {
            let (review, channel) = (data["audit_id"].as_str(), data["channel_id"].as_str());
            tracing::warn!(account = %self.account, review, channel, "an answer did not pass the platform's review: nobody sees it");
        }
        let mut event = receiver.read(kind, id, data, now);
        self.admins.heard(&event);
        self.standings.settle(&mut event, Instant::now());
        event
    }

    /// The bot's own id in guilds, once the platform said it.
    #[must_use]
    pub fn bot(&self) -> Option<String> {
        self.state.lock().bot.clone()
    }

    /// Where posted events go, while the account runs.
    #[must_use]
    pub fn events(&self) -> Option<mpsc::Sender<Parcel>> {
        self.state.lock().events.clone()
    }

    /// The bot's own id in guilds.
    pub fn is_bot(&self, id: &str) {
        self.state.lock().bot = Some(id.to_owned());
    }

    /// What the platform was found to refuse.
    #[must_use]
    pub fn refused(&self) -> Refused {
        self.state.lock().refused
    }

    /// The platform refuses this from now on, beside what was known.
    pub fn learn(&self, refused: Refused) {
        let known = &mut self.state.lock().refused;
        known.markdown |= refused.markdown;
        known.links |= refused.links;
        known.buttons |= refused.buttons;
    }
}

impl Official {
    pub(crate) fn new(setup: &Setup, settings: Settings) -> Self {
        Self {
            form: Form::new(settings.max_length, settings.markdown),
            shared: Arc::new(Shared::new(setup, settings)),
            public_origin: setup.public_origin.clone(),
        }
    }

    /// What receiving and sending share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// How answers are rendered.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// The route to which the platform posts events, for an account whose events come so: `/qq/` and the account's
    /// name.
    #[must_use]
    pub fn router(&self) -> Option<Router> {
        webhook::router(&self.shared)
    }

    /// Receives until `stop`.
    async fn attend(&self, ingress: &Arc<dyn Ingress>, stop: &Stop) -> Result<(), AdapterError> {
        let shared = &self.shared;
        let (position, plan) = tokio::select! {
            biased;
            () = stop.stopped() => return Ok(()),
            prepared = self.prepare(ingress) => prepared?,
        };
        let (events, waiting) = mpsc::channel(CHANNEL);
        let sessions = position.sessions();
        let stream = Stream {
            shared: Arc::clone(shared),
            position,
        };
        let mut intake = Intake::new(Arc::clone(ingress), stream, waiting);
        let ended = {
            let mut intake = Box::pin(intake.run());
            let receive = self.receive(events, sessions, plan, stop);
            let ended = tokio::select! {
                biased;
                ended = receive => ended,
                // The gateway takes nothing more.
                () = &mut intake => return Ok(()),
            };
            shared.state.lock().events = None;
            // What was read may still be accepted; if it is not, it comes again at the next start.
            let _ = timeout(ACCEPT_LIMIT, intake).await;
            ended
        };
        let left = intake.left();
        if left > 0 {
            tracing::info!(account = %shared.account, left, "events were read and not accepted; they come again");
        }
        ended
    }

    /// Finds out who the bot is, and where its events go on: over how many connections, unless they are posted.
    async fn prepare(
        &self,
        ingress: &Arc<dyn Ingress>,
    ) -> Result<(Position, Option<Plan>), AdapterError> {
        let shared = &*self.shared;
        let me = session::introduce(shared).await?;
        if let Some(bot) = me["id"].as_str() {
            shared.is_bot(bot);
        }
        if shared.settings.way == Way::Webhook {
            return Ok((Position::default(), None));
        }
        let cursor = ingress.cursor(&shared.platform, &shared.account).await;
        let mut position = Position::from_cursor(cursor.as_ref(), &shared.settings.app_id);
        let plan = session::plan(shared, shared.settings.shards).await?;
        position.divide(plan.count);
        Ok((position, Some(plan)))
    }

    async fn receive(
        &self,
        events: mpsc::Sender<Parcel>,
        sessions: Vec<Option<Session>>,
        plan: Option<Plan>,
        stop: &Stop,
    ) -> Result<(), AdapterError> {
        let shared = &self.shared;
        if let Some(plan) = plan {
            shared.reporter.divide(plan.count);
            shared.accepted.set(sessions.clone());
            return session::run(shared, events, sessions, plan, stop).await;
        }
        shared.state.lock().events = Some(events);
        let path = webhook::path(shared.account.as_str());
        tracing::info!(account = %shared.account, path, "waiting for what the platform posts");
        shared.reporter.report(Connection::Up);
        stop.stopped().await;
        Ok(())
    }
}

#[async_trait]
impl Adapter for Official {
    fn platform(&self) -> Platform {
        self.shared.platform.clone()
    }

    fn account(&self) -> AccountName {
        self.shared.account.clone()
    }

    fn capabilities(&self, conversation: &ConversationKey) -> Capabilities {
        let (settings, refused) = (&self.shared.settings, self.shared.refused());
        let place = Place::parse(conversation.conversation.as_str());
        let is_guild = place.is_some_and(|place| place.is_guild());
        let is_private = matches!(place, Some(Place::Private(_)));
        let has_buttons = settings.buttons && !refused.buttons && !refused.markdown && !is_guild;
        let streams = settings.streaming && is_private;
        Capabilities {
            max_length: Length {
                limit: settings.max_length,
                unit: LengthUnit::Characters,
            },
            streaming: if streams {
                let min_interval = stream::PAUSE;
                Streaming::Edit { min_interval }
            } else {
                Streaming::None
            },
            reply: true,
            buttons: has_buttons.then_some(press::LIMITS),
            // In groups and private chats a message with a known number is taken once.
            idempotent: !is_guild,
            transcript: false,
            pending: false,
            media: media::limits(is_guild),
            rates: settings.rates,
        }
    }

    fn render(&self) -> &dyn Render {
        &self.form
    }

    async fn run(&self, ingress: Arc<dyn Ingress>, stop: Stop) -> Result<(), AdapterError> {
        let shared = &self.shared;
        shared.calls()?;
        shared.reporter.begin(Arc::clone(&ingress));
        let ended = self.attend(&ingress, &stop).await;
        shared.state.lock().events = None;
        shared.reporter.end();
        ended
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        send::send(&self.shared, &outgoing).await
    }

    fn downloads(&self) -> Option<&dyn Downloads> {
        Some(self)
    }

    fn streams(&self) -> Option<&dyn Streams> {
        self.shared
            .settings
            .streaming
            .then_some(self as &dyn Streams)
    }

    fn moderates(&self) -> Option<&dyn Moderates> {
        Some(self)
    }

    fn buttons(&self) -> Option<&dyn Buttons> {
        self.shared.settings.buttons.then_some(self as &dyn Buttons)
    }

    async fn check(&self, offline: bool) -> Vec<Finding> {
        check::check(&self.shared, self.public_origin.as_deref(), offline).await
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
