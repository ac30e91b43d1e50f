//! `weirgate run`: load, build, run, drain.

use std::{path::Path, process::ExitCode, time::Duration};

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{complain, environment, say};
use crate::{
    app::{App, adapters},
    clock::Zone,
    config::{self, Config, EXIT_CONFIG},
    security::redact::{Redactor, Secret, Warning},
    telemetry::{
        config::LogFormat,
        logging::Logging,
        metrics::{self, Exporter},
    },
};

/// Runs the gateway until SIGTERM or SIGINT.
pub(super) fn run(file: Option<&Path>) -> ExitCode {
    let logging = match Logging::init(LogFormat::Text, "info") {
        Ok(logging) => logging,
        Err(error) => {
            complain(&error.to_string());
            return ExitCode::FAILURE;
        }
    };
    let loaded = config::load(file, &environment, &adapters::known());
    let (config, warnings) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => {
            complain(&error.to_string());
            return ExitCode::from(EXIT_CONFIG);
        }
    };
    let redactor = redactor(&config);
    logging.set_redactor(redactor.clone());
    let log = &config.observability.log;
    if let Err(error) = logging.configure(log.format, &log.level) {
        complain(&error.to_string());
        return ExitCode::from(EXIT_CONFIG);
    }
    if let Err(error) = set_up(&logging, &config) {
        complain(&error);
        return ExitCode::from(EXIT_CONFIG);
    }
    let file = config.file.as_deref().map_or_else(
        || "agent.yaml".to_owned(),
        |path| path.display().to_string(),
    );
    for warning in warnings {
        tracing::warn!("{}", config::render_problems(&file, &[warning]));
    }
    let exporter = metrics::install();
    exporter.set_redactor(redactor.clone());
    // A second provider in the process would make TLS refuse to choose; only an already installed one
    // can make this fail, and then there is one.
    let _ = rustls::crypto::ring::default_provider().install_default();

    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => {
            complain(&format!("the runtime could not be started: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(serve(config, redactor, exporter, &logging));
    // What is still running had its grace time.
    runtime.shutdown_timeout(Duration::from_millis(100));
    logging.finish();
    code
}

/// Zone and file of the log.
fn set_up(logging: &Logging, config: &Config) -> Result<(), String> {
    let zone = match &config.timezone {
        Some(zone) => zone.clone(),
        None => {
            let variable = environment("TZ");
            Zone::of_variable(variable.as_deref()).ok_or_else(|| {
                let value = variable.unwrap_or_default();
                format!(
                    "the variable TZ names no time zone: {value:?}\n  \
                     hint: set it to a name such as Asia/Shanghai, or set timezone in agent.yaml"
                )
            })?
        }
    };
    logging.set_zone(zone);
    let file = config.observability.log.file.as_ref();
    logging.set_file(file).map_err(|error| {
        let path = file.map_or_else(String::new, |file| file.path.display().to_string());
        format!(
            "the log file {path} cannot be opened (observability.log.file.path): {error}\n  \
             hint: give its folder to the user that runs the gateway, or take the key away"
        )
    })
}

async fn serve(
    config: Config,
    redactor: Redactor,
    exporter: Exporter,
    logging: &Logging,
) -> ExitCode {
    let (mut term, mut interrupt) = match (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) {
        (Ok(term), Ok(interrupt)) => (term, interrupt),
        (Err(error), _) | (_, Err(error)) => {
            complain(&format!("signals cannot be received: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let mut app = match App::start(config, redactor, exporter).await {
        Ok(app) => app,
        Err(error) => {
            tracing::error!(%error, "the gateway could not be started");
            complain(&error.to_string());
            return ExitCode::from(error.exit_code());
        }
    };
    for address in app.greetings() {
        say(&address);
    }
    let mut summaries = tokio::time::interval(Duration::from_secs(60));
    let code = loop {
        tokio::select! {
            () = stop_signal(&mut term, &mut interrupt) => break ExitCode::SUCCESS,
            () = app.broken() => {
                tracing::error!("a part of the gateway ended by a fault; stopping");
                break ExitCode::FAILURE;
            }
            _ = summaries.tick() => logging.summarise(),
        }
    };
    tracing::info!("draining; a second signal ends at once");
    tokio::select! {
        () = app.drain() => code,
        () = stop_signal(&mut term, &mut interrupt) => {
            tracing::warn!("ended by a second signal; what is unfinished goes on at the next start");
            ExitCode::FAILURE
        }
    }
}

async fn stop_signal(term: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = term.recv() => {}
        _ = interrupt.recv() => {}
    }
}

fn redactor(config: &Config) -> Redactor {
    let secrets = config.secrets.iter().flat_map(|(path, secret)| {
        let whole = secret.expose();
        // What a server repeats of a header is as a rule the part behind the scheme.
        let bare = whole
            .strip_prefix("Bearer ")
            .or_else(|| whole.strip_prefix("Basic "));
        [Some(whole), bare]
            .into_iter()
            .flatten()
            .map(|value| Secret {
                name: path.clone(),
                value: value.to_owned(),
            })
    });
    let (redactor, warnings) = Redactor::new(secrets);
    for warning in warnings {
        // Secrets that are too short were already reported when the configuration was read.
        if !matches!(warning, Warning::TooShort { .. }) {
            tracing::warn!("{warning}");
        }
    }
    redactor
}
