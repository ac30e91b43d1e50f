//! PostgreSQL for tests: a schema for each, on the server of this machine or on one started for the run.
//!
//! Owns the schemas and takes each away with its owner. `WEIRGATE_TEST_POSTGRES` may name another server,
//! as `postgres://user:password@host:port`.

pub mod encrypted;
pub mod proxy;
mod server;

use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// The database in which all tests make their schemas.
const DATABASE: &str = "weirgate_test";

static NEXT: AtomicU32 = AtomicU32::new(0);

/// An empty schema.
pub struct Schema {
    server: &'static str,
    name: String,
}

impl Schema {
    pub async fn new() -> Self {
        let server = server::address().await;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let (process, moment) = (std::process::id(), now.unwrap().as_micros());
        let schema = Self {
            server,
            name: format!("t{process}_{number}_{moment}"),
        };
        let create = format!("CREATE SCHEMA {}", schema.name);
        schema.execute(&create).await;
        schema
    }

    /// The address of the schema, as an operator writes it.
    pub fn url(&self) -> String {
        let Self { server, name } = self;
        format!("{server}/{DATABASE}?options[search_path]={name}&application_name={name}")
    }

    /// The same through another address, without encryption.
    pub fn url_at(&self, address: std::net::SocketAddr) -> String {
        let url = self.url();
        let (_, path) = url.split_once(&format!("/{DATABASE}")).unwrap();
        let (scheme, rest) = self.server.split_once("://").unwrap();
        let user = rest.split_once('@').map_or("", |(user, _)| user);
        format!("{scheme}://{user}@{address}/{DATABASE}{path}&sslmode=disable")
    }

    /// Where the server listens.
    pub fn address(&self) -> &str {
        self.server.rsplit(['@', '/']).next().unwrap()
    }

    /// Ends all connections to this schema but one's own, as an administrator does.
    pub async fn cut(&self) {
        // Each session says at its start which schema it is for.
        let name = &self.name;
        self.execute(&format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE application_name = '{name}' AND pid <> pg_backend_pid()"
        ))
        .await;
    }

    /// A connection beside the gateway's.
    pub async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url()).await.unwrap()
    }

    /// Runs statements.
    pub async fn execute(&self, sql: &str) {
        let mut connection = self.connect().await;
        sqlx::raw_sql(AssertSqlSafe(sql))
            .execute(&mut connection)
            .await
            .unwrap();
    }

    /// The first column of a query, a text.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        let rows: Vec<(String,)> = sqlx::query_as(AssertSqlSafe(sql))
            .fetch_all(&mut self.connect().await)
            .await
            .unwrap();
        rows.into_iter().map(|(text,)| text).collect()
    }
}

impl Drop for Schema {
    fn drop(&mut self) {
        let (url, name) = (self.url(), self.name.clone());
        // A thread of its own, because a test's runtime cannot wait here.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let Ok(mut connection) = PgConnection::connect(&url).await else {
                    return;
                };
                let sql = format!("SET lock_timeout = '5s'; DROP SCHEMA {name} CASCADE");
                // What stays of a failed test is in nobody's way.
                let _ = sqlx::raw_sql(AssertSqlSafe(sql))
                    .execute(&mut connection)
                    .await;
            });
        });
        let _ = dropping.join();
    }
}
