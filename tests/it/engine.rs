//! The databases on which a test runs, and the list of tests that run on each.

use crate::postgres::Schema;

/// The databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    /// A schema of its own for a test on a server.
    pub async fn schema(self) -> Option<Schema> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some(Schema::new().await),
        }
    }
}

/// Declares that these functions are tests of every database. One that is not listed is never used, which is
/// a warning.
macro_rules! suite {
    ($($test:ident),* $(,)?) => {
        mod sqlite {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::engine::Engine::Sqlite).await;
            })*
        }

        mod postgres {
            $(#[tokio::test]
            async fn $test() {
                super::$test(crate::engine::Engine::Postgres).await;
            })*
        }
    };
}
