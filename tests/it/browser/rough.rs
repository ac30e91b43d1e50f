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
    let seen = "[window.pwned ?? null, all('[role=log] script, [role=log] img, [role=log] svg:not(.tools svg):not(.copy svg), \
         [role=log] iframe, [role=log] form, [role=log] style, [role=log] input, [role=log] object, [role=log] math').map((it) => it.outerHTML), \
         all('[role=log] a').filter((it) => !/^(https?|mailto):/.test(it.href)).length, \
         all('[role=log] *').filter((it) => [...it.attributes].some(({ name }) => name.startsWith('on'))).length, \
         performance.getEntriesByType('resource').filter((it) => !it.name.startsWith(location.origin)).length]";
    assert_eq!(visit.get(seen).await, json!([null, [], 0, 0, 0]));
    visit.browser.reload().await;
    visit
        .is(&format!("all('.message.user').length >= {}", 20))
        .await;
    assert_eq!(visit.get(seen).await, json!([null, [], 0, 0, 0]));
    visit.browser.picture("page-hostile").await;
}
