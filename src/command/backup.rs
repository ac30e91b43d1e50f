//! /backup: copies the database into the folder `backups` beside it.
//!
//! Owns where the copies are and how many there may be. A copy is never removed by itself.

use std::{
    fs,
    path::{Path, PathBuf},
};

use async_trait::async_trait;

use super::{Call, Command, Desk, Done, Site, Spec, When, argument::Takes};
use crate::{
    i18n::{About, oversight::Oversight},
    permission::{AuditEvent, Capability, Level, Scope},
    reason::Reason,
    store::{
        StoreError,
        sqlite::copy::{self, Asked},
    },
};

/// /backup
#[derive(Debug)]
pub struct Backup;

static SPEC: Spec = Spec {
    name: "backup",
    aliases: &[],
    about: About::Backup,
    takes: Takes::Nothing,
    level: Level::Owner,
    when: When::Now,
};

/// The folder beside the database.
const FOLDER: &str = "backups";
/// Copies that may be there: whoever asks must not fill the disk.
const MOST: usize = 20;

#[async_trait]
impl Command for Backup {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn needs(&self, _: &str, _: Site) -> (Capability, Scope) {
        (Level::Member.capability(), Scope::Global)
    }

    async fn run(&self, call: Call<'_>, desk: &Desk) -> Result<Done, StoreError> {
        let Some(database) = desk.database.clone() else {
            let text = Oversight::OnServer.render(call.language);
            return Ok(Done::declined(text));
        };
        let asked = Asked {
            message: call.turn,
            at: desk.now(),
        };
        let copied = tokio::task::spawn_blocking(move || copy(&database, asked)).await;
        let (text, path) = match copied {
            Ok(Ok((path, bytes))) => {
                let shown = path.display().to_string();
                let copied = Oversight::BackedUp {
                    path: shown.clone(),
                    bytes,
                };
                (copied, Some(shown))
            }
            Ok(Err(refused)) => (refused, None),
            Err(error) => {
                let error = error.to_string();
                (Oversight::NotBackedUp { error }, None)
            }
        };
        let mut done = Done::text(text.render(call.language));
        let turn = call.turn;
        let target = path.clone().unwrap_or_default();
        let record = call.proof.record(AuditEvent::BackedUp, target, turn);
        if path.is_some() {
            done.effects.push(record.into());
        } else {
            done.refused = Some(Reason::StoreUnavailable);
            done.effects.push(record.failed().into());
        }
        Ok(done)
    }
}

/// Copies the database; gives the copy and its size.
fn copy(database: &Path, asked: Asked) -> Result<(PathBuf, u64), Oversight> {
    let refused = |error: &dyn std::fmt::Display| Oversight::NotBackedUp {
        error: error.to_string(),
    };
    let folder = database.with_file_name(FOLDER);
    make(&folder).map_err(|error| refused(&error))?;
    let there = fs::read_dir(&folder).map_err(|error| refused(&error))?;
    if there.count() >= MOST {
        return Err(Oversight::TooManyCopies {
            folder: folder.display().to_string(),
            most: MOST,
        });
    }
    let stamp = crate::clock::compact(asked.at);
    let into = folder.join(format!("weirgate-{stamp}.db"));
    let copied = copy::backup(database, &into, Some(asked));
    let copied = copied.map_err(|error| refused(&error))?;
    Ok((copied.path, copied.bytes))
}

/// A folder that nobody else may look into.
fn make(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let made = fs::DirBuilder::new().mode(0o700).create(folder);
    match made {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}
