//! Everything with the keyboard alone: in the order in which it is read, and never lost.

use serde_json::{Value, json};

use super::{CHAT, ENTER, ESCAPE, TAB, Visit};

impl Visit {
    /// The name of what has the focus in the element.
    async fn focused(&self) -> String {
        let at = "const at = chat.shadowRoot.activeElement;
            return at ? (at.getAttribute('aria-label') || at.textContent).trim() : ''";
        let at = self.browser.run(&format!("{CHAT} {at}")).await;
        at.as_str().unwrap_or_default().to_owned()
    }

    /// Goes on with the tabulator until something of this name has the focus; gives what was passed.
    async fn tab_to(&self, name: &str) -> Vec<String> {
        let mut passed = Vec::new();
        for _ in 0..40 {
            self.browser.keys(TAB).await;
            let at = self.focused().await;
            if at == name {
                return passed;
            }
            passed.push(at);
        }
        panic!("{name} is not reached: {passed:?}");
    }
}

#[tokio::test]
async fn a_whole_talk_needs_no_mouse() {
    let site = json!({ "suggestions": ["Why?"], "files": true });
    let Some(visit) = Visit::on_page_of(1200, 800, site).await else {
        return;
    };
    visit.is("$('.chips button')").await;
    assert_eq!(visit.focused().await, "Message", "one can write at once");
    let passed = visit.tab_to("Why?").await;
    for name in ["New conversation", "Messages"] {
        assert!(passed.iter().any(|it| it == name), "{name}: {passed:?}");
    }
    visit.browser.keys(ENTER).await;
    visit.shows(&["Why?"], &["re: Why?"]).await;
    assert_eq!(visit.focused().await, "Message");
    // A question is answered, and the focus stays on the answer.
    visit.browser.keys(&format!("/delete{ENTER}")).await;
    visit.is("all('.card .choice').length === 3").await;
    visit.tab_to("No").await;
    visit.browser.keys(ENTER).await;
    visit
        .is("all('.card .choice')[2]?.ariaPressed === 'true'")
        .await;
    assert_eq!(visit.focused().await, "No");
    // Another conversation.
    visit.tab_to("New conversation").await;
    visit.browser.keys(ENTER).await;
    visit.is("!$('.empty').hidden").await;
    visit.browser.keys(&format!("second{ENTER}")).await;
    visit.shows(&["second"], &["re: second"]).await;
    visit.browser.keys(ESCAPE).await;
    let closed: Value = visit.get("$('.panel').hidden").await;
    assert_eq!(closed, json!(false), "a page does not close");
    visit.shows(&["second"], &["re: second"]).await;
}

#[tokio::test]
async fn a_conversation_is_deleted_after_a_second_press() {
    let Some(visit) = Visit::on_page(1200, 800).await else {
        return;
    };
    visit.say("first").await;
    visit.shows(&["first"], &["re: first"]).await;
    visit.click("[aria-label='New conversation']").await;
    visit.is("!$('.empty').hidden").await;
    visit.say("second").await;
    visit.shows(&["second"], &["re: second"]).await;
    visit.is("all('.drawer [data-session]').length === 2").await;
    visit.tab_to("Delete “first”").await;
    visit.browser.keys(ENTER).await;
    assert_eq!(visit.focused().await, "Keep", "the safe answer comes first");
    visit.browser.picture("page-delete").await;
    visit.browser.keys(ENTER).await;
    assert_eq!(visit.focused().await, "Delete “first”");
    visit.browser.keys(ENTER).await;
    visit.click(".sure:not([hidden]) [data-act=erase]").await;
    visit.is("all('.drawer [data-session]').length === 1").await;
    visit.shows(&["second"], &["re: second"]).await;
    // The one that is shown makes place for a new one.
    visit.click("[aria-label='Delete “second”']").await;
    visit.click(".sure:not([hidden]) [data-act=erase]").await;
    visit.is("!$('.empty').hidden && !$('.message.user')").await;
    visit.browser.reload().await;
    visit
        .is("$('.panel').dataset.state === 'online' && !$('.empty').hidden")
        .await;
}
