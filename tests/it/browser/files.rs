//! Files and voice: by the button, dragged, pasted and recorded; their progress, their limits, and what is shown of them.

use std::fs;

use serde_json::{Value, json};

use super::{CHAT, Visit};

async fn shop() -> Option<Visit> {
    Visit::on_page_of(1000, 760, json!({ "files": true })).await
}

/// Files for a script: a picture that a canvas draws, and a text.
const MADE: &str = "const canvas = new OffscreenCanvas(300, 200);
    const pen = canvas.getContext('2d'); pen.fillStyle = '#0b7a75'; pen.fillRect(0, 0, 300, 200);
    pen.fillStyle = '#ffd23f'; pen.fillRect(60, 40, 120, 90);
    const picture = new File([await canvas.convertToBlob()], 'a sketch.png', { type: 'image/png' });
    const text = new File(['some words'], 'notes.txt', { type: 'text/plain' });
    const data = new DataTransfer();";

impl Visit {
    async fn with(&self, script: &str) -> Value {
        self.browser.run(&format!("{CHAT} {MADE} {script}")).await
    }

    /// Everything in the tray is ready to be sent.
    async fn is_ready(&self, count: usize) {
        self.is(&format!(
            "all('.tray li').length === {count} && !$('.tray progress:not([hidden])') && !$('[type=submit]').disabled"
        ))
        .await;
    }
}

#[tokio::test]
async fn files_are_sent_by_button_drag_and_paste_and_shown_after_a_reload() {
    let Some(visit) = shop().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let notes = folder.path().join("my notes.txt");
    fs::write(&notes, "one two three").unwrap();
    visit
        .browser
        .choose(
            &format!("{CHAT} return $('input[type=file]');"),
            &[notes.as_path()],
        )
        .await;
    visit.is_ready(1).await;
    visit
        .with(
            "data.items.add(picture);
            const over = new DragEvent('dragover', { bubbles: true, cancelable: true, dataTransfer: data });
            window.taken = !$('.panel').dispatchEvent(over) && $('.panel').classList.contains('dropping');",
        )
        .await;
    assert_eq!(visit.get("window.taken").await, json!(true));
    visit.browser.picture("files-dragged").await;
    visit
        .with(
            "data.items.add(picture);
            $('.scroll').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));",
        )
        .await;
    visit.is_ready(2).await;
    visit
        .with(
            "data.items.add(text);
            $('textarea').dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData: data }));",
        )
        .await;
    visit.is_ready(3).await;
    visit.is("all('.tray canvas').length === 1").await;
    visit.browser.picture("files-ready").await;
    visit.say("look").await;
    let answer = "texts('.message.bot:not(.thinking) .bubble').some((it) => it.includes('[image: a sketch.png]'))";
    visit.is(answer).await;
    let names = json!(["my notes.txt", "a sketch.png", "notes.txt"]);
    assert_eq!(visit.get("texts('.message.user bdi')").await, names);
    visit.browser.picture("files-sent").await;
    let asked = visit.model.requests().pop().unwrap().body.to_string();
    assert!(asked.contains("one two three"), "{asked}");
    visit.browser.reload().await;
    visit.is("all('.message.user bdi').length === 3").await;
    assert_eq!(visit.get("texts('.message.user bdi')").await, names);
    assert_eq!(
        visit.get("texts('.message.user .bubble')").await,
        json!(["look"])
    );
    visit.browser.picture("files-reloaded").await;
}

#[tokio::test]
async fn a_file_shows_its_progress_and_can_be_taken_out() {
    let Some(visit) = shop().await else { return };
    visit.browser.devtools("Network.enable", json!({})).await;
    let slow = |upload: i64| {
        visit.browser.devtools(
            "Network.emulateNetworkConditions",
            json!({ "offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": upload }),
        )
    };
    slow(200_000).await;
    let drop = "data.items.add(new File([new Uint8Array(1_500_000)], 'long.bin'));
        $('.scroll').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));";
    visit.with(drop).await;
    visit
        .is("$('.tray progress')?.value > 0 && $('.tray progress').value < 1")
        .await;
    assert_eq!(visit.get("$('[type=submit]').disabled").await, json!(true));
    visit.browser.picture("files-progress").await;
    visit.click("[aria-label='Remove long.bin']").await;
    visit.is("$('.tray').hidden && !$('.tray li')").await;
    slow(-1).await;
    visit.with(drop).await;
    visit.is_ready(1).await;
}

#[tokio::test]
async fn what_is_too_large_too_much_or_refused_is_said() {
    let Some(visit) = shop().await else { return };
    visit
        .with(
            "data.items.add(new File([new Uint8Array(30_000)], 'large.png', { type: 'image/png' }));
            $('.scroll').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));",
        )
        .await;
    visit
        .is("$('.alert').innerText.includes('large.png is too large') && !$('.tray li')")
        .await;
    visit.browser.picture("files-too-large").await;
    visit
        .with(
            "for (let i = 0; i < 11; i++) data.items.add(new File(['x'], `${i}.txt`));
            $('.scroll').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));",
        )
        .await;
    visit
        .is("all('.tray li').length === 10 && $('.alert').innerText.includes('At most 10 files')")
        .await;
    // A file that is empty the gateway refuses, and it can be taken out again.
    visit
        .browser
        .run(&format!("{CHAT} chat.composer.tray.clear();"))
        .await;
    visit
        .with(
            "data.items.add(new File([], 'empty.txt'));
            $('.scroll').dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: data }));",
        )
        .await;
    visit
        .is("$('.tray .failed .state')?.innerText === 'It is empty or broken.'")
        .await;
    assert_eq!(visit.get("$('[type=submit]').disabled").await, json!(true));
    visit.browser.picture("files-refused").await;
    visit.click("[aria-label='Remove empty.txt']").await;
    visit.say("only words").await;
    visit.shows(&["only words"], &["re: only words"]).await;
}

#[tokio::test]
async fn a_site_without_files_offers_none() {
    let Some(visit) = Visit::on_page(1000, 760).await else {
        return;
    };
    visit.is("chat.site.title").await;
    let offered = "all('[aria-label=\"Add files\"], [aria-label=\"Record a voice message\"]').filter((it) => !it.hidden).length";
    assert_eq!(visit.get(offered).await, json!(0));
}

#[tokio::test]
async fn a_voice_message_is_recorded_sent_or_thrown_away() {
    let Some(visit) = shop().await else { return };
    let record = "[aria-label='Record a voice message']";
    visit.click(record).await;
    visit
        .is("!$('.recorder').hidden && $('.time').innerText === '0:01'")
        .await;
    visit.browser.picture("voice-recording").await;
    visit.click("[aria-label='Discard the recording']").await;
    visit.is("$('.recorder').hidden && !$('.tray li')").await;
    visit.click(record).await;
    visit.is("$('.time').innerText === '0:02'").await;
    visit.click("[aria-label='Use the recording']").await;
    visit.is_ready(1).await;
    visit.browser.picture("voice-ready").await;
    visit
        .browser
        .run(&format!("{CHAT} $('[type=submit]').click();"))
        .await;
    visit
        .is("$('.message.bot:not(.thinking) .bubble')?.innerText.includes('voice-message.webm')")
        .await;
    assert_eq!(
        visit.get("texts('.message.user bdi')").await,
        json!(["voice-message.webm"])
    );
    visit.browser.picture("voice-sent").await;
}
