//! The documentation says what the program does: generated pages are current, examples load.
//!
//! Owns the form of the generated pages. `WEIRGATE_BLESS=1 cargo test --test docs` writes them anew.

#![expect(
    clippy::expect_used,
    reason = "in a test a broken assumption is a failed test"
)]

#[path = "docs/schema.rs"]
mod schema;

use std::{fmt::Write, fs, path::PathBuf};

use weirgate::{
    app::adapters,
    cli,
    command::{self, Command, Site, When},
    config::{check::check, reference},
    i18n::{Language, Text},
    telemetry::metrics,
};
use weirgate_sdk::ChatKind;

const READ_MES: [&str; 2] = ["README.md", "README.zh-CN.md"];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_default()
}

/// What stands in the fenced blocks of a language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence)
        .skip(1)
        .filter_map(|piece| piece.split("```").next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_reference_of_metrics_is_current() {
    let head = "# Metrics\n\nGenerated from the code. `/metrics` serves them in the Prometheus text \
                format.\n\n";
    current("docs/metrics.md", &format!("{head}{}", metrics::docs()));
}

#[cfg(feature = "webchat")]
#[test]
fn the_description_of_the_web_chat_is_current() {
    let document = weirgate_webchat::openapi::document(env!("CARGO_PKG_VERSION"));
    current("docs/openapi.json", &format!("{document:#}\n"));
}

#[test]
fn the_reference_of_commands_is_current() {
    let head = "# Commands\n\nGenerated from the code. A command begins with `/` (also `／`); `!` does \
                too where there is a command of that name.\n\n\
                \"Right\" is what a call needs. Every role but `blocked` has SEND_MESSAGE; members, \
                admins and owners have SEND_COMMAND; admins and owners have MANAGE_MEMBER.\n\n\
                What may be left out stands in brackets, alternatives between bars: `@user` is a mention, an id, or \
                the name of somebody who wrote there lately, `time` a length of time such as 10m, 2h, 7d, `number` a \
                whole number. `/help NAME` says it of one command; a menu with fields has one for each.\n\n\
                | Command | Also | What it does | Runs | Right in private | Right in a group |\n\
                |---|---|---|---|---|---|\n";
    let rows: String = command::all().map(rows).collect();
    current("docs/commands.md", &format!("{head}{rows}"));
}

#[test]
fn the_reference_of_the_configuration_is_current() {
    current(
        "docs/configuration.md",
        &reference::page(&adapters::known()),
    );
}

#[test]
fn the_reference_of_the_command_line_is_current() {
    let mut page = String::from(
        "# Command line\n\nGenerated from the code. Exit codes: 0 done, 1 failed or refused, 2 wrong \
         arguments, 75 another process has taken over the gateway's place, 78 a configuration that \
         cannot be used. The tools speak the language of \
         `language` in agent.yaml, else that of the terminal.\n\n\
         `outbox`, `queue` and `dead` ask the gateway that runs on the data folder, over the socket \
         `weirgate.sock` in it, or work on the database themselves where none runs: what they retry \
         then leaves with the next start. Only the user of the gateway and root may.\n",
    );
    let mut root = cli::command();
    root.build();
    chapter(&root, "weirgate", &mut page);
    current("docs/cli.md", &page);
}

/// A subcommand with its arguments, and those below it.
fn chapter(command: &clap::Command, name: &str, page: &mut String) {
    let level = "#".repeat(name.split(' ').count() + 1);
    let about = command.get_about().map(ToString::to_string);
    // Writing to a string does not fail.
    let _ = writeln!(
        page,
        "\n{level} {name}\n\n{}.",
        about.unwrap_or_default().trim_end_matches('.')
    );
    let own = |argument: &&clap::Arg| {
        let own = name == "weirgate" || !argument.is_global_set();
        own && !matches!(argument.get_id().as_str(), "help" | "version")
    };
    for (index, argument) in command.get_arguments().filter(own).enumerate() {
        if index == 0 {
            page.push('\n');
        }
        let value = argument
            .get_value_names()
            .filter(|_| argument.get_action().takes_values())
            .map(|names| {
                names
                    .iter()
                    .map(|name| format!("<{name}>"))
                    .collect::<Vec<_>>()
                    .join(" ")
            });
        let flag = argument.get_long().map(|long| format!("--{long}"));
        let shown: Vec<String> = flag.into_iter().chain(value).collect();
        let help = argument
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default();
        let choices: Vec<String> = argument
            .get_possible_values()
            .iter()
            .filter(|_| argument.get_action().takes_values())
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        let choices = if choices.is_empty() {
            String::new()
        } else {
            format!(": {}", choices.join(", "))
        };
        let _ = writeln!(
            page,
            "- `{}`: {}{choices}.",
            shown.join(" "),
            help.trim_end_matches('.')
        );
    }
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        chapter(sub, &format!("{name} {}", sub.get_name()), page);
    }
}

fn current(name: &str, page: &str) {
    if std::env::var_os("WEIRGATE_BLESS").is_some() {
        fs::write(path(name), page).expect("the page is written");
    }
    assert!(
        read(name) == page,
        "{name} is out of date; write it anew with: WEIRGATE_BLESS=1 cargo test --test docs"
    );
}

/// One row for the command, and one for each argument that needs another right.
fn rows(command: &dyn Command) -> String {
    let spec = command.spec();
    let usage = spec.takes.usage(Language::En);
    let what = Text::About(spec.about).render(Language::En);
    let also: Vec<String> = spec
        .aliases
        .iter()
        .map(|name| format!("`/{name}`"))
        .collect();
    let runs = match spec.when {
        When::Control => "at once, past every queue",
        When::Now => "beside a running answer",
        When::InOrder => "in its turn",
    };
    let plain = rights(command, "");
    let mut rows = String::new();
    let mut row = |arguments: &str, also: &str, what: &str, rights: &str| {
        let call = format!("/{} {}", spec.name, arguments.replace('|', "\\|"));
        // Writing to a string does not fail.
        let _ = writeln!(
            rows,
            "| `{}` | {also} | {what} | {runs} | {rights} |",
            call.trim_end()
        );
    };
    row(&usage, &also.join(", "), &what, &plain);
    for arguments in calls(&usage) {
        let rights = rights(command, &arguments);
        if rights != plain {
            row(&arguments, "", "", &rights);
        }
    }
    rows
}

/// Calls as a usage describes them: each choice of a single argument, or all arguments at once.
fn calls(usage: &str) -> Vec<String> {
    if usage.contains("] [") {
        let all = usage.replace("] [", " ");
        let all = all.trim_matches(['[', ']']).split(' ');
        let first = |argument: &str| argument.split('|').next().unwrap_or_default().to_owned();
        vec![all.map(first).collect::<Vec<_>>().join(" ")]
    } else {
        let choices = usage.trim_matches(['[', ']']).split('|');
        choices.map(str::to_owned).collect()
    }
}

/// The rights in private and in a group with a history of its own for all.
fn rights(command: &dyn Command, arguments: &str) -> String {
    let [private, group] = [ChatKind::Private, ChatKind::Group].map(|chat| {
        let site = Site {
            chat,
            account: 1,
            conversation: 1,
            own_history: false,
        };
        let (capability, _) = command.needs(arguments, site);
        let names: Vec<&str> = capability.iter_names().map(|(name, _)| name).collect();
        names.join(", ")
    });
    format!("{private} | {group}")
}

#[test]
fn the_read_mes_have_the_same_sections() {
    let [one, other] = READ_MES.map(|name| {
        let text = read(name);
        text.lines().filter(|line| line.starts_with("## ")).count()
    });
    assert_eq!(one, other);
}

#[test]
fn the_examples_of_the_read_mes_load() {
    // Has the form of every token that an example asks for.
    let env = |name: &str| {
        let bot = match name {
            "DISCORD_TOKEN" => "MTAwMDE.x.",
            _ => "10001:",
        };
        Some(format!("{bot}the-value-of-{name}"))
    };
    for name in READ_MES {
        let examples = blocks(&read(name), "yaml");
        assert!(
            examples.len() >= 3,
            "{name} has only {} examples",
            examples.len()
        );
        for example in examples {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("agent.yaml");
            fs::write(&file, &example).expect("the example is written");
            let checked = check(Some(&file), &env, &adapters::known(), |_| Language::En);
            let clean = checked.text.ends_with(": ok");
            assert!(clean, "{name}:\n{example}\n{}", checked.text);
        }
    }
}

#[test]
fn the_example_of_an_adapter_is_one_that_is_tested() {
    let tested = read("tests/it/example_adapter.rs");
    let shown = blocks(&read("docs/writing-an-adapter.md"), "rust");
    assert!(
        shown.len() >= 3,
        "the page shows only {} pieces",
        shown.len()
    );
    for piece in shown {
        assert!(
            tested.contains(piece.trim_end()),
            "this is not in tests/it/example_adapter.rs:\n{piece}"
        );
    }
}
