//! What lies around the process: ports, the configuration as a tree, the database file.

use std::{
    net::TcpListener,
    path::Path,
    sync::atomic::{AtomicU16, Ordering},
};

use serde_json::Value;

/// First port that is handed out: under the range from which systems take ports for outgoing
/// connections, so that none of those can be in the way of a restart.
const FIRST: u16 = 20_000;
/// How many ports are handed out before they repeat.
const PORTS: u16 = 10_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port that is free and that no other test of this process gets.
pub fn free_port() -> u16 {
    let start = u16::try_from(std::process::id() % u32::from(PORTS)).unwrap();
    loop {
        let offset = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = FIRST + (start + offset) % PORTS;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Lays `changes` over `base`: objects key by key, everything else whole; null takes a key away.
pub fn merge(base: &mut Value, changes: Value) {
    match (base, changes) {
        (Value::Object(base), Value::Object(changes)) => {
            for (key, change) in changes {
                if change.is_null() {
                    base.remove(&key);
                } else {
                    merge(base.entry(key).or_insert(Value::Null), change);
                }
            }
        }
        (base, changes) => *base = changes,
    }
}

/// Runs statements on a database behind the gateway's back.
pub fn execute(database: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(database).unwrap();
    connection.execute_batch(sql).unwrap();
}

/// The rows of a query over a database file, each as its columns joined by `|`.
pub fn rows(database: &Path, query: &str) -> Vec<String> {
    let connection = rusqlite::Connection::open(database).unwrap();
    let mut statement = connection.prepare(query).unwrap();
    let columns = statement.column_count();
    let found = statement.query_map([], |row| {
        let column = |index| match row.get_ref(index) {
            Ok(rusqlite::types::ValueRef::Integer(number)) => number.to_string(),
            Ok(rusqlite::types::ValueRef::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string(),
        };
        Ok((0..columns).map(column).collect::<Vec<_>>().join("|"))
    });
    found.unwrap().map(Result::unwrap).collect()
}
