//! Language tags, the guess from a text, and that both languages say something for every text.

use super::*;

#[test]
fn tags_are_read_leniently() {
    for (tag, language) in [
        ("zh-CN", Some(Language::Zh)),
        ("ZH_cn", Some(Language::Zh)),
        ("en-US", Some(Language::En)),
        ("EN", Some(Language::En)),
        ("fr", None),
        ("", None),
    ] {
        assert_eq!(Language::from_tag(tag), language, "{tag}");
    }
}

#[test]
fn the_language_of_a_text_is_guessed() {
    for (text, language) in [
        ("hello", Some(Language::En)),
        ("说 hello", Some(Language::Zh)),
        ("hello 世界", Some(Language::Zh)),
        ("123 !?", None),
        ("", None),
    ] {
        assert_eq!(Language::of_text(text), language, "{text}");
    }
}

#[test]
fn notices_are_never_empty() {
    let reference = || "t1".to_owned();
    let texts = [
        Text::HelpHead(Level::Public),
        Text::HelpHead(Level::Admin),
        Text::HelpHead(Level::Owner),
        Text::HelpMore {
            admin: true,
            owner: true,
        },
        Text::Pong,
        Text::StoppedMark,
        Text::TimeoutMark,
        Text::TruncatedMark,
        Text::BudgetMark { left: 12 },
        Text::DroppedOldest(3),
        Text::RefusedNewest(1),
        Text::ExpiredMessages(2),
        Text::TooLarge { limit: 65_536 },
        Text::Failed {
            reference: reference(),
        },
        Text::TimedOut {
            reference: reference(),
        },
        Text::ModelRefused,
        Text::ModelEmpty,
        Text::ModelNoRoom,
        Text::Quarantined {
            reference: reference(),
        },
        Text::InjectionBlocked {
            reference: reference(),
        },
        Text::AgentLoop,
        Text::ContentBlocked {
            reference: reference(),
        },
        Text::HintUntrusted,
        Text::HintDropped {
            prefix: "[x]".into(),
            count: 2,
            span: 1,
        },
        Text::UnknownCommand("x".into()),
    ];
    for language in Language::ALL {
        for text in &texts {
            assert!(
                !text.render(language).is_empty(),
                "{text:?} in {language:?}"
            );
        }
    }
}

#[test]
fn durations_are_rough() {
    let units = ["d", "h", "m", "s"];
    for (seconds, text) in [
        (0, "0s"),
        (5, "5s"),
        (65, "1m 5s"),
        (3_600, "1h"),
        (90_000, "1d 1h"),
    ] {
        assert_eq!(rough(Duration::from_secs(seconds), units), text);
    }
}
