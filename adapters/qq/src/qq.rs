//! The adapter of one QQ account.
//!
//! Owns the listener and what the connections share. Sends are never repeated here: OneBot has no
//! idempotency key, so an unknown outcome is reported as such.

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::{net::TcpListener, sync::mpsc, time::timeout};
use weirgate_sdk::{
    AccountName, Adapter, AdapterError, Capabilities, ConversationKey, Finding, Ingress, Length,
    LengthUnit, Outgoing, Platform, SendError, Sent, Setup, Stop, Streaming, answer::Render,
};

use crate::{
    PLATFORM,
    format::PlainText,
    onebot::{
        call::Calls,
        connect,
        intake::{CHANNEL, Intake},
        links::Links,
        send,
        sent::SentMessages,
    },
    settings::Settings,
};

/// At the end: how long what was read may take to be accepted.
const ACCEPT_LIMIT: Duration = Duration::from_secs(3);
/// The longest time from the stop signal to the end of the run.
const STOP_LIMIT: Duration = Duration::from_secs(7);
const _: () = assert!(
    connect::CALLS_LIMIT.as_millis() + connect::CLOSE_LIMIT.as_millis() + ACCEPT_LIMIT.as_millis()
        < STOP_LIMIT.as_millis()
);

/// One QQ account.
pub struct Qq {
    shared: Arc<Shared>,
    format: PlainText,
    listener: Mutex<Option<TcpListener>>,
    address: Mutex<Option<SocketAddr>>,
}

/// What the connections of an account share.
pub struct Shared {
    /// The platform's name.
    pub platform: Platform,
    /// The account's name.
    pub account: AccountName,
    /// Its settings.
    pub settings: Settings,
    /// Its connections.
    pub links: Links,
    /// Its calls under way.
    pub calls: Calls,
    /// What it sent lately.
    pub sent: SentMessages,
}

impl Shared {
    /// An account without connections.
    #[must_use]
    pub fn new(account: AccountName, settings: Settings) -> Self {
        let platform = Platform::from(PLATFORM);
        let links = Links::new(platform.clone(), account.clone());
        let (calls, sent) = (Calls::default(), SentMessages::default());
        Self {
            platform,
            account,
            settings,
            links,
            calls,
            sent,
        }
    }
}

impl Qq {
    pub(crate) fn new(setup: &Setup, settings: Settings) -> Self {
        Self {
            format: PlainText::new(settings.max_length, settings.max_bytes()),
            shared: Arc::new(Shared::new(setup.account.clone(), settings)),
            listener: Mutex::default(),
            address: Mutex::default(),
        }
    }

    /// Binds the listener and gives its address; does nothing if it is bound. The next run uses it.
    ///
    /// # Errors
    /// [`AdapterError::Config`] if the address is in use or not this machine's, or beyond loopback
    /// without a token.
    pub async fn bind(&self) -> Result<SocketAddr, AdapterError> {
        let bound = self
            .listener
            .lock()
            .as_ref()
            .and_then(|listener| listener.local_addr().ok());
        if let Some(address) = bound {
            return Ok(address);
        }
        let listen = self.shared.settings.listen;
        // The settings are refused already; nobody must get in even if somebody forgot to look.
        if !listen.ip().is_loopback() && self.shared.settings.token.is_none() {
            let text = format!("{listen} is open to others: without a token nobody may connect");
            return Err(AdapterError::Config(text));
        }
        let bind = async {
            let listener = TcpListener::bind(listen).await?;
            listener.local_addr().map(|address| (listener, address))
        };
        let (listener, address) = bind.await.map_err(|error| {
            let text = format!("cannot listen on {listen}: {error}");
            if connect::is_fault_of_configuration(&error) {
                AdapterError::Config(text)
            } else {
                AdapterError::Failed(text)
            }
        })?;
        *self.listener.lock() = Some(listener);
        *self.address.lock() = Some(address);
        Ok(address)
    }

    /// The address that was bound last.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        *self.address.lock()
    }
}

#[async_trait]
impl Adapter for Qq {
    fn platform(&self) -> Platform {
        self.shared.platform.clone()
    }

    fn account(&self) -> AccountName {
        self.shared.account.clone()
    }

    fn capabilities(&self, _conversation: &ConversationKey) -> Capabilities {
        let settings = &self.shared.settings;
        Capabilities {
            max_length: Length {
                limit: settings.max_length,
                unit: LengthUnit::Characters,
            },
            streaming: Streaming::None,
            reply: true,
            idempotent: false,
            transcript: false,
            rates: settings.rates,
        }
    }

    fn render(&self) -> &dyn Render {
        &self.format
    }

    async fn run(&self, ingress: Arc<dyn Ingress>, stop: Stop) -> Result<(), AdapterError> {
        let address = self.bind().await?;
        let Some(listener) = self.listener.lock().take() else {
            return Err(AdapterError::Failed(
                "the account is running already".into(),
            ));
        };
        let shared = &self.shared;
        tracing::info!(account = %shared.account, %address, "waiting for the OneBot implementation");
        let (sender, events) = mpsc::channel(CHANNEL);
        shared.links.open(Arc::clone(&ingress));
        let mut intake = Intake::new(
            ingress,
            shared.platform.clone(),
            shared.account.clone(),
            events,
        );
        {
            let mut serve = pin!(connect::serve(Arc::clone(shared), listener, sender, &stop));
            let mut work = pin!(intake.run());
            tokio::select! {
                () = &mut serve => {
                    let _ = timeout(ACCEPT_LIMIT, work).await;
                }
                () = &mut work => serve.await,
            }
        }
        let left = intake.left();
        if left > 0 {
            tracing::warn!(account = %shared.account, left, "events were read and not accepted");
        }
        Ok(())
    }

    async fn check(&self) -> Vec<Finding> {
        let Settings { listen, token, .. } = &self.shared.settings;
        let mut findings = vec![Finding::listen(*listen)];
        if token.is_none() {
            findings.push(Finding::NoToken(*listen));
        }
        findings
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        let shared = &self.shared;
        let call = send::call(&outgoing, shared.settings.reply)?;
        let limit = shared.settings.call_timeout;
        let result = shared.calls.call(&shared.links, &call, limit).await;
        shared.links.outcome(&result);
        if let Ok(Sent {
            message: Some(message),
        }) = &result
        {
            shared
                .sent
                .remember(&outgoing.conversation.conversation, message.as_str());
        }
        result
    }
}
