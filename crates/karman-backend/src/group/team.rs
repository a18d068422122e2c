//! The threads of ranks: each has a state of its own and runs what it is given.

use super::Group;
use crate::BackendError;
use std::any::Any;
use std::fmt::Display;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time after a failure in which the other ranks may end by themselves.
const GRACE: Duration = Duration::from_secs(2);

/// Time between two looks at the group while results are awaited.
const LOOK: Duration = Duration::from_millis(50);

/// A value of any type: threads and channels are compiled once for all of them.
type Erased = Box<dyn Any + Send>;

/// Work for a rank with its state.
type Job = Box<dyn FnOnce(&mut Erased) + Send>;

/// Work for each rank with its group and its state, and its result.
type SharedJob = dyn Fn(&dyn Group, &mut Erased) -> Erased + Send + Sync;

/// A thread for each rank of this process, which owns the state of the rank: all ranks, or the one that the process computes of
/// several processes.
///
/// A rank that panics or returns an error ends the group: the other ranks return at their next collective call.
pub struct Team<S> {
    members: Vec<Member>,
    state: PhantomData<fn(S)>,
}

struct Member {
    group: Arc<dyn Group>,
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Member {
    /// Starts the thread of a rank with its state.
    fn start(group: Arc<dyn Group>, mut state: Erased) -> std::io::Result<Member> {
        let (jobs, received): (Sender<Job>, Receiver<Job>) = channel();
        let builder = std::thread::Builder::new().name(format!("rank {}", group.rank()));
        let thread = builder.spawn(move || received.iter().for_each(|job| job(&mut state)))?;
        Ok(Member { group, jobs: Some(jobs), thread: Some(thread) })
    }
}

impl<S: Send + 'static> Team<S> {
    /// Starts the threads of the ranks with their states, in the order of ranks.
    ///
    /// # Errors
    /// [`BackendError::Threads`] where the system gives no thread.
    pub fn new<G: Group + 'static>(states: Vec<(G, S)>) -> Result<Team<S>, BackendError> {
        let threads = states.len();
        let start = |(group, state): (G, S)| {
            Member::start(Arc::new(group), Box::new(state))
                .map_err(|e| BackendError::Threads { threads, reason: e.to_string() })
        };
        let members = states.into_iter().map(start).collect::<Result<_, BackendError>>()?;
        Ok(Team { members, state: PhantomData })
    }

    /// Runs `work` on the ranks of this process at the same time and returns their results in the order of ranks.
    ///
    /// # Errors
    /// The error of the rank that failed first; [`BackendError::Rank`] where it panicked or hangs. A rank that hangs is not
    /// waited for.
    pub fn run<R, E>(
        &self,
        work: impl Fn(&mut S) -> Result<R, E> + Send + Sync + 'static,
    ) -> Result<Vec<R>, E>
    where
        R: Send + 'static,
        E: From<BackendError> + Display + Send + 'static,
    {
        let job = move |group: &dyn Group, state: &mut Erased| -> Erased {
            let result = match state.downcast_mut::<S>() {
                Some(state) => attempt(group, || work(state)),
                None => unreachable!("the state that the team was made with"),
            };
            Box::new(result)
        };
        let results = run_erased(&self.members, Arc::new(job));
        let results = results
            .into_iter()
            .map(|result| result.and_then(|result| result.downcast().ok()).map(|result| *result));
        let ranks: Vec<usize> = self.members.iter().map(|member| member.group.rank()).collect();
        in_order(&*self.members[0].group, &ranks, results.collect())
    }
}

/// Runs `job` on the threads of the ranks; none for one that hangs or has ended.
fn run_erased(members: &[Member], job: Arc<SharedJob>) -> Vec<Option<Erased>> {
    let (sender, results) = channel();
    for (place, Member { group, jobs, .. }) in members.iter().enumerate() {
        let (job, sender, group) = (job.clone(), sender.clone(), group.clone());
        let job: Job = Box::new(move |state| {
            // Nobody waits for the result after a failure.
            let _ = sender.send((place, job(&*group, state)));
        });
        if jobs.as_ref().is_none_or(|jobs| jobs.send(job).is_err()) {
            members[0].group.abort("the thread of a rank has ended");
        }
    }
    drop(sender);
    collect(&*members[0].group, members.len(), &results)
}

impl<S> Drop for Team<S> {
    fn drop(&mut self) {
        let has_failed = self.members.iter().any(|member| member.group.failure().is_some());
        for member in &mut self.members {
            member.jobs = None;
        }
        // A thread that hangs ends with the process.
        for thread in self.members.iter_mut().filter_map(|member| member.thread.take()) {
            if !has_failed {
                let _ = thread.join();
            }
        }
    }
}

/// Runs `work` for each rank at the same time, in threads that end with it, and returns the results in the order of
/// ranks.
///
/// # Errors
/// As [`Team::run`]; here a rank that hangs is waited for.
pub fn run_ranks<G, R, E>(
    groups: &[G],
    work: impl Fn(&G) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E>
where
    G: Group,
    R: Send,
    E: From<BackendError> + Display + Send,
{
    let results: Vec<Mutex<Option<Result<R, E>>>> =
        groups.iter().map(|_| Mutex::new(None)).collect();
    run_in_threads(groups.len(), &|place| {
        let result = attempt(&groups[place], || work(&groups[place]));
        *results[place].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    let found = |result: Mutex<_>| result.into_inner().unwrap_or_else(PoisonError::into_inner);
    let results = results.into_iter().map(found).collect();
    let ranks: Vec<usize> = groups.iter().map(Group::rank).collect();
    in_order(&groups[0], &ranks, results)
}

/// Runs `work` for each number below `count`, each in a thread of its own.
fn run_in_threads(count: usize, work: &(dyn Fn(usize) + Sync)) {
    std::thread::scope(|scope| {
        (0..count).for_each(|place| {
            scope.spawn(move || work(place));
        });
    });
}

/// Runs `work` for a rank; an error or a panic ends its group.
fn attempt<R, E>(group: &dyn Group, work: impl FnOnce() -> Result<R, E>) -> Result<R, E>
where
    E: From<BackendError> + Display,
{
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(error)) => {
            group.abort(&error.to_string());
            Err(error)
        }
        Err(panic) => {
            let reason = format!("it panicked: {}", message_of(&*panic));
            group.abort(&reason);
            Err(E::from(BackendError::Rank { rank: group.rank(), reason }))
        }
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// The results that arrive: of all ranks, or after a failure of those that return soon.
fn collect(
    group: &dyn Group,
    ranks: usize,
    results: &Receiver<(usize, Erased)>,
) -> Vec<Option<Erased>> {
    let mut found: Vec<Option<Erased>> = (0..ranks).map(|_| None).collect();
    let mut failed_at: Option<Instant> = None;
    while found.iter().any(Option::is_none) {
        match results.recv_timeout(LOOK) {
            Ok((place, result)) => found[place] = Some(result),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                if group.failure().is_some()
                    && failed_at.get_or_insert_with(Instant::now).elapsed() > GRACE
                {
                    break;
                }
            }
        }
    }
    found
}

/// The results of `ranks`, or the error of the rank that failed first. Where that is a rank of another process, a rank of this one
/// that failed by itself has its own error.
fn in_order<R, E>(
    group: &dyn Group,
    ranks: &[usize],
    results: Vec<Option<Result<R, E>>>,
) -> Result<Vec<R>, E>
where
    E: From<BackendError>,
{
    let Some(failure) = group.failure() else {
        let ended = || {
            let reason = "its thread has ended".to_owned();
            E::from(BackendError::Rank { rank: group.rank(), reason })
        };
        return results.into_iter().map(|result| result.unwrap_or_else(|| Err(ended()))).collect();
    };
    let BackendError::Rank { rank, .. } = failure else { return Err(E::from(failure)) };
    let place = ranks.iter().position(|own| *own == rank).unwrap_or(0);
    let found = results.into_iter().nth(place).flatten();
    Err(found.and_then(Result::err).unwrap_or_else(|| E::from(failure)))
}
