//! The processes that were started together, as the ranks of a run.
//!
//! Calls of MPI exclude each other and do not wait: a rank that waits asks again and again whether its messages have arrived. In
//! between it learns of failures and tells others that it is not the one that hangs. So the thread level `SERIALIZED` is enough,
//! any thread may call, and no call blocks another.
//!
//! A failure is sent to all. They return it, and the first process prints it and ends all. Where that does not happen within
//! [`GRACE`], because the first process computes, waits for a disk or hangs, the process that failed does.

use crate::library::{Communicator, Library, MOST_BYTES, Pending};
use crate::options::Options;
use crate::processors;
use karman_backend::group::WaitedTime;
use karman_backend::{BackendError, RankGroup};
use std::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Time in which all processes end by themselves after a failure of one.
const GRACE: Duration = Duration::from_secs(2);

/// Time by which a process ends all later than the one before it, so that one alone prints.
const AFTER_ANOTHER: Duration = Duration::from_millis(20);

/// Time in which a process that waits answers.
const ANSWER: Duration = Duration::from_secs(1);

/// Looks at a message that has not arrived before the thread lets others run, where each process has a processor.
const LOOKS: usize = 2000;

/// Looks between two looks at news of other processes.
const BETWEEN_NEWS: usize = 64;

/// Time of waiting from which on the thread sleeps between looks, and the sleep.
const SLEEPS_AFTER: Duration = Duration::from_millis(5);
const SLEEP: Duration = Duration::from_micros(100);

/// Most bytes of a reason, so that its message arrives without being awaited.
const LONGEST_REASON: usize = 2000;

/// The kinds of messages.
const DATA: c_int = 1;
const FAILURE: c_int = 2;
const QUESTION: c_int = 3;
const ANSWERS: c_int = 4;

/// This process as a rank among those that MPI started.
#[derive(Clone)]
pub struct MpiGroup {
    world: Arc<World>,
}

struct World {
    rank: usize,
    size: usize,
    options: Options,
    processors: f64,
    /// Locked by a thread that calls MPI.
    library: Mutex<Library>,
    /// Messages of algorithms; news of processes; their ends.
    data: Communicator,
    news: Communicator,
    ends: Communicator,
    failure: OnceLock<(usize, String)>,
    /// The print of why all end, by one thread of this process.
    complaint: Once,
}

impl MpiGroup {
    /// Starts MPI; all processes call it, once.
    ///
    /// # Errors
    /// The reason, where MPI does not start.
    pub fn start(options: Options) -> Result<MpiGroup, String> {
        let library = Library::start()?;
        let world = Communicator::world();
        let (rank, size) = world.place()?;
        let [data, news, ends] = [world.duplicate()?, world.duplicate()?, world.duplicate()?];
        let world = World {
            rank,
            size,
            options,
            processors: processors::share(world)?,
            library: Mutex::new(library),
            data,
            news,
            ends,
            failure: OnceLock::new(),
            complaint: Once::new(),
        };
        Ok(MpiGroup { world: Arc::new(world) })
    }

    /// Threads for which this process has processors, at least 1.
    pub fn threads(&self) -> usize {
        (self.world.processors as usize).max(1)
    }

    /// Ends this process's part: of all processes that come here, the first with a `code` other than 0 prints its `message`, if
    /// any. Returns `code` where all have come here without a failure; else it ends all processes and does not return.
    pub fn end(&self, code: u8, message: Option<&str>) -> u8 {
        let world = &self.world;
        let limit = if code == 0 { world.options.patience } else { GRACE };
        match world.codes(code, limit) {
            Some(codes) => {
                if codes.iter().position(|code| *code != 0) == Some(world.rank) {
                    message.into_iter().for_each(|message| (world.options.complain)(message));
                }
                world.library().finalize();
                code
            }
            None => self.end_all(code, message),
        }
    }

    /// Ends all processes because of a failure.
    fn end_all(&self, code: u8, message: Option<&str>) -> u8 {
        let world = &self.world;
        if world.failure.get().is_none() {
            let reason = message.unwrap_or("it ended before the others");
            self.abort(reason.strip_prefix("error: ").unwrap_or(reason));
        }
        if world.rank > 0 {
            // The first process prints and ends all.
            std::thread::sleep(GRACE + AFTER_ANOTHER * world.rank as u32);
        }
        world.end_all_now(code, message)
    }

    /// Whether `messages` have arrived; waits until then.
    fn wait(&self, messages: &mut [Pending]) -> Result<(), BackendError> {
        let world = &self.world;
        let has_ended = |messages: &mut [Pending]| -> Result<bool, String> {
            let _library = world.library();
            messages.iter_mut().try_fold(true, |all, message| Ok(message.test()? && all))
        };
        let begin = Instant::now();
        let mut waited = WaitedTime::new(begin);
        for look in 0.. {
            match has_ended(messages) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(reason) => self.fail(world.rank, &reason),
            }
            if look % BETWEEN_NEWS == BETWEEN_NEWS - 1 {
                world.listen();
            }
            if let Some(failure) = self.failure() {
                return Err(failure);
            }
            world.pause(look, begin);
            if look % BETWEEN_NEWS == 0 && waited.at(Instant::now()) >= world.options.patience {
                self.find_hanging();
            }
        }
        Ok(())
    }

    /// Names the rank for which all wait: one that does not answer.
    fn find_hanging(&self) {
        let world = &self.world;
        let others = || (0..world.size).filter(|rank| *rank != world.rank);
        others().for_each(|rank| world.tell(rank, QUESTION, &[]));
        let mut has_answered = vec![false; world.size];
        has_answered[world.rank] = true;
        let begin = Instant::now();
        while begin.elapsed() < ANSWER && world.failure.get().is_none() {
            world.listen();
            while let Some((from, _)) = world.hear(ANSWERS) {
                has_answered[from] = true;
            }
            std::thread::sleep(SLEEP);
        }
        let seconds = world.options.patience.as_secs_f64();
        match has_answered.iter().position(|answered| !answered) {
            Some(rank) => {
                self.fail(rank, &format!("it hangs: another rank has waited {seconds} s for it"));
            }
            None => {
                self.fail(world.rank, &format!("all ranks have waited {seconds} s for each other"))
            }
        }
    }

    /// Ends all ranks because of one, unless they end already.
    fn fail(&self, rank: usize, reason: &str) {
        let world = &self.world;
        if world.failure.set((rank, reason.to_owned())).is_err() {
            return;
        }
        let mut end = reason.len().min(LONGEST_REASON);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        let mut news = (rank as u32).to_le_bytes().to_vec();
        news.extend_from_slice(&reason.as_bytes()[..end]);
        let others = (0..world.size).filter(|other| *other != world.rank);
        others.for_each(|other| world.tell(other, FAILURE, &news));
        let world = world.clone();
        // The watchdog of the failure.
        std::thread::spawn(move || {
            let end = Instant::now() + GRACE + AFTER_ANOTHER * world.rank as u32;
            while Instant::now() < end {
                world.listen();
                std::thread::sleep(AFTER_ANOTHER);
            }
            world.end_all_now(1, None)
        });
    }

    fn check_length(&self, from: usize, found: usize, expected: usize) -> Result<(), BackendError> {
        if found == expected {
            return Ok(());
        }
        let reason = format!("it sent {found} bytes where {expected} are expected");
        self.fail(from, &reason);
        Err(BackendError::Rank { rank: from, reason })
    }

    /// A message that has begun, or the failure.
    fn begun(&self, message: Result<Pending, String>) -> Result<Pending, BackendError> {
        message.map_err(|reason| {
            self.fail(self.world.rank, &reason);
            BackendError::Rank { rank: self.world.rank, reason }
        })
    }
}

impl World {
    /// The library, for a call.
    fn library(&self) -> MutexGuard<'_, Library> {
        self.library.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets other threads run after look number `look`.
    fn pause(&self, look: usize, begin: Instant) {
        if self.processors >= 1.0 && look < LOOKS {
            std::hint::spin_loop();
        } else if begin.elapsed() < SLEEPS_AFTER {
            std::thread::yield_now();
        } else {
            std::thread::sleep(SLEEP);
        }
    }

    /// Sends news to a process, which is not awaited.
    fn tell(&self, to: usize, tag: c_int, news: &[u8]) {
        let _library = self.library();
        // A process that is not there hears nothing.
        if let Ok(mut message) = self.news.send(news, to, tag) {
            let _ = message.test();
        }
    }

    /// News of one kind, with its sender.
    fn hear(&self, tag: c_int) -> Option<(usize, Vec<u8>)> {
        let _library = self.library();
        let waiting = self.news.waiting(tag).ok()??;
        let mut message = self.news.receive(waiting.length, waiting.from, tag).ok()?;
        while !message.test().ok()? {
            std::hint::spin_loop();
        }
        Some((waiting.from, message.bytes().to_vec()))
    }

    /// Takes news of failures, and answers questions.
    fn listen(&self) {
        if let Some((_, news)) = self.hear(FAILURE)
            && let Some((rank, reason)) = news.split_first_chunk::<4>()
        {
            let reason = String::from_utf8_lossy(reason).into_owned();
            let _ = self.failure.set((u32::from_le_bytes(*rank) as usize, reason));
        }
        if let Some((from, _)) = self.hear(QUESTION) {
            self.tell(from, ANSWERS, &[]);
        }
    }

    /// The exit codes of all processes where they come within `limit`, and none has failed.
    fn codes(&self, code: u8, limit: Duration) -> Option<Vec<u8>> {
        if self.failure.get().is_some() {
            return None;
        }
        let begun = {
            let _library = self.library();
            self.ends.gather(&[code], &vec![1; self.size])
        };
        let (mut gather, begin) = (begun.ok()?, Instant::now());
        while begin.elapsed() < limit && self.failure.get().is_none() {
            let has_ended = {
                let _library = self.library();
                gather.test().ok()?
            };
            if has_ended {
                return Some(gather.bytes().to_vec());
            }
            self.listen();
            self.pause(LOOKS, begin);
        }
        None
    }

    /// Prints the reason and ends all processes at once.
    fn end_all_now(&self, code: u8, message: Option<&str>) -> ! {
        let failure =
            self.failure.get().map(|(rank, reason)| format!("error: rank {rank}: {reason}"));
        if let Some(text) = message.map(str::to_owned).or(failure) {
            // The watchdog and the thread that ends its part come here at the same time; both wait for the print.
            self.complaint.call_once(|| (self.options.complain)(&text));
        }
        let library = self.library();
        self.news.abort(code.max(1));
        drop(library);
        loop {
            std::thread::sleep(GRACE);
        }
    }
}

impl RankGroup for MpiGroup {
    fn rank(&self) -> usize {
        self.world.rank
    }

    fn size(&self) -> usize {
        self.world.size
    }

    fn exchange(
        &self,
        send: &[(usize, &[u8])],
        receive: &mut [(usize, &mut [u8])],
    ) -> Result<(), BackendError> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        let world = &self.world;
        let mut messages = Vec::with_capacity(receive.len() + send.len());
        for (from, bytes) in receive.iter() {
            // A byte more, so that a longer message is seen.
            let length = (bytes.len() + 1).min(MOST_BYTES);
            let begun = world.library_for(|| world.data.receive(length, *from, DATA));
            messages.push(self.begun(begun)?);
        }
        for (to, bytes) in send {
            let begun = world.library_for(|| world.data.send(bytes, *to, DATA));
            messages.push(self.begun(begun)?);
        }
        self.wait(&mut messages)?;
        for ((from, bytes), message) in receive.iter_mut().zip(&messages) {
            let arrived = message.bytes();
            self.check_length(*from, arrived.len(), bytes.len())?;
            bytes.copy_from_slice(arrived);
        }
        Ok(())
    }

    fn gather_all(&self, own: &[u8], all: &mut [u8], starts: &[usize]) -> Result<(), BackendError> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        let world = &self.world;
        let length = |rank: usize| starts[rank + 1] - starts[rank];
        self.check_length(world.rank, own.len(), length(world.rank))?;
        // A call takes a number of bytes that MPI can count.
        let most = MOST_BYTES / world.size;
        let longest = (0..world.size).map(length).max().unwrap_or(0);
        for begin in (0..longest.max(1)).step_by(most) {
            let range = |rank: usize| begin.min(length(rank))..(begin + most).min(length(rank));
            let lengths: Vec<usize> = (0..world.size).map(|rank| range(rank).len()).collect();
            let begun = world.library_for(|| world.data.gather(&own[range(world.rank)], &lengths));
            let mut message = [self.begun(begun)?];
            self.wait(&mut message)?;
            let mut rest = message[0].bytes();
            for rank in 0..world.size {
                let (piece, after) = rest.split_at(lengths[rank]);
                let place = range(rank);
                all[starts[rank] + place.start..starts[rank] + place.end].copy_from_slice(piece);
                rest = after;
            }
        }
        Ok(())
    }

    fn abort(&self, reason: &str) {
        self.fail(self.world.rank, reason);
    }

    fn failure(&self) -> Option<BackendError> {
        let failure = self.world.failure.get();
        failure.map(|(rank, reason)| BackendError::Rank { rank: *rank, reason: reason.clone() })
    }
}

impl World {
    /// The result of a call of the library.
    fn library_for<R>(&self, call: impl FnOnce() -> R) -> R {
        let _library = self.library();
        call()
    }
}
