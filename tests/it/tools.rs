//! The tools of the command line: the real binary beside a gateway that runs, and on a folder where none
//! does.

mod audit;
mod check;
mod copies;
mod doctor;
mod init;
mod lists;
mod migrate;
mod socket;
mod terminal;

use serde_json::Value;

use crate::gateway::Gateway;

/// What a tool said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    /// The output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The output of a tool that did what it should.
    pub fn done(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }
}

/// Runs a tool in the folder of a gateway.
pub async fn tool(gateway: &Gateway, arguments: &[&str]) -> Said {
    let output = gateway.command(arguments).output().await.unwrap();
    Said {
        code: output.status.code().unwrap(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The ids of the rows of a list in JSON.
pub async fn listed(gateway: &Gateway, arguments: &[&str], rows: &str) -> Vec<i64> {
    let json = tool(gateway, arguments).await.json();
    let rows = json[rows].as_array().unwrap();
    rows.iter().map(|row| row["id"].as_i64().unwrap()).collect()
}
