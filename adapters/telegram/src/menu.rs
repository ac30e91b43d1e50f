//! The menu of commands that the platform shows beside the text field.
//!
//! Owns what the platform takes as a command. A menu that cannot be set is a line in the log and nothing else.

use teloxide_core::{
    payloads::{SetMyCommands, SetMyCommandsSetters},
    types::BotCommand,
};
use weirgate_sdk::{Menu, text::line};

use crate::telegram::Shared;

/// The most commands, and the longest description in characters.
const MAX_COMMANDS: usize = 100;
const MAX_DESCRIPTION: usize = 256;

/// Tells the platform the commands: the first language for everybody, and each for those who speak it.
pub async fn offer(shared: &Shared) {
    let Ok(api) = shared.calls() else { return };
    for call in calls(&shared.menu) {
        if let Err(error) = api.call(&call, shared.settings.call_timeout).await {
            tracing::warn!(account = %shared.account, %error, "the menu of commands cannot be set");
            return;
        }
    }
}

fn calls(menu: &Menu) -> Vec<SetMyCommands> {
    let everybody = menu.languages.first().map(|language| (None, language));
    let each = menu
        .languages
        .iter()
        .map(|language| (Some(language.code), language));
    everybody
        .into_iter()
        .chain(each)
        .map(|(code, language)| {
            let commands = language
                .commands
                .iter()
                .filter(|command| is_command(&command.name));
            let commands = commands.take(MAX_COMMANDS).map(|command| {
                BotCommand::new(command.name.as_str(), line(&command.about, MAX_DESCRIPTION))
            });
            let call = SetMyCommands::new(commands);
            match code {
                Some(code) => call.language_code(code),
                None => call,
            }
        })
        .collect()
}

fn is_command(name: &str) -> bool {
    let is_word = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    (1..=32).contains(&name.len()) && name.bytes().all(is_word)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use weirgate_sdk::{MenuCommand, MenuLanguage};

    use super::*;

    #[test]
    fn everybody_gets_the_first_language_and_each_his_own() {
        let command = |name: &str, about: &str| MenuCommand {
            name: name.to_owned(),
            about: about.to_owned(),
            usage: String::new(),
            fields: Vec::new(),
        };
        let language = |code, about: &str| MenuLanguage {
            code,
            commands: vec![command("help", about), command("Not-One", "")],
        };
        let menu = Menu {
            languages: vec![language("en", "what\nthere is"), language("zh", "有什么")],
        };
        let written = serde_json::to_value(calls(&menu)).expect("JSON");
        let command = |about: &str| json!([{ "command": "help", "description": about }]);
        assert_eq!(
            written,
            json!([
                { "commands": command("what there is") },
                { "commands": command("what there is"), "language_code": "en" },
                { "commands": command("有什么"), "language_code": "zh" },
            ])
        );
        assert_eq!(calls(&Menu::default()).len(), 0);
    }
}
