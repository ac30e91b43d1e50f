//! What was set at run time, at a start: read from the store and laid over the file.
//!
//! Owns what happens when it does not fit the file any more: the gateway starts without it, and says so.

use std::sync::Arc;

use super::{StartError, build::Startup, log};
use crate::{
    command::config::STORED,
    config::{load_again, overrides::Overrides, reload::keep_fixed},
    store::{Place, Store, StoreError},
};

/// What is set at run time, as the store has it.
///
/// # Errors
/// The store's.
pub(super) async fn stored(store: &dyn Store) -> Result<Overrides, StoreError> {
    let all = store.settings(Place::GATEWAY).await?;
    let own = all.into_iter().filter_map(|(key, value)| {
        let key = key.strip_prefix(STORED)?;
        Some((key.to_owned(), value))
    });
    Ok(Overrides::new(own))
}

/// Lays what was set at run time over the configuration of a start; gives what holds of it.
///
/// # Errors
/// The store's, or of a log that cannot be written as was set.
pub(super) async fn lay(
    startup: &mut Startup,
    store: &Arc<dyn Store>,
) -> Result<Overrides, StartError> {
    let overrides = stored(&**store).await?;
    if overrides.is_empty() {
        return Ok(overrides);
    }
    let before = startup.loaded.config.clone();
    let platforms = (startup.source.platforms)();
    let environment = startup.source.environment;
    match load_again(before.file.as_deref(), &overrides, &environment, &platforms) {
        Ok(mut loaded) => {
            loaded.config = keep_fixed(loaded.config, &before);
            let now = &loaded.config;
            if (&now.observability.log, &now.timezone)
                != (&before.observability.log, &before.timezone)
            {
                log::set_up(&startup.logging, now, Some(&before), &environment)
                    .map_err(StartError::Config)?;
            }
            startup.loaded = loaded;
            Ok(overrides)
        }
        Err(error) => {
            tracing::error!(%error, "what was set at run time does not fit the file: it is left out");
            Ok(Overrides::default())
        }
    }
}
