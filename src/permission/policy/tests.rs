//! What a policy may say, and that what is written comes back.

use super::*;

fn set(policy: &mut Policy, key: &str, value: &str) -> Result<(), BadPolicy> {
    policy.set(key, value, |name| ["guest", "member"].contains(&name))
}

#[test]
fn every_key_is_read_as_it_is_written() {
    let values = [
        ("default_role", "guest"),
        ("allow_guest_read", "off"),
        ("allow_guest_send", "off"),
        ("allow_media", "off"),
        ("allow_commands", "off"),
        ("allow_ai_responses", "off"),
        ("anonymous_admins", "on"),
        ("max_message_length", "500"),
        ("max_messages_per_minute", "6"),
        ("max_commands_per_minute", "2"),
        ("warnings_before_mute", "5"),
        ("warning_mute", "600s"),
        ("four_eyes", "on"),
        ("approval_time", "120s"),
        ("whitelist", "1 2"),
        ("blacklist", "3"),
    ];
    assert_eq!(values.map(|(key, _)| key), KEYS);
    let mut policy = Policy::default();
    for (key, value) in values {
        assert_ne!(policy.get(key).as_deref(), Some(value), "{key}");
        assert_eq!(set(&mut policy, key, value), Ok(()), "{key}");
        assert_eq!(policy.get(key).as_deref(), Some(value), "{key}");
    }
    let rows: Vec<(String, String)> = values
        .iter()
        .map(|(key, value)| (Policy::key(key), (*value).to_owned()))
        .collect();
    assert_eq!(ConversationRules::read(&rows).policy, policy);
    // Back to how it was, but for the one that has no word for it.
    let default = Policy::default();
    for key in &KEYS[1..] {
        let value = default.get(key).expect("a key");
        assert_eq!(set(&mut policy, key, &value), Ok(()), "{key}");
    }
    policy.default_role = None;
    assert_eq!(policy, default);
}

#[test]
fn what_is_wrong_changes_nothing() {
    let mut policy = Policy::default();
    for (key, value) in [
        ("default_role", "king"),
        ("allow_media", "perhaps"),
        ("max_message_length", "0"),
        ("max_message_length", "-1"),
        ("max_message_length", "many"),
    ] {
        assert!(
            matches!(set(&mut policy, key, value), Err(BadPolicy::Value(_))),
            "{key}"
        );
    }
    assert_eq!(
        set(&mut policy, "allow_everything", "on"),
        Err(BadPolicy::Key)
    );
    let many = "1 ".repeat(MOST_IDS + 1);
    assert!(set(&mut policy, "blacklist", &many).is_err());
    assert_eq!(policy, Policy::default());
}

#[test]
fn a_role_that_was_lent_runs_out() {
    let grant = Grant::new("admin", Some(Duration::from_secs(2)), 1_000);
    let rows = vec![(Grant::key("42"), grant.value())];
    let read = ConversationRules::read(&rows);
    assert_eq!(read.grants["42"], grant);
    assert!(grant.holds(2_999) && !grant.holds(3_000));
    let for_good = Grant::new("admin", None, 1_000);
    assert_eq!(for_good.value(), "admin");
    assert!(for_good.holds(i64::MAX));
}
