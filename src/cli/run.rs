//! `weirgate run`: load, build, run, drain.

mod notify;

use std::{path::Path, process::ExitCode, time::Duration};

use tokio::signal::unix::{Signal, SignalKind, signal};

use self::notify::{Manager, State};
use super::{complain, environment, say};
use crate::{
    app::{App, Broken, Startup, adapters, log, reload::Source},
    config::{self, Config, EXIT_CONFIG},
    hook::Hooks,
    security::redact::{Redactor, Secret, Warning},
    telemetry::{config::LogFormat, logging::Logging, metrics},
};

/// The exit code of a process whose place another one has taken because it gave no sign of life for too long: a
/// temporary failure, and whoever watches over it should start it again.
const EXIT_FENCED: u8 = 75;

/// Runs the gateway until SIGTERM or SIGINT. SIGHUP makes it read its configuration again.
pub(super) fn run(file: Option<&Path>, hooks: Hooks) -> ExitCode {
    let logging = match Logging::init(LogFormat::Text, "info") {
        Ok(logging) => logging,
        Err(error) => {
            complain(&error.to_string());
            return ExitCode::FAILURE;
        }
    };
    let source = Source {
        environment,
        platforms: adapters::known,
    };
    let loaded = match config::load_whole(file, &environment, &adapters::known()) {
        Ok(loaded) => loaded,
        Err(error) => {
            complain(&error.to_string());
            return ExitCode::from(EXIT_CONFIG);
        }
    };
    let config = &loaded.config;
    let redactor = redactor(config);
    logging.set_redactor(redactor.clone());
    if let Err(error) = log::set_up(&logging, config, None, &environment) {
        complain(&error);
        return ExitCode::from(EXIT_CONFIG);
    }
    let file = config.file.as_deref().map_or_else(
        || "agent.yaml".to_owned(),
        |path| path.display().to_string(),
    );
    for warning in &loaded.warnings {
        let warning = std::slice::from_ref(warning);
        tracing::warn!("{}", config::render_problems(&file, warning));
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
    let startup = Startup {
        loaded,
        source,
        redactor,
        logging: logging.clone(),
        exporter,
        hooks,
    };
    let code = runtime.block_on(serve(startup, &logging));
    // What is still running had its grace time.
    runtime.shutdown_timeout(Duration::from_millis(100));
    logging.finish();
    code
}

async fn serve(startup: Startup, logging: &Logging) -> ExitCode {
    let (mut term, mut interrupt, mut hangup) = match (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
        signal(SignalKind::hangup()),
    ) {
        (Ok(term), Ok(interrupt), Ok(hangup)) => (term, interrupt, hangup),
        (Err(error), _, _) | (_, Err(error), _) | (_, _, Err(error)) => {
            complain(&format!("signals cannot be received: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let manager = Manager::of(environment);
    let started = tokio::select! {
        started = App::start(startup) => started,
        () = stop_signal(&mut term, &mut interrupt) => {
            tracing::info!("stopped before it was ready");
            return ExitCode::SUCCESS;
        }
    };
    let mut app = match started {
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
    manager.tell(State::Ready);
    let mut beats = manager.beats();
    let mut summaries = tokio::time::interval(Duration::from_secs(60));
    let code = loop {
        tokio::select! {
            () = stop_signal(&mut term, &mut interrupt) => break ExitCode::SUCCESS,
            broken = app.broken() => match broken {
                Broken::Fault => {
                    tracing::error!("a part of the gateway ended by a fault; stopping");
                    break ExitCode::FAILURE;
                }
                Broken::Fenced => {
                    // Nothing can be written any more, and what is under way is the other's: no draining.
                    tracing::error!("another process has taken over; ending at once, to be started again");
                    return ExitCode::from(EXIT_FENCED);
                }
            },
            Some(()) = hangup.recv() => app.reload(),
            _ = summaries.tick() => logging.summarise(),
            _ = beats.tick() => manager.tell(State::Alive),
        }
    };
    tracing::info!("draining; a second signal ends at once");
    manager.tell(State::Stopping);
    let mut drain = std::pin::pin!(app.drain());
    loop {
        tokio::select! {
            () = &mut drain => return code,
            () = stop_signal(&mut term, &mut interrupt) => {
                tracing::warn!(
                    "ended by a second signal; what is unfinished goes on at the next start"
                );
                return ExitCode::FAILURE;
            }
            _ = beats.tick() => manager.tell(State::Alive),
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
    let secrets = Secret::all(&config.secrets);
    let (redactor, warnings) = Redactor::seeking(secrets, &config.security.sought());
    for warning in warnings {
        // Secrets that are too short were already reported when the configuration was read.
        if !matches!(warning, Warning::TooShort { .. }) {
            tracing::warn!("{warning}");
        }
    }
    redactor
}
