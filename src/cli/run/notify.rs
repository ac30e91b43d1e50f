//! What a service manager is told (systemd's `Type=notify`): that the gateway is ready, stops, and is alive.
//!
//! Owns the protocol: lines of `KEY=VALUE` in a datagram to the socket that `NOTIFY_SOCKET` names. It says
//! nothing where nobody asked, and never waits: what the manager cannot take now is left out.

use std::{
    io,
    os::unix::net::{SocketAddr, UnixDatagram},
    time::Duration,
};

/// Between two signs of life where nobody asked for any; they are sent nowhere.
const SELDOM: Duration = Duration::from_secs(3600);

/// Something that is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// People can be answered.
    Ready,
    /// The drain has begun.
    Stopping,
    /// The loop that hears signals still goes round.
    Alive,
}

impl State {
    fn text(self) -> &'static str {
        match self {
            Self::Ready => "READY=1",
            Self::Stopping => "STOPPING=1",
            Self::Alive => "WATCHDOG=1",
        }
    }
}

/// The service manager, if there is one that wants to be told.
#[derive(Debug, Default)]
pub(super) struct Manager {
    to: Option<(UnixDatagram, SocketAddr)>,
    /// Half of the time after which a silent service is ended.
    beat: Option<Duration>,
}

impl Manager {
    /// As the variables say. An address that cannot be used is logged.
    pub(super) fn of(environment: impl Fn(&str) -> Option<String>) -> Self {
        let Some(name) = environment("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else {
            return Self::default();
        };
        let to = match connect(&name) {
            Ok(to) => to,
            Err(error) => {
                tracing::warn!(%error, name, "the service manager cannot be told anything");
                return Self::default();
            }
        };
        let number = |name| environment(name).and_then(|text| text.parse::<u64>().ok());
        // Meant for this process, and not for one that started it.
        let ours =
            number("WATCHDOG_PID").is_none_or(|process| process == u64::from(std::process::id()));
        let limit = number("WATCHDOG_USEC").filter(|limit| ours && *limit > 1);
        Self {
            to: Some(to),
            beat: limit.map(|limit| Duration::from_micros(limit / 2)),
        }
    }

    /// Tells it, if it wants to know.
    pub(super) fn tell(&self, state: State) {
        if state == State::Alive && self.beat.is_none() {
            return;
        }
        if let Some((socket, address)) = &self.to
            && let Err(error) = socket.send_to_addr(state.text().as_bytes(), address)
        {
            tracing::debug!(%error, ?state, "the service manager was not told");
        }
    }

    /// When the next sign of life is due; the first one is at once.
    pub(super) fn beats(&self) -> tokio::time::Interval {
        let mut beats = tokio::time::interval(self.beat.unwrap_or(SELDOM));
        beats.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        beats
    }
}

fn connect(name: &str) -> io::Result<(UnixDatagram, SocketAddr)> {
    let address = match name.strip_prefix('@') {
        Some(name) => nameless(name)?,
        None => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    Ok((socket, address))
}

/// An address without a file.
#[cfg(target_os = "linux")]
fn nameless(name: &str) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt as _;
    SocketAddr::from_abstract_name(name)
}

/// An address without a file.
#[cfg(not(target_os = "linux"))]
fn nameless(_name: &str) -> io::Result<SocketAddr> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_life_is_due_at_half_of_the_limit_that_is_ours() {
        let beat = |variables: &[(&str, &str)]| {
            let of = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            Manager::of(of).beat
        };
        let (socket, limit) = (
            ("NOTIFY_SOCKET", "/run/notify"),
            ("WATCHDOG_USEC", "3000000"),
        );
        let own = std::process::id().to_string();
        let due = Some(Duration::from_millis(1500));
        assert_eq!(beat(&[socket, limit]), due);
        assert_eq!(beat(&[socket, limit, ("WATCHDOG_PID", &own)]), due);
        assert_eq!(beat(&[socket, limit, ("WATCHDOG_PID", "1")]), None);
        assert_eq!(beat(&[socket, ("WATCHDOG_USEC", "soon")]), None);
        assert_eq!(beat(&[limit]), None);
    }
}
