//! Panics go through the log like everything else: redacted, bounded and with the fields of the
//! spans in which they happened. The default hook would print the message as it is.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::PanicHookInfo;

/// Replaces the panic hook of the process.
pub(super) fn install() {
    std::panic::set_hook(Box::new(log));
}

/// Logs one panic. A backtrace is added if the environment asks for one.
pub(super) fn log(info: &PanicHookInfo<'_>) {
    let message = info
        .payload_as_str()
        .unwrap_or("(a value that is not text)");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        tracing::error!(panic = message, place, thread, %backtrace, "thread panicked");
    } else {
        tracing::error!(panic = message, place, thread, "thread panicked");
    }
}
