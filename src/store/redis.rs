//! Memory on a Redis server: entries that several gateways may share, and that live as long as the server keeps them.
//!
//! Owns the keys below one prefix, and the connection: it is made when it is needed, and made anew when it broke. A server
//! that is away is asked again after a while, not by each turn. What the scripts do is in `redis/*.lua`: each is one step
//! for the server, so that a change is whole or not at all.

mod stored;

use std::{
    fmt,
    time::{Duration, Instant},
};

use async_trait::async_trait;
use redis::{
    Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, RedisConnectionInfo,
    RedisError, aio::MultiplexedConnection,
};
use tokio::sync::Mutex;
use weirgate_sdk::settings::Secret;

use self::stored::{Asked, Found, changes};
use super::{MemoryChange, MemoryQuestion, MemoryRow, MemoryStore, Place, StoreError};

/// Changes entries and everything by which they are found.
const CHANGE: &str = include_str!("redis/change.lua");
/// Finds entries.
const FIND: &str = include_str!("redis/find.lua");
/// Longest wait for a connection, and for an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a server that did not answer is left alone.
const REST: Duration = Duration::from_secs(5);
/// Most words that are looked for at once.
const MOST_WORDS: usize = 200;

/// Where the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Its address as `redis://[user:password@]host[:port][/database]`, if it is written so.
    pub url: Option<Secret>,
    /// Its host.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The number of the database on it.
    pub db: u16,
    /// The user, if it wants one.
    pub username: Option<String>,
    /// The password, if it wants one.
    pub password: Option<Secret>,
    /// What all keys begin with.
    pub prefix: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            url: None,
            host: "localhost".to_owned(),
            port: 6379,
            db: 0,
            username: None,
            password: None,
            prefix: "weirgate:memory:".to_owned(),
        }
    }
}

impl Options {
    fn info(&self) -> Result<ConnectionInfo, RedisError> {
        if let Some(url) = &self.url {
            return url.expose().into_connection_info();
        }
        let mut login = RedisConnectionInfo::default().set_db(i64::from(self.db));
        if let Some(user) = &self.username {
            login = login.set_username(user);
        }
        if let Some(password) = &self.password {
            login = login.set_password(password.expose());
        }
        let address = ConnectionAddr::Tcp(self.host.clone(), self.port);
        Ok(address.into_connection_info()?.set_redis_settings(login))
    }

    /// The password in the address, for the redactor: what a server says may name it without the rest.
    #[must_use]
    pub fn secrets(&self) -> Vec<(String, Secret)> {
        let url = self
            .url
            .as_ref()
            .map(|url| reqwest::Url::parse(url.expose()));
        let password = url.and_then(Result::ok).and_then(|url| {
            let password = url.password()?.to_owned();
            (!password.is_empty()).then(|| Secret::new(password))
        });
        let key = |password| ("memory.redis.url".to_owned(), password);
        password.map(key).into_iter().collect()
    }

    /// Whether an address can be read.
    #[must_use]
    pub fn is_address(url: &str) -> bool {
        url.starts_with("redis://") && url.into_connection_info().is_ok()
    }
}

/// The memory.
pub struct RedisMemory {
    client: Client,
    prefix: String,
    line: Mutex<Line>,
}

impl fmt::Debug for RedisMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisMemory").finish_non_exhaustive()
    }
}

/// The connection.
#[derive(Default)]
struct Line {
    open: Option<MultiplexedConnection>,
    /// Until when it is not tried, and why.
    rests: Option<(Instant, String)>,
}

impl RedisMemory {
    /// A memory on a server, which need not be there yet.
    ///
    /// # Errors
    /// Its address cannot be read.
    pub fn new(options: &Options) -> Result<Self, StoreError> {
        let client = options.info().and_then(Client::open);
        Ok(Self {
            client: client.map_err(|error| failed(&error))?,
            prefix: options.prefix.clone(),
            line: Mutex::default(),
        })
    }

    /// Whether the server answers.
    ///
    /// # Errors
    /// What it said, or that it said nothing.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let ping = redis::cmd("PING");
        self.ask::<String>(&ping).await.map(drop)
    }

    /// Asks the server. A connection that breaks is made anew by whoever asks next.
    async fn ask<T: redis::FromRedisValue>(&self, question: &redis::Cmd) -> Result<T, StoreError> {
        let mut line = self.line().await?;
        let answer = tokio::time::timeout(PATIENCE, question.query_async(&mut line)).await;
        match answer {
            Ok(Ok(told)) => Ok(told),
            Ok(Err(error)) if error.is_io_error() || error.is_connection_dropped() => {
                self.rest(failed(&error)).await
            }
            Ok(Err(error)) => Err(failed(&error)),
            Err(_) => self.rest(silent()).await,
        }
    }

    async fn line(&self) -> Result<MultiplexedConnection, StoreError> {
        // Held over the attempt, so that only one is made.
        let mut line = self.line.lock().await;
        if let Some(open) = &line.open {
            return Ok(open.clone());
        }
        if let Some((until, why)) = &line.rests
            && Instant::now() < *until
        {
            return Err(StoreError::Database(why.clone()));
        }
        let connect = self.client.get_multiplexed_async_connection();
        let error = match tokio::time::timeout(PATIENCE, connect).await {
            Ok(Ok(open)) => {
                line.rests = None;
                line.open = Some(open.clone());
                return Ok(open);
            }
            Ok(Err(error)) => failed(&error),
            Err(_) => silent(),
        };
        line.rests = Some((Instant::now() + REST, why(&error)));
        Err(error)
    }

    /// Gives the connection up.
    async fn rest<T>(&self, error: StoreError) -> Result<T, StoreError> {
        // The next one to ask tries at once: a server that was restarted is there again.
        self.line.lock().await.open = None;
        Err(error)
    }

    fn script(&self, script: &str) -> redis::Cmd {
        let mut eval = redis::cmd("EVAL");
        eval.arg(script).arg(0).arg(&self.prefix);
        eval
    }
}

fn failed(error: &RedisError) -> StoreError {
    StoreError::Database(format!("Redis: {error}"))
}

fn silent() -> StoreError {
    StoreError::Database("Redis: no answer in time".to_owned())
}

fn why(error: &StoreError) -> String {
    match error {
        StoreError::Database(why) => why.clone(),
        error => error.to_string(),
    }
}

#[async_trait]
impl MemoryStore for RedisMemory {
    async fn remembered(
        &self,
        mut question: MemoryQuestion,
        limit: usize,
    ) -> Result<Vec<MemoryRow>, StoreError> {
        if let MemoryQuestion::Words(_, words) = &mut question {
            words.truncate(MOST_WORDS);
        }
        let asked = Asked::of(&question);
        let mut find = self.script(FIND);
        find.arg(asked.kind).arg(limit).arg(asked.json());
        let found: Vec<Found> = self.ask(&find).await?;
        Ok(found.into_iter().filter_map(stored::row).collect())
    }

    async fn change_memory(&self, changed: Vec<MemoryChange>) -> Result<Vec<i64>, StoreError> {
        let mut change = self.script(CHANGE);
        change.arg(changes(&changed));
        let ids: Vec<String> = self.ask(&change).await?;
        Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
    }

    async fn memory_places(
        &self,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Place>, StoreError> {
        let from = after.map_or("-".to_owned(), |place| format!("({}", stored::place(place)));
        let mut range = redis::cmd("ZRANGEBYLEX");
        range
            .arg(format!("{}places", self.prefix))
            .arg(from)
            .arg("+");
        range.arg("LIMIT").arg(0).arg(limit);
        let found: Vec<String> = self.ask(&range).await?;
        Ok(found
            .iter()
            .filter_map(|place| stored::read_place(place))
            .collect())
    }
}
