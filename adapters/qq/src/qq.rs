//! The adapter of one QQ account.
//!
//! Owns what the connections of the account share, and which of the three ways it is reached by. Sends are
//! never repeated here: OneBot has no idempotency key, so an unknown outcome is reported as such.

use std::{net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use async_trait::async_trait;
use axum::Router;
use parking_lot::Mutex;
use tokio::{sync::mpsc, time::timeout};
use weirgate_sdk::{
    AccountName, Adapter, AdapterError, Capabilities, ConversationKey, Downloads, Event, Finding,
    Indicates, Ingress, Leaves, Length, LengthUnit, Moderates, Outgoing, Platform, Rates, Requests,
    SendError, Sent, Setup, Stop, Streaming, admins::Admins, answer::Render, patience::Patience,
};

use crate::{
    PLATFORM,
    format::PlainText,
    intake::Intake,
    onebot::{
        CALLS_LIMIT, CLOSE_LIMIT,
        answer::refuses_quote,
        call::{Answer, Calls},
        dial::TOKEN_REFUSED,
        door::Place,
        folded, forward,
        http::{self, Http, call::HttpCalls, post},
        intake::{CHANNEL, Listening, Parcel},
        links::Links,
        request, reverse,
        seen::Seen,
        send::{self, Call},
        sent::SentMessages,
        typing::Typing,
        upload,
        version::{Family, Implementation},
        wire::Frame,
    },
    settings::{Reply, Settings, Transport},
};

/// Messages a second of an account whose sends end without a known outcome.
const SLOW: f64 = 0.1;
/// Requests that wait for their answer.
const CHORES: usize = 32;
/// At the end: how long what was read may take to be accepted.
const ACCEPT_LIMIT: Duration = Duration::from_secs(3);
/// The longest time from the stop signal to the end of the run.
const STOP_LIMIT: Duration = Duration::from_secs(7);
const _: () = assert!(
    CALLS_LIMIT.as_millis() + CLOSE_LIMIT.as_millis() + ACCEPT_LIMIT.as_millis()
        < STOP_LIMIT.as_millis()
);

/// One QQ account.
pub struct Qq {
    shared: Arc<Shared>,
    format: PlainText,
    place: Mutex<Option<Place>>,
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
    /// Its calls under way, over sockets.
    pub calls: Calls,
    /// Calls and events by HTTP, if that is how it is reached.
    pub http: Option<Http>,
    /// What it sent lately.
    pub sent: SentMessages,
    /// How far it has listened.
    pub seen: Seen,
    /// Whether what messages answer is asked for.
    pub patience: Patience,
    /// The admins of groups that were asked about.
    pub admins: Admins,
    /// Whether it is asked to show that an answer is written.
    pub typing: Typing,
    /// What stands at the other end, once it said so.
    pub implementation: Mutex<Option<Implementation>>,
    /// Where calls go that nobody waits for, while the account runs.
    chores: Mutex<Option<mpsc::Sender<Call>>>,
    /// What makes the account unusable.
    fault: Option<String>,
}

impl Shared {
    /// An account without connections.
    #[must_use]
    pub fn new(account: AccountName, settings: Settings) -> Self {
        let platform = Platform::from(PLATFORM);
        let links = Links::new(platform.clone(), account.clone());
        let (http, fault) = match &settings.transport {
            Transport::Http { url, secret } => match HttpCalls::new(url, settings.token.as_ref()) {
                Ok(calls) => {
                    let inbox = post::Inbox::new(secret.clone());
                    (Some(Http { calls, inbox }), None)
                }
                Err(fault) => (None, Some(fault)),
            },
            Transport::Reverse { .. } | Transport::Forward { .. } => (None, None),
        };
        Self {
            platform,
            account,
            settings,
            links,
            calls: Calls::default(),
            http,
            sent: SentMessages::default(),
            seen: Seen::default(),
            patience: Patience::default(),
            admins: Admins::default(),
            typing: Typing::default(),
            implementation: Mutex::default(),
            chores: Mutex::default(),
            fault,
        }
    }

    /// Makes a call by the way that the account has, and waits at most `limit` for the answer.
    ///
    /// # Errors
    /// What the answer says; [`SendError::Ambiguous`] if it may have been carried out and no answer came;
    /// [`SendError::Unavailable`] if it certainly was not.
    pub async fn request(&self, call: &Call, limit: Duration) -> Answer {
        match &self.http {
            Some(http) => http.call(&self.links, call, limit).await,
            None => self.calls.call(&self.links, call, limit).await,
        }
    }

    /// Makes a sending call.
    async fn deliver(&self, call: &Call) -> Result<Sent, SendError> {
        let answer = self.request(call, self.settings.call_timeout).await;
        answer.map(|data| data.sent())
    }

    /// The family of what stands at the other end.
    #[must_use]
    pub fn family(&self) -> Family {
        let found = self.implementation.lock();
        found.as_ref().map_or(Family::Other, |found| found.family)
    }

    /// Knows the messages that the bot sent lately.
    pub fn known(&self) -> impl Fn(&ConversationKey, &str) -> bool + '_ {
        |conversation, id| self.sent.contains(&conversation.conversation, id)
    }

    /// An event was read: how far the account has listened, and who may no longer be an admin.
    pub fn heard(&self, bot: &str, event: &Event) {
        self.admins.heard(event);
        if let Event::Message(message) = event {
            self.seen.remember(bot, message.sent_at / 1_000);
        }
    }
}

impl Shared {
    /// A frame was read: a request that the operator wants answered is answered, in its turn.
    pub fn requested(&self, bot: &str, frame: &Frame<'_>) {
        let Some(call) = request::answer(frame, bot, &self.settings.requests) else {
            return;
        };
        let chores = self.chores.lock();
        let taken = chores.as_ref().map(|chores| chores.try_send(call));
        if !matches!(taken, Some(Ok(()))) {
            tracing::warn!(account = %self.account, "too many requests at once: one is left in the account's client");
        }
    }

    /// Makes the calls that nobody waits for, one after another. Never ends.
    async fn work(&self, mut chores: mpsc::Receiver<Call>) {
        while let Some(call) = chores.recv().await {
            let account = &self.account;
            let (action, approve) = (call.action, call.params["approve"] == true);
            match self.request(&call, self.settings.call_timeout).await {
                Ok(_) => tracing::info!(%account, action, approve, "a request was answered"),
                Err(error) => {
                    tracing::warn!(%account, action, %error, "a request could not be answered");
                }
            }
        }
        std::future::pending().await
    }
}

impl Qq {
    pub(crate) fn new(setup: &Setup, settings: Settings) -> Self {
        Self {
            format: PlainText::new(settings.max_length, settings.max_bytes()),
            shared: Arc::new(Shared::new(setup.account.clone(), settings)),
            place: Mutex::default(),
            address: Mutex::default(),
        }
    }

    /// Takes the account's place at the address where it listens, and gives the address; does nothing if
    /// it has it. The next run uses it.
    ///
    /// # Errors
    /// [`AdapterError::Config`] if the account does not listen, if the address is in use or not this
    /// machine's, or beyond loopback without a token.
    pub async fn bind(&self) -> Result<SocketAddr, AdapterError> {
        let Transport::Reverse { listen } = self.shared.settings.transport else {
            let text = "this account does not listen: it connects to the implementation";
            return Err(AdapterError::Config(text.into()));
        };
        let mut place = self.place.lock();
        if let Some(place) = &*place {
            return Ok(place.address());
        }
        // The settings are refused already; nobody must get in even if somebody forgot to look.
        if !listen.ip().is_loopback() && self.shared.settings.token.is_none() {
            let text = format!("{listen} is open to others: without a token nobody may connect");
            return Err(AdapterError::Config(text));
        }
        let taken = Place::take(listen, &self.shared)?;
        let address = taken.address();
        *place = Some(taken);
        *self.address.lock() = Some(address);
        Ok(address)
    }

    /// What the account's connections share.
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// The address that was bound last.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        *self.address.lock()
    }

    /// The route to which the implementation posts events, for an account that is reached by HTTP:
    /// `/onebot/` and the account's name.
    #[must_use]
    pub fn router(&self) -> Option<Router> {
        post::router(&self.shared)
    }

    /// Serves by the way that the account has, until `stop`.
    async fn serve(&self, place: Option<Place>, events: mpsc::Sender<Parcel>, stop: &Stop) {
        let shared = &self.shared;
        match (&shared.settings.transport, place, &shared.http) {
            (Transport::Forward { url }, ..) => forward::run(shared, url, events, stop).await,
            (Transport::Http { .. }, _, Some(http)) => {
                http::run(shared, http, events, stop).await;
            }
            (Transport::Reverse { .. }, Some(place), _) => {
                reverse::run(shared, place, events, stop).await;
            }
            // Checked at the start of the run.
            (Transport::Http { .. }, _, None) | (Transport::Reverse { .. }, None, _) => {}
        }
    }

    /// What the run needs before anything is served.
    async fn prepare(&self) -> Result<Option<Place>, AdapterError> {
        if let Some(fault) = &self.shared.fault {
            return Err(AdapterError::Config(fault.clone()));
        }
        let account = &self.shared.account;
        match &self.shared.settings.transport {
            Transport::Reverse { .. } => {
                let address = self.bind().await?;
                tracing::info!(%account, %address, "waiting for the OneBot implementation");
                let running = || AdapterError::Failed("the account is running already".into());
                self.place.lock().take().map(Some).ok_or_else(running)
            }
            Transport::Forward { url } | Transport::Http { url, .. } => {
                tracing::info!(%account, url, "looking for the OneBot implementation");
                Ok(None)
            }
        }
    }
}

impl Qq {
    /// Delivers a part; once more without what it quotes, if that is gone.
    async fn send_text(&self, outgoing: &Outgoing) -> Result<Sent, SendError> {
        let shared = &self.shared;
        let reply = shared.settings.reply;
        let sent = shared.deliver(&send::call(outgoing, reply)?).await;
        match sent {
            Err(error) if refuses_quote(&error) && send::quotes(outgoing, reply) => {
                tracing::debug!(account = %shared.account, %error, "the message that is answered is gone");
                shared.deliver(&send::call(outgoing, Reply::None)?).await
            }
            sent => sent,
        }
    }

    /// Delivers a part that is too long for one message as one that holds several. Where the implementation refuses
    /// that, nothing was sent, and they go out by themselves.
    async fn send_folded(&self, outgoing: &Outgoing) -> Result<Sent, SendError> {
        let shared = &self.shared;
        let (chars, bytes) = (shared.settings.max_length, shared.settings.max_bytes());
        let texts = folded::texts(&outgoing.rendered.text, chars, bytes);
        let bot = shared.links.bot();
        let bot = bot.ok_or_else(|| SendError::Unavailable("not connected".into()))?;
        let call = folded::call(&outgoing.conversation.conversation, &texts, &bot)?;
        let refused = match shared.deliver(&call).await {
            Err(error @ (SendError::Rejected(_) | SendError::TooLong)) => error,
            result => return result,
        };
        tracing::warn!(account = %shared.account, error = %refused, "no forwarded messages: they are sent one by one");
        let mut sent = Sent::default();
        for (part, text) in (0..).zip(texts) {
            let mut one = outgoing.clone();
            (one.part, one.rendered.text) = (part, text);
            let call = send::call(&one, shared.settings.reply)?;
            sent = shared.deliver(&call).await.map_err(|error| match part {
                0 => error,
                // Those before it arrived: not again.
                _ => SendError::Ambiguous(format!("broken off: {error}")),
            })?;
        }
        Ok(sent)
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

    fn capabilities(&self, conversation: &ConversationKey) -> Capabilities {
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
            buttons: None,
            pending: false,
            media: upload::limits(conversation),
            rates: if self.shared.links.is_unsure() {
                slowly(settings.rates)
            } else {
                settings.rates
            },
        }
    }

    fn render(&self) -> &dyn Render {
        &self.format
    }

    async fn run(&self, ingress: Arc<dyn Ingress>, stop: Stop) -> Result<(), AdapterError> {
        let place = self.prepare().await?;
        let shared = &self.shared;
        if let Some(cursor) = ingress.cursor(&shared.platform, &shared.account).await
            && let Ok(time) = cursor.value.parse()
        {
            shared.seen.remember(cursor.bot.as_str(), time);
        }
        let (sender, events) = mpsc::channel(CHANNEL);
        shared.links.open(Arc::clone(&ingress));
        let mut intake = Intake::new(ingress, Listening::new(Arc::clone(shared)), events);
        {
            let mut serve = Box::pin(self.serve(place, sender, &stop));
            let mut work = pin!(intake.run());
            let (sender, chores) = mpsc::channel(CHORES);
            *shared.chores.lock() = Some(sender);
            tokio::select! {
                () = shared.work(chores) => {}
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

    fn downloads(&self) -> Option<&dyn Downloads> {
        Some(self)
    }

    fn indicates(&self) -> Option<&dyn Indicates> {
        Some(self)
    }

    fn moderates(&self) -> Option<&dyn Moderates> {
        Some(self)
    }

    fn requests(&self) -> Option<&dyn Requests> {
        Some(self)
    }

    fn leaves(&self) -> Option<&dyn Leaves> {
        Some(self)
    }

    async fn check(&self, offline: bool) -> Vec<Finding> {
        let shared = &self.shared;
        let (url, found) = match &shared.settings.transport {
            Transport::Reverse { listen } => {
                let open = shared.settings.token.is_none();
                let open = open.then_some(Finding::NoToken(*listen));
                return std::iter::once(Finding::listen(*listen))
                    .chain(open)
                    .collect();
            }
            _ if offline => return Vec::new(),
            Transport::Forward { url } => {
                let found = forward::look(shared, url).await;
                (url, found.map(|bot| (bot, true)))
            }
            Transport::Http { url, .. } => match &shared.http {
                Some(http) => (url, http::probe(shared, http).await),
                None => (url, Err(shared.fault.clone().unwrap_or_default())),
            },
        };
        vec![finding(url.clone(), found)]
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Sent, SendError> {
        let shared = &self.shared;
        let result = if !outgoing.files.is_empty() {
            upload::send(shared, &outgoing).await
        } else if self.format.fits(&outgoing.rendered) {
            self.send_text(&outgoing).await
        } else {
            self.send_folded(&outgoing).await
        };
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

/// The pace while nobody knows whether anything arrives: more would only make the platform surer that something is
/// wrong with the account.
fn slowly(rates: Rates) -> Rates {
    let pace = |rate: f64| if rate > 0.0 { rate.min(SLOW) } else { SLOW };
    Rates {
        account: pace(rates.account),
        account_burst: 1,
        ..rates
    }
}

/// What a look at the implementation came to.
fn finding(address: String, found: Result<(String, bool), String>) -> Finding {
    match found {
        Ok((bot, online)) => Finding::Reached {
            address,
            bot,
            online,
        },
        Err(error) if error.starts_with(TOKEN_REFUSED) => Finding::TokenRefused { address },
        Err(error) => Finding::NotReached { address, error },
    }
}
