//! Reads everything out of a database at rest, table by table, for a move to a server.
//!
//! Owns the lock of the data folder meanwhile, so that no gateway starts. It never writes to the database.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, Statement, types::ValueRef};

use super::{
    copy::{read_only, version},
    folder,
    ids::Ids,
    migrate::KNOWN,
    writer::meta,
};
use crate::store::transfer::{Cell, Known, Table, TransferError};

/// A database that nobody else has open.
pub struct Export {
    path: PathBuf,
    connection: Connection,
    _lock: File,
}

impl Export {
    /// Opens the database at `path`.
    pub fn open(path: &Path) -> Result<Self, TransferError> {
        if !path.is_file() {
            return Err(TransferError::NoSource(path.to_owned()));
        }
        let lock = folder::prepare(path)?;
        let refused = read_error(path);
        let connection = read_only(path).map_err(&refused)?;
        let found = version(&connection).map_err(&refused)?.unwrap_or(0);
        let path = path.to_owned();
        if found > KNOWN {
            let known = KNOWN;
            return Err(super::OpenError::Newer { path, found, known }.into());
        }
        match found {
            0 => Err(TransferError::Read {
                path,
                reason: "it has no journal of this program".to_owned(),
            }),
            KNOWN => Ok(Self {
                path,
                connection,
                _lock: lock,
            }),
            _ => Err(TransferError::Old {
                path,
                found,
                known: KNOWN,
            }),
        }
    }

    /// What the store knows of itself.
    pub fn known(&self) -> Result<Known, TransferError> {
        self.read_known().map_err(read_error(&self.path))
    }

    fn read_known(&self) -> rusqlite::Result<Known> {
        let number = |key| Ok::<_, rusqlite::Error>(meta(&self.connection, key)?.unwrap_or(0));
        let stop: Option<String> = meta(&self.connection, "stop")?;
        Ok(Known {
            // A store that was made and never opened has none yet.
            secret: meta(&self.connection, "secret")?.unwrap_or_else(rand::random),
            last_id: Ids::load(&self.connection)?.last(),
            inbox_floor: number("inbox_floor")?,
            outbox_floor: number("outbox_floor")?,
            process: number("process")?,
            clean: stop.map(|stop| stop == "clean"),
        })
    }

    /// The question for all rows of a table.
    pub fn select(&self, table: &Table) -> Result<Statement<'_>, TransferError> {
        let Table {
            name, columns, key, ..
        } = table;
        let sql = format!("SELECT {columns} FROM {name} ORDER BY {key}");
        let prepared = self.connection.prepare(&sql);
        prepared.map_err(read_error(&self.path))
    }

    /// All rows that answer it, one after the other.
    pub fn rows<'s>(&'s self, statement: &'s mut Statement<'_>) -> Result<Rows<'s>, TransferError> {
        let columns = statement.column_count();
        let rows = statement.query([]).map_err(read_error(&self.path))?;
        Ok(Rows {
            path: &self.path,
            columns,
            rows,
        })
    }
}

/// The rows of a table.
pub struct Rows<'s> {
    path: &'s Path,
    columns: usize,
    rows: rusqlite::Rows<'s>,
}

impl Rows<'_> {
    /// The next one.
    pub fn next(&mut self) -> Result<Option<Row<'_>>, TransferError> {
        let (path, columns) = (self.path, self.columns);
        let row = self.rows.next().map_err(read_error(path))?;
        Ok(row.map(|row| Row { path, columns, row }))
    }
}

/// A row.
pub struct Row<'r> {
    path: &'r Path,
    columns: usize,
    row: &'r rusqlite::Row<'r>,
}

impl Row<'_> {
    /// Its values.
    pub fn cells(&self) -> Result<Vec<Cell<'_>>, TransferError> {
        (0..self.columns).map(|column| self.cell(column)).collect()
    }

    fn cell(&self, column: usize) -> Result<Cell<'_>, TransferError> {
        let value = self.row.get_ref(column).map_err(read_error(self.path))?;
        match value {
            ValueRef::Null => Ok(Cell::Null),
            ValueRef::Integer(number) => Ok(Cell::Integer(number)),
            ValueRef::Text(_) => value
                .as_str()
                .map(Cell::Text)
                .map_err(|error| read_error(self.path)(error.into())),
            ValueRef::Real(_) | ValueRef::Blob(_) => Err(TransferError::Read {
                path: self.path.to_owned(),
                reason: format!("a value in column {column} is neither text nor a whole number"),
            }),
        }
    }
}

fn read_error(path: &Path) -> impl Fn(rusqlite::Error) -> TransferError {
    let path = path.to_owned();
    move |error| TransferError::Read {
        path: path.clone(),
        reason: error.to_string(),
    }
}
