//! The newest ids are known, the memory is bounded.

use super::*;

#[test]
fn the_newest_are_known_in_their_conversation_only() {
    let sent = SentMessages::default();
    let (here, there) = (ConversationId::from("g1"), ConversationId::from("g2"));
    for id in 0..CAPACITY + 10 {
        sent.remember(&here, &id.to_string());
    }
    sent.remember(&here, &(CAPACITY + 9).to_string());
    assert!(!sent.contains(&here, "9"));
    assert!(sent.contains(&here, "10"));
    assert!(sent.contains(&here, &(CAPACITY + 9).to_string()));
    assert!(!sent.contains(&there, "10"));
    let recent = sent.recent.lock();
    assert_eq!(
        (recent.known.len(), recent.order.len()),
        (CAPACITY, CAPACITY)
    );
}
