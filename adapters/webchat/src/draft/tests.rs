use proptest::prelude::*;

use super::*;

fn start(turn: &str, attempt: u32) -> PreviewStart {
    PreviewStart {
        conversation: weirgate_sdk::ConversationKey {
            platform: "webchat".into(),
            account: "site".into(),
            conversation: "v".into(),
            thread: None,
        },
        turn: turn.into(),
        attempt,
        answers: vec!["m1".into()],
        reply_context: None,
    }
}

fn texts(items: &[&str]) -> Vec<String> {
    items.iter().map(|item| (*item).to_owned()).collect()
}

/// What a client does with a draft frame, as the protocol tells it.
fn apply(view: &mut Vec<String>, body: &Map<String, Value>) {
    if body.get("replace").is_some() {
        view.clear();
    }
    let block = usize::try_from(body["block"].as_u64().unwrap()).unwrap();
    view.truncate(block);
    assert_eq!(view.len(), block, "a block is missing before {body:?}");
    view.push(body["html"].as_str().unwrap().to_owned());
}

#[test]
fn only_blocks_that_differ_are_sent() {
    let now = Instant::now();
    let mut drafts = Drafts::default();
    drafts.open(&start("t", 1), now).unwrap();
    let first = drafts.push("t", 1, 0, texts(&["a", "b"]), 0, now).unwrap();
    assert_eq!(first.iter().map(|it| it.seq).collect::<Vec<_>>(), [1, 2]);
    for (frame, replace) in first.iter().zip([true, false]) {
        assert_eq!(frame.replace, replace);
        assert_eq!(frame.body.contains_key("replace"), replace);
        assert_eq!(frame.body["block"], frame.block);
    }
    let second = drafts.push("t", 1, 1, texts(&["b", "c"]), 2, now).unwrap();
    assert_eq!(second.len(), 1);
    assert_eq!(second[0].body["block"], 2);
    assert!(
        drafts
            .push("t", 1, 2, texts(&["c"]), 3, now)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_new_attempt_replaces_the_old_one_which_can_say_no_more() {
    let now = Instant::now();
    let mut drafts = Drafts::default();
    drafts.open(&start("t", 1), now).unwrap();
    drafts
        .push("t", 1, 0, texts(&["Good mor"]), 0, now)
        .unwrap();
    drafts.open(&start("t", 2), now).unwrap();
    assert_eq!(
        drafts.push("t", 1, 0, texts(&["x"]), 1, now),
        Err(NoDraft::Over)
    );
    assert_eq!(drafts.open(&start("t", 1), now), Err(NoDraft::Over));
    let frames = drafts
        .push("t", 2, 0, texts(&["Good morning!"]), 1, now)
        .unwrap();
    assert!(frames[0].replace);
    assert_eq!(drafts.since(0).len(), 1);
}

#[test]
fn the_final_text_ends_the_drafts_of_its_turn_and_of_its_messages() {
    let now = Instant::now();
    let mut drafts = Drafts::default();
    for (turn, answers) in [(Some("t"), vec![]), (None, vec![MessageId::from("m1")])] {
        drafts.open(&start("t", 1), now).unwrap();
        drafts.end(Some("other"), &["m2".into()]);
        assert!(drafts.live());
        drafts.end(turn, &answers);
        assert!(!drafts.live());
    }
}

#[test]
fn drafts_are_bounded_in_number_and_size() {
    let now = Instant::now();
    let mut drafts = Drafts::default();
    for turn in 0..MAX_DRAFTS {
        drafts.open(&start(&turn.to_string(), 1), now).unwrap();
    }
    assert_eq!(drafts.open(&start("more", 1), now), Err(NoDraft::TooMany));
    drafts.close("3", 1);
    drafts.open(&start("more", 1), now).unwrap();
    let huge = vec!["x".repeat(MAX_BYTES + 1)];
    assert_eq!(
        drafts.push("more", 1, 0, huge, 0, now),
        Err(NoDraft::TooLong)
    );
}

proptest! {
    /// However the text grows and wherever a client drops out, what it gets afterwards makes its view
    /// the one of a client that was always there.
    #[test]
    fn a_client_that_was_away_catches_up_exactly(
        pushes in prop::collection::vec((any::<bool>(), prop::collection::vec("[ab]", 1..5)), 1..8),
        away in 0..30_u64,
    ) {
        let now = Instant::now();
        let mut drafts = Drafts::default();
        let (mut seq, mut attempt, mut count) = (0, 0, 0);
        let (mut always, mut partly) = (vec![], vec![]);
        for (retry, blocks) in pushes {
            if retry || attempt == 0 {
                attempt += 1;
                count = 0;
                drafts.open(&start("t", attempt), now).unwrap();
            }
            let from = count.min(blocks.len()).saturating_sub(1);
            count = blocks.len();
            let html = blocks[from..].to_vec();
            for DraftFrame { seq: number, body, .. } in drafts.push("t", attempt, from, html, seq, now).unwrap() {
                prop_assert_eq!(number, seq + 1);
                seq = number;
                apply(&mut always, &body);
                if number <= away {
                    apply(&mut partly, &body);
                }
            }
            prop_assert_eq!(always.len(), blocks.len());
            prop_assert_eq!(&always[from..], &blocks[from..]);
        }
        for DraftFrame { seq: number, body, .. } in drafts.since(away.min(seq)) {
            prop_assert!(number > away.min(seq));
            apply(&mut partly, &body);
        }
        prop_assert_eq!(&partly, &always);
        let mut anew = vec!["old".to_owned()];
        drafts.since(0).iter().for_each(|it| apply(&mut anew, &it.body));
        prop_assert_eq!(anew, always);
    }
}
