//! The adapter of one site.
//!
//! Owns the link between the sockets and the gateway: nobody may open a socket before it runs or after
//! it was told to stop. A send puts its frame where the sockets of the conversation get it from; who is
//! not there reads it from the store when he comes.

use std::{fmt, net::IpAddr, sync::Arc, time::Duration, time::Instant};

use async_trait::async_trait;
use axum::Router;
use parking_lot::Mutex;
use tokio::{
    sync::Semaphore,
    time::{interval, timeout},
};
use weirgate_sdk::{
    AccountName, Adapter, AdapterError, Buttons, Capabilities, ChatModels, Connection,
    ConversationKey, Ingress, Keeper, Length, LengthUnit, Manage, MessageId, Outgoing, Platform,
    SendError, Sent, Setup, Stop, Streaming, Streams, Transcript, answer::Render,
};

use crate::{
    PLATFORM, Settings,
    address::{Addresses, Shared, customer},
    card, download,
    format::Html,
    http,
    hub::{Hub, with_session},
    outlet::Cut,
    quota::{Over, Quotas},
    socket::Link,
    token::{Signer, Visitor},
    upload::Uploads,
};

/// How often empty rooms are looked for.
const SWEEP: Duration = Duration::from_secs(30);
/// How long sockets may take to close when the gateway stops.
const CLOSE_WAIT: Duration = Duration::from_secs(4);

/// One site: its adapter and its routes.
pub struct WebChat {
    pub(crate) account: AccountName,
    pub(crate) settings: Settings,
    pub(crate) signer: Signer,
    pub(crate) version: &'static str,
    pub(crate) models: ChatModels,
    pub(crate) hub: Hub,
    running: Mutex<Option<Running>>,
    quotas: Mutex<Quotas>,
    /// What came from each address, whoever said it.
    address_quotas: Mutex<Quotas>,
    sockets: Arc<Semaphore>,
    addresses: Addresses,
    pub(crate) uploads: Uploads,
    pub(crate) downloads: Shared,
}

/// Why a socket is not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// There is no place, or nobody to speak to.
    Full,
    /// Its address has enough of them.
    Address,
}

#[derive(Clone)]
struct Running {
    ingress: Arc<dyn Ingress>,
    stop: Stop,
}

/// The adapter of one site, which runs when [`Adapter::run`] is called and listens nowhere by itself.
#[must_use]
pub fn build(setup: Setup, mut settings: Settings) -> Arc<WebChat> {
    settings.publish(setup.public_origin.as_deref());
    let epoch: u128 = rand::random();
    Arc::new(WebChat {
        account: setup.account,
        signer: Signer::new(&setup.secret),
        version: setup.version,
        models: setup.models,
        hub: Hub::new(format!("{epoch:032x}").into(), settings.timing.room),
        running: Mutex::new(None),
        quotas: Mutex::default(),
        address_quotas: Mutex::default(),
        sockets: Arc::new(Semaphore::new(settings.max_sockets)),
        addresses: Addresses::new(settings.max_sockets_per_address),
        uploads: Uploads::default(),
        downloads: Shared::new(download::AT_ONCE),
        settings,
    })
}

impl WebChat {
    /// The routes: the page, the socket and the settings of the site under its name. Of several sites the `first` also
    /// has the widget's files, and the addresses that name no site.
    pub fn router(self: &Arc<Self>, first: bool) -> Router {
        http::router(self, first)
    }

    /// What a new socket needs, whose client is at this address as far as anybody knows.
    ///
    /// # Errors
    /// Why it gets none.
    pub(crate) fn link(&self, address: Option<IpAddr>) -> Result<Link, NoPlace> {
        let running = self.running.lock().clone().ok_or(NoPlace::Full)?;
        if running.stop.is_stopped() {
            return Err(NoPlace::Full);
        }
        let place = match address {
            Some(address) => Some(self.addresses.enter(address).ok_or(NoPlace::Address)?),
            None => None,
        };
        let permit = Arc::clone(&self.sockets).try_acquire_owned();
        Ok(Link {
            ingress: running.ingress,
            stop: running.stop,
            permit: permit.map_err(|_| NoPlace::Full)?,
            address,
            place,
        })
    }

    /// Who keeps files, while the gateway does.
    pub(crate) fn keeper(&self) -> Option<Arc<dyn Keeper>> {
        let running = self.running.lock().clone()?;
        running.ingress.keeper()
    }

    /// What the gateway does beside messages, while it runs.
    pub(crate) fn manage(&self) -> Option<Arc<dyn Manage>> {
        let running = self.running.lock().clone()?;
        running.ingress.manage()
    }

    /// Past messages, while the gateway runs.
    pub(crate) fn transcript(&self) -> Option<Arc<dyn Transcript>> {
        let running = self.running.lock().clone()?;
        Some(running.ingress.transcript())
    }

    /// The key of a visitor's conversation.
    pub(crate) fn key(&self, visitor: &Visitor, session: &str) -> ConversationKey {
        ConversationKey {
            platform: PLATFORM.into(),
            account: self.account.clone(),
            conversation: visitor.id.as_str().into(),
            thread: Some(session.into()),
        }
    }

    /// Counts a message of a visitor, and of the address that he is at, unless it is over a limit.
    pub(crate) fn count(&self, visitor: &str, address: Option<IpAddr>) -> Result<(), Over> {
        let now = Instant::now();
        let (of_visitor, of_address) = (self.settings.visitor_limits, self.settings.address_limits);
        self.quotas.lock().take(visitor, of_visitor, now)?;
        match address.map(customer) {
            Some(address) => {
                let mut quotas = self.address_quotas.lock();
                quotas.take(&address.to_string(), of_address, now)
            }
            None => Ok(()),
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.lock().is_some()
    }

    /// Waits until every socket is closed, for as long as that may take.
    async fn close_sockets(&self) {
        let all = u32::try_from(self.settings.max_sockets).unwrap_or(u32::MAX);
        let closed = self.sockets.acquire_many(all);
        if timeout(CLOSE_WAIT, closed).await.is_err() {
            self.hub.cut_all(Cut::STOPPING);
        }
    }
}

#[async_trait]
impl Adapter for WebChat {
    fn platform(&self) -> Platform {
        PLATFORM.into()
    }

    fn account(&self) -> AccountName {
        self.account.clone()
    }

    fn capabilities(&self, _conversation: &ConversationKey) -> Capabilities {
        Capabilities {
            max_length: Length {
                limit: Html::LIMIT,
                unit: LengthUnit::Characters,
            },
            streaming: Streaming::Replace {
                prefix_stable: true,
            },
            reply: false,
            idempotent: true,
            transcript: true,
            buttons: Some(card::LIMITS),
            pending: true,
            media: download::LIMITS,
            rates: self.settings.rates,
        }
    }

    fn render(&self) -> &dyn Render {
        &Html
    }

    async fn run(&self, ingress: Arc<dyn Ingress>, stop: Stop) -> Result<(), AdapterError> {
        let running = Running {
            ingress: Arc::clone(&ingress),
            stop: stop.clone(),
        };
        *self.running.lock() = Some(running);
        ingress.connection(&self.platform(), &self.account, Connection::Up);
        let mut sweep = interval(SWEEP.min(self.settings.timing.room));
        let stopped = stop.stopped();
        tokio::pin!(stopped);
        loop {
            tokio::select! {
                () = &mut stopped => break,
                _ = sweep.tick() => {
                    self.hub.sweep(Instant::now());
                    self.uploads.sweep(Instant::now());
                }
            }
        }
        self.close_sockets().await;
        *self.running.lock() = None;
        Ok(())
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        if !self.is_running() {
            return Err(SendError::Unavailable("not running".into()));
        }
        let key = with_session(outgoing.conversation.clone());
        // Without a room nobody was there lately, and whoever comes reads the store.
        if let Some(room) = self.hub.find(&key) {
            room.lock().deliver(&outgoing);
        }
        // By this its buttons are pressed, and taken away again.
        Ok(Sent {
            message: Some(outgoing.id.to_string().into()),
        })
    }

    fn ended(&self, conversation: &ConversationKey, messages: &[MessageId]) {
        let key = with_session(conversation.clone());
        if let Some(room) = self.hub.find(&key) {
            room.lock().ended_unanswered(messages);
        }
    }

    fn streams(&self) -> Option<&dyn Streams> {
        Some(self)
    }

    fn buttons(&self) -> Option<&dyn Buttons> {
        Some(self)
    }
}

impl fmt::Debug for WebChat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebChat")
            .field("account", &self.account)
            .finish_non_exhaustive()
    }
}
