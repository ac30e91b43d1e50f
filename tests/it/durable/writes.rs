//! The process aborts around what is written beside the turns: edits, what is put off, what an operator does, files,
//! deletions, summaries, memories. After the next start nothing of it is lost, and nothing is done twice.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use weirgate_testkit::{
    contract::media::PNG,
    discord::{
        CHANNEL, FakeDiscord, direct,
        guild::{OWNER, ROLE},
    },
    model::{FakeModel, RecordedRequest, Script},
    onebot::{self, FakeOneBot, Script as Send},
    telegram::FakeTelegram,
};

use super::failpoints::{aborted, again, armed, texts};
use crate::{
    discord,
    engine::Engine,
    gateway::{Chat as _, Gateway, LIMIT, to_approve, until},
    telegram,
    tools::{listed, tool},
};

const OUTBOX: [&str; 3] = ["outbox", "list", "--json"];

/// The texts of the sends up to one that ends like this.
async fn up_to(fake: &FakeOneBot, end: &str) -> Vec<String> {
    let mut texts = vec![fake.answer().await.text()];
    while texts.last().is_some_and(|text| !text.ends_with(end)) {
        texts.push(fake.answer().await.text());
    }
    texts
}

async fn an_edit_of_a_waiting_message_is_not_lost(on: Engine) {
    for point in ["amend.before", "amend.after"] {
        let service = FakeTelegram::start(telegram::TOKEN).await;
        let model = FakeModel::start().await;
        let account = telegram::whole::account(&service, telegram::TOKEN);
        let changes = json!({
            "platforms": { "telegram": { "accounts": { "main": account } } },
            "flow_control": { "auto": { "messages_per_request": 1 } },
        });
        let mut gateway = Gateway::prepare_on(on, &model, changes).await;
        gateway.set("WEIRGATE_FAILPOINT", point);
        gateway.up().await;
        model.push(Script::hang());
        service.say(7, 7, "first", &Value::Null);
        model.wait_for(1).await;
        let waiting = service.say(7, 7, "wrong", &Value::Null);
        service.edit(7, 7, waiting, "right");
        aborted(&mut gateway).await;
        model.push(Script::hang());
        gateway.up().await;
        model.wait_for(2).await;
        if point == "amend.before" {
            // Nobody was told that it was taken, so it comes again.
            gateway.counts("edited", 1).await;
        }
        service.say(7, 7, "/stop", &Value::Null);
        let said = |text: &str| service.messages().iter().any(|said| said.text == text);
        assert!(until(|| said("re: right")).await, "{point}");
        service.say(7, 7, "last", &Value::Null);
        assert!(until(|| said("re: last")).await, "{point}");
        let requests = model.requests();
        let asked: Vec<&str> = requests
            .iter()
            .map(RecordedRequest::last_user_text)
            .collect();
        assert_eq!(asked, ["first", "first", "right", "last"], "{point}");
    }
}

async fn a_reminder_comes_once(on: Engine) {
    for point in ["performed.before", "performed.after"] {
        let (_model, mut gateway, fake) = armed(on, point, json!({})).await;
        fake.send_private(7, "/remind 1s tea").await;
        again(&mut gateway, &fake).await;
        up_to(&fake, "⏰ tea").await;
        assert_eq!(texts(&fake).await, [""; 0], "{point}");
        let left = fake.ask(7, "/remind").await;
        assert_eq!(left, "You have no reminders here.", "{point}");
    }
}

async fn a_task_that_was_put_off_is_one_turn(on: Engine) {
    for point in ["performed.before", "performed.after"] {
        let (model, mut gateway, fake) = armed(on, point, json!({})).await;
        let task = json!({ "action": "task", "when": "1s", "text": "sum up" });
        model.push(Script::calls(&[("schedule", task)]));
        fake.send_private(7, "later").await;
        again(&mut gateway, &fake).await;
        let answer = up_to(&fake, "sum up").await.pop();
        // Its answer may have left before the abort; without a receipt it comes once more.
        let more = texts(&fake).await;
        assert!(
            more.len() <= 1 && more.iter().all(|text| answer.as_ref() == Some(text)),
            "{more:?}"
        );
        let journaled = gateway.journaled().await;
        let tasks = journaled.iter().filter(|text| *text == "sum up");
        assert_eq!(tasks.count(), 1, "{point}: {journaled:?}");
    }
}

async fn a_ban_ends_once(on: Engine) {
    for point in ["performed.before", "performed.after"] {
        let service = FakeDiscord::start(discord::TOKEN).await;
        service.join(8, &[ROLE]);
        let model = FakeModel::start().await;
        let account = discord::whole::account(&service, discord::TOKEN);
        let changes = json!({ "platforms": { "discord": { "accounts": { "main": account } } } });
        let mut gateway = Gateway::prepare_on(on, &model, changes).await;
        gateway.set("WEIRGATE_FAILPOINT", point);
        gateway.up().await;
        assert!(until(|| service.sessions().0 > 0).await);
        let data = json!({ "id": "77", "name": "ban", "type": 1,
            "options": [
                { "name": "user", "type": 6, "value": "8" },
                { "name": "time", "type": 3, "value": "1s" },
            ],
            "resolved": { "users": { "8": { "id": "8", "username": "bob" } } } });
        service.slash(
            CHANNEL,
            OWNER,
            "ban",
            &Value::Null,
            &json!({ "data": data }),
        );
        aborted(&mut gateway).await;
        assert_eq!(service.standing(8), (false, false, false), "{point}");
        gateway.up().await;
        let told = "bob may come back: the time is over.";
        let count = || {
            service
                .messages()
                .iter()
                .filter(|said| said.text == told)
                .count()
        };
        assert!(
            until(|| count() > 0).await,
            "{point}: {:?}",
            service.messages()
        );
        service.say(direct(9), 9, "/ping", &Value::Null);
        let pong = || service.messages().iter().any(|said| said.text == "pong");
        assert!(until(pong).await, "{point}");
        assert_eq!((count(), service.calls("unban").len()), (1, 1), "{point}");
    }
}

async fn a_reply_that_is_retried_is_sent_once(on: Engine) {
    for point in ["operate.before", "operate.after"] {
        let (_model, mut gateway, fake) = armed(on, point, json!({})).await;
        fake.script(Send::TimeOut);
        assert_eq!(fake.ask(1, "hello").await, "re: hello");
        let mut ids = Vec::new();
        while ids.is_empty() {
            ids = listed(&gateway, &OUTBOX, "rows").await;
        }
        let retry = ["outbox", "retry", &format!("r{}", ids[0])];
        let said = tool(&gateway, &retry).await;
        assert_ne!(said.code, 0, "{point}: {said:?}");
        again(&mut gateway, &fake).await;
        if point == "operate.before" {
            assert_eq!(listed(&gateway, &OUTBOX, "rows").await, ids);
            tool(&gateway, &retry).await.done();
        }
        assert_eq!(fake.answer().await.text(), "re: hello", "{point}");
        assert_eq!(texts(&fake).await, [""; 0], "{point}");
        assert_eq!(listed(&gateway, &OUTBOX, "rows").await, [0; 0], "{point}");
    }
}

async fn a_file_that_somebody_sent_reaches_the_model(on: Engine) {
    for (point, fetched) in [("media.before", 2), ("media.after", 1)] {
        let images =
            json!({ "providers": { "main": { "models": { "test": { "images": true } } } } });
        let (model, mut gateway, fake) = armed(on, point, images).await;
        fake.file(
            "cat.png",
            json!({ "file": "cat.png", "base64": STANDARD.encode(PNG) }),
        );
        let picture = json!({ "type": "image", "data": { "file": "cat.png" } });
        fake.send_segments(None, 7, &[onebot::text("look "), picture])
            .await;
        again(&mut gateway, &fake).await;
        assert_eq!(
            fake.answer().await.text(),
            "re: look [image: cat.png]",
            "{point}"
        );
        let files = model.requests()[0].files();
        assert_eq!(files, [("image/png".to_owned(), PNG.to_vec())], "{point}");
        assert_eq!(texts(&fake).await, [""; 0], "{point}");
        let called = fake.called();
        let calls = called.iter().filter(|action| *action == "get_image");
        assert_eq!(calls.count(), fetched, "{point}");
    }
}

async fn a_file_that_the_model_sends_comes_once(on: Engine) {
    for point in ["media.before", "media.after"] {
        let (model, mut gateway, fake) = armed(on, point, json!({})).await;
        let calls = || {
            let write = json!({ "path": "note.txt", "content": "one" });
            model.push(Script::calls(&[("write_file", write)]));
            let send = json!({ "path": "note.txt" });
            model.push(Script::calls(&[("send_file", send)]));
        };
        calls();
        fake.send_private(7, "send it").await;
        aborted(&mut gateway).await;
        assert!(fake.connection_is(false, LIMIT).await);
        // Both may be repeated, so the turn begins anew.
        calls();
        gateway.up().await;
        assert_eq!(fake.answer().await.text(), "re: send it", "{point}");
        let file = fake.answer().await;
        assert_eq!(file.params["name"], "note.txt", "{point}: {file:?}");
        assert_eq!(texts(&fake).await, [""; 0], "{point}");
    }
}

async fn what_is_to_be_deleted_is_deleted_whole(on: Engine) {
    for point in ["erase.before", "erase.after"] {
        let (model, mut gateway, fake) = armed(on, point, json!({})).await;
        fake.ask(7, "my secret is 4711").await;
        fake.ask(7, "/memory add The number is 4711.").await;
        let question = fake.ask(7, "/delete").await;
        let yes = format!("/approve {} all", to_approve(&question));
        fake.send_private(7, &yes).await;
        again(&mut gateway, &fake).await;
        let told = fake.answer().await.text();
        assert!(told.starts_with("Deleted"), "{point}: {told}");
        assert_eq!(texts(&fake).await, [""; 0], "{point}");
        let asked = model.requests().pop().expect("a request").body.to_string();
        assert!(!asked.contains("4711"), "{point}: {asked}");
        let journaled = gateway.journaled().await;
        assert!(
            !journaled.iter().any(|text| text.contains("4711")),
            "{point}: {journaled:?}"
        );
        let kept = fake.ask(7, "/memory").await;
        assert_eq!(kept, "Nothing is remembered here.", "{point}");
    }
}

/// The facts of a text, each once, in order.
fn facts(text: &str) -> Vec<String> {
    let words = text.split(|sign: char| !sign.is_alphanumeric());
    let mut facts: Vec<String> = words
        .filter(|word| {
            word.strip_prefix('F')
                .is_some_and(|number| number.parse::<u32>().is_ok())
        })
        .map(str::to_owned)
        .collect();
    facts.sort();
    facts.dedup();
    facts
}

async fn a_history_is_whole_or_in_short_and_never_neither(on: Engine) {
    const RECORD: &str = "[record of a conversation";
    for (point, summaries) in [("compact.before", 2), ("compact.after", 1)] {
        let model = FakeModel::start_with(|asked| match asked {
            "last" => Script::answer("re: last"),
            _ if asked.starts_with(RECORD) => {
                Script::answer(&format!("[Findings]\n{}", facts(asked).join(", ")))
            }
            _ => Script::answer("ok"),
        })
        .await;
        let changes = json!({
            "context": {
                "system_prompt": "Be a lighthouse.", "max_context_tokens": 1_000,
                "compress_threshold": 1.0, "keep_recent_messages": 4,
            },
            "memory": { "context_window": { "recent_rounds": 1 } },
            "tools": { "internal": { "enabled": false } },
        });
        let mut gateway = Gateway::prepare_on(on, &model, changes).await;
        gateway.set("WEIRGATE_FAILPOINT", point);
        gateway.up().await;
        let fake = gateway.onebot().await;
        for number in 1..=8 {
            fake.ask(7, &format!("F{number} {}", "word ".repeat(40)))
                .await;
        }
        fake.send_private(7, &format!("F9 {}", "word ".repeat(500)))
            .await;
        again(&mut gateway, &fake).await;
        assert_eq!(fake.answer().await.text(), "ok", "{point}");
        let requests = model.requests();
        let is_record = |request: &&RecordedRequest| request.last_user_text().starts_with(RECORD);
        assert_eq!(
            requests.iter().filter(is_record).count(),
            summaries,
            "{point}"
        );
        let told = requests.last().expect("a request").spoken().join("\n");
        assert_eq!(facts(&told).len(), 9, "{point}: {told}");
        assert_eq!(told.matches("[Findings]").count(), 1, "{point}: {told}");
        assert_eq!(texts(&fake).await, [""; 0], "{point}");
    }
}

async fn what_is_to_be_remembered_is_remembered_once(on: Engine) {
    for point in ["memory.before", "memory.after"] {
        let (_model, mut gateway, fake) = armed(on, point, json!({})).await;
        fake.send_private(7, "/memory add My cat is called Pangur.")
            .await;
        again(&mut gateway, &fake).await;
        let told = fake.answer().await.text();
        assert!(told.starts_with("Remembered as #"), "{point}: {told}");
        assert_eq!(texts(&fake).await, [""; 0], "{point}");
        let kept = fake.ask(7, "/memory").await;
        assert_eq!(kept.matches("Pangur").count(), 1, "{point}: {kept}");
    }
}

async fn who_is_shut_out_stays_so_and_nothing_of_him_is_kept(on: Engine) {
    for point in ["meet.before", "meet.after"] {
        let blocked = json!({ "permissions": { "blocked": { "qq": [66] } } });
        let (_model, mut gateway, fake) = armed(on, point, blocked).await;
        fake.send_private(66, "let me in").await;
        again(&mut gateway, &fake).await;
        fake.send_private(66, "and now?").await;
        fake.send_private(7, "hello").await;
        let told = up_to(&fake, "re: hello").await;
        assert!(
            !told
                .iter()
                .any(|text| text.starts_with("re: let") || text.starts_with("re: and")),
            "{told:?}"
        );
        let journaled = gateway.journaled().await;
        assert_eq!(journaled, ["hello"], "{point}");
    }
}

suite!(
    an_edit_of_a_waiting_message_is_not_lost,
    a_reminder_comes_once,
    a_task_that_was_put_off_is_one_turn,
    a_ban_ends_once,
    a_reply_that_is_retried_is_sent_once,
    a_file_that_somebody_sent_reaches_the_model,
    a_file_that_the_model_sends_comes_once,
    what_is_to_be_deleted_is_deleted_whole,
    a_history_is_whole_or_in_short_and_never_neither,
    what_is_to_be_remembered_is_remembered_once,
    who_is_shut_out_stays_so_and_nothing_of_him_is_kept,
);
