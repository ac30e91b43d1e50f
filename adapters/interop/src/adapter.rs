//! The adapter of one agent.
//!
//! Owns what stands between the gateway and its callers: nobody may call before it runs or after it was told to stop. An
//! answer is told to whoever waits for it; whoever does not reads it from the store.

use std::{fmt, io, net::SocketAddr, sync::Arc};

use async_trait::async_trait;
use parking_lot::Mutex;
use weirgate_sdk::{
    AccountName, Adapter, AdapterError, Capabilities, Connection, ConversationKey, Finding,
    Ingress, Length, LengthUnit, MediaLimits, MessageId, Outgoing, Platform, Rates, SendError,
    Sent, Setup, Stop, Streaming, Streams, answer::Render,
};

use crate::{
    PLATFORM, Settings, a2a,
    acp::{self, Listener},
    callers::Callers,
    format::{LIMIT, Marked},
    hub::Hub,
    settings::Listen,
    submit::Door,
};

/// One agent.
pub struct Interop {
    pub(crate) shared: Arc<Shared>,
    listener: Mutex<Option<Listener>>,
}

/// What callers of an agent need of it.
pub(crate) struct Shared {
    pub(crate) account: AccountName,
    pub(crate) settings: Settings,
    pub(crate) callers: Callers,
    pub(crate) hub: Arc<Hub>,
    /// How the outside reaches the gateway's web server, if the operator says so.
    pub(crate) origin: Option<String>,
    pub(crate) version: &'static str,
    running: Mutex<Option<Running>>,
}

/// The gateway, while it runs.
#[derive(Clone)]
struct Running {
    ingress: Arc<dyn Ingress>,
    stop: Stop,
}

/// The adapter of one agent, which runs when [`Adapter::run`] is called and listens nowhere before.
#[must_use]
pub fn build(setup: Setup, settings: Settings) -> Arc<Interop> {
    Arc::new(Interop {
        shared: Arc::new(Shared {
            account: setup.account,
            callers: Callers::new(&settings.callers),
            settings,
            hub: Arc::default(),
            origin: setup.public_origin,
            version: setup.version,
            running: Mutex::new(None),
        }),
        listener: Mutex::new(None),
    })
}

impl Shared {
    /// The way into the gateway, while it runs.
    pub(crate) fn door(&self) -> Option<(Door, Stop)> {
        let running = self.running.lock().clone()?;
        if running.stop.is_stopped() {
            return None;
        }
        let door = Door {
            ingress: running.ingress,
            account: self.account.clone(),
            hub: Arc::clone(&self.hub),
        };
        Some((door, running.stop))
    }

    /// The key of a caller's session.
    pub(crate) fn key(&self, caller: &str, session: &str) -> ConversationKey {
        ConversationKey {
            platform: PLATFORM.into(),
            account: self.account.clone(),
            conversation: caller.into(),
            thread: Some(session.into()),
        }
    }
}

impl Interop {
    /// Listens, for whoever wants to know where before it runs; gives the address, if it has one.
    ///
    /// # Errors
    /// The system's.
    pub async fn bind(&self) -> io::Result<Option<SocketAddr>> {
        let Some(listen) = &self.shared.settings.acp else {
            return Ok(None);
        };
        let listener = Listener::bind(listen, &self.shared.account).await?;
        let address = listener.address();
        *self.listener.lock() = Some(listener);
        Ok(address)
    }

    /// The routes on the gateway's web server, if it has any. Of several agents the `first` has its card where the cards of
    /// servers are.
    #[must_use]
    pub fn router(&self, first: bool) -> Option<axum::Router> {
        a2a::router(&self.shared, first)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.shared.running.lock().is_some()
    }

    async fn listener(&self) -> io::Result<Option<Listener>> {
        if self.listener.lock().is_none() {
            self.bind().await?;
        }
        Ok(self.listener.lock().take())
    }
}

#[async_trait]
impl Adapter for Interop {
    fn platform(&self) -> Platform {
        PLATFORM.into()
    }

    fn account(&self) -> AccountName {
        self.shared.account.clone()
    }

    fn capabilities(&self, _conversation: &ConversationKey) -> Capabilities {
        Capabilities {
            max_length: Length {
                limit: LIMIT,
                unit: LengthUnit::Characters,
            },
            streaming: Streaming::Replace {
                prefix_stable: true,
            },
            reply: false,
            idempotent: true,
            transcript: true,
            buttons: None,
            pending: true,
            media: MediaLimits::NONE,
            rates: Rates::UNLIMITED,
        }
    }

    fn render(&self) -> &dyn Render {
        &Marked
    }

    async fn run(&self, ingress: Arc<dyn Ingress>, stop: Stop) -> Result<(), AdapterError> {
        let failed = |error: io::Error| AdapterError::Failed(format!("it cannot listen: {error}"));
        let listener = self.listener().await.map_err(failed)?;
        *self.shared.running.lock() = Some(Running {
            ingress: Arc::clone(&ingress),
            stop: stop.clone(),
        });
        ingress.connection(&self.platform(), &self.shared.account, Connection::Up);
        match listener {
            Some(listener) => acp::serve(listener, &self.shared, &stop).await,
            None => stop.stopped().await,
        }
        *self.shared.running.lock() = None;
        Ok(())
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        if !self.is_running() {
            return Err(SendError::Unavailable("not running".into()));
        }
        if !outgoing.files.is_empty() {
            return Err(SendError::Rejected("callers get words only".into()));
        }
        self.shared.hub.deliver(&outgoing);
        Ok(Sent {
            message: Some(outgoing.id.to_string().into()),
        })
    }

    fn ended(&self, conversation: &ConversationKey, messages: &[MessageId]) {
        self.shared.hub.ended(conversation, messages);
    }

    async fn check(&self, _offline: bool) -> Vec<Finding> {
        let Some(Listen::Tcp(address)) = &self.shared.settings.acp else {
            return Vec::new();
        };
        let found = tokio::net::lookup_host(address).await;
        let found = found.ok().and_then(|mut all| all.next());
        found.map(Finding::listen).into_iter().collect()
    }

    fn streams(&self) -> Option<&dyn Streams> {
        Some(self)
    }
}

impl fmt::Debug for Interop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interop")
            .field("account", &self.shared.account)
            .finish_non_exhaustive()
    }
}
