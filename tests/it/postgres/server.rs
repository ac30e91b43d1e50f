//! The server: the one that `WEIRGATE_TEST_POSTGRES` names, else the one of this machine, else a private one.
//!
//! Owns the private one. It ends when this process does, however that ends.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::sync::OnceCell;

use super::DATABASE;
use crate::gateway::free_port;

/// The server of this machine, if it trusts its own users.
const HERE: &str = "postgres://postgres@127.0.0.1:5432";
/// How long a private server may take to be there.
const START: Duration = Duration::from_secs(60);

/// Started at the first use. `initdb` refuses root, so root starts it as `postgres` or `nobody`.
const SCRIPT: &str = r#"
set -eu
bin=$1 data=$2 port=$3
shift 3
as() { "$@"; }
if [ "$(id -u)" = 0 ]; then
    user=postgres; id postgres >/dev/null 2>&1 || user=nobody
    chown -R "$user" "$data"
    as() { setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@"; }
fi
cd /
as "$bin/initdb" -D "$data/db" -U postgres -A trust -E UTF8 --locale=C -N >/dev/null
as "$bin/postgres" -D "$data/db" -p "$port" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories= -c fsync=off "$@" &
server=$!
# Nothing is ever written here: the end of the file is the end of the tests.
read -r _ || true
kill -QUIT "$server"
wait "$server" || true
rm -rf "$data"
"#;

struct Server {
    address: String,
    _private: Option<Child>,
}

static SERVER: OnceCell<Server> = OnceCell::const_new();

/// Its address without a database.
pub async fn address() -> &'static str {
    let server = SERVER.get_or_init(find).await;
    &server.address
}

async fn find() -> Server {
    let named = std::env::var("WEIRGATE_TEST_POSTGRES").ok();
    let (address, private) = match named {
        Some(address) => (address, None),
        None if connect(HERE).await.is_ok() => (HERE.to_owned(), None),
        None => {
            let data = tempfile::tempdir().unwrap().keep();
            let (address, child) = start(&data, &[]).await;
            (address, Some(child))
        }
    };
    let mut connection = connect(&address).await.unwrap();
    let create = format!("CREATE DATABASE {DATABASE}");
    // It is there already, or another run of the tests makes it right now.
    let _ = sqlx::raw_sql(AssertSqlSafe(create))
        .execute(&mut connection)
        .await;
    Server {
        address,
        _private: private,
    }
}

async fn connect(address: &str) -> sqlx::Result<PgConnection> {
    PgConnection::connect(&format!("{address}/postgres")).await
}

/// Starts a server of one's own with its files in a folder, which goes with it, and more settings. It ends
/// with the child's standard input.
pub async fn start(data: &Path, settings: &[&str]) -> (String, Child) {
    let programs = programs().expect(
        "no PostgreSQL server is reachable and none is installed: run tests/run.sh as root, install \
         Debian's package postgresql, or set WEIRGATE_TEST_POSTGRES",
    );
    let port = free_port();
    let settings = settings.iter().flat_map(|setting| ["-c", setting]);
    let child = Command::new("sh")
        .args(["-c", SCRIPT, "sh"])
        .args([programs.as_path(), data])
        .arg(port.to_string())
        .args(settings)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let address = format!("postgres://postgres@127.0.0.1:{port}");
    let started = Instant::now();
    while let Err(error) = connect(&address).await {
        assert!(started.elapsed() < START, "no private server: {error}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    (address, child)
}

/// The folder of the server's programs: Debian does not put them on the path.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let mut debian: Vec<PathBuf> = versions.flatten().map(|at| at.path().join("bin")).collect();
    debian.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    debian
        .into_iter()
        .rev()
        .chain(std::env::split_paths(&path))
        .find(|folder| has(folder, "initdb") && has(folder, "postgres"))
}

fn has(folder: &Path, program: &str) -> bool {
    folder.join(program).is_file()
}
