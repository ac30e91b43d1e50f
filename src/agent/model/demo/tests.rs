use tokio::time::Instant;

use super::super::{Message, Offered, Role};
use super::*;

fn request(text: &str) -> ChatRequest {
    let message = |role, text: &str| Message::words(role, text.to_owned());
    ChatRequest {
        messages: vec![message(Role::System, "be kind"), message(Role::User, text)],
        max_output_tokens: None,
        temperature: None,
        offered: Offered::default(),
        turn: "t1".to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn it_streams_word_by_word_and_ends_once() {
    let demo = Demo::new(Duration::from_millis(20));
    let started = Instant::now();
    let mut stream = demo.open(&request("hello there")).await.unwrap();
    let mut text = String::new();
    let mut words = 0;
    let mut finishes = 0;
    while let Some(delta) = stream.next().await {
        match delta.unwrap() {
            Delta::Text(word) => {
                text.push_str(&word);
                words += 1;
            }
            Delta::Finish(FinishReason::Stop) => finishes += 1,
            other => panic!("unexpected {other:?}"),
        }
    }
    assert_eq!(
        (text.as_str(), finishes),
        (reply("hello there").as_str(), 1)
    );
    assert!(words > 20);
    assert_eq!(started.elapsed(), Duration::from_millis(20) * words);
    assert!(stream.next().await.is_none());
}

#[test]
fn it_speaks_the_persons_language_and_quotes_him() {
    let english = reply("hello there");
    assert!(english.contains("demo") && english.contains("\"hello there\""));
    let chinese = reply("今天天气怎么样");
    assert!(chinese.contains("演示") && chinese.contains("“今天天气怎么样”"));
    for text in [english, chinese] {
        assert!(text.contains("```yaml\nproviders:") && text.ends_with("```"));
        assert!(text.contains("agent.yaml"));
    }
}

#[test]
fn what_it_quotes_cannot_break_its_layout() {
    let text = reply(&format!("```\n@all **x** <b> {}", "long ".repeat(100)));
    assert_eq!(text.matches("```").count(), 2);
    assert!(!text.contains('@') && !text.contains("**") && text.contains('…'));
    assert!(text.chars().count() < 400);
    assert!(!reply("").contains("You said"));
}

#[test]
fn words_join_to_the_text() {
    let text = reply("你好 world");
    assert_eq!(words(&text).into_iter().collect::<String>(), text);
}
