//! What goes wrong on the way: a gateway that dies, a network that goes, several tabs, hostile text.

use serde_json::json;

use super::Visit;

#[tokio::test]
async fn an_answer_survives_the_death_of_the_gateway() {
    let Some(mut visit) = Visit::on_page(1000, 700).await else {
        return;
    };
    visit.slowly(&[
        "It begins. \n\n",
        "It goes on. \n\n",
        "It goes on again. \n\n",
        "It ends.",
    ]);
    visit.say("long").await;
    visit.is("$('.draft')").await;
    visit.gateway.kill().await;
    visit.is("$('.panel').dataset.state === 'offline'").await;
    visit.browser.picture("page-offline").await;
    visit.say("meanwhile").await;
    visit.is("$('.waiting .note')").await;
    visit.gateway.up().await;
    visit
        .shows(&["long", "meanwhile"], &["re: long", "re: meanwhile"])
        .await;
    visit.browser.reload().await;
    visit
        .shows(&["long", "meanwhile"], &["re: long", "re: meanwhile"])
        .await;
}

#[tokio::test]
async fn what_is_said_without_a_network_is_sent_when_it_is_back() {
    let Some(visit) = Visit::on_page(1000, 700).await else {
        return;
    };
    let network = |offline: bool| {
        visit.browser.devtools(
            "Network.emulateNetworkConditions",
            json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 }),
        )
    };
    visit.browser.devtools("Network.enable", json!({})).await;
    network(true).await;
    // The browser keeps a socket that is open; one that is opened anew fails.
    visit
        .browser
        .run(&format!("{} chat.connection.socket.close();", super::CHAT))
        .await;
    visit.is("$('.panel').dataset.state === 'offline'").await;
    visit.say("are you there").await;
    visit
        .is("$('.waiting .note').innerText.includes('connection')")
        .await;
    network(false).await;
    visit
        .shows(&["are you there"], &["re: are you there"])
        .await;
}

#[tokio::test]
async fn two_tabs_show_the_same_while_it_is_written() {
    let Some(visit) = Visit::on_page(1000, 700).await else {
        return;
    };
    let first = visit.browser.tab().await;
    visit.browser.go(&visit.url("")).await;
    visit.is("$('.panel').dataset.state === 'online'").await;
    visit.slowly(&[
        "One. \n\n",
        "Two. \n\n",
        "Three. \n\n",
        "Four. \n\n",
        "Five. \n\n",
        "Six.",
    ]);
    visit.say("both").await;
    visit.is("$('.draft')").await;
    visit.browser.to_tab(&first).await;
    visit
        .is("$('.draft') || $('.message.bot:not(.thinking)')")
        .await;
    visit
        .shows(
            &["both"],
            &["One.\n\nTwo.\n\nThree.\n\nFour.\n\nFive.\n\nSix."],
        )
        .await;
}
