//! The adapter of one official bot.
//!
//! Owns what receiving and sending share. Sends are never repeated here; the platform knows a repeated one in groups
//! and private chats by its number.

use std::{
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use async_trait::async_trait;
use axum::Router;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use weirgate_sdk::{
    AccountName, Adapter, AdapterError, Capabilities, Connection, ConversationKey, Event, Finding,
    Ingress, Length, LengthUnit, Outgoing, Platform, SendError, Sent, Setup, Stop, Streaming,
    Timestamp, answer::Render, backoff::Backoff,
};

use super::{
    api::{Api, CallError},
    escape::Form,
    intake::{Parcel, Session, Stream},
    places::Place,
    receive::Receiver,
    send::{self, Refused},
    session,
    settings::{Settings, Way},
    sign::Key,
    webhook::{self, Posts},
};
use crate::{
    PLATFORM,
    intake::{CHANNEL, Intake},
};

/// At the end: how long what was read may take to be accepted.
const ACCEPT_LIMIT: Duration = Duration::from_secs(3);

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
    /// The way to the platform, or why there is none.
    api: Result<Api, String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Who is told of the connection, while the account runs.
    ingress: Option<Arc<dyn Ingress>>,
    /// Where posted events go, while the account runs.
    events: Option<mpsc::Sender<Parcel>>,
    connection: Option<Connection>,
    /// The session, and how far of it is accepted.
    accepted: Option<Session>,
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
        Self {
            platform: Platform::from(PLATFORM),
            account: setup.account.clone(),
            key: secret.and_then(|secret| Key::new(secret.expose())),
            posts: Posts::default(),
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
        if self.state.lock().ingress.is_none() {
            return Err(SendError::Unavailable("the account does not run".into()));
        }
        let api = self.api.as_ref();
        api.map_err(|why| SendError::Unavailable(why.clone()))
    }

    /// Reads an event.
    #[must_use]
    pub fn read(&self, kind: &str, data: &Value, now: Timestamp) -> Event {
        let bot = self.state.lock().bot.clone();
        let receiver = Receiver {
            platform: &self.platform,
            account: &self.account,
            app_id: &self.settings.app_id,
            bot: bot.as_deref().unwrap_or_default(),
            replies: self.settings.replies,
        };
        receiver.read(kind, data, now)
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

    /// Events up to here are accepted.
    pub fn accepted(&self, session: Session) {
        self.state.lock().accepted = Some(session);
    }

    /// The number of the last event of a session that is accepted.
    #[must_use]
    pub fn accepted_of(&self, session: &Session) -> Option<u64> {
        let state = self.state.lock();
        let accepted = state.accepted.as_ref();
        accepted
            .filter(|accepted| accepted.id == session.id)
            .map(|accepted| accepted.sequence)
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
}

impl Official {
    pub(crate) fn new(setup: &Setup, settings: Settings) -> Self {
        Self {
            form: Form::new(settings.max_length, settings.markdown),
            shared: Arc::new(Shared::new(setup, settings)),
            public_origin: setup.public_origin.clone(),
        }
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
        tokio::select! {
            biased;
            () = stop.stopped() => return Ok(()),
            known = introduce(shared) => known?,
        }
        let (events, waiting) = mpsc::channel(CHANNEL);
        let mut intake = Intake::new(Arc::clone(ingress), Stream(Arc::clone(shared)), waiting);
        let ended = {
            let mut intake = Box::pin(intake.run());
            let receive = self.receive(ingress, events, stop);
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

    async fn receive(
        &self,
        ingress: &Arc<dyn Ingress>,
        events: mpsc::Sender<Parcel>,
        stop: &Stop,
    ) -> Result<(), AdapterError> {
        let shared = &*self.shared;
        match shared.settings.way {
            Way::Gateway => {
                let cursor = ingress.cursor(&shared.platform, &shared.account).await;
                let cursor = cursor.as_ref();
                let resume =
                    cursor.and_then(|cursor| Session::from_cursor(cursor, &shared.settings.app_id));
                if let Some(session) = resume.clone() {
                    shared.accepted(session);
                }
                session::run(shared, events, resume, stop).await
            }
            Way::Webhook => {
                shared.state.lock().events = Some(events);
                let path = webhook::path(shared.account.as_str());
                tracing::info!(account = %shared.account, path, "waiting for what the platform posts");
                shared.report(Connection::Up);
                stop.stopped().await;
                Ok(())
            }
        }
    }
}

/// Finds out who the bot is, for as long as it takes.
async fn introduce(shared: &Shared) -> Result<(), AdapterError> {
    let mut backoff = Backoff::new(shared.settings.reconnect);
    loop {
        let error = match shared.calls()?.get("/users/@me").await {
            Ok(me) => {
                if let Some(bot) = me["id"].as_str() {
                    shared.is_bot(bot);
                }
                return Ok(());
            }
            Err(CallError::Secret(_)) => {
                let text = "the platform does not take app_id and app_secret: copy both anew from the developer console";
                return Err(AdapterError::Config(text.into()));
            }
            Err(error) => error,
        };
        shared.report(Connection::Down(error.to_string()));
        sleep(backoff.pause(rand::random())).await;
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
        let settings = &self.shared.settings;
        let place = Place::parse(conversation.conversation.as_str());
        let is_guild = place.is_some_and(|place| place.is_guild());
        Capabilities {
            max_length: Length {
                limit: settings.max_length,
                unit: LengthUnit::Characters,
            },
            streaming: Streaming::None,
            reply: true,
            buttons: None,
            // In groups and private chats a message with a known number is taken once.
            idempotent: !is_guild,
            transcript: false,
            pending: false,
            files: None,
            rates: settings.rates,
        }
    }

    fn render(&self) -> &dyn Render {
        &self.form
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
        let ended = self.attend(&ingress, &stop).await;
        {
            let mut state = shared.state.lock();
            state.ingress = None;
            state.events = None;
        }
        let end = Connection::Down("the account was stopped".into());
        ingress.connection(&shared.platform, &shared.account, end);
        ended
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        send::send(&self.shared, &outgoing).await
    }

    async fn check(&self, offline: bool) -> Vec<Finding> {
        let shared = &self.shared;
        let is_posted = shared.settings.way == Way::Webhook;
        let unknown = is_posted && self.public_origin.is_none();
        let mut findings: Vec<Finding> = unknown
            .then_some(Finding::NoPublicUrl)
            .into_iter()
            .collect();
        if offline {
            return findings;
        }
        let address = shared.settings.api_url.clone();
        let answer = match shared.calls() {
            Ok(api) => api.get("/users/@me").await,
            Err(error) => Err(CallError::Unreachable(error.to_string())),
        };
        findings.push(match answer {
            Ok(me) => Finding::Reached {
                address,
                bot: me["id"]
                    .as_str()
                    .unwrap_or(&shared.settings.app_id)
                    .to_owned(),
                online: true,
            },
            Err(CallError::Secret(_)) => Finding::TokenRefused { address },
            Err(error) => Finding::NotReached {
                address,
                error: error.to_string(),
            },
        });
        findings
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
