//! `weirgate doctor`.
//!
//! Owns the form of a line and the exit code: 0 if nothing has failed, warnings or not.

use std::{path::Path, process::ExitCode};

use unicode_width::UnicodeWidthStr as _;

use super::{environment, say, tool};
use crate::{
    app::adapters,
    config::{self, EXIT_CONFIG},
    doctor::{Doctor, Line},
    i18n::{
        Language,
        health::{Here, Level, Subject},
    },
    security::redact::Redactor,
};

/// Columns of the subject, about.
const SUBJECT: usize = 22;

pub(super) fn doctor(file: Option<&Path>, offline: bool) -> ExitCode {
    let loaded = config::load(file, &environment, &adapters::known());
    let (config, warnings) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => {
            let language = tool::language(None);
            let errors = error
                .problems
                .iter()
                .filter(|problem| problem.severity == weirgate_sdk::settings::Severity::Error)
                .count();
            let health = Here::Misconfigured {
                file: error.file,
                errors,
            };
            say(&line(&(Subject::Configuration, health.into()), language));
            return ExitCode::from(EXIT_CONFIG);
        }
    };
    let language = tool::language(Some(&config));
    let redactor: Redactor = tool::redactor(&config);
    let shown = config.file.as_deref().map_or_else(
        || "agent.yaml".to_owned(),
        |file| file.display().to_string(),
    );
    let configured = Here::Configured {
        file: shown,
        warnings: warnings.len(),
    };
    // As for a gateway; only an already installed provider can make this fail.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut worst = Level::Ok;
    let mut tell = |found: Line| {
        worst = worst.max(found.1.level());
        say(&line(&found, language));
    };
    tell((Subject::Configuration, configured.into()));
    let doctor = Doctor {
        config: &config,
        redactor: &redactor,
        offline,
        environment: &environment,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => runtime.block_on(doctor.run(&mut tell)),
        Err(error) => {
            super::complain(&format!("the runtime could not be started: {error}"));
            return ExitCode::FAILURE;
        }
    }
    if worst == Level::Fail {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

fn line((subject, health): &Line, language: Language) -> String {
    let (level, subject) = (health.level().render(language), subject.render(language));
    let pad = |text: &str, width: usize| " ".repeat(width.saturating_sub(text.width()) + 1);
    let text = health.render(language);
    format!(
        "{level}{}{subject}{}{text}",
        pad(level, 4),
        pad(&subject, SUBJECT)
    )
}
