//! The page at `/`: first visit, streaming, conversations, keyboard.

use serde_json::json;

use super::{ENTER, Visit};

const ANSWER: [&str; 4] = [
    "# A plan\n\nHere is **what** to do, with `code` and a [link](https://example.com/):\n\n",
    "1. Begin\n2. Go on\n\n```rust\nfn main() {\n    println!(\"hello, a rather long line that has to be scrolled to be read\");\n}\n```\n\n",
    "| Name | Amount |\n|---|---:|\n| Tea | 3 |\n| Water | 12 |\n\n> A word of warning.\n\n",
    "That is all.",
];

#[tokio::test]
async fn a_first_visit_shows_the_answer_as_it_grows_and_after_a_reload() {
    let Some(visit) = Visit::on_page(1200, 800).await else {
        return;
    };
    visit.browser.picture("page-empty").await;
    assert_eq!(visit.get("$('.empty').hidden").await, false);
    visit.slowly(&ANSWER);
    visit.say("What now?").await;
    visit.is("$('.draft')").await;
    // Text that is there stays the very element that it is while more comes after it.
    visit
        .browser
        .run(&format!("{} window.kept = $('.draft h3');", super::CHAT))
        .await;
    visit.is("$('.draft pre')").await;
    visit.browser.picture("page-streaming").await;
    assert_eq!(
        visit
            .get("window.kept && window.kept === $('.draft h3')")
            .await,
        true
    );
    visit.browser.reload().await;
    visit.is("$('.message.bot:not(.draft) table')").await;
    visit
        .is("$('.message.bot').innerText.includes('That is all.')")
        .await;
    assert_eq!(
        visit.get("all('.message').length").await,
        3,
        "one, one, and the hidden dots"
    );
    visit.browser.picture("page-answered").await;
    assert_eq!(visit.model.count(), 1);
    let link = visit
        .get("[$('.message.bot a').href, $('.message.bot a').rel]")
        .await;
    assert_eq!(
        link,
        json!(["https://example.com/", "noopener noreferrer nofollow"])
    );
}

#[tokio::test]
async fn conversations_have_titles_and_are_gone_back_to() {
    let Some(visit) = Visit::on_page(1200, 800).await else {
        return;
    };
    visit.say("first words").await;
    visit.shows(&["first words"], &["re: first words"]).await;
    visit.click("[aria-label='New conversation']").await;
    visit.is("!$('.empty').hidden").await;
    visit.say("second words").await;
    visit.shows(&["second words"], &["re: second words"]).await;
    visit.is("all('.drawer [data-session]').length === 2").await;
    visit.browser.picture("page-conversations").await;
    visit
        .click(".drawer [data-session]:not([aria-current])")
        .await;
    visit.shows(&["first words"], &["re: first words"]).await;
    visit.browser.reload().await;
    // The one that was written in last.
    visit.shows(&["second words"], &["re: second words"]).await;
}

#[tokio::test]
async fn an_answer_is_stopped_asked_again_and_edited() {
    let Some(visit) = Visit::on_page(1200, 800).await else {
        return;
    };
    visit.slowly(&[
        "One. \n\n",
        "Two. \n\n",
        "Three. \n\n",
        "Four. \n\n",
        "Five. \n\n",
        "Six. \n\n",
    ]);
    visit.say("count").await;
    visit.is("$('.draft')").await;
    visit.click(".stop").await;
    visit.is("$('.stop').hidden && !$('.draft')").await;
    visit.click(".message.user [data-act='retry']").await;
    visit
        .is("texts('.message.bot:not(.thinking) .bubble').includes('re: count')")
        .await;
    visit.click(".message.user [data-act='edit']").await;
    visit.browser.keys("er").await;
    visit.browser.keys(ENTER).await;
    visit
        .is("texts('.message.bot:not(.thinking) .bubble').includes('re: counter')")
        .await;
}
