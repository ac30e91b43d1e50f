//! The signals with which a core is stopped, stage by stage.
//!
//! Owns their order only; what each stage ends is the core's business.

use weirgate_sdk::{Stop, Stopper};

/// One signal for each stage of a stop, in order.
pub(super) struct Stops {
    pub(super) dispatch: Stopper,
    pub(super) deliver: Stopper,
    pub(super) intake: Stopper,
    pub(super) sweep: Stopper,
}

/// The receiving ends of [`Stops`].
pub(super) struct Signals {
    pub(super) dispatch: Stop,
    pub(super) deliver: Stop,
    pub(super) intake: Stop,
    pub(super) sweep: Stop,
}

/// The signals of a core, none given yet.
pub(super) fn signals() -> (Stops, Signals) {
    let (dispatch, dispatch_signal) = Stopper::new();
    let (deliver, deliver_signal) = Stopper::new();
    let (intake, intake_signal) = Stopper::new();
    let (sweep, sweep_signal) = Stopper::new();
    let stops = Stops {
        dispatch,
        deliver,
        intake,
        sweep,
    };
    let signals = Signals {
        dispatch: dispatch_signal,
        deliver: deliver_signal,
        intake: intake_signal,
        sweep: sweep_signal,
    };
    (stops, signals)
}
