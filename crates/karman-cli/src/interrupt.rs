//! Ctrl-C and SIGTERM: the first signal ends the run after its step with all output written; a second signal,
//! or the first while no run is in progress, ends the program at once.

use crate::failure::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// State of the signals received.
#[derive(Default)]
pub(crate) struct Interrupt {
    state: Arc<State>,
    listening: OnceLock<()>,
}

#[derive(Default)]
struct State {
    is_running: AtomicBool,
    is_requested: AtomicBool,
}

/// A run in progress, until this is dropped: a signal ends it after its step.
pub(crate) struct Running<'a>(&'a Interrupt);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.state.is_running.store(false, Ordering::SeqCst);
    }
}

impl Interrupt {
    /// Marks the begin of a run.
    pub(crate) fn begin(&self) -> Running<'_> {
        self.listening.get_or_init(|| listen(&self.state));
        self.state.is_running.store(true, Ordering::SeqCst);
        Running(self)
    }

    /// A function that tells the run whether a signal was received.
    pub(crate) fn is_requested(&self) -> impl Fn() -> bool + Send + 'static {
        let state = self.state.clone();
        move || state.is_requested.load(Ordering::SeqCst)
    }
}

/// Whether a signal ends the program at once.
fn ends_at_once(state: &State) -> bool {
    let is_second = state.is_requested.swap(true, Ordering::SeqCst);
    is_second || !state.is_running.load(Ordering::SeqCst)
}

#[cfg(unix)]
fn listen(state: &Arc<State>) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let state = state.clone();
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) else {
        tracing::debug!("signals end the program at once: they cannot be waited for");
        return;
    };
    std::thread::spawn(move || {
        for _ in signals.forever() {
            if ends_at_once(&state) {
                signal_hook::low_level::exit(i32::from(INTERRUPTED));
            }
            tracing::warn!(
                "stopping after this step, with fields, checkpoint and summary; a second signal stops at once"
            );
        }
    });
}

#[cfg(not(unix))]
fn listen(_: &Arc<State>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_waits_for_the_step_of_a_run_and_the_second_does_not() {
        let interrupt = Interrupt::default();
        interrupt.state.is_running.store(true, Ordering::SeqCst);
        let is_requested = interrupt.is_requested();
        assert!(!is_requested());
        assert!(!ends_at_once(&interrupt.state) && is_requested());
        assert!(ends_at_once(&interrupt.state));
        assert!(ends_at_once(&Interrupt::default().state));
    }
}
