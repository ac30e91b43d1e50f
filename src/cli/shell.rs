//! `weirgate completions` and `weirgate man`.
//!
//! Owns nothing: both are made of the arguments.

use std::{io::Write as _, process::ExitCode};

use clap_complete::Shell;

use super::{command, complain};

/// Prints the completions of a shell.
pub(super) fn completions(shell: Shell) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(), "weirgate", &mut text);
    print(&text)
}

/// Prints the manual: one page with all subcommands.
pub(super) fn man() -> ExitCode {
    match manual() {
        Ok(text) => print(&text),
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn manual() -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut root = command();
    root.build();
    clap_mangen::Man::new(root.clone()).render(&mut text)?;
    pages(&root, "weirgate", &mut text)?;
    Ok(text)
}

/// The sections of each subcommand below `command`, whose whole name is `path`.
fn pages(command: &clap::Command, path: &str, text: &mut Vec<u8>) -> std::io::Result<()> {
    for sub in command
        .get_subcommands()
        .filter(|sub| sub.get_name() != "help")
    {
        let name = format!("{path} {}", sub.get_name());
        writeln!(text, ".SH {}", name.to_uppercase())?;
        let man = clap_mangen::Man::new(sub.clone().bin_name(&name));
        man.render_synopsis_section(text)?;
        man.render_description_section(text)?;
        if sub.get_arguments().any(|argument| !argument.is_hide_set()) {
            man.render_options_section(text)?;
        }
        pages(sub, &name, text)?;
    }
    Ok(())
}

fn print(text: &[u8]) -> ExitCode {
    // A closed pipe is nobody's fault.
    let _ = std::io::stdout().write_all(text);
    ExitCode::SUCCESS
}
