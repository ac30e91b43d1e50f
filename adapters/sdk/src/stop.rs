//! The stop signal that everything which runs receives from the day it is written.
//!
//! Owns one bit that goes from "run" to "stop" once. It never aborts anything: who holds a [`Stop`]
//! ends by itself.

use std::sync::Arc;

use tokio::sync::watch;

/// Tells the holders of its [`Stop`]s to end. Dropping it tells them as well.
#[derive(Debug)]
pub struct Stopper {
    signal: Arc<watch::Sender<bool>>,
}

/// A handle to wait for the stop signal; cheap to clone.
#[derive(Debug, Clone)]
pub struct Stop {
    signal: watch::Receiver<bool>,
}

impl Stopper {
    /// A new signal, not yet given.
    #[must_use]
    pub fn new() -> (Self, Stop) {
        let (sender, receiver) = watch::channel(false);
        (
            Self {
                signal: Arc::new(sender),
            },
            Stop { signal: receiver },
        )
    }

    /// Gives the signal. Repeating it changes nothing.
    pub fn stop(&self) {
        self.signal.send_replace(true);
    }
}

impl Stop {
    /// Whether the signal was given.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        *self.signal.borrow() || self.signal.has_changed().is_err()
    }

    /// Resolves when the signal is given, at once if it was.
    pub async fn stopped(&self) {
        let mut signal = self.signal.clone();
        // An error means that the stopper is gone, which is a stop as well.
        let _ = signal.wait_for(|stopped| *stopped).await;
    }
}
