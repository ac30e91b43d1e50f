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
use weirgate_sdk::{FieldKind, Menu, MenuCommand, MenuField, MenuLanguage, text::line};

use crate::{
    api::{Call, CallError, Verb},
    discord::Shared,
    places::Snowflake,
};

/// The most commands, and the longest description in characters (Application Commands).
const MAX_COMMANDS: usize = 100;
const MAX_DESCRIPTION: usize = 100;
/// The most fields of a command, and the most words of a choice, which have their own longest (same page).
const MAX_FIELDS: usize = 25;
const MAX_CHOICES: usize = 25;
/// The longest that can be typed into a field.
const MAX_WORDS: u16 = 2_000;

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
                "choices": choices(option),
                "descriptions": localized(option),
            })
        })
        .collect();
    json!({
        "name": command["name"], "description": command["description"], "options": options,
        "descriptions": localized(command),
    })
}

/// The words of a choice.
fn choices(option: &Value) -> Vec<Value> {
    let choices = option["choices"].as_array().into_iter().flatten();
    choices
        .map(|choice| json!([choice["name"], choice["value"]]))
        .collect()
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
            let mut written = CreateCommand::new(&command.name)
                .description(described(&command.about, &command.name));
            for (locale, about) in others(menu, command, |found| Some(&found.about)) {
                written = written.description_localized(locale, about);
            }
            let fields = command.fields.iter().take(MAX_FIELDS);
            for field in fields.filter(|field| is_command(&field.name)) {
                written = written.add_option(option(menu, command, field));
            }
            written
        })
        .collect()
}

/// What a text about a command is in each language that the platform names.
fn others(
    menu: &Menu,
    command: &MenuCommand,
    about: impl Fn(&MenuCommand) -> Option<&String>,
) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for language in &menu.languages {
        let mut commands = language.commands.iter();
        let found = commands.find(|other| other.name == command.name);
        let Some(about) = found.and_then(&about) else {
            continue;
        };
        let about = described(about, &command.name);
        let locales = locales(language).iter();
        all.extend(locales.map(|locale| (*locale, about.clone())));
    }
    all
}

/// A field, of the platform's type for what may stand there.
fn option(menu: &Menu, command: &MenuCommand, field: &MenuField) -> CreateCommandOption {
    let kind = match field.kind {
        FieldKind::Person => CommandOptionType::User,
        FieldKind::Number => CommandOptionType::Integer,
        FieldKind::Choice(_) | FieldKind::Span | FieldKind::Words => CommandOptionType::String,
    };
    let about = described(&field.about, &field.name);
    let mut option = CreateCommandOption::new(kind, &field.name, about).required(field.required);
    let same = |found: &MenuCommand| {
        found
            .fields
            .iter()
            .position(|other| other.name == field.name)
    };
    let localized = others(menu, command, |found| {
        found.fields.get(same(found)?).map(|field| &field.about)
    });
    for (locale, about) in localized {
        option = option.description_localized(locale, about);
    }
    match &field.kind {
        FieldKind::Choice(words) => {
            for word in words.iter().take(MAX_CHOICES) {
                option = option.add_string_choice(word, word);
            }
            option
        }
        FieldKind::Span | FieldKind::Words => option.max_length(MAX_WORDS),
        FieldKind::Person | FieldKind::Number => option,
    }
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

    fn field(name: &str, about: &str, kind: FieldKind, required: bool) -> MenuField {
        MenuField {
            name: name.to_owned(),
            about: about.to_owned(),
            kind,
            required,
        }
    }

    fn menu() -> Menu {
        let command = |name: &str, about: &str, fields| MenuCommand {
            name: name.to_owned(),
            about: about.to_owned(),
            usage: String::new(),
            fields,
        };
        let language = |code, help: &str, kick: &str, why: &str| MenuLanguage {
            code,
            commands: vec![
                command("help", help, Vec::new()),
                command(
                    "kick",
                    kick,
                    vec![
                        field("user", "@user", FieldKind::Person, true),
                        field("reason", why, FieldKind::Words, false),
                    ],
                ),
                command(
                    "audit",
                    "x",
                    vec![
                        field(
                            "mode",
                            "mode",
                            FieldKind::Choice(vec!["full".to_owned(), "brief".to_owned()]),
                            false,
                        ),
                        field("number", "number", FieldKind::Number, false),
                    ],
                ),
                command("Not-One", "", Vec::new()),
            ],
        };
        Menu {
            languages: vec![
                language("en", &"what\nthere is ".repeat(20), "remove", "why"),
                language("zh", "有什么", "移出", "原因"),
            ],
        }
    }

    #[test]
    fn everybody_reads_his_own_language_and_fills_in_what_a_command_takes() {
        let written: Vec<Value> = commands(&menu()).iter().filter_map(written).collect();
        assert_eq!(written.len(), 3);
        let [help, kick, audit] = &written[..] else {
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
        let why = &kick["options"][1]["description_localizations"];
        assert_eq!(why["zh-CN"], "原因");
        assert_eq!(fields(audit), [(3, false), (4, false)]);
        let chosen = choices(&audit["options"][0]);
        assert_eq!(chosen, [json!(["full", "full"]), json!(["brief", "brief"])]);
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
        let mut fewer = known.clone();
        fewer[0]["options"][0]["choices"] = json!([]);
        assert_eq!(known[0]["name"], "audit");
        assert!(!is_same(&fewer, &menu));
        known[0]["description_localizations"]["zh-CN"] = "别的".into();
        assert!(!is_same(&known, &menu));
        assert!(is_same(&[], &[]) && !is_same(&[], &menu));
    }
}
