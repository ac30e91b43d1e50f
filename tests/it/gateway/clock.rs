//! A gateway whose clock a test turns: libfaketime's, which the program is started with. Everybody else keeps ordinary time.

use std::path::PathBuf;

use super::{Gateway, long};

/// The file that says what time it is.
const CLOCK: &str = "clock";

impl Gateway {
    /// Gives the next start a clock that can be turned; says whether there is one. In the long form of the tests there
    /// must be.
    pub fn with_clock(&mut self) -> bool {
        let Some(library) = library() else {
            assert!(
                !long(),
                "libfaketime is missing (Debian: apt-get install faketime)"
            );
            return false;
        };
        let clock = self.folder().join(CLOCK);
        self.set("LD_PRELOAD", &library);
        self.set("FAKETIME_TIMESTAMP_FILE", &clock.to_string_lossy());
        self.set("FAKETIME_CACHE_DURATION", "1");
        // What is far from ordinary at the start would be over its time-outs.
        self.turn_clock("+0 x1");
        true
    }

    /// Turns the clock, within a second or two: how far it is from ours, and how fast it goes.
    pub fn turn_clock(&self, to: &str) {
        self.write(CLOCK, to);
    }
}

/// Where the library that turns the clock is.
fn library() -> Option<String> {
    let folders = std::fs::read_dir("/usr/lib").ok()?;
    let mut places: Vec<PathBuf> = folders.flatten().map(|entry| entry.path()).collect();
    places.push(PathBuf::from("/usr/local/lib"));
    let libraries = places
        .iter()
        .map(|place| place.join("faketime/libfaketimeMT.so.1"));
    let found = libraries.into_iter().find(|library| library.is_file())?;
    Some(found.to_string_lossy().into_owned())
}
