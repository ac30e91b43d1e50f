//! Questions as cards: pressed, answered once, answered still after a reload and in another tab.

use serde_json::json;
use weirgate_testkit::model::Script;

use super::{ENTER, Visit};

/// The labels of the buttons of the last card.
const LABELS: &str = "texts('.card .choice')";

async fn asked() -> Option<Visit> {
    let visit = Visit::on_page(1000, 760).await?;
    visit.say("hello").await;
    visit.shows(&["hello"], &["re: hello"]).await;
    visit.say("/delete").await;
    visit.is("all('.card .choice').length === 3").await;
    Some(visit)
}

/// The state of each button: pressed or not, and whether it can be.
const STATES: &str =
    "all('.card .choice').map((it) => [it.ariaPressed === 'true', it.ariaDisabled === 'true'])";

#[tokio::test]
async fn a_question_is_a_card_that_is_answered_once() {
    let Some(visit) = asked().await else { return };
    assert_eq!(
        visit.get(LABELS).await,
        json!(["What was said", "Everything", "No"])
    );
    assert_eq!(
        visit.get("$('.card').getAttribute('role')").await,
        json!("group")
    );
    visit.browser.picture("card-open").await;
    visit.click(".card .choice").await;
    visit
        .is("texts('.message.bot:not(.thinking) .bubble').includes('I have forgotten what was said here.')")
        .await;
    let answered = json!([[true, true], [false, true], [false, true]]);
    assert_eq!(visit.get(STATES).await, answered);
    visit.browser.picture("card-answered").await;
    // Nothing comes of another press.
    visit.click(".card .choice:nth-child(2)").await;
    visit.say("still here").await;
    visit
        .is("texts('.message.bot:not(.thinking) .bubble').includes('re: still here')")
        .await;
    let own = visit.get("texts('.message.user .bubble')").await;
    assert_eq!(
        own,
        json!(["hello", "/delete", "still here"]),
        "a press is no message of its own"
    );
    visit.browser.reload().await;
    visit.is("all('.card .choice').length === 3").await;
    assert_eq!(visit.get(STATES).await, answered);
    let first = visit.browser.tab().await;
    visit.browser.go(&visit.url("")).await;
    visit.is("all('.card .choice').length === 3").await;
    assert_eq!(visit.get(STATES).await, answered);
    visit.browser.to_tab(&first).await;
}

#[tokio::test]
async fn choices_of_the_model_are_a_card_and_words_answer_as_well() {
    let Some(visit) = Visit::on_page(1000, 760).await else {
        return;
    };
    let asks = json!({ "question": "Which size?", "choices": ["Small", "Large"] });
    visit
        .model
        .push(Script::calls(&[("ask_person", asks.clone())]));
    visit.say("order").await;
    visit.is("all('.card .choice').length === 3").await;
    assert_eq!(visit.get(LABELS).await, json!(["Small", "Large", "Skip"]));
    visit.browser.picture("card-question").await;
    visit.model.push(Script::answer("a large one"));
    visit.click(".card .choice:nth-child(2)").await;
    let answered =
        |text: &str| format!("texts('.message.bot:not(.thinking) .bubble').includes('{text}')");
    visit.is(&answered("a large one")).await;
    let states = json!([[false, true], [true, true], [false, true]]);
    assert_eq!(visit.get(STATES).await, states);
    visit.model.push(Script::calls(&[("ask_person", asks)]));
    visit.say("another").await;
    visit.is("all('.card .choice').length === 6").await;
    visit.model.push(Script::answer("tiny"));
    visit.say("the smallest there is").await;
    visit.is(&answered("tiny")).await;
    visit
        .is("all('.card .choice').every((it) => it.ariaDisabled === 'true')")
        .await;
}

#[tokio::test]
async fn two_tabs_show_the_same_card_and_words_answer_it_too() {
    let Some(visit) = asked().await else { return };
    let first = visit.browser.tab().await;
    visit.browser.go(&visit.url("")).await;
    visit.is("all('.card .choice').length === 3").await;
    let code = visit
        .get("$('.asks .bubble').innerText.match(/\\((\\w+),/)[1]")
        .await;
    visit
        .say(&format!("/deny {}", code.as_str().expect("its name")))
        .await;
    let denied = "all('.card .choice')[2]?.ariaPressed === 'true'";
    visit.is(denied).await;
    visit.browser.to_tab(&first).await;
    visit.is(denied).await;
    assert_eq!(
        visit
            .get("all('.card .choice').every((it) => it.ariaDisabled === 'true')")
            .await,
        json!(true)
    );
}

#[tokio::test]
async fn a_press_without_a_connection_is_sent_when_there_is_one() {
    let Some(mut visit) = asked().await else {
        return;
    };
    visit.gateway.kill().await;
    visit.is("$('.panel').dataset.state === 'offline'").await;
    visit
        .browser
        .run(&format!("{} all('.card .choice')[2].focus();", super::CHAT))
        .await;
    visit.browser.keys(ENTER).await;
    visit.is("$('.card .note')?.innerText !== ''").await;
    assert_eq!(
        visit
            .get("all('.card .choice')[2] === chat.shadowRoot.activeElement")
            .await,
        json!(true),
        "the focus stays where it is"
    );
    visit.gateway.up().await;
    visit
        .is("all('.card .choice')[2]?.ariaPressed === 'true'")
        .await;
    visit
        .is("texts('.message.bot:not(.thinking) .bubble').some((it) => it.startsWith('Not done'))")
        .await;
}
