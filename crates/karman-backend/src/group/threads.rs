//! Ranks as threads of one process: messages are copied through memory that all of them share.

use super::{Group, WaitedTime};
use crate::BackendError;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Time that a rank waits for another one before that one counts as hanging.
const PATIENCE: Duration = Duration::from_secs(600);

/// Looks at a message that has not arrived before the thread sleeps, where each rank has a processor: 50 µs or so.
const LOOKS: usize = 2000;

/// Longest sleep between two looks.
const LONGEST_SLEEP: Duration = Duration::from_millis(50);

/// Bytes of memory that a rank keeps for later gathers.
const KEPT: usize = 1 << 20;

/// No rank.
const NONE: usize = usize::MAX;

/// One of the ranks that are threads of this process.
#[derive(Clone)]
pub struct ThreadGroup {
    rank: usize,
    shared: Arc<Shared>,
}

struct Shared {
    size: usize,
    patience: Duration,
    looks: usize,
    /// From rank a to rank b: `[a][b]`.
    messages: Vec<Mailbox>,
    /// What each rank gives to an all-gather.
    contributions: Vec<Contribution>,
    /// The rank for which a rank waits.
    awaited: Vec<AtomicUsize>,
    failure: OnceLock<(usize, String)>,
    /// Functions that run when the ranks fail.
    ends: Mutex<Vec<Box<dyn Fn() + Send + Sync>>>,
    /// Number of threads that sleep.
    sleeping: AtomicUsize,
    gate: Mutex<()>,
    changed: Condvar,
}

/// Messages from one rank to another, in order.
#[derive(Default)]
struct Mailbox {
    sent: AtomicU64,
    received: AtomicU64,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    messages: VecDeque<Vec<u8>>,
    /// Memory of messages received.
    spare: Vec<Vec<u8>>,
}

/// The bytes of a rank for the last two all-gathers: a rank that begins one has the bytes of all ranks of the one
/// before, so that all have read those of the second last.
#[derive(Default)]
struct Contribution {
    gathers: AtomicU64,
    bytes: [RwLock<Vec<u8>>; 2],
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ThreadGroup {
    /// A group of `size` ranks, one value for each.
    pub fn new(size: usize) -> Vec<ThreadGroup> {
        Self::with_patience(size, PATIENCE)
    }

    /// As [`ThreadGroup::new`]; a rank for which another one waits longer than `patience` hangs.
    pub fn with_patience(size: usize, patience: Duration) -> Vec<ThreadGroup> {
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
        fn each<T: Default>(n: usize) -> Vec<T> {
            (0..n).map(|_| T::default()).collect()
        }
        let shared = Arc::new(Shared {
            size,
            patience,
            looks: if size <= processors { LOOKS } else { 0 },
            messages: each(size * size),
            contributions: each(size),
            awaited: (0..size).map(|_| AtomicUsize::new(NONE)).collect(),
            failure: OnceLock::new(),
            ends: Mutex::default(),
            sleeping: AtomicUsize::new(0),
            gate: Mutex::new(()),
            changed: Condvar::new(),
        });
        (0..size).map(|rank| ThreadGroup { rank, shared: shared.clone() }).collect()
    }

    /// Wakes the threads that sleep, after something that they wait for.
    fn announce(&self) {
        if self.shared.sleeping.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.shared.gate));
            self.shared.changed.notify_all();
        }
    }

    fn fail(&self, rank: usize, reason: String) {
        let _ = self.shared.failure.set((rank, reason));
        lock(&self.shared.ends).iter().for_each(|end| end());
        self.announce();
    }

    /// Waits until `is_there` is true of what rank `from` does.
    fn wait_for(&self, from: usize, is_there: impl Fn() -> bool) -> Result<(), BackendError> {
        for _ in 0..=self.shared.looks {
            if is_there() {
                return Ok(());
            }
            std::hint::spin_loop();
        }
        self.shared.awaited[self.rank].store(from, Ordering::SeqCst);
        let result = self.sleep_until(from, is_there);
        self.shared.awaited[self.rank].store(NONE, Ordering::SeqCst);
        result
    }

    fn sleep_until(&self, from: usize, is_there: impl Fn() -> bool) -> Result<(), BackendError> {
        let Shared { sleeping, gate, changed, patience, .. } = &*self.shared;
        let mut waited = WaitedTime::new(Instant::now());
        loop {
            if is_there() {
                return Ok(());
            }
            if let Some(failure) = self.failure() {
                return Err(failure);
            }
            if waited.at(Instant::now()) >= *patience {
                let seconds = patience.as_secs_f64();
                let reason = format!("it hangs: another rank has waited {seconds} s for it");
                self.fail(self.hanging(from), reason);
                continue;
            }
            sleeping.fetch_add(1, Ordering::SeqCst);
            let guard = lock(gate);
            // Between a look and the sleep the thing may have been announced to nobody.
            if !is_there() && self.shared.failure.get().is_none() {
                let slept = changed.wait_timeout(guard, LONGEST_SLEEP.min(*patience));
                drop(slept.unwrap_or_else(PoisonError::into_inner));
            } else {
                drop(guard);
            }
            sleeping.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// The rank for which a chain of waiting ranks waits that begins with `first`.
    fn hanging(&self, first: usize) -> usize {
        let mut rank = first;
        for _ in 0..self.shared.size {
            match self.shared.awaited[rank].load(Ordering::SeqCst) {
                NONE => break,
                next => rank = next,
            }
        }
        rank
    }

    /// The error of a message of another length than expected.
    fn check_length(&self, from: usize, found: usize, expected: usize) -> Result<(), BackendError> {
        if found == expected {
            return Ok(());
        }
        let reason = format!("it sent {found} bytes where {expected} are expected");
        self.fail(from, reason.clone());
        Err(BackendError::Rank { rank: from, reason })
    }

    fn mailbox(&self, from: usize, to: usize) -> &Mailbox {
        &self.shared.messages[from * self.shared.size + to]
    }

    fn send(&self, to: usize, bytes: &[u8]) {
        let mailbox = self.mailbox(self.rank, to);
        let mut queue = lock(&mailbox.queue);
        let mut message = queue.spare.pop().unwrap_or_default();
        message.clear();
        message.extend_from_slice(bytes);
        queue.messages.push_back(message);
        drop(queue);
        mailbox.sent.fetch_add(1, Ordering::SeqCst);
        self.announce();
    }

    fn receive(&self, from: usize, bytes: &mut [u8]) -> Result<(), BackendError> {
        let mailbox = self.mailbox(from, self.rank);
        let before = mailbox.received.load(Ordering::SeqCst);
        self.wait_for(from, || mailbox.sent.load(Ordering::SeqCst) > before)?;
        mailbox.received.store(before + 1, Ordering::SeqCst);
        let message = lock(&mailbox.queue).messages.pop_front().unwrap_or_default();
        self.check_length(from, message.len(), bytes.len())?;
        bytes.copy_from_slice(&message);
        lock(&mailbox.queue).spare.push(message);
        Ok(())
    }
}

impl Group for ThreadGroup {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.size
    }

    fn exchange(
        &self,
        send: &[(usize, &[u8])],
        receive: &mut [(usize, &mut [u8])],
    ) -> Result<(), BackendError> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        for (to, bytes) in send {
            self.send(*to, bytes);
        }
        receive.iter_mut().try_for_each(|(from, bytes)| self.receive(*from, bytes))
    }

    fn gather_all(&self, own: &[u8], all: &mut [u8], starts: &[usize]) -> Result<(), BackendError> {
        if let Some(failure) = self.failure() {
            return Err(failure);
        }
        let mine = &self.shared.contributions[self.rank];
        let before = mine.gathers.load(Ordering::SeqCst);
        let half = (before % 2) as usize;
        {
            let mut bytes = mine.bytes[half].write().unwrap_or_else(PoisonError::into_inner);
            bytes.clear();
            // Large gathers are those of set-ups.
            if bytes.capacity() > KEPT && own.len() <= KEPT {
                bytes.shrink_to(KEPT);
            }
            bytes.extend_from_slice(own);
        }
        mine.gathers.store(before + 1, Ordering::SeqCst);
        self.announce();
        for (from, theirs) in self.shared.contributions.iter().enumerate() {
            self.wait_for(from, || theirs.gathers.load(Ordering::SeqCst) > before)?;
            let bytes = theirs.bytes[half].read().unwrap_or_else(PoisonError::into_inner);
            let place = starts[from]..starts[from + 1];
            self.check_length(from, bytes.len(), place.len())?;
            all[place].copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn abort(&self, reason: &str) {
        self.fail(self.rank, reason.to_owned());
    }

    fn failure(&self) -> Option<BackendError> {
        let failure = self.shared.failure.get();
        failure.map(|(rank, reason)| BackendError::Rank { rank: *rank, reason: reason.clone() })
    }

    fn on_failure(&self, end: Box<dyn Fn() + Send + Sync>) {
        // A failure before or after this line has `end` run.
        let mut ends = lock(&self.shared.ends);
        if self.shared.failure.get().is_some() {
            end();
        }
        ends.push(end);
    }
}
