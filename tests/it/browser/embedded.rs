//! The widget on somebody else's page: strict policy, hostile styles, a phone, the page's own script.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use axum::{
    Router,
    http::{HeaderMap, header},
    response::{Html, IntoResponse as _},
    routing::get,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{CHAT, ENTER, ESCAPE, TAB, Visit};
use crate::gateway::free_port;

/// Everything that a page can do to what is on it, short of script.
const HOSTILE_STYLE: &str = "* { font: 40px/3 cursive !important; color: red !important; background: yellow !important;
    position: static !important; display: inline !important; float: left !important; margin: 30px !important;
    text-transform: uppercase !important; letter-spacing: 9px !important; }
    script, style, head { display: none !important; }
    weirgate-chat { display: none !important; opacity: 0 !important; transform: scale(3) !important; visibility: hidden !important; }";

/// A page of a shop at an address of its own, which shows the widget.
struct Shop {
    port: u16,
}

impl Shop {
    async fn open(gateway: u16, port: u16, attributes: &str, language: &str) -> Self {
        let host = format!("127.0.0.1:{gateway}");
        let policy = format!(
            "default-src 'none'; script-src http://{host}; connect-src http://{host} ws://{host}; style-src 'self'; \
             img-src http://localhost:*; require-trusted-types-for 'script'; trusted-types 'none'"
        );
        let page = format!(
            "<!doctype html><html {language}><head><title>Shop</title><meta name=viewport content=\"width=device-width\">
             <link rel=stylesheet href=/style.css></head><body><main><h1>A shop</h1><p>Many things.</p></main>
             <script src=\"http://{host}/widget.js\" data-site=\"default\" {attributes} async></script></body></html>"
        );
        let policy = axum::http::HeaderValue::try_from(policy).unwrap();
        let routes =
            Router::new()
                .route(
                    "/",
                    get(move || async move {
                        ([(header::CONTENT_SECURITY_POLICY, policy)], Html(page))
                    }),
                )
                .route(
                    "/style.css",
                    get(|| async {
                        ([(header::CONTENT_TYPE, "text/css")], HOSTILE_STYLE).into_response()
                    }),
                );
        let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { port }
    }
}

/// A visitor on a page with the widget, which is closed.
async fn visit(width: u32, height: u32, attributes: &str, language: &str) -> Option<Visit> {
    let port = free_port();
    let origin = format!("http://127.0.0.1:{port}");
    let site = json!({
        "title": "Shop help", "greeting": "Welcome! Ask me about the shop.", "color": "#0b7a75",
        "suggestions": ["When are you open?", "Where is my order?"], "origins": [origin],
    });
    let visit = Visit::new(width, height, site).await?;
    let shop = Shop::open(visit.port, port, attributes, language).await;
    visit
        .browser
        .go(&format!("http://127.0.0.1:{}/", shop.port))
        .await;
    visit
        .browser
        .until(
            "return document.querySelector('weirgate-chat')?.shadowRoot.querySelector('.launcher')",
        )
        .await;
    Some(visit)
}

#[tokio::test]
async fn a_page_with_a_strict_policy_and_hostile_styles_has_a_working_widget() {
    let Some(visit) = visit(1200, 800, "", "lang=en").await else {
        return;
    };
    visit.is("$('.chips button')").await;
    visit.browser.picture("widget-closed").await;
    let place = visit.get("(({ left, top, width }) => [left > 1000, top > 500, width])($('.launcher').getBoundingClientRect())").await;
    assert_eq!(place, json!([true, true, 56]));
    visit.click(".launcher").await;
    visit.is("$('.panel').dataset.state === 'online'").await;
    visit.browser.picture("widget-open").await;
    let look = visit.get("(({ fontSize, textTransform, visibility }) => [fontSize, textTransform, visibility])(getComputedStyle($('textarea')))").await;
    assert_eq!(look, json!(["16px", "none", "visible"]));
    visit.click(".chips button").await;
    visit
        .shows(&["When are you open?"], &["re: When are you open?"])
        .await;
    visit.say("And on *Sunday*?").await;
    visit
        .shows(
            &["When are you open?", "And on *Sunday*?"],
            &["re: When are you open?", "re: And on Sunday?"],
        )
        .await;
    visit.browser.picture("widget-answered").await;
    visit.browser.keys(ESCAPE).await;
    visit
        .is("$('.panel').hidden && !$('.launcher').hidden")
        .await;
}

#[tokio::test]
async fn the_page_opens_asks_listens_and_sees_what_was_not_read() {
    let Some(visit) = visit(
        1200,
        800,
        "data-heading=\"Ask us\" data-theme=\"dark\"",
        "lang=zh-CN",
    )
    .await
    else {
        return;
    };
    visit
        .browser
        .run(
            "window.heard = []; for (const name of ['open', 'close', 'message', 'unread'])
        Weirgate.on(name, (told) => heard.push([name, told?.text ?? told ?? null]));
        await Weirgate.send('hello');",
        )
        .await;
    visit.shows(&["hello"], &["re: hello"]).await;
    visit.browser.picture("widget-dark-chinese").await;
    assert_eq!(
        visit
            .get("[$('header h2').innerText, $('textarea').placeholder]")
            .await,
        json!(["Ask us", "输入消息…"])
    );
    visit.slowly(&["one ", "two"]);
    visit
        .browser
        .run("await Weirgate.send('again'); await Weirgate.close();")
        .await;
    visit
        .is("$('.badge').innerText === '1' && $('.launcher').ariaLabel.includes('1')")
        .await;
    visit.browser.picture("widget-badge").await;
    let heard = visit.browser.run("return heard").await;
    for told in [
        json!(["open", null]),
        json!(["message", "hello"]),
        json!(["message", "re: hello"]),
        json!(["close", null]),
        json!(["unread", 1]),
    ] {
        assert!(
            heard.as_array().unwrap().contains(&told),
            "{told} in {heard}"
        );
    }
    // Somebody who comes again finds it all, and his badge is his own business.
    visit.browser.reload().await;
    visit
        .browser
        .until("return window.Weirgate && Weirgate.open()?.then(() => true)")
        .await;
    visit
        .shows(&["hello", "again"], &["re: hello", "one two"])
        .await;
}

#[tokio::test]
async fn what_a_page_says_before_there_is_a_conversation_is_said_in_order() {
    let Some(visit) = visit(1200, 800, "", "lang=en").await else {
        return;
    };
    visit
        .browser
        .run("await Promise.all([Weirgate.send('first'), Weirgate.send('second')]);")
        .await;
    visit
        .shows(&["first", "second"], &["re: first", "re: second"])
        .await;
}

#[tokio::test]
async fn what_waits_for_a_conversation_is_not_said_in_the_name_of_another() {
    let Some(visit) = visit(1200, 800, "", "lang=en").await else {
        return;
    };
    // In one step, so that no answer of the gateway comes between.
    visit
        .browser
        .run(&format!(
            "{CHAT} chat.send('mine'); chat.identify('not.e30.signed'); chat.identify(null); chat.send('of a stranger');"
        ))
        .await;
    visit
        .shows(&["of a stranger"], &["re: of a stranger"])
        .await;
    assert_eq!(visit.model.count(), 1);
}

#[tokio::test]
async fn on_a_phone_it_fills_the_screen_and_reads_from_the_right() {
    let Some(visit) = visit(1200, 800, "data-position=\"left\"", "lang=ar dir=rtl").await else {
        return;
    };
    let phone = json!({ "width": 390, "height": 780, "deviceScaleFactor": 1, "mobile": true });
    visit
        .browser
        .devtools("Emulation.setDeviceMetricsOverride", phone)
        .await;
    visit.click(".launcher").await;
    visit.is("$('.panel').dataset.state === 'online'").await;
    visit.say("short").await;
    visit.shows(&["short"], &["re: short"]).await;
    visit.browser.picture("widget-phone-rtl").await;
    let place: Value = visit.get("(({ left, top, width, height }) => [left, top, width, height])($('.panel').getBoundingClientRect())").await;
    assert_eq!(place, json!([0, 0, 390, 780]));
    let side = visit
        .get("$('.user .bubble').getBoundingClientRect().left < 60")
        .await;
    assert_eq!(
        side, true,
        "one's own words are at the end of the line, which is left"
    );
    let dark = json!({ "features": [{ "name": "prefers-color-scheme", "value": "dark" }] });
    visit
        .browser
        .devtools("Emulation.setEmulatedMedia", dark)
        .await;
    visit
        .is("getComputedStyle($('.panel')).backgroundColor === 'rgb(20, 23, 29)'")
        .await;
    visit.browser.picture("widget-phone-dark").await;
    // A page that is not of the site gets nothing.
    let refused = visit.browser.run(&format!(
        "{CHAT} return [await fetch('http://127.0.0.1:{0}/admin/reload', {{ method: 'POST' }}).then(() => 'read', () => 'refused')]",
        visit.port
    )).await;
    assert_eq!(refused, json!(["refused"]));
}

/// A server of pictures that counts who asks it, and fails on one that says from where.
async fn gallery() -> (u16, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let picture = "<svg xmlns='http://www.w3.org/2000/svg' width='120' height='80'><rect width='120' height='80' fill='teal'/></svg>";
    let show = move |headers: HeaderMap| {
        let count = Arc::clone(&count);
        async move {
            assert!(!headers.contains_key(header::REFERER), "{headers:?}");
            count.fetch_add(1, Relaxed);
            ([(header::CONTENT_TYPE, "image/svg+xml")], picture)
        }
    };
    let routes = Router::new().route("/picture.svg", get(show));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (port, asked)
}

#[tokio::test]
async fn a_picture_is_loaded_when_the_visitor_wants_it_and_where_the_page_lets_it() {
    let Some(visit) = visit(1200, 800, "", "lang=en").await else {
        return;
    };
    let (port, asked) = gallery().await;
    visit.click(".launcher").await;
    visit.is("$('.panel').dataset.state === 'online'").await;
    visit.slowly(&[
        &format!("Here: ![a field](http://localhost:{port}/picture.svg)\n\n"),
        &format!("and ![another](http://127.0.0.1:{port}/picture.svg)"),
    ]);
    visit.say("show me").await;
    visit.is("all('.offer').length === 2 && !$('.draft')").await;
    assert_eq!(asked.load(Relaxed), 0, "nobody asked for it");
    assert_eq!(
        visit.get("texts('.offer')[0]").await,
        json!("Show the picture from localhost")
    );
    visit.browser.picture("widget-picture-offered").await;
    visit.click(".offer").await;
    visit
        .is("$('.pictured img')?.naturalWidth === 120 && all('.offer').length === 1")
        .await;
    assert_eq!(asked.load(Relaxed), 1);
    visit.browser.picture("widget-picture-shown").await;
    // The page's policy allows no pictures from there.
    visit.click(".offer").await;
    visit
        .is("$('.pictured .note')?.innerText === 'The picture cannot be shown here.'")
        .await;
    assert_eq!(asked.load(Relaxed), 1);
}

#[tokio::test]
async fn the_keyboard_opens_it_stays_inside_of_a_full_screen_and_comes_back() {
    let Some(visit) = visit(1200, 800, "", "lang=en").await else {
        return;
    };
    let phone = json!({ "width": 390, "height": 780, "deviceScaleFactor": 1, "mobile": true });
    visit
        .browser
        .devtools("Emulation.setDeviceMetricsOverride", phone)
        .await;
    visit.browser.keys(TAB).await;
    let at = "chat.shadowRoot.activeElement";
    visit.is(&format!("{at} === $('.launcher')")).await;
    visit.browser.keys(ENTER).await;
    visit
        .is(&format!(
            "$('.panel').dataset.state === 'online' && {at} === $('textarea')"
        ))
        .await;
    let mut seen = Vec::new();
    for _ in 0..12 {
        visit.browser.keys(TAB).await;
        let name = format!("{at}?.ariaLabel || {at}?.innerText || 'outside'");
        seen.push(visit.get(&name).await.as_str().unwrap().to_owned());
    }
    assert!(!seen.iter().any(|it| it == "outside"), "{seen:?}");
    for name in ["Close chat", "Message", "When are you open?"] {
        let times = seen.iter().filter(|it| *it == name).count();
        assert!(times >= 1, "{name}: {seen:?}");
    }
    visit.browser.keys(ESCAPE).await;
    visit
        .is(&format!("$('.panel').hidden && {at} === $('.launcher')"))
        .await;
}

#[tokio::test]
async fn the_settings_of_a_site_do_without_attributes() {
    let site = json!({
        "title": "Shop help", "placeholder": "Ask about the shop", "position": "left", "color": "#ffd23f",
    });
    let Some(visit) = Visit::new(1200, 800, site).await else {
        return;
    };
    // A page of the gateway's own origin will do: the policy of the page allows the widget's files.
    visit.browser.go(&visit.url("")).await;
    visit.is("$('.panel').dataset.state === 'online'").await;
    visit
        .browser
        .run(
            "const more = document.createElement('weirgate-chat'); document.body.append(more);
            document.querySelector('weirgate-chat').remove();",
        )
        .await;
    visit
        .is("chat.getAttribute('position') === 'left' && $('.launcher').getBoundingClientRect().left < 100")
        .await;
    assert_eq!(
        visit
            .get("[$('textarea').placeholder, getComputedStyle($('.launcher')).color]")
            .await,
        json!(["Ask about the shop", "rgb(0, 0, 0)"]),
        "and what stands on a light colour is black"
    );
}
