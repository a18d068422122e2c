//! Ctrl-C and SIGTERM: the first signal ends the run after its step or iteration with all output written; a later signal,
//! or the first while no run is in progress, ends the program at once.
//!
//! `timeout` of coreutils and some shells send a signal to the process and again to its group: signals within
//! [`ONE_REQUEST`] of the first are that request.

use crate::failure::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Signals within this time of the first repeat it.
const ONE_REQUEST: Duration = Duration::from_millis(300);

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
    /// The time of the first signal.
    first: Mutex<Option<Instant>>,
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
    pub(crate) fn is_requested(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let state = self.state.clone();
        move || state.is_requested.load(Ordering::SeqCst)
    }
}

/// The request of a signal.
#[derive(Debug, PartialEq)]
enum Request {
    /// To end the run after its step.
    End,
    /// The request of the first signal again.
    Repeated,
    /// To end the program at once.
    EndAtOnce,
}

/// The request of a signal at time `now`.
fn request(state: &State, now: Instant) -> Request {
    if !state.is_running.load(Ordering::SeqCst) {
        return Request::EndAtOnce;
    }
    state.is_requested.store(true, Ordering::SeqCst);
    let mut first = state.first.lock().unwrap_or_else(PoisonError::into_inner);
    match *first {
        None => {
            *first = Some(now);
            Request::End
        }
        Some(first) if now.duration_since(first) < ONE_REQUEST => Request::Repeated,
        Some(_) => Request::EndAtOnce,
    }
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
            match request(&state, Instant::now()) {
                Request::EndAtOnce => signal_hook::low_level::exit(i32::from(INTERRUPTED)),
                Request::Repeated => {}
                Request::End => tracing::warn!(
                    "stopping after this step or iteration, with all output written; a second signal stops at once"
                ),
            }
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
        let now = Instant::now();
        assert_eq!(request(&interrupt.state, now), Request::End);
        assert!(is_requested());
        assert_eq!(request(&interrupt.state, now + ONE_REQUEST / 2), Request::Repeated);
        assert_eq!(request(&interrupt.state, now + ONE_REQUEST), Request::EndAtOnce);
        assert_eq!(request(&Interrupt::default().state, now), Request::EndAtOnce);
    }
}
