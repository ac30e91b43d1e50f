//! /config: reads and sets keys at run time.
//!
//! Owns the three sorts of keys: a person's own (`my.…`), those of a conversation, and those of the whole
//! gateway, which are the keys of agent.yaml. What is set is stored with the answer.

use async_trait::async_trait;

use super::{
    Call, Command, Desk, Done, Site, Spec, When,
    argument::{Kind, Takes, perhaps},
    configure::{Origin, Refused, Shown},
    lang, output,
    policy::PolicyCommand,
};
use crate::{
    config::overrides::NotSet,
    i18n::{About, Language, arguments::Label, settings::Settings},
    inbound::addressing,
    outbound::{config::Reasoning, strategy::Strategy},
    permission::{
        AuditEvent, Capability, Level, Scope,
        policy::{self, SETTING},
    },
    store::{Effect, Place, StoreError},
};

/// /config
#[derive(Debug)]
pub struct ConfigCommand;

static SPEC: Spec = Spec {
    name: "config",
    aliases: &[],
    about: About::Config,
    takes: Takes::These(&[
        perhaps(Kind::Word(&[]), Label::Key),
        perhaps(Kind::Text(&["reset"]), Label::Value),
    ]),
    level: Level::Member,
    when: When::InOrder,
};

/// What the keys of the gateway need.
pub const GATEWAY: (Capability, Scope) = (Capability::SEND_COMMAND, Scope::Global);
/// What the stored key of a setting of the gateway begins with.
pub const STORED: &str = "config:";
/// A word that takes a value back.
const RESET: &str = "reset";
/// The mark of a person's own keys.
const MY: &str = "my.";
/// The mark of the gateway's keys, for those whose names a conversation has as well.
const GATEWAYS: &str = "gateway.";
/// Keys of a person, which a conversation has as well.
const KEYS: [&str; 2] = ["language", "output"];
/// Keys of a conversation alone.
const HERE: [&str; 3] = [addressing::KEYS[0], addressing::KEYS[1], REASONING];
/// The key of a conversation that says whether what a model thinks is shown there.
pub const REASONING: &str = "reasoning";
/// Lines that are shown at once.
const MOST: usize = 30;

/// What a call is about.
#[derive(Debug, PartialEq, Eq)]
enum Ask<'a> {
    Overview,
    Show(&'a str),
    Set(&'a str, Option<&'a str>),
}

/// `KEY`, `KEY VALUE`, `KEY reset`, `reset KEY`.
fn ask(arguments: &str) -> Ask<'_> {
    let (key, rest) = arguments
        .split_once(char::is_whitespace)
        .unwrap_or((arguments, ""));
    match (key, rest.trim()) {
        ("", _) => Ask::Overview,
        (RESET, key) if !key.is_empty() => Ask::Set(key, None),
        (key, "") => Ask::Show(key),
        (key, RESET) => Ask::Set(key, None),
        (key, value) => Ask::Set(key, Some(value)),
    }
}

/// Whose a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Person,
    Conversation,
    Gateway,
}

fn whose(key: &str) -> (Whose, &str) {
    if let Some(key) = key.strip_prefix(GATEWAYS) {
        return (Whose::Gateway, key);
    }
    match key.strip_prefix(MY) {
        Some(own) => (Whose::Person, own),
        None if KEYS.contains(&key) || HERE.contains(&key) => (Whose::Conversation, key),
        None => (Whose::Gateway, key),
    }
}

#[async_trait]
impl Command for ConfigCommand {
    fn spec(&self) -> &Spec {
        &SPEC
    }

    fn needs(&self, arguments: &str, site: Site) -> (Capability, Scope) {
        let own = (Capability::SEND_COMMAND, Scope::Own);
        let key = match ask(arguments) {
            Ask::Overview => return own,
            Ask::Show(key) | Ask::Set(key, _) => key,
        };
        match whose(key).0 {
            Whose::Person => own,
            // In private the conversation is his own.
            Whose::Conversation if site.chat == weirgate_sdk::ChatKind::Private => own,
            Whose::Conversation => {
                let capability = Level::Admin.capability();
                (capability, Scope::Conversation(site.conversation))
            }
            Whose::Gateway => GATEWAY,
        }
    }

    /// The rules of a conversation are those of /policy, whoever asks for them how.
    fn stands_for(&self, arguments: &str) -> Option<(&'static dyn Command, String)> {
        let (key, value) = match ask(arguments) {
            Ask::Overview => return None,
            Ask::Show(key) => (key, None),
            Ask::Set(key, value) => (key, Some(value.unwrap_or(RESET))),
        };
        let key = key.to_ascii_lowercase();
        let value = value.map_or_else(String::new, |value| format!(" {value}"));
        let is_rule = policy::KEYS.contains(&key.as_str());
        is_rule.then(|| (&PolicyCommand as &dyn Command, format!("{key}{value}")))
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        match ask(call.arguments) {
            Ask::Overview => overview(&call, desk).await,
            Ask::Show(key) => show(&call, desk, key).await,
            Ask::Set(key, value) => match whose(key) {
                (Whose::Gateway, key) => set_gateway(call, desk, key, value).await,
                (whose, key) => Ok(set(call, whose, key, value)),
            },
        }
    }
}

async fn overview(call: &Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
    let mut lines = Vec::new();
    for key in KEYS {
        lines.push(line(&format!("{MY}{key}"), own(call, desk, key).await?));
    }
    for key in KEYS.into_iter().chain(HERE) {
        lines.push(line(key, here(call, desk, key).await?));
    }
    let text = Settings::Overview {
        lines: lines.join("\n"),
        moderates: call
            .actor
            .role
            .capabilities()
            .contains(Level::Admin.capability()),
        owner: call.actor.global_owner,
    };
    Ok(Done::text(text.render(call.language)))
}

fn line(key: &str, value: Option<String>) -> String {
    format!("{key}: {}", value.unwrap_or_else(|| "-".to_owned()))
}

async fn show(call: &Call<'_>, desk: &Desk, key: &str) -> Result<Done, StoreError> {
    let lines = match whose(key) {
        (Whose::Person, own_key) if KEYS.contains(&own_key) => {
            vec![line(key, own(call, desk, own_key).await?)]
        }
        (Whose::Person, _) => Vec::new(),
        (Whose::Conversation, key) => vec![line(key, here(call, desk, key).await?)],
        (Whose::Gateway, key) => match &desk.configure {
            Some(configure) => shown(configure.show(key).await, call.language),
            None => Vec::new(),
        },
    };
    if lines.is_empty() {
        return Ok(refuse(call, &Settings::NoKey { given: short(key) }));
    }
    let more = lines.len().saturating_sub(MOST);
    let mut text = lines[..lines.len().min(MOST)].join("\n");
    if more > 0 {
        text.push_str(&format!("\n… +{more}"));
    }
    Ok(Done::text(text))
}

fn shown(keys: Vec<Shown>, language: Language) -> Vec<String> {
    let line = |shown: Shown| {
        let origin = match shown.origin {
            Origin::File => String::new(),
            Origin::Default => Settings::Default.render(language),
            Origin::RunTime => Settings::RunTime.render(language),
        };
        format!("{}: {}{origin}", shown.key, shown.value)
    };
    keys.into_iter().map(line).collect()
}

/// The stored key of a person's own key: that of the command which sets it too.
fn preference(key: &str) -> &'static str {
    if key == "language" {
        lang::KEY
    } else {
        output::KEY
    }
}

async fn own(call: &Call<'_>, desk: &Desk, key: &str) -> Result<Option<String>, StoreError> {
    desk.preference(call.actor.person, preference(key)).await
}

async fn here(call: &Call<'_>, desk: &Desk, key: &str) -> Result<Option<String>, StoreError> {
    let rules = desk.directory.rules(call.site.conversation).await?;
    Ok(rules.settings.get(key).cloned())
}

/// Sets a key of a person or a conversation.
fn set(call: Call<'_>, whose: Whose, key: &str, value: Option<&str>) -> Done {
    let known = KEYS.contains(&key) || whose == Whose::Conversation && HERE.contains(&key);
    if !known {
        return refuse(&call, &Settings::NoKey { given: short(key) });
    }
    let valid = match (key, value) {
        (_, None) => Some(None),
        ("language", Some(tag)) => Language::from_tag(tag).map(|it| Some(it.tag().to_owned())),
        ("output", Some(name)) => Strategy::from_name(name).map(|it| Some(it.name().to_owned())),
        (REASONING, Some(name)) => {
            let name = name.to_ascii_lowercase();
            Reasoning::from_name(&name).map(|_| Some(name))
        }
        (key, Some(value)) => addressing::valid(key, value).map(Some),
    };
    let Some(value) = valid else {
        let possible = match key {
            "language" => "zh-CN, en, reset",
            "addressing" => "mention, all, reset",
            REASONING => "hidden, shown, reset",
            "wake_words" => "WORD, WORD…; none, reset",
            _ => "streaming, segmented, full, reset",
        };
        let given = short(value.unwrap_or_default());
        return Done::bad_argument(given, possible, call.language);
    };
    let (of, stored) = match whose {
        Whose::Person => {
            let of = Place::of_person(call.actor.person);
            (of, preference(key).to_owned())
        }
        Whose::Conversation | Whose::Gateway => {
            let of = Place::of_conversation(call.site.conversation);
            (of, format!("{SETTING}{key}"))
        }
    };
    let mark = if whose == Whose::Person { MY } else { "" };
    let key = format!("{mark}{key}");
    written(call, &key, of, stored, value)
}

async fn set_gateway(
    call: Call<'_>,
    desk: &Desk,
    key: &str,
    value: Option<&str>,
) -> Result<Done, StoreError> {
    let Some(configure) = &desk.configure else {
        return Ok(refuse(&call, &Settings::NoKey { given: short(key) }));
    };
    if let Err(refused) = configure.set(&[(key, value)]).await {
        let forbidden = matches!(refused, Refused::Key(_, NotSet::Secret));
        let text = match refused {
            Refused::Key(key, why) => Settings::NotSet {
                key: short(&key),
                why,
            },
            Refused::Value(problems) => Settings::Wrong {
                lines: problems.join("\n"),
            },
            Refused::Busy => Settings::Busy,
        };
        if forbidden {
            let text = text.render(call.language);
            return Ok(Done::forbidden(call, short(key), text));
        }
        return Ok(refuse(&call, &text));
    }
    let stored = format!("{STORED}{key}");
    let value = value.map(str::to_owned);
    Ok(written(call, key, Place::GATEWAY, stored, value))
}

fn written(call: Call<'_>, key: &str, of: Place, stored: String, value: Option<String>) -> Done {
    let text = match &value {
        Some(value) => Settings::Set {
            key: key.to_owned(),
            value: value.clone(),
        },
        None => Settings::Reset {
            key: key.to_owned(),
        },
    };
    let mut done = Done::text(text.render(call.language));
    let details = serde_json::json!({ "value": value });
    done.effects.push(Effect::Set {
        of,
        key: stored.into(),
        value,
    });
    // What somebody prefers for himself is nobody's business.
    if of.person == 0 {
        let turn = call.turn;
        let record = call
            .proof
            .record(AuditEvent::ConfigChanged, key.to_owned(), turn);
        let record = record.with(&details).within(of.conversation);
        done.effects.push(record.into());
    }
    done
}

fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

fn refuse(call: &Call<'_>, text: &Settings) -> Done {
    Done::declined(text.render(call.language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_in_both_orders() {
        assert_eq!(ask(""), Ask::Overview);
        assert_eq!(ask("output"), Ask::Show("output"));
        assert_eq!(ask("output full"), Ask::Set("output", Some("full")));
        assert_eq!(ask("output  reset"), Ask::Set("output", None));
        assert_eq!(ask("reset output"), Ask::Set("output", None));
        let prompt = "context.system_prompt \"be kind: always\"";
        let value = Some("\"be kind: always\"");
        assert_eq!(ask(prompt), Ask::Set("context.system_prompt", value));
    }

    #[test]
    fn the_rules_of_a_conversation_are_those_of_policy() {
        let meant = |text: &str| {
            let (command, arguments) = ConfigCommand.stands_for(text)?;
            Some((command.spec().name, arguments))
        };
        for (text, arguments) in [
            ("allow_media", "allow_media"),
            ("Allow_Media off", "allow_media off"),
            ("whitelist 1 2", "whitelist 1 2"),
            ("reset four_eyes", "four_eyes reset"),
            ("four_eyes reset", "four_eyes reset"),
        ] {
            assert_eq!(
                meant(text),
                Some(("policy", arguments.to_owned())),
                "{text}"
            );
        }
        for text in [
            "",
            "language",
            "my.output full",
            "permissions.default_role guest",
        ] {
            assert_eq!(meant(text), None, "{text}");
        }
    }

    #[test]
    fn each_sort_of_key_needs_its_own_right() {
        let site = |chat| Site {
            chat,
            account: 1,
            conversation: 7,
            own_history: false,
        };
        let group = site(weirgate_sdk::ChatKind::Group);
        let private = site(weirgate_sdk::ChatKind::Private);
        let needs = |text: &str, site| ConfigCommand.needs(text, site);
        let own = (Capability::SEND_COMMAND, Scope::Own);
        assert_eq!(needs("my.output full", group), own);
        assert_eq!(needs("output full", private), own);
        let admin = (Level::Admin.capability(), Scope::Conversation(7));
        assert_eq!(needs("output full", group), admin);
        let global = (Capability::SEND_COMMAND, Scope::Global);
        let texts = [
            "language.x",
            "models.chat",
            "reset http.listen",
            "gateway.language en",
        ];
        for text in texts {
            assert_eq!(needs(text, private), global, "{text}");
        }
    }
}
