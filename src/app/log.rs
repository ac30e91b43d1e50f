//! The log as the configuration wants it, at a start and at a reload.
//!
//! Owns the order: what can fail comes first, so that a fault changes nothing. It never writes a line.

use crate::{
    clock::Zone,
    config::{Config, Environment},
    telemetry::logging::Logging,
};

/// Sets zone, file, format and level of the log. A file that is the same as `before` is written on.
///
/// # Errors
/// What is wrong and what to do, for people; the log is as it was then.
pub fn set_up(
    logging: &Logging,
    config: &Config,
    before: Option<&Config>,
    env: &Environment<'_>,
) -> Result<(), String> {
    let zone = match &config.timezone {
        Some(zone) => zone.clone(),
        None => {
            let variable = env("TZ");
            Zone::of_variable(variable.as_deref()).ok_or_else(|| {
                let value = variable.unwrap_or_default();
                format!(
                    "the variable TZ names no time zone: {value:?}\n  \
                     hint: set it to a name such as Asia/Shanghai, or set timezone in agent.yaml"
                )
            })?
        }
    };
    let log = &config.observability.log;
    let file = log.file.as_ref();
    if before.is_none_or(|before| before.observability.log.file.as_ref() != file) {
        logging.set_file(file).map_err(|error| {
            let path = file.map_or_else(String::new, |file| file.path.display().to_string());
            format!(
                "the log file {path} cannot be opened (observability.log.file.path): {error}\n  \
                 hint: give its folder to the user that runs the gateway, or take the key away"
            )
        })?;
    }
    // The level was checked when it was read.
    logging
        .configure(log.format, &log.level)
        .map_err(|error| error.to_string())?;
    logging.set_zone(zone);
    Ok(())
}
