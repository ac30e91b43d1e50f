//! The media store of the application: where it is, and who sweeps it.
//!
//! Owns its place in the data folder. It never touches a file.

use std::sync::Arc;

use weirgate_sdk::Stop;

use super::StartError;
use crate::{
    clock::Clock,
    config::{Config, Environment},
    media::{self, MediaStore},
    operate::socket_folder,
    store::Store,
};

/// Opens the media store in the data folder. Without a folder there is none, and files are only described.
pub(super) async fn open(
    config: &Config,
    environment: &Environment<'_>,
    store: &Arc<dyn Store>,
    clock: Clock,
) -> Result<Option<Arc<MediaStore>>, StartError> {
    let Some(folder) = socket_folder(config, environment) else {
        tracing::warn!("no folder for files: neither XDG_DATA_HOME nor HOME is set");
        return Ok(None);
    };
    let options = media::Options {
        folder: &folder,
        settings: config.media.clone(),
        retention: config.storage.retention.media,
        durability: config.storage.durability,
    };
    let opened = MediaStore::open(options, Arc::clone(store), clock).await;
    let opened = opened.map_err(|error| StartError::Config(format!("media: {error}")))?;
    Ok(Some(opened))
}

/// Sweeps it until `stop`.
pub(super) async fn sweep(media: Option<Arc<MediaStore>>, stop: Stop) {
    if let Some(media) = media {
        media.sweep(stop).await;
    }
}
