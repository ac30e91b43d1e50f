//! Reason codes: each is given somewhere in the code, and each is seen by a test.
//!
//! Owns the list of who sees which code. Codes that concern a message are seen in what /why says.

mod events;
mod turns;
mod waits;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use weirgate::reason::Reason;

/// Each code with a file of tests that names it.
const SEEN: [(&str, &str); 95] = [
    ("duplicate", "tests/it/reasons/events.rs"),
    ("own_message", "tests/it/reasons/events.rs"),
    ("other_bot", "tests/it/simulation/changes.rs"),
    ("not_addressed", "tests/it/reasons/events.rs"),
    ("empty_message", "tests/it/reasons/events.rs"),
    ("unsupported_event", "tests/it/reasons/events.rs"),
    ("malformed_event", "tests/it/reasons/events.rs"),
    ("account_limit", "tests/it/reasons/events.rs"),
    ("too_large", "tests/it/inbound_rules/changes.rs"),
    ("queue_full_dropped_oldest", "tests/it/commands/why.rs"),
    ("queue_full_refused", "tests/it/inbound_rules/overflow.rs"),
    ("held_back", "tests/it/inbound_rules/overflow.rs"),
    ("total_full", "tests/it/inbound_rules/overflow.rs"),
    ("expired", "tests/it/inbound_rules/changes.rs"),
    ("recalled", "tests/it/inbound_rules/changes.rs"),
    ("edited", "tests/it/simulation/changes.rs"),
    ("merged", "tests/it/reasons/waits.rs"),
    ("debounced", "tests/it/reasons/waits.rs"),
    ("waiting_for_token", "tests/it/reasons/waits.rs"),
    ("waiting_for_model", "tests/it/reasons/waits.rs"),
    ("waiting_for_turn", "tests/it/reasons/waits.rs"),
    ("stopped", "tests/it/commands/stop.rs"),
    ("cancelled", "tests/it/commands/stop.rs"),
    ("turn_timeout", "tests/it/turns/failures.rs"),
    ("turn_failed", "tests/it/reasons/turns.rs"),
    ("model_rate_limited", "tests/it/reasons/turns.rs"),
    ("model_failed", "tests/it/commands/why.rs"),
    ("model_retried", "tests/it/turns/failures.rs"),
    ("model_fell_back", "tests/it/turns/failures.rs"),
    ("answer_truncated", "tests/it/turns/failures.rs"),
    ("answer_refused", "tests/it/turns/failures.rs"),
    ("answer_empty", "tests/it/turns/failures.rs"),
    ("tool_refused", "tests/it/turns/tools.rs"),
    ("tool_failed", "tests/it/turns/tools.rs"),
    ("tool_timeout", "tests/it/turns/tools.rs"),
    ("tool_retried", "tests/it/turns/tools.rs"),
    ("tool_limit", "tests/it/turns/tools.rs"),
    ("tool_loop", "tests/it/turns/tools.rs"),
    ("tool_result_cut", "tests/it/turns/tools.rs"),
    ("tool_unsure", "tests/it/durable/tools.rs"),
    ("tool_asked", "tests/it/turns/approval.rs"),
    ("tool_calls_broken", "tests/it/turns/tools.rs"),
    ("context_cut", "tests/it/turns/context.rs"),
    ("context_summarised", "tests/it/turns/compact.rs"),
    ("summary_failed", "tests/it/turns/compact.rs"),
    ("remembered", "tests/it/memory/extraction.rs"),
    ("agent_loop", "tests/it/agents/circle.rs"),
    ("memory_failed", "tests/it/memory/extraction.rs"),
    ("history_repaired", "tests/it/turns/compact.rs"),
    ("context_overflow", "tests/it/turns/compact.rs"),
    ("quarantined", "tests/it/reasons/turns.rs"),
    ("permission_denied", "tests/it/commands/why.rs"),
    ("blocked", "tests/it/commands/rights.rs"),
    ("answers_off", "tests/it/commands/rights.rs"),
    ("media_off", "tests/it/commands/rights.rs"),
    ("media_too_large", "tests/it/telegram/media.rs"),
    ("media_refused", "tests/it/turns/enclosed.rs"),
    ("media_failed", "tests/it/telegram/media.rs"),
    ("commands_off", "tests/it/commands/rights.rs"),
    ("too_many", "tests/it/commands/rights.rs"),
    ("token_budget", "tests/it/commands/limits.rs"),
    ("bot_loop", "tests/it/commands/limits.rs"),
    ("not_paired", "tests/it/commands/limits.rs"),
    ("moderation_failed", "tests/it/commands/moderate.rs"),
    ("moderation_unknown", "tests/it/commands/moderate.rs"),
    ("pending_closed", "tests/it/telegram/buttons.rs"),
    ("pending_expired", "tests/it/telegram/buttons.rs"),
    ("conversation_deleted", "tests/it/commands/consent.rs"),
    ("unknown_command", "tests/it/commands.rs"),
    ("bad_arguments", "tests/it/commands.rs"),
    ("injection_blocked", "tests/it/security.rs"),
    ("injection_sanitised", "tests/it/security.rs"),
    ("injection_warned", "tests/it/security.rs"),
    ("content_blocked", "tests/it/security/words.rs"),
    ("content_filtered", "tests/it/security/words.rs"),
    ("redacted", "tests/it/reasons/turns.rs"),
    ("send_retried", "src/outbound/deliver/tests/errors.rs"),
    ("send_rate_limited", "src/outbound/deliver/tests/order.rs"),
    ("send_unknown", "src/outbound/deliver/tests/errors.rs"),
    ("send_failed", "src/outbound/deliver/tests/errors.rs"),
    ("send_forbidden", "src/outbound/deliver/tests/errors.rs"),
    ("send_gone", "src/outbound/deliver/tests/restart.rs"),
    ("reply_expired", "src/outbound/deliver/tests/errors.rs"),
    ("reply_dropped", "src/outbound/deliver/tests/order.rs"),
    ("formatted_plain", "src/outbound/deliver/tests/errors.rs"),
    ("sent_as_file", "tests/it/telegram/files.rs"),
    ("file_as_text", "tests/it/telegram/files.rs"),
    ("file_plainer", "tests/it/sending.rs"),
    ("split_for_limit", "tests/it/reasons/turns.rs"),
    ("reply_budget", "tests/it/qq/official_whole.rs"),
    ("stream_shed", "tests/it/reasons/turns.rs"),
    ("store_unavailable", "tests/it/reasons/turns.rs"),
    ("shutting_down", "src/outbound/deliver/tests/restart.rs"),
    ("recovered", "tests/it/reasons/turns.rs"),
    ("resent", "src/outbound/deliver/tests/restart.rs"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn every_reason_is_seen_by_a_test() {
    let codes: BTreeSet<&str> = Reason::ALL.iter().map(|reason| reason.code()).collect();
    let listed: BTreeSet<&str> = SEEN.iter().map(|(code, _)| *code).collect();
    assert_eq!(codes, listed);
    for (code, file) in SEEN {
        let text = fs::read_to_string(root().join(file)).unwrap();
        let reason = Reason::from_code(code).unwrap();
        let named = [format!("\"{code}\""), format!("Reason::{reason:?}")];
        assert!(
            named.iter().any(|name| text.contains(name)),
            "{file} does not look for {code}"
        );
    }
}

#[test]
fn every_reason_is_given_somewhere() {
    let mut sources = Vec::new();
    for folder in ["src", "adapters"] {
        read(&root().join(folder), &mut sources);
    }
    assert!(sources.len() > 100, "only {} files", sources.len());
    let dead: Vec<&str> = Reason::ALL
        .iter()
        .filter(|reason| !sources.iter().any(|source| gives(source, **reason)))
        .map(|reason| reason.code())
        .collect();
    assert_eq!(dead, [""; 0], "codes that nothing gives");
}

/// Whether a source names a reason other than to ask which one it has in hand.
fn gives(source: &str, reason: Reason) -> bool {
    let name = format!("Reason::{reason:?}");
    source.lines().any(|line| {
        let mut rest = line;
        while let Some((_, behind)) = rest.split_once(&name) {
            let whole = !behind.starts_with(|c: char| c.is_ascii_alphanumeric());
            if whole && !behind.contains("=>") && !behind.trim_start().starts_with('|') {
                return true;
            }
            rest = behind;
        }
        false
    })
}

/// All sources but tests, the enum itself and the texts.
fn read(folder: &Path, sources: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["tests", "i18n", "reason", "target"].contains(&name.as_str()) {
                read(&path, sources);
            }
        } else if name.ends_with(".rs")
            && !["tests.rs", "i18n.rs", "reason.rs"].contains(&name.as_str())
        {
            sources.push(fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn a_code_that_is_only_asked_for_counts_as_dead() {
    for (line, given) in [
        ("        Reason::Expired => EndState::Expired,", false),
        ("        Reason::Expired | Reason::Recalled => (),", false),
        ("        Wait::Turn => Reason::Expired,", true),
        ("    traces.count(Reason::Expired);", true),
        ("    traces.count(Reason::ExpiredTwice);", false),
    ] {
        assert_eq!(gives(line, Reason::Expired), given, "{line}");
    }
}
