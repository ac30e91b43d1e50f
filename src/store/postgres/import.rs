//! Fills an empty database with everything of another store, in one transaction.
//!
//! Owns that transaction and the locks that keep every gateway out until its end. It never touches a database
//! that has rows.

use std::{fmt::Write as _, time::Duration};

use sqlx::{AssertSqlSafe, PgConnection, postgres::PgCopyIn};

use super::{
    OpenError, Options,
    connect::{Address, within},
    error::{Meaning, meaning},
    lease, migrate, plan, reach, session,
};
use crate::store::transfer::{Cell, Known, Moved, TABLES, Table, TransferError};

/// Bytes that are sent at once, about.
const CHUNK: usize = 256 << 10;
/// How long the server may take for any step, which may be a whole table.
const STEP: Duration = Duration::from_secs(60 * 60);
/// Tables of the server's alone that a store that was ever in use has rows in.
const OWN: [&str; 2] = ["process", "journal"];

/// An empty database that is being filled.
pub struct Import {
    address: Address,
    connection: PgConnection,
    now: fn() -> i64,
}

impl Import {
    /// Opens a database, brings its schema up to date, and locks it if it is empty.
    pub async fn open(options: &Options) -> Result<Self, TransferError> {
        let address = Address::read(options)?;
        if reach(options).await? {
            let address = address.to_string();
            return Err(OpenError::InUse { address }.into());
        }
        let mut connection = match address.writer().await {
            Ok(connection) => connection,
            Err(error) => {
                return Err(OpenError::Unreachable {
                    address: address.to_string(),
                    reason: error.to_string(),
                }
                .into());
            }
        };
        migrate::migrate(&mut connection, &address).await?;
        let mut import = Self {
            address,
            connection,
            now: options.now,
        };
        // A page of the source is a moment; a table on the server may take its time.
        import
            .execute(
                "SET statement_timeout = '60min'; SET idle_in_transaction_session_timeout = '5min'; BEGIN; \
                 LOCK TABLE journal, process IN ACCESS EXCLUSIVE MODE",
            )
            .await?;
        let tables = TABLES.iter().map(|table| table.name);
        for table in tables.chain(OWN) {
            if import.count(table, " LIMIT 1").await? > 0 {
                let address = import.address.to_string();
                return Err(TransferError::NotEmpty { address, table });
            }
        }
        Ok(import)
    }

    /// Begins to fill a table.
    pub async fn load(&mut self, table: &Table) -> Result<Loading<'_>, TransferError> {
        let Table { name, columns, .. } = table;
        // The server alone knows which start began a turn; of the ones before it is none of its own.
        let (added, ending) = if *name == "turn" {
            (", process", "\t0\n")
        } else {
            ("", "\n")
        };
        let sql = format!("COPY {name} ({columns}{added}) FROM STDIN");
        let begun = within(STEP, self.connection.copy_in_raw(&sql)).await;
        let copy = begun.map_err(write_error(&self.address))?;
        Ok(Loading {
            address: &self.address,
            copy,
            ending,
            text: String::new(),
            done: Moved {
                table: name,
                rows: 0,
                replaced: 0,
            },
        })
    }

    /// Writes what the other store knew of itself, after all tables.
    pub async fn know(&mut self, known: &Known) -> Result<(), TransferError> {
        let write = sqlx::query(
            "INSERT INTO journal (last_id, inbox_floor, outbox_floor, secret) VALUES ($1, $2, $3, $4)",
        )
        .bind(known.last_id)
        .bind(known.inbox_floor)
        .bind(known.outbox_floor)
        .bind(known.secret.as_slice())
        .execute(&mut self.connection);
        within(STEP, write)
            .await
            .map_err(write_error(&self.address))?;
        if let Some(clean) = known.clean {
            let state = if clean {
                session::CLEAN
            } else {
                session::IN_USE
            };
            let write =
                sqlx::query("INSERT INTO process (id, opened_at, state) VALUES ($1, $2, $3)")
                    .bind(known.process)
                    .bind((self.now)())
                    .bind(state)
                    .execute(&mut self.connection);
            within(STEP, write)
                .await
                .map_err(write_error(&self.address))?;
        }
        let leases = lease::assign_all(&mut self.connection, known.process);
        within(STEP, leases)
            .await
            .map_err(write_error(&self.address))?;
        self.go_on_after("process", known.process).await?;
        for table in TABLES.iter().filter(|table| table.numbered) {
            let last = self
                .number(&format!("SELECT coalesce(max(id), 0) FROM {}", table.name))
                .await?;
            self.go_on_after(table.name, last).await?;
        }
        Ok(())
    }

    /// The next number that the server gives a row of the table is the one after `last`.
    async fn go_on_after(&mut self, table: &str, last: i64) -> Result<(), TransferError> {
        let next = last.saturating_add(1);
        self.execute(&format!(
            "ALTER TABLE {table} ALTER COLUMN id RESTART WITH {next}"
        ))
        .await
    }

    /// Compares a table with what was sent.
    pub async fn check(&mut self, moved: Moved) -> Result<(), TransferError> {
        let found = self.count(moved.table, "").await?;
        if found == moved.rows {
            return Ok(());
        }
        Err(TransferError::Count {
            address: self.address.to_string(),
            table: moved.table,
            sent: moved.rows,
            found,
        })
    }

    /// Takes everything back.
    pub async fn undo(mut self) -> Result<(), TransferError> {
        self.execute("ROLLBACK").await
    }

    /// Makes it all visible at once.
    pub async fn commit(mut self) -> Result<(), TransferError> {
        let committed = within(STEP, sqlx::raw_sql("COMMIT").execute(&mut self.connection)).await;
        match committed {
            Ok(_) => {}
            Err(error) if meaning(&error) == Meaning::Connection => {
                return Err(TransferError::Unsure {
                    address: self.address.to_string(),
                    reason: error.to_string(),
                });
            }
            Err(error) => return Err(write_error(&self.address)(error)),
        }
        // So that the server plans well from the first question on; it would find out by itself later.
        if let Err(error) = self.execute("ANALYZE").await {
            tracing::debug!(%error, "the tables were not analysed");
        }
        Ok(())
    }

    /// How many rows a table has, or whether it has any.
    async fn count(&mut self, table: &str, limit: &str) -> Result<u64, TransferError> {
        let sql = format!("SELECT count(*) FROM (SELECT FROM {table}{limit}) counted");
        self.number(&sql).await.map(i64::unsigned_abs)
    }

    async fn number(&mut self, sql: &str) -> Result<i64, TransferError> {
        let ask = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut self.connection);
        within(STEP, ask).await.map_err(write_error(&self.address))
    }

    async fn execute(&mut self, sql: &str) -> Result<(), TransferError> {
        let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut self.connection);
        let done = within(STEP, done).await;
        done.map(drop).map_err(write_error(&self.address))
    }
}

/// A table that is being filled.
pub struct Loading<'c> {
    address: &'c Address,
    copy: PgCopyIn<&'c mut PgConnection>,
    ending: &'static str,
    text: String,
    done: Moved,
}

impl Loading<'_> {
    /// Adds a row.
    pub async fn row(&mut self, cells: Vec<Cell<'_>>) -> Result<(), TransferError> {
        for (index, cell) in cells.into_iter().enumerate() {
            if index > 0 {
                self.text.push('\t');
            }
            self.done.replaced += u64::from(encode(cell, &mut self.text));
        }
        self.text.push_str(self.ending);
        self.done.rows += 1;
        if self.text.len() >= CHUNK {
            self.send().await?;
        }
        Ok(())
    }

    async fn send(&mut self) -> Result<(), TransferError> {
        let sent = within(STEP, self.copy.send(self.text.as_bytes())).await;
        sent.map(drop).map_err(write_error(self.address))?;
        self.text.clear();
        Ok(())
    }

    /// Ends it.
    pub async fn finish(mut self) -> Result<Moved, TransferError> {
        self.send().await?;
        let finished = within(STEP, self.copy.finish()).await;
        finished.map_err(write_error(self.address))?;
        Ok(self.done)
    }
}

/// Writes a value as the server reads it; tells whether a character was replaced.
fn encode(cell: Cell<'_>, into: &mut String) -> bool {
    let text = match cell {
        Cell::Null => {
            into.push_str("\\N");
            return false;
        }
        Cell::Integer(number) => {
            // Writing to a text cannot fail.
            let _ = write!(into, "{number}");
            return false;
        }
        Cell::Text(text) => text,
    };
    for character in plan::clean(text).chars() {
        match character {
            '\\' => into.push_str("\\\\"),
            '\t' => into.push_str("\\t"),
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            other => into.push(other),
        }
    }
    text.contains('\0')
}

fn write_error(address: &Address) -> impl FnOnce(sqlx::Error) -> TransferError {
    let address = address.to_string();
    move |error| TransferError::Write {
        address,
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, encode};

    #[test]
    fn a_value_is_one_field_whatever_is_in_it() {
        let encoded = |cell| {
            let mut text = String::new();
            let replaced = encode(cell, &mut text);
            (text, replaced)
        };
        assert_eq!(encoded(Cell::Null), ("\\N".to_owned(), false));
        assert_eq!(encoded(Cell::Integer(-7)), ("-7".to_owned(), false));
        assert_eq!(encoded(Cell::Text("")), (String::new(), false));
        assert_eq!(encoded(Cell::Text("\\N")), ("\\\\N".to_owned(), false));
        assert_eq!(
            encoded(Cell::Text("a\tb\nc\rd\0e")),
            ("a\\tb\\nc\\rd\u{FFFD}e".to_owned(), true)
        );
    }
}
