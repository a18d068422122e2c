//! The log: short lines on stderr, lines with time and level in `log.txt`.

use crate::arguments::Arguments;
use crate::console::Screen;
use crate::failure::Failure;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::uptime;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, layer};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;

/// Target of lines that repeat the progress bar.
pub(crate) const PROGRESS: &str = "karman::progress";

/// Destinations of the log.
#[derive(Clone, Default)]
pub(crate) struct Log {
    pub(crate) screen: Screen,
    file: LogFile,
}

/// `log.txt` of the running case; earlier lines are buffered until it is opened.
#[derive(Clone)]
struct LogFile(Arc<Mutex<Target>>);

enum Target {
    Waiting(Vec<u8>),
    Open(File),
}

impl Default for LogFile {
    fn default() -> Self {
        LogFile(Arc::new(Mutex::new(Target::Waiting(vec![]))))
    }
}

impl LogFile {
    fn target(&self) -> MutexGuard<'_, Target> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for LogFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.target() {
            Target::Waiting(lines) => lines.write(bytes),
            Target::Open(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// Starts the log. With `quiet` the screen shows warnings and errors only; `verbose` adds details. A process that is not the first of
    /// several has none.
    pub(crate) fn start(arguments: &Arguments, is_first: bool) -> Log {
        let log = Log::default();
        let on_screen = match (arguments.quiet, arguments.verbose) {
            _ if !is_first => LevelFilter::OFF,
            (true, _) => LevelFilter::WARN,
            (_, true) => LevelFilter::DEBUG,
            _ => LevelFilter::INFO,
        };
        let in_file = match arguments.verbose {
            _ if !is_first => LevelFilter::OFF,
            true => LevelFilter::DEBUG,
            false => LevelFilter::INFO,
        };
        let (screen, file) = (log.screen.clone(), log.file.clone());
        let has_bar = log.screen.is_terminal();
        let shown = move |target: &str, level: &Level| {
            target.starts_with("karman") && *level <= on_screen && !(has_bar && target == PROGRESS)
        };
        let subscriber = tracing_subscriber::registry()
            .with(
                layer()
                    .event_format(Plain)
                    .with_writer(move || screen.clone())
                    .with_filter(filter_fn(move |event| shown(event.target(), event.level()))),
            )
            .with(
                layer()
                    .with_timer(uptime())
                    .with_target(false)
                    .with_ansi(false)
                    .with_writer(move || file.clone())
                    .with_filter(filter_fn(move |event| {
                        event.target().starts_with("karman") && *event.level() <= in_file
                    })),
            );
        // Only a second start in the same process fails; the first subscriber then stays.
        let _ = tracing::subscriber::set_global_default(subscriber);
        log
    }

    /// Begins the log of another case, which goes to its own `log.txt` once that is open.
    pub(crate) fn begin_case(&self) {
        *self.file.target() = Target::Waiting(vec![]);
    }

    /// Writes a text to an open `log.txt` only; the screen shows it elsewhere.
    pub(crate) fn note(&self, text: &str) {
        if let Target::Open(file) = &mut *self.file.target() {
            // A full disk is no failure here: the screen shows the text too.
            let _ = writeln!(file, "{text}");
        }
    }

    /// Opens `log.txt` in `folder` and writes the buffered lines to it first.
    pub(crate) fn open(&self, folder: &Path, resume: bool) -> Result<(), Failure> {
        let path = folder.join("log.txt");
        let opened = std::fs::create_dir_all(folder).and_then(|()| {
            File::options().create(true).write(true).append(resume).truncate(!resume).open(&path)
        });
        let mut target = self.file.target();
        let written = opened.and_then(|mut file| {
            if let Target::Waiting(lines) = &*target {
                file.write_all(lines)?;
            }
            Ok(file)
        });
        let file = written
            .map_err(|error| Failure::Input(format!("cannot write {}: {error}", path.display())))?;
        *target = Target::Open(file);
        Ok(())
    }
}

/// A line for people: the message, its level only where it is a warning or worse.
struct Plain;

impl<S, N> FormatEvent<S, N> for Plain
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        match *event.metadata().level() {
            Level::ERROR => write!(writer, "error: ")?,
            Level::WARN => write!(writer, "warning: ")?,
            _ => {}
        }
        context.field_format().format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}
