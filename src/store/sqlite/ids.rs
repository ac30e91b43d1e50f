//! The counter from which inbox, outbox, history and audit get their ids.
//!
//! Ids are reserved in blocks in the table `meta`, so that an id never comes back, even if its row was
//! deleted or its process crashed. A crash wastes at most one block; a clean stop wastes none.

use rusqlite::Connection;

use super::writer::{meta, set_meta};

/// Ids that one write to the disk reserves.
const BLOCK: i64 = 1 << 16;

/// The counter.
#[derive(Debug)]
pub struct Ids {
    last: i64,
    reserved: i64,
}

impl Ids {
    /// Goes on after the last reserved id, and after every row that is there.
    pub fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let reserved = meta(connection, "reserved")?.unwrap_or(0);
        let newest: i64 = connection.query_row(
            "SELECT max(coalesce((SELECT max(id) FROM inbox), 0),
                        coalesce((SELECT max(id) FROM outbox), 0),
                        coalesce((SELECT max(id) FROM audit), 0))",
            [],
            |row| row.get(0),
        )?;
        let last = reserved.max(newest);
        Ok(Self {
            last,
            reserved: last,
        })
    }

    /// The last one that was given out, or may have been.
    pub fn last(&self) -> i64 {
        self.last
    }

    /// Makes sure that `count` more ids may be used. Not inside a transaction.
    pub fn reserve(&mut self, connection: &Connection, count: usize) -> rusqlite::Result<()> {
        let wanted = self
            .last
            .saturating_add(i64::try_from(count).unwrap_or(i64::MAX));
        if wanted > self.reserved {
            let reserved = wanted.saturating_add(BLOCK);
            set_meta(connection, "reserved", reserved)?;
            self.reserved = reserved;
        }
        Ok(())
    }

    /// The next id.
    pub fn fresh(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    /// Gives back what is reserved and not used.
    pub fn save(&self, connection: &Connection) -> rusqlite::Result<()> {
        set_meta(connection, "reserved", self.last)
    }
}
