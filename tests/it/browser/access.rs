//! What an accessibility checker by others says of the page, in each of its states.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use super::{CHAT, Visit};
use crate::gateway::long;

/// The checker's script; `None` where it is not installed.
fn checker() -> Option<String> {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let file = target.join("../counterparts/axe/node_modules/axe-core/axe.min.js");
    let script = fs::read_to_string(file).ok();
    assert!(
        script.is_some() || !long(),
        "axe-core is missing: bash tests/run.sh --counterparts"
    );
    script
}

/// What it complains about, one line each.
async fn complaints(visit: &Visit, checker: &str) -> Vec<String> {
    // Also the rules that are off by themselves: those that came with WCAG 2.2.
    let look = "const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
        const found = await axe.run(document, { runOnly: tags });
        return found.violations.flatMap((rule) => rule.nodes.map((it) => `${rule.id}: ${it.html} ${it.failureSummary}`));";
    let found = visit.browser.run(&format!("{checker}; {look}")).await;
    serde_json::from_value(found).unwrap()
}

#[tokio::test]
async fn a_checker_of_accessibility_finds_nothing_in_any_state() {
    let Some(checker) = checker() else { return };
    let site = json!({ "suggestions": ["Why?", "How?"], "color": "#ffd23f" });
    let Some(visit) = Visit::new(1000, 800, site).await else {
        return;
    };
    visit.browser.go(&visit.url("")).await;
    visit
        .is("$('.panel').dataset.state === 'online' && $('.chips button')")
        .await;
    for scheme in ["light", "dark"] {
        let wanted = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        visit
            .browser
            .devtools("Emulation.setEmulatedMedia", wanted)
            .await;
        visit
            .browser
            .run(&format!(
                "{CHAT} $('[aria-label=\"New conversation\"]').click();"
            ))
            .await;
        visit.is("!$('.empty').hidden").await;
        assert_eq!(
            complaints(&visit, &checker).await,
            [""; 0],
            "{scheme}, empty"
        );
        visit.slowly(&[
            "# Plan\n\n",
            "1. `one`\n\n```rust\nfn main() {}\n```\n\n",
            "| a | b |\n|---|---|\n| 1 | [x](https://example.com/) |\n\n> said",
        ]);
        visit.say("go").await;
        visit.is("$('.draft')").await;
        assert_eq!(
            complaints(&visit, &checker).await,
            [""; 0],
            "{scheme}, streaming"
        );
        visit.is("$('.message.bot:not(.draft) blockquote')").await;
        assert_eq!(
            complaints(&visit, &checker).await,
            [""; 0],
            "{scheme}, answered"
        );
        visit.browser.picture(&format!("page-{scheme}")).await;
    }
    let marks: Value = visit
        .get("[$('[role=log]').ariaLive, $('.unseen').getAttribute('role')]")
        .await;
    assert_eq!(
        marks,
        json!(["off", "status"]),
        "only whole answers are read out"
    );
}

#[tokio::test]
async fn it_finds_nothing_in_cards_files_voice_and_lists_either() {
    let Some(checker) = checker() else { return };
    let site = json!({ "files": true });
    let Some(visit) = Visit::on_page_of(1000, 800, site).await else {
        return;
    };
    let good = async |state: &str| {
        assert_eq!(complaints(&visit, &checker).await, [""; 0], "{state}");
    };
    visit.say("/delete").await;
    visit.is("all('.card .choice').length === 3").await;
    good("a question").await;
    visit.click(".card .choice").await;
    visit.is("$('.card .choice').ariaPressed === 'true'").await;
    good("an answered question").await;
    visit
        .browser
        .run(&format!(
            "{CHAT} chat.composer.tray.add([new File(['x'], 'notes.txt'), new File([], 'empty.txt')]);"
        ))
        .await;
    visit
        .is("$('.tray .failed') && $('.tray li:not(.failed) progress').hidden")
        .await;
    good("files").await;
    visit
        .browser
        .run(&format!("{CHAT} chat.composer.tray.clear();"))
        .await;
    visit.click("[aria-label='Record a voice message']").await;
    visit.is("!$('.recorder').hidden").await;
    good("a recording").await;
    visit.click("[aria-label='Discard the recording']").await;
    visit.is("$('.recorder').hidden").await;
    visit.slowly(&["![a cat](https://pictures.example/cat.png)"]);
    visit.say("a picture").await;
    visit.is("$('.offer')").await;
    visit.click("[data-act=ask]:not([hidden])").await;
    visit.is("$('.sure:not([hidden])')").await;
    good("a picture and a deletion").await;
}
