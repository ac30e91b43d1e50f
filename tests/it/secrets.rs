//! The configuration's secrets leave the process in no answer, log line, error or figure.

use std::time::Duration;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde_json::{Value, json};
use weirgate_testkit::{
    model::{Ending, FakeModel, Script},
    onebot::{FakeOneBot, Options},
    webchat::WebChatClient,
};

use crate::gateway::{BOT, Chat as _, Gateway, KEY};

/// Characters that look different in addresses and in JSON.
const TOKEN: &str = "to/ken+of&the\"bot 0123456789";
const ADMIN: &str = "admin-token-0123456789";

/// Every form in which a secret could be seen.
fn forms() -> Vec<String> {
    let json = serde_json::to_string(TOKEN).unwrap();
    let encoded = TOKEN
        .replace('/', "%2F")
        .replace('+', "%2B")
        .replace('&', "%26");
    let encoded = encoded.replace('"', "%22").replace(' ', "%20");
    vec![
        KEY.into(),
        TOKEN.into(),
        json[1..json.len() - 1].into(),
        encoded,
        ADMIN.into(),
    ]
}

fn assert_clean(what: &str, text: &str) {
    for form in forms() {
        if let Some(at) = text.find(&form) {
            let line = text[..at].rfind('\n').map_or(0, |start| start + 1);
            let shown: String = text[line..].chars().take(600).collect();
            panic!("{what} shows {form}: {shown}");
        }
    }
}

fn changes(format: &str) -> Value {
    json!({
        "observability": { "log": { "format": format, "level": "trace" } },
        "platforms": { "qq": { "accounts": { "main": { "token": TOKEN } } } },
        "http": { "admin_token_file": "token" },
        "error_recovery": { "max_retries": { "api": 0, "network": 0 } },
    })
}

async fn start(model: &FakeModel, changes: Value) -> Gateway {
    let mut gateway = Gateway::prepare(model, changes);
    gateway.write("token", ADMIN);
    gateway.up().await;
    gateway
}

fn known() -> Options {
    Options {
        token: Some(TOKEN.to_owned()),
        ..Options::default()
    }
}

#[tokio::test]
async fn a_model_that_says_the_key_is_redacted_wherever_the_stream_cuts_it() {
    let model = FakeModel::start().await;
    let gateway = start(&model, changes("text")).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let fake = gateway.onebot_with(known()).await;
    let text = format!("A first sentence, then the key {KEY} and done.");
    let start = text.find(KEY).unwrap();
    for cut in (start..=start + KEY.len()).step_by(3) {
        let pieces = [&text[..cut], &text[cut..cut + 1], &text[cut + 1..]];
        let script = Script::pieces(&pieces).between(Duration::from_millis(60));
        model.push(script.clone());
        client.say(&format!("m{cut}"), "say it").await;
        let mut last = Value::Null;
        loop {
            let frame = client.next().await;
            let shown = frame.to_string();
            // Not even the beginning of it is shown.
            assert!(!shown.contains(&KEY[..6]), "{shown}");
            if frame["final"] == true {
                last = frame;
            } else if frame["type"] == "end" {
                break;
            }
        }
        let said = last["text"].as_str().unwrap();
        assert!(
            said.starts_with("A first sentence, then the key "),
            "{said}"
        );
        assert!(said.ends_with(" and done."), "{said}");
        model.push(script);
        let said = fake.ask(1, "say it").await;
        assert!(
            !said.contains(&KEY[..6]) && said.ends_with(" and done."),
            "{said}"
        );
    }
    // A stream that ends inside the key, and an answer that holds another secret.
    model.push(Script::pieces(&["The key is ", KEY]).ending(Ending::BreakOff));
    model.push(Script::answer(&format!("token {TOKEN} and {ADMIN}")));
    let said = fake.ask(1, "again").await;
    assert_clean("the answer", &said);
    assert_clean("the log", &gateway.log());
}

/// How a model that was asked to hide it could say a secret.
fn disguises(secret: &str) -> Vec<(&'static str, String)> {
    let quoted = serde_json::to_string(secret).unwrap();
    let every = |signs: usize, mark: &str| {
        let signs_of: Vec<char> = secret.chars().collect();
        let parts = signs_of.chunks(signs).map(String::from_iter);
        parts.collect::<Vec<String>>().join(mark)
    };
    let codes = [
        ('/', "%2F"),
        ('+', "%2B"),
        ('&', "%26"),
        ('"', "%22"),
        (' ', "%20"),
    ];
    let percent = codes
        .into_iter()
        .fold(secret.to_owned(), |text, (sign, code)| {
            text.replace(sign, code)
        });
    let mut all = vec![
        ("plain", secret.to_owned()),
        ("quoted", quoted),
        (
            "quoted in quotes",
            serde_json::to_string(&json!({ "key": secret }).to_string()).unwrap(),
        ),
        ("percent", percent),
        ("Base64", STANDARD.encode(secret)),
        (
            "Base64 in a longer text",
            STANDARD.encode(format!("api_key={secret};")),
        ),
        ("Base64 for addresses", URL_SAFE_NO_PAD.encode(secret)),
    ];
    // A blank beside a break is taken for what indents the line.
    if !secret.contains(' ') {
        all.extend([
            ("over lines", every(7, "\n")),
            ("over indented lines", every(5, "\n    ")),
            ("a sign a line", every(1, "\n")),
        ]);
    }
    all
}

/// Whether a text shows so much of a secret's disguise that it could be put together.
fn shows(text: &str, disguise: &str) -> bool {
    let bare = |text: &str| text.replace([' ', '\n', '"', '\\'], "");
    let (text, disguise) = (bare(text), bare(disguise));
    let signs: Vec<char> = disguise.chars().collect();
    let middle = signs.len() / 2;
    let window = signs[middle.saturating_sub(5)..(middle + 5).min(signs.len())].iter();
    text.contains(&window.collect::<String>())
}

#[tokio::test]
async fn a_secret_in_disguise_does_not_arrive_however_the_stream_cuts_it() {
    let model = FakeModel::start().await;
    let mut changes = changes("text");
    changes["output"] = json!({
        "streaming": { "chunk_interval": 0.01 },
        "platform_adaptation": { "strategy_by_platform": { "qq": "full" } },
    });
    let gateway = start(&model, changes).await;
    let mut client = WebChatClient::connect(gateway.http()).await;
    client.enter(None).await;
    let fake = gateway.onebot_with(known()).await;
    for (number, (name, disguise)) in [KEY, TOKEN, ADMIN]
        .into_iter()
        .flat_map(disguises)
        .enumerate()
    {
        let text = format!("Here it is: {disguise} - and that was it.");
        for size in [1, 3, text.len()] {
            let signs: Vec<char> = text.chars().collect();
            let pieces: Vec<String> = signs.chunks(size).map(String::from_iter).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            let script = Script::pieces(&pieces);
            model.push(script.clone());
            let said = fake.ask(1, "say it").await;
            assert!(!shows(&said, &disguise), "{name} by {size}: {said}");
            assert!(said.ends_with("and that was it."), "{name}: {said}");
            model.push(script);
            client.say(&format!("m{number}-{size}"), "say it").await;
            let (mut frames, mut shown) = (String::new(), String::new());
            loop {
                let frame = client.next().await;
                shown.push_str(frame["text"].as_str().unwrap_or_default());
                frames.push_str(&frame.to_string());
                if frame["type"] == "end" {
                    break;
                }
            }
            assert!(!shows(&frames, &disguise), "{name} by {size}: {frames}");
            assert!(!shows(&shown, &disguise), "{name} by {size}: {shown}");
        }
    }
    assert_clean("the log", &gateway.log());
}

#[tokio::test]
async fn errors_figures_and_the_log_at_trace_level_show_no_secret() {
    for format in ["text", "json"] {
        let model = FakeModel::start().await;
        let mut gateway = start(&model, changes(format)).await;
        let fake = gateway.onebot_with(known()).await;
        let wrong = Options {
            token: Some("wrong".to_owned()),
            ..Options::default()
        };
        let refused = FakeOneBot::connect_with(&gateway.onebot_url(), BOT, wrong).await;
        assert!(refused.is_err());
        let page = format!("<html>key {KEY} token {TOKEN}</html>");
        for script in [
            Script::error(401, &format!("wrong key {KEY}, or was it {TOKEN}")),
            Script::error(500, KEY),
            Script::raw([page.as_bytes()]).content_type("text/html"),
            Script::raw([format!("data: {{\"error\":{{\"message\":\"{KEY}\"}}}}\n\n")]),
            Script::error(302, "moved").header("location", &format!("http://127.0.0.1:1/?k={KEY}")),
        ] {
            model.push(script);
            let said = fake.ask(1, "hello").await;
            assert!(said.starts_with("Sorry"), "{said}");
            assert_clean("the error", &said);
        }
        for command in ["/status", "/why", "/help", "/output", "/lang"] {
            assert_clean(command, &fake.ask(1, command).await);
        }
        let authorization = ("Authorization", format!("Bearer {ADMIN}"));
        let proxied = [
            ("X-Real-IP", "203.0.113.9"),
            (authorization.0, authorization.1.as_str()),
        ];
        let metrics = gateway.get_with("/metrics", &proxied).await;
        assert_eq!(metrics.status, 200);
        assert_clean("/metrics", &metrics.body);
        assert_clean("/readyz", &gateway.get("/readyz").await.body);
        // Everything that was written until the end.
        gateway.term().await;
        assert!(
            gateway.log().contains("TRACE"),
            "the level is what was asked for"
        );
        assert_clean("the log", &gateway.log());
        assert_clean("the greeting", &gateway.said());
        let file = std::fs::read(gateway.database()).unwrap();
        assert_clean("the database", &String::from_utf8_lossy(&file));
    }
}

#[tokio::test]
async fn a_broken_configuration_is_reported_without_its_secrets() {
    let model = FakeModel::start().await;
    let mut changes = changes("text");
    changes["providers"] = json!({ "main": { "base_url": format!("ftp://user:{KEY}@host/") } });
    changes["http"]["admin_token_fil"] = json!(ADMIN);
    changes["platforms"]["qq"]["accounts"]["main"]["tokem"] = json!(TOKEN);
    let gateway = Gateway::prepare(&model, changes);
    gateway.write("token", ADMIN);
    for arguments in [&["check"][..], &[]] {
        let output = gateway.command(arguments).output().await.unwrap();
        assert_eq!(output.status.code(), Some(78));
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(said.contains("admin_token_fil"), "{said}");
        assert_clean("the report", &said);
    }
}
