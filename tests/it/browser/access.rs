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
    let look = "const found = await axe.run(document);
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
