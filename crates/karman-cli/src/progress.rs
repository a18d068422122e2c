//! Progress of a run: a bar on a terminal, and a line of the log from time to time.

use crate::console::{Screen, count};
use crate::logging::PROGRESS;
use indicatif::{ProgressBar, ProgressStyle};
use karman::simulation::Progress;
use std::time::{Duration, Instant};

/// Steps of the bar.
const BAR_LENGTH: u64 = 1000;

/// Time between lines of the log.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Shows the progress of one run.
pub(crate) struct ProgressDisplay {
    screen: Screen,
    bar: Option<ProgressBar>,
    first: Option<Progress>,
    last_line: Instant,
}

impl ProgressDisplay {
    pub(crate) fn new(screen: Screen, quiet: bool) -> ProgressDisplay {
        let shown = screen.is_terminal() && !quiet;
        let bar = shown.then(|| ProgressBar::new(BAR_LENGTH).with_style(bar_style()));
        screen.set_bar(bar.clone());
        ProgressDisplay { screen, bar, first: None, last_line: Instant::now() }
    }

    /// Shows the progress after a step.
    pub(crate) fn update(&mut self, progress: &Progress) {
        let first = *self.first.get_or_insert(*progress);
        let line = describe(progress, &first);
        if let Some(bar) = &self.bar {
            bar.set_position((fraction(progress) * BAR_LENGTH as f64) as u64);
            bar.set_message(line.clone());
        }
        if self.last_line.elapsed() >= BETWEEN_LINES {
            self.last_line = Instant::now();
            tracing::info!(target: PROGRESS, "{line}");
        }
    }
}

impl Drop for ProgressDisplay {
    fn drop(&mut self) {
        self.screen.set_bar(None);
    }
}

fn bar_style() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} [{bar:30}] {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

/// Completed fraction of the run; 0 of a steady run, whose end is unknown.
fn fraction(progress: &Progress) -> f64 {
    if progress.end > 0.0 { (progress.time / progress.end).clamp(0.0, 1.0) } else { 0.0 }
}

/// Step, time, Courant number, rate of change, residual, iterations, speed and the remaining seconds.
fn describe(progress: &Progress, first: &Progress) -> String {
    let Progress { step, time, end, rate, courant, residual, iterations, .. } = *progress;
    let mut text = format!("step {step}");
    if end > 0.0 {
        text += &format!(", t = {time:.6} of {end}");
        if let Some(courant) = courant {
            text += &format!(", Courant number {courant:.2}");
        }
        text += &format!(", rate of change {rate:.2e}");
    }
    if let Some(scaled) = progress.scaled_residual {
        text = format!("iteration {step}, scaled residual {scaled:.2e}");
    }
    // An explicit step solves no linear system.
    if iterations > 0 || residual > 0.0 {
        text += &format!(", residual {residual:.2e} after {}", count(iterations, "iteration"));
    }
    if let Some(speed) = steps_a_second(progress, first) {
        text += &format!(", {} steps/s", three_digits(speed));
    }
    match seconds_left(progress, first) {
        Some(seconds) => text + &format!(", {} left", duration(seconds)),
        None => text,
    }
}

/// The speed since the first observed step.
fn steps_a_second(progress: &Progress, first: &Progress) -> Option<f64> {
    let (steps, seconds) = (progress.step - first.step, progress.seconds - first.seconds);
    (steps > 0 && seconds > 0.0).then(|| steps as f64 / seconds)
}

/// A positive number with three digits, all digits of the whole part.
fn three_digits(value: f64) -> String {
    match value {
        v if v < 10.0 => format!("{v:.2}"),
        v if v < 100.0 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// The remaining seconds, from the speed since the first observed step: a restart does not begin at t = 0.
fn seconds_left(progress: &Progress, first: &Progress) -> Option<f64> {
    let (done, taken) = (progress.time - first.time, progress.seconds - first.seconds);
    let left = progress.end - progress.time;
    (progress.end > 0.0 && done > 0.0).then(|| (taken * left / done).max(0.0))
}

/// Seconds in a readable unit.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(step: u64, time: f64, seconds: f64) -> Progress {
        Progress {
            step,
            time,
            end: 10.0,
            rate: 0.0125,
            scaled_residual: None,
            courant: Some(0.4),
            residual: 3.2e-9,
            iterations: 14,
            seconds,
        }
    }

    #[test]
    fn the_time_left_follows_the_pace_since_the_start_or_restart() {
        let first = at(50, 5.0, 2.0);
        assert_eq!(seconds_left(&first, &first), None);
        assert_eq!(seconds_left(&at(60, 6.0, 4.0), &first), Some(8.0));
        assert_eq!(
            describe(&at(60, 6.0, 4.0), &first),
            "step 60, t = 6.000000 of 10, Courant number 0.40, rate of change 1.25e-2, residual 3.20e-9 after \
             14 iterations, 5.00 steps/s, 8.00 s left"
        );
        let heat = Progress { courant: None, iterations: 1, ..first };
        assert_eq!(
            describe(&heat, &heat),
            "step 50, t = 5.000000 of 10, rate of change 1.25e-2, residual 3.20e-9 after 1 iteration"
        );
        let steady = Progress { end: 0.0, time: 0.0, courant: None, ..first };
        assert_eq!(describe(&steady, &steady), "step 50, residual 3.20e-9 after 14 iterations");
        assert_eq!((fraction(&first), fraction(&steady)), (0.5, 0.0));
    }

    #[test]
    fn a_speed_has_three_digits() {
        let texts = [0.126, 42.44, 612.3, 9000.4].map(three_digits);
        assert_eq!(texts, ["0.13", "42.4", "612", "9000"]);
    }

    #[test]
    fn durations_are_short() {
        let texts = [0.126, 42.4, 600.0, 9000.0].map(duration);
        assert_eq!(texts, ["0.13 s", "42 s", "10 min", "2.5 h"]);
    }
}
