//! The menu of commands that the platform opens at a slash.
//!
//! Owns the form in which it is offered, in every language, and when: at the beginning of a session, if it is not what
//! the platform has already, because the platform counts what is written (200 new commands a day). A menu that cannot be
//! offered is a line in the log and nothing else.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use serenity::{
    builder::{CreateCommand, CreateCommandOption},
    model::application::CommandOptionType,
};
use weirgate_sdk::{Menu, MenuCommand, MenuLanguage, Whom, text::line};

use crate::{
    api::{Call, CallError, Verb},
    discord::Shared,
    places::Snowflake,
};

/// The most commands, and the longest description in characters (Application Commands).
const MAX_COMMANDS: usize = 100;
const MAX_DESCRIPTION: usize = 100;
/// The longest that can be typed behind a command.
const MAX_WORDS: u16 = 2_000;
/// The fields for a person and for words.
const PERSON: &str = "user";
const WORDS: &str = "text";

/// Offers the menu, everywhere or in the servers that are to have it.
pub async fn offer(shared: Arc<Shared>, application: Snowflake) {
    if !shared.settings.slash_commands || shared.menu.languages.is_empty() {
        return;
    }
    let menu = commands(&shared.menu);
    let servers = &shared.settings.command_servers;
    // What was offered everywhere would stand twice in a server with a menu of its own.
    let everywhere = if servers.is_empty() { &menu[..] } else { &[] };
    let each = servers.iter().map(|server| (Some(*server), &menu[..]));
    for (server, menu) in std::iter::once((None, everywhere)).chain(each) {
        if let Err(error) = put(&shared, application, server, menu).await {
            tracing::warn!(account = %shared.account, ?server, %error, "the menu of commands cannot be set");
        }
    }
}

/// Sets a menu, unless it is set.
async fn put(
    shared: &Shared,
    application: Snowflake,
    server: Option<Snowflake>,
    menu: &[CreateCommand],
) -> Result<(), CallError> {
    let api = shared.calls();
    let api = api.map_err(|error| CallError::Unreachable(error.to_string()))?;
    let limit = shared.settings.call_timeout;
    let known = api
        .get(Call::Commands(Verb::Get, application, server), limit)
        .await?;
    if known.as_array().is_some_and(|known| is_same(known, menu)) {
        return Ok(());
    }
    api.post(Call::Commands(Verb::Put, application, server), &menu, limit)
        .await?;
    tracing::info!(account = %shared.account, ?server, commands = menu.len(), "the menu of commands is set");
    Ok(())
}

/// Whether the platform has these commands, whatever it adds to them.
fn is_same(known: &[Value], menu: &[CreateCommand]) -> bool {
    let own: Option<Vec<Value>> = menu.iter().map(written).collect();
    let Some(own) = own else { return false };
    let mut known: Vec<Value> = known.iter().map(told).collect();
    let mut own: Vec<Value> = own.iter().map(told).collect();
    for list in [&mut known, &mut own] {
        list.sort_by_key(|command| command["name"].as_str().unwrap_or_default().to_owned());
    }
    known == own
}

/// What is compared of a command.
fn told(command: &Value) -> Value {
    let options = command["options"].as_array().into_iter().flatten();
    let options: Vec<Value> = options
        .map(|option| {
            json!({
                "type": option["type"], "name": option["name"], "description": option["description"],
                "required": option["required"] == true, "max_length": option["max_length"],
                "descriptions": localized(option),
            })
        })
        .collect();
    json!({
        "name": command["name"], "description": command["description"], "options": options,
        "descriptions": localized(command),
    })
}

/// Descriptions in other languages; there may be none, in several ways.
fn localized(described: &Value) -> Value {
    match &described["description_localizations"] {
        Value::Object(languages) if !languages.is_empty() => {
            described["description_localizations"].clone()
        }
        _ => Value::Null,
    }
}

fn written<T: Serialize>(command: &T) -> Option<Value> {
    serde_json::to_value(command).ok()
}

/// The menu: described in the first language, and in each for those who have it.
fn commands(menu: &Menu) -> Vec<CreateCommand> {
    let Some(first) = menu.languages.first() else {
        return Vec::new();
    };
    let fitting = first.commands.iter().filter(|one| is_command(&one.name));
    fitting
        .take(MAX_COMMANDS)
        .map(|command| {
            let others = |about: fn(&MenuCommand) -> &str| {
                let languages = menu.languages.iter();
                languages
                    .filter_map(|language| {
                        let mut commands = language.commands.iter();
                        let found = commands.find(|other| other.name == command.name)?;
                        Some((language, described(about(found), &found.name)))
                    })
                    .flat_map(|(language, about)| {
                        locales(language)
                            .iter()
                            .map(move |locale| (*locale, about.clone()))
                    })
                    .collect::<Vec<_>>()
            };
            let mut written = CreateCommand::new(&command.name)
                .description(described(&command.about, &command.name));
            for (locale, about) in others(|command| &command.about) {
                written = written.description_localized(locale, about);
            }
            if command.whom != Whom::Nobody {
                let person = CommandOptionType::User;
                let option =
                    CreateCommandOption::new(person, PERSON, described(&command.usage, PERSON));
                written = written.add_option(option.required(command.whom == Whom::Always));
            }
            if takes_words(command) {
                let words = CommandOptionType::String;
                let mut option =
                    CreateCommandOption::new(words, WORDS, described(&command.usage, WORDS));
                for (locale, usage) in others(|command| &command.usage) {
                    option = option.description_localized(locale, usage);
                }
                written = written.add_option(option.max_length(MAX_WORDS));
            }
            written
        })
        .collect()
}

/// Whether more can stand behind a command than somebody whom it means.
fn takes_words(command: &MenuCommand) -> bool {
    let words = command.usage.split_whitespace().count();
    words > usize::from(command.whom != Whom::Nobody)
}

/// A description, which is never empty.
fn described(text: &str, name: &str) -> String {
    let text = line(text, MAX_DESCRIPTION);
    if text.is_empty() {
        name.to_owned()
    } else {
        text
    }
}

/// The platform's names for a language (Reference, Locales).
fn locales(language: &MenuLanguage) -> &'static [&'static str] {
    match language.code {
        "zh" => &["zh-CN", "zh-TW"],
        "en" => &["en-US", "en-GB"],
        _ => &[],
    }
}

fn is_command(name: &str) -> bool {
    let is_word = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    (1..=32).contains(&name.len()) && name.bytes().all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu() -> Menu {
        let command = |name: &str, about: &str, usage: &str, whom| MenuCommand {
            name: name.to_owned(),
            about: about.to_owned(),
            usage: usage.to_owned(),
            whom,
        };
        let language = |code, help: &str, kick: &str| MenuLanguage {
            code,
            commands: vec![
                command("help", help, "", Whom::Nobody),
                command("kick", kick, "@user [reason]", Whom::Always),
                command("unmute", "x", "@user", Whom::Always),
                command("Not-One", "", "", Whom::Nobody),
            ],
        };
        Menu {
            languages: vec![
                language("en", &"what\nthere is ".repeat(20), "remove"),
                language("zh", "有什么", "移出"),
            ],
        }
    }

    #[test]
    fn everybody_reads_his_own_language_and_fills_in_what_a_command_takes() {
        let written: Vec<Value> = commands(&menu()).iter().filter_map(written).collect();
        assert_eq!(written.len(), 3);
        let [help, kick, unmute] = &written[..] else {
            unreachable!()
        };
        assert_eq!(
            help["description"]
                .as_str()
                .map(|text| text.chars().count()),
            Some(MAX_DESCRIPTION)
        );
        assert_eq!(help["description_localizations"]["zh-TW"], "有什么");
        assert_eq!(help["options"], json!([]));
        let fields = |command: &Value| -> Vec<(u64, bool)> {
            let options = command["options"].as_array().into_iter().flatten();
            let of = |option: &Value| (option["type"].as_u64(), option["required"] == true);
            options
                .filter_map(|option| Some((of(option).0?, of(option).1)))
                .collect()
        };
        assert_eq!(fields(kick), [(6, true), (3, false)]);
        assert_eq!(fields(unmute), [(6, true)]);
    }

    #[test]
    fn what_the_platform_adds_is_no_change() {
        let menu = commands(&menu());
        let mut known: Vec<Value> = menu.iter().filter_map(written).collect();
        for command in &mut known {
            command["id"] = "7".into();
            command["version"] = "8".into();
            command["nsfw"] = false.into();
            command["contexts"] = Value::Null;
        }
        known.reverse();
        assert!(is_same(&known, &menu));
        assert!(!is_same(&known[1..], &menu));
        known[0]["description_localizations"]["zh-CN"] = "别的".into();
        assert!(!is_same(&known, &menu));
        assert!(is_same(&[], &[]) && !is_same(&[], &menu));
    }
}
