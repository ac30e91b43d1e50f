//! The context keeps the system prompt and the newest message whatever the budget.

use proptest::prelude::*;

use super::*;

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
    let material = Material {
        system: "be kind",
        history,
        newest: newest.into(),
        pictures: Vec::new(),
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
    assert_eq!((built.left_out, built.newest_cut), (0, false));
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

proptest! {
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
        let built = built(&history, &newest, tokens, keep);
        prop_assert_eq!(&*built.messages[0].text, "be kind");
        let last = &built.messages[built.messages.len() - 1];
        prop_assert_eq!(last.role, Role::User);
        if built.newest_cut {
            prop_assert!(last.text.ends_with(CUT_MARK));
        } else {
            prop_assert_eq!(&last.text, &newest);
        }
        let total: usize = built.messages.iter().map(cost).sum();
        // What must stay may alone be over a tiny budget; what is optional never is.
        let forced = cost(&built.messages[0]) + cost(last);
        prop_assert!(total <= tokens.max(forced));
    }
}
