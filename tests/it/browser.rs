//! Web chat as a visitor has it: the page and the widget in a real browser, a real gateway behind them.
//!
//! Without chromedriver on this machine nothing here is tested, and the long run says so. Pictures of what was seen
//! lie in the folder `browser` beside what cargo builds.

mod access;
mod cards;
mod embedded;
mod files;
mod hostile;
mod keyboard;
mod page;
mod rough;
mod sent;

use std::time::Duration;

use serde_json::{Value, json};
use weirgate_testkit::{
    browser::Browser,
    model::{FakeModel, Script},
};

use crate::gateway::{Gateway, free_port, long, merge};

/// Finds the element and what is inside of it.
const CHAT: &str = "const chat = document.querySelector('weirgate-chat');
    const $ = (s) => chat.shadowRoot.querySelector(s);
    const all = (s) => [...chat.shadowRoot.querySelectorAll(s)];
    const texts = (s) => all(s).map((it) => it.innerText.trim());";

const ENTER: &str = "\u{e007}";
const TAB: &str = "\u{e004}";
const ESCAPE: &str = "\u{e00c}";

/// A browser, and a gateway on a port that it keeps over restarts.
struct Visit {
    browser: Browser,
    model: FakeModel,
    gateway: Gateway,
    port: u16,
}

impl Visit {
    /// `None` where no browser is installed.
    async fn new(width: u32, height: u32, site: Value) -> Option<Self> {
        let Some(browser) = Browser::start(width, height, "en-US").await else {
            assert!(
                !long(),
                "chromedriver is missing (Debian: apt-get install chromium chromium-driver)"
            );
            return None;
        };
        let model = FakeModel::start().await;
        let port = free_port();
        let mut changes = json!({
            "http": { "listen": format!("127.0.0.1:{port}") },
            // Each message has its own answer, however quickly another follows.
            "flow_control": { "auto": { "messages_per_request": 1 } },
            // So that what is too large is quickly made.
            "media": { "max_size": { "image": 20_000, "file": 2_000_000 } },
        });
        merge(
            &mut changes,
            json!({ "platforms": { "webchat": { "accounts": { "default": site } } } }),
        );
        let gateway = Gateway::start(&model, changes).await;
        Some(Self {
            browser,
            model,
            gateway,
            port,
        })
    }

    /// On the page, connected.
    async fn on_page(width: u32, height: u32) -> Option<Self> {
        Self::on_page_of(width, height, json!({})).await
    }

    /// On the page of a site with these settings, connected.
    async fn on_page_of(width: u32, height: u32, site: Value) -> Option<Self> {
        let visit = Self::new(width, height, site).await?;
        visit.browser.go(&visit.url("")).await;
        visit.is("$('.panel').dataset.state === 'online'").await;
        Some(visit)
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}/{path}", self.port)
    }

    /// Waits until something in the element is so.
    async fn is(&self, condition: &str) {
        self.browser
            .until(&format!("{CHAT} return {condition};"))
            .await;
    }

    /// What an expression about the element gives.
    async fn get(&self, expression: &str) -> Value {
        self.browser
            .run(&format!("{CHAT} return {expression};"))
            .await
    }

    async fn click(&self, selector: &str) {
        self.browser
            .click(&format!("{CHAT} return $({selector:?});"))
            .await;
    }

    /// Types a message and sends it, with the keyboard.
    async fn say(&self, text: &str) {
        self.browser
            .run(&format!("{CHAT} $('textarea').focus();"))
            .await;
        self.browser.keys(text).await;
        self.browser.keys(ENTER).await;
    }

    /// An answer that is written over some seconds.
    fn slowly(&self, pieces: &[&str]) {
        let script = Script::pieces(pieces).between(Duration::from_millis(500));
        self.model.push(script);
    }

    /// Waits until the visitor's words and the answers are exactly these.
    async fn shows(&self, own: &[&str], answers: &[&str]) {
        let wanted = json!([own, answers]).to_string();
        let found = "JSON.stringify([texts('.message.user .bubble'), texts('.message.bot:not(.thinking) .bubble')])";
        self.is(&format!(
            "{found} === JSON.stringify({wanted}) && !$('.draft') && !$('.waiting')"
        ))
        .await;
    }
}
