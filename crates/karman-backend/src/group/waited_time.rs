//! The time for which a rank has waited for another one.

use std::time::{Duration, Instant};

/// Longest time between two looks that counts. In a longer one the process or the machine was stopped, and the other ranks with it.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The time of a rank that waits and looks again and again, without the time in which all ranks were stopped.
pub struct WaitedTime {
    last_look: Instant,
    time: Duration,
}

impl WaitedTime {
    /// That of a rank which begins to wait at `now`.
    pub fn new(now: Instant) -> WaitedTime {
        WaitedTime { last_look: now, time: Duration::ZERO }
    }

    /// The time at a look at `now`.
    pub fn at(&mut self, now: Instant) -> Duration {
        self.time += now.duration_since(self.last_look).min(LONGEST_PAUSE);
        self.last_look = now;
        self.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that was stopped for an hour and goes on.
    #[test]
    fn a_stop_of_all_ranks_is_not_waiting() {
        let begin = Instant::now();
        let mut waited = WaitedTime::new(begin);
        let mut at = |seconds| waited.at(begin + Duration::from_secs_f64(seconds)).as_secs_f64();
        let times = [0.25, 0.75, 3600.75, 3601.0].map(&mut at);
        assert_eq!(times, [0.25, 0.75, 1.75, 2.0]);
    }
}
