//! The context keeps the system prompt and the newest message whatever the budget.

use proptest::prelude::*;

use super::*;
use crate::agent::{history::Part, model::ToolCall};

fn row(role: store::Role, text: &str) -> History {
    let content = match role {
        store::Role::Assistant => Content::model(text.into(), None),
        _ => Content::person("Ann", text.into()),
    };
    History {
        role,
        turn: 1,
        at: 0,
        parts: content.encode(),
    }
}

fn built(history: &[History], newest: &str, tokens: usize, keep_recent: usize) -> Built {
    tried(history, newest, tokens, keep_recent).unwrap()
}

fn tried(
    history: &[History],
    newest: &str,
    tokens: usize,
    keep_recent: usize,
) -> Result<Built, TooLarge> {
    let material = Material {
        system: "be kind",
        history,
        newest: newest.into(),
        digest: "",
        steps: &[],
        enclosed: Vec::new(),
        known: &Known::new(),
    };
    build(
        material,
        Budget {
            tokens,
            keep_recent,
        },
    )
}

#[test]
fn everything_stays_within_the_budget() {
    let history = [
        row(store::Role::User, "q"),
        row(store::Role::Assistant, "a"),
    ];
    let built = built(&history, "next", 1_000, 1);
    let texts: Vec<&str> = built
        .messages
        .iter()
        .map(|message| &*message.text)
        .collect();
    assert_eq!(texts, ["be kind", "Ann: q", "a", "next"]);
    assert_eq!(
        (built.left_out, built.results_cut, built.repaired),
        (0, false, 0)
    );
}

#[test]
fn over_the_budget_only_recent_messages_stay_and_no_answer_leads() {
    let long = "word ".repeat(100);
    let history: Vec<History> = (0..10)
        .flat_map(|_| {
            [
                row(store::Role::User, &long),
                row(store::Role::Assistant, &long),
            ]
        })
        .collect();
    let built = built(&history, "next", 700, 5);
    assert_eq!(
        built.messages.first().map(|message| message.role),
        Some(Role::System)
    );
    assert_eq!(
        built.messages.get(1).map(|message| message.role),
        Some(Role::User)
    );
    assert_eq!(
        built.messages.len(),
        1 + 4 + 1,
        "five fit the rule, the leading answer goes"
    );
}

#[test]
fn names_cannot_pose_as_structure() {
    assert_eq!(named("a\nsystem", "x".into()), "a system: x");
    assert_eq!(named("\u{202e}", "x".into()), "x");
    assert_eq!(
        named(&"n".repeat(99), "x".into()),
        format!("{}: x", "n".repeat(40))
    );
}

fn step(id: &str, results: &[Option<&str>]) -> Step {
    let call = |n: usize| ToolCall {
        id: format!("{id}{n}"),
        name: "f".into(),
        arguments: "{}".into(),
    };
    Step {
        calls: (0..results.len()).map(call).collect(),
        results: results.iter().map(|text| text.map(str::to_owned)).collect(),
        ..Step::default()
    }
}

#[test]
fn results_of_this_turn_are_shortened_before_the_turn_goes_over_its_budget() {
    let long = "word ".repeat(400);
    let steps = [step("a", &[Some(&long)]), step("b", &[Some(&long)])];
    let material = Material {
        system: "be kind",
        history: &[],
        newest: "next".into(),
        enclosed: Vec::new(),
        known: &Known::new(),
        digest: "",
        steps: &steps,
    };
    let budget = Budget {
        tokens: 700,
        keep_recent: 5,
    };
    let built = build(material, budget).unwrap();
    assert!(built.results_cut);
    assert!(
        built.messages[3].text.ends_with(CUT_MARK),
        "the older one gives way"
    );
    assert_eq!(built.messages[5].text, long);
}

/// Every result follows its call, every call has its results, and a person speaks first.
fn paired(messages: &[Message]) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message.role {
            Role::Tool => {
                let id = message.answers.as_deref().unwrap_or_default();
                if open.is_empty() || open.remove(0) != id {
                    return false;
                }
            }
            _ if !open.is_empty() => return false,
            _ => open = message.calls.iter().map(|call| call.id.as_str()).collect(),
        }
    }
    let first = messages.iter().find(|message| message.role != Role::System);
    open.is_empty() && first.is_none_or(|first| first.role == Role::User)
}

proptest! {
    #[test]
    fn calls_and_results_stay_together_whatever_is_cut(
        kinds in prop::collection::vec(0..4_usize, 0..16),
        tokens in 0_usize..300,
        keep in 0_usize..10,
    ) {
        let history: Vec<History> = kinds
            .iter()
            .enumerate()
            .map(|(at, kind)| match kind {
                0 => row(store::Role::User, "question"),
                1 => row(store::Role::Assistant, "answer"),
                kind => {
                    let results = [Some("one"), None].repeat(*kind - 1);
                    let content = Content::step(&step(&format!("s{at}-"), &results));
                    History { role: store::Role::Assistant, turn: 1, at: 0, parts: content.encode() }
                }
            })
            .collect();
        if let Ok(built) = tried(&history, "next", tokens, keep) {
            prop_assert!(paired(&built.messages), "{:?}", built.messages);
        }
    }

    #[test]
    fn system_and_newest_survive_any_budget(
        texts in prop::collection::vec(".{0,80}", 0..12),
        newest in ".{0,300}",
        tokens in 0_usize..400,
        keep in 0_usize..8,
    ) {
        let history: Vec<History> = texts
            .iter()
            .enumerate()
            .map(|(index, text)| {
                row(if index % 2 == 0 { store::Role::User } else { store::Role::Assistant }, text)
            })
            .collect();
        let built = match tried(&history, &newest, tokens, keep) {
            Ok(built) => built,
            Err(too_large) => {
                prop_assert!(too_large.size > too_large.most && too_large.most <= tokens);
                return Ok(());
            }
        };
        prop_assert_eq!(&*built.messages[0].text, "be kind");
        let last = &built.messages[built.messages.len() - 1];
        prop_assert_eq!(last.role, Role::User);
        prop_assert_eq!(&last.text, &newest);
        prop_assert!(costs(&built.messages) <= tokens);
    }
}

#[test]
fn what_must_stay_and_does_not_fit_is_said() {
    let long = "word ".repeat(400);
    let too_large = tried(&[], &long, 300, 5).unwrap_err();
    assert!(
        too_large.size > 500 && too_large.most < 300,
        "{too_large:?}"
    );
}

#[test]
fn a_large_result_of_long_ago_is_shortened_before_anything_is_left_out() {
    let long = "word ".repeat(900);
    let of = |content: Content, role| History {
        role,
        turn: 1,
        at: 0,
        parts: content.encode(),
    };
    let called = Content::step(&step("a", &[Some(&long), Some("short")]));
    let history = [
        row(store::Role::User, "question"),
        of(called, store::Role::Assistant),
        row(store::Role::Assistant, "answer"),
    ];
    let built = built(&history, "next", 700, 5);
    assert_eq!((built.left_out, built.results_cut), (0, true));
    assert!(built.messages[3].text.ends_with(CUT_MARK));
    assert_eq!(built.messages[4].text, "short");
}

#[test]
fn a_summary_is_framed_and_outlives_the_rows_behind_it() {
    let long = "word ".repeat(100);
    let mut history = vec![
        row(store::Role::User, "first"),
        row(store::Role::Assistant, "answer"),
        row(store::Role::Summary, "delete ticket 12\n[end]"),
    ];
    for _ in 0..10 {
        history.push(row(store::Role::User, &long));
        history.push(row(store::Role::Assistant, &long));
    }
    let all = built(&history, "next", 9_000, 5);
    assert_eq!(all.messages.len(), history.len() + 2);
    let few = built(&history, "next", 700, 5);
    let summary = &few.messages[1];
    assert_eq!((summary.role, summary), (Role::User, &all.messages[3]));
    assert!(
        summary.text.starts_with("[From the gateway: "),
        "{}",
        summary.text
    );
    assert!(summary.text.contains("\n> delete ticket 12\n> [end]\n"));
    assert_eq!(
        few.messages[2].role,
        Role::User,
        "no answer without its question"
    );
}

fn file(id: &str, medium: Medium, size: u64) -> Enclosed {
    Enclosed {
        medium,
        id: id.into(),
        mime: String::new(),
        name: None,
        size,
        url: None,
    }
}

/// The files in a context, message by message.
fn carried(newest: &[(&str, Medium)], earlier: &[&str], tokens: usize) -> (Vec<String>, bool) {
    let row = |ids: &str| {
        let parts = ids.chars().map(|id| Part::Media {
            kind: "image".into(),
            reference: id.into(),
        });
        let content = Content::person("", "words".into()).with(parts.collect());
        History {
            role: store::Role::User,
            turn: 1,
            at: 0,
            parts: content.encode(),
        }
    };
    let history: Vec<History> = earlier.iter().map(|ids| row(ids)).collect();
    let known = ["a", "b", "c"].map(|id| (id.to_owned(), file(id, Medium::Picture, 10)));
    let built = build(
        Material {
            system: "",
            history: &history,
            newest: "next".into(),
            enclosed: newest
                .iter()
                .map(|(id, medium)| file(id, *medium, 600_000))
                .collect(),
            known: &Known::from(known),
            digest: "",
            steps: &[],
        },
        Budget {
            tokens,
            keep_recent: 10,
        },
    );
    let built = built.unwrap();
    let ids = |message: &Message| {
        message
            .enclosed
            .iter()
            .map(|file| file.id.clone())
            .collect()
    };
    (built.messages.iter().map(ids).collect(), built.results_cut)
}

#[test]
fn a_file_stands_where_it_was_sent_last_and_one_that_is_not_known_nowhere() {
    let newest = [("a", Medium::Picture)];
    let (files, cut) = carried(&newest, &["ab", "bcx"], 100_000);
    assert_eq!(
        (files, cut),
        (vec!["".into(), "bc".into(), "a".into()], false)
    );
}

#[test]
fn files_give_way_before_words_do_the_oldest_first() {
    let newest = [("a", Medium::Picture)];
    let (files, cut) = carried(&newest, &["b", "c"], 2_100);
    assert_eq!(
        (files, cut),
        (vec!["".into(), "c".into(), "a".into()], true)
    );
    let (files, _) = carried(&newest, &["b", "c"], 100);
    assert_eq!(files, ["", "", ""]);
    let document = [("a", Medium::Picture), ("d", Medium::Document)];
    let (files, cut) = carried(&document, &[], 9_000);
    assert_eq!(
        (files, cut),
        (vec!["a".into()], true),
        "10000 for the document"
    );
    let (files, _) = carried(&[("s", Medium::Sound)], &[], 400);
    assert_eq!(files, ["s"], "375 for the recording");
}
