//! Hostile text: what would run, load or lead somewhere, were it taken for markup.

use std::{fs, path::PathBuf};

use serde_json::json;
use weirgate_testkit::model::Script;

use super::Visit;
use crate::gateway::long;

/// Texts that would run, load or lead somewhere, were they taken for markup.
const HOSTILE: [&str; 22] = [
    "<script>window.pwned = 1</script>",
    "<img src=x onerror=\"window.pwned = 1\">",
    "<svg/onload=window.pwned=1>",
    "<svg><script>window.pwned=1</script></svg>",
    "<iframe src=\"javascript:parent.pwned=1\"></iframe>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1>",
    "[a](javascript:window.pwned=1)",
    "[a](JaVa&#09;script:window.pwned=1)",
    "[a](java&Tab;script:window.pwned=1)",
    "[a](&#106;avascript:window.pwned=1)",
    "[a](data:text/html,<script>opener.pwned=1</script>)",
    "[a](vbscript:x)",
    "[a](https://example.com/\" onmouseover=\"window.pwned=1)",
    "![x](data:text/html,<script>window.pwned=1</script>)",
    "![x](https://tracker.example/pixel.png)",
    "<a href=\"https://example.com\" onclick=\"window.pwned=1\">x</a>",
    "```\n<form action=https://evil.example><input name=q></form>\n```",
    "```\"><script>window.pwned=1</script>\nx\n```",
    "`<img src=x onerror=window.pwned=1>`",
    "&lt;script&gt;window.pwned=1&lt;/script&gt;",
    "<noscript><p title=\"</noscript><img src=x onerror=window.pwned=1>\">",
    "| <b onmouseover=window.pwned=1>x</b> |\n|---|\n| <style>*{display:none}</style> |",
];

/// What ran, what stands there that may not, what leads where it may not, and what was loaded from elsewhere.
const SEEN: &str = "[window.pwned ?? null, all('[role=log] script, [role=log] img, [role=log] svg:not(.tools svg):not(.copy svg), \
     [role=log] iframe, [role=log] form, [role=log] style, [role=log] input, [role=log] object, [role=log] math').map((it) => it.outerHTML), \
     all('[role=log] a').filter((it) => !/^(https?|mailto):/.test(it.href)).length, \
     all('[role=log] *').filter((it) => [...it.attributes].some(({ name }) => name.startsWith('on'))).length, \
     performance.getEntriesByType('resource').filter((it) => !it.name.startsWith(location.origin)).length]";

#[tokio::test]
async fn hostile_text_is_text() {
    let Some(visit) = Visit::on_page(1000, 700).await else {
        return;
    };
    for text in HOSTILE {
        visit.slowly(&[text, "\n\nend"]);
    }
    // Whoever says it: the model, while it writes and afterwards, and the visitor.
    for (number, text) in HOSTILE.iter().enumerate() {
        visit
            .browser
            .run(&format!("{} chat.send({});", super::CHAT, json!(text)))
            .await;
        visit
            .is(&format!(
                "all('.message.bot:not(.thinking):not(.draft)').length === {}",
                number + 1
            ))
            .await;
    }
    assert_eq!(visit.get(SEEN).await, json!([null, [], 0, 0, 0]));
    visit.browser.reload().await;
    visit
        .is(&format!("all('.message.user').length >= {}", 20))
        .await;
    assert_eq!(visit.get(SEEN).await, json!([null, [], 0, 0, 0]));
    visit.browser.picture("page-hostile").await;
}

/// Texts that others collected; `None` where they are not installed. Without the long round one of a few.
fn corpus() -> Option<Vec<String>> {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let list = fs::read_to_string(target.join("../counterparts/xss.json")).ok();
    assert!(
        list.is_some() || !long(),
        "the collection is missing: bash tests/run.sh --counterparts"
    );
    let all: Vec<String> = serde_json::from_str(&list?).unwrap();
    assert!(all.len() > 1_000, "{}", all.len());
    Some(
        all.into_iter()
            .step_by(if long() { 1 } else { 8 })
            .collect(),
    )
}

/// Answers of many texts each, none so long that it is split.
fn answers(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut all = vec![String::new()];
    for text in texts {
        if all
            .last()
            .is_some_and(|last| last.len() + text.len() > 12_000)
        {
            all.push(String::new());
        }
        let last = all.last_mut().unwrap();
        last.push_str(&text);
        last.push_str("\n\n");
    }
    all
}

#[tokio::test]
async fn a_public_collection_of_hostile_texts_is_text() {
    let Some(corpus) = corpus() else { return };
    let Some(visit) = Visit::on_page(1000, 700).await else {
        return;
    };
    // What they call to show that they ran.
    visit
        .browser
        .run(
            "for (const name of ['alert', 'confirm', 'prompt', 'print', 'open'])
                window[name] = () => { window.pwned = name; };",
        )
        .await;
    let plain = answers(corpus.iter().cloned());
    let links = answers(corpus.iter().map(|text| format!("[x]({text})")));
    let pictures = answers(corpus.iter().map(|text| format!("![x](<{text}>)")));
    for (number, answer) in plain.iter().chain(&links).chain(&pictures).enumerate() {
        visit.model.push(Script::pieces(&[answer]));
        visit
            .browser
            .run(&format!("{} chat.send('go');", super::CHAT))
            .await;
        let shown = "all('.message.bot:not(.thinking):not(.draft)').length";
        visit
            .is(&format!(
                "chat.log.pending.size === 0 && {shown} > {number}"
            ))
            .await;
        assert_eq!(
            visit.get(SEEN).await,
            json!([null, [], 0, 0, 0]),
            "{answer}"
        );
    }
    // Whatever waits for a pointer gets one.
    visit
        .browser
        .run(&format!(
            "{} for (const it of all('[role=log] .bubble *')) for (const kind of ['mouseover', 'pointerover', 'focus', 'animationstart'])
                it.dispatchEvent(new Event(kind, {{ bubbles: true }}));",
            super::CHAT
        ))
        .await;
    assert_eq!(visit.get("window.pwned ?? null").await, json!(null));
}
