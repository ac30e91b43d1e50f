//! PostgreSQL over TLS: the server is who the address says, or nothing is said to it.

use sqlx::{Connection as _, PgConnection};
use weirgate::store::{
    Store as _,
    postgres::{OpenError, PostgresStore},
};

use super::server_options;
use crate::postgres::encrypted::Encrypted;

#[tokio::test]
async fn the_server_is_checked_by_its_name_and_its_authority() {
    let server = Encrypted::start().await;
    for (host, authority) in [("127.0.0.1", "authority"), ("localhost", "other")] {
        let options = server_options(server.url(host, authority));
        let error = PostgresStore::open(options).await.map(drop).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, OpenError::Unreachable { .. }), "{text}");
        assert!(text.contains("certificate"), "{host}, {authority}: {text}");
    }
    let url = server.url("localhost", "authority");
    let store = PostgresStore::open(server_options(url.clone()))
        .await
        .unwrap();
    store.healthy().await.unwrap();
    let mut beside = PgConnection::connect(&url).await.unwrap();
    let plain: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
         WHERE backend_type = 'client backend' AND NOT ssl",
    )
    .fetch_one(&mut beside)
    .await
    .unwrap();
    assert_eq!(plain, 0, "every connection is encrypted");
    store.close().await;
}
