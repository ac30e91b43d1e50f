//! Moves a whole store from a SQLite file into an empty PostgreSQL database.
//!
//! Owns the order of the steps and the list of tables. It changes nothing in the source, and the target gets
//! everything in one transaction or nothing: a move that is cut off anywhere is simply done again. It never
//! runs SQL itself and keeps no more than a few rows in memory.

mod error;
mod table;

use std::path::Path;

pub use error::TransferError;
pub use table::{Cell, TABLES, Table};

use super::{
    failpoint::{Moment, around},
    postgres,
    postgres::import::Import,
    sqlite::export::Export,
};

/// What a store knows of itself, beside its tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The key that was made with the store.
    pub secret: [u8; 32],
    /// The last id that was given out.
    pub last_id: i64,
    /// Every message up to this id has ended.
    pub inbox_floor: i64,
    /// Every answer up to this id is sent or given up.
    pub outbox_floor: i64,
    /// The number of the last start of a gateway.
    pub process: i64,
    /// Whether that gateway stopped cleanly; `None` if none ever ran.
    pub clean: Option<bool>,
}

/// A table that was moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// Its name.
    pub table: &'static str,
    /// Its rows.
    pub rows: u64,
    /// Texts in it that had a NUL, which is U+FFFD now.
    pub replaced: u64,
}

/// Moves the store at `from` to a database on a server. `rehearse` does everything and then takes it back.
/// `tell` is called with each table. Blocks its thread while it reads.
///
/// # Errors
/// See [`TransferError`]; except for a lost commit, the target has nothing of it then.
pub async fn transfer(
    from: &Path,
    to: &postgres::Options,
    rehearse: bool,
    tell: &mut impl FnMut(Moved),
) -> Result<(), TransferError> {
    let source = Export::open(from)?;
    let mut target = Import::open(to).await?;
    let mut moved = Vec::with_capacity(TABLES.len());
    for table in &TABLES {
        let mut statement = source.select(table)?;
        let mut rows = source.rows(&mut statement)?;
        let mut loading = target.load(table).await?;
        while let Some(row) = rows.next()? {
            loading.row(row.cells()?).await?;
        }
        let done = loading.finish().await?;
        around("migrate", Moment::Before);
        tell(done);
        moved.push(done);
    }
    target.know(&source.known()?).await?;
    for done in moved {
        target.check(done).await?;
    }
    if rehearse {
        return target.undo().await;
    }
    target.commit().await?;
    around("migrate", Moment::After);
    Ok(())
}
