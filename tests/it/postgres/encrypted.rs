//! A server of one's own that takes encrypted connections, with certificates made for it.
//!
//! Owns the server and the certificates; both end with it.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use super::server;

/// Makes two authorities and, with the first, a certificate for `localhost`.
const CERTIFICATES: &str = r#"
set -eu
cd "$1"
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1.key"; }
for authority in authority other; do
    key "$authority"
    openssl req -x509 -key "$authority.key" -days 30 -subj "/CN=$authority of a test" -out "$authority.crt"
done
key server
openssl req -new -key server.key -subj /CN=localhost -out server.csr
echo subjectAltName=DNS:localhost > extensions
openssl x509 -req -in server.csr -CA authority.crt -CAkey authority.key -CAcreateserial -days 30 \
    -extfile extensions -out server.crt
chmod 600 server.key
"#;

/// The server.
pub struct Encrypted {
    port: String,
    certificates: PathBuf,
    _server: Child,
}

impl Encrypted {
    pub async fn start() -> Self {
        let data = tempfile::tempdir().unwrap().keep();
        let certificates = data.join("certificates");
        std::fs::create_dir(&certificates).unwrap();
        make(&certificates);
        let file = |name: &str| certificates.join(name).display().to_string();
        let settings = [
            "ssl=on".to_owned(),
            format!("ssl_cert_file={}", file("server.crt")),
            format!("ssl_key_file={}", file("server.key")),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let (address, server) = server::start(&data, &settings).await;
        let (_, port) = address.rsplit_once(':').unwrap();
        Self {
            port: port.to_owned(),
            certificates,
            _server: server,
        }
    }

    /// The address of its first database by a host's name, checked against an authority: `authority` made the
    /// certificate of the server, `other` did not.
    pub fn url(&self, host: &str, authority: &str) -> String {
        let authority = self.certificates.join(format!("{authority}.crt"));
        format!(
            "postgres://postgres@{host}:{}/postgres?sslmode=verify-full&sslrootcert={}",
            self.port,
            authority.display()
        )
    }
}

fn make(folder: &Path) {
    let made = Command::new("sh")
        .args(["-c", CERTIFICATES, "sh"])
        .arg(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "openssl is needed: {said}");
}
