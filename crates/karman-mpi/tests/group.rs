//! Processes as ranks, started by `mpirun`: their messages, and that a rank that fails, panics or hangs ends all with its name.
#![allow(clippy::print_stdout)] // the report of a test without harness

use karman_backend::group::gather_lists;
use karman_backend::{BackendError, RankGroup};
use karman_mpi::{Launch, MpiGroup, Options};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::time::{Duration, Instant};

/// Time after which a rank hangs in the scenarios of that, and in the others, where none does.
const PATIENCE: Duration = Duration::from_millis(500);
const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// Longest time from a failure to the end of all.
const SOON: Duration = Duration::from_secs(5);

/// Time that `mpirun` takes for itself on a loaded machine.
const START: Duration = Duration::from_secs(10);

fn main() {
    match Launch::of_environment() {
        Some(_) => run_rank(&std::env::args().nth(1).expect("the name of a scenario")),
        None => run_all(),
    }
}

/// Runs each scenario on several processes.
fn run_all() {
    let mut failed = 0;
    for (name, size, expected) in [
        ("messages", 2, None),
        ("messages", 3, None),
        ("messages", 5, None),
        ("failure", 2, Some("rank 1: cannot read the mesh")),
        ("failure", 4, Some("rank 1: cannot read the mesh")),
        ("failure of the first", 3, Some("error: the disk is full")),
        ("failure of all", 3, Some("error: there is no such case")),
        ("failure after the last message", 2, Some("error: a late failure")),
        ("failure while others compute", 3, Some("rank 1: no memory")),
        ("panic", 3, Some("rank 1: it ended before the others")),
        ("hang", 4, Some("rank 2: it hangs: another rank has waited 0.5 s for it")),
        ("hang of the first", 3, Some("rank 0: it hangs: another rank has waited 0.5 s for it")),
        ("no sender", 2, Some("all ranks have waited 0.5 s for each other")),
        ("short message", 2, Some("rank 1: it sent 3 bytes where 4 are expected")),
        ("long message", 2, Some("rank 1: it sent 5 bytes where 4 are expected")),
        ("wrong gather", 2, Some("rank 1: it sent 5 bytes where 4 are expected")),
    ] {
        let begin = Instant::now();
        let problem = run_scenario(name, size, expected).err();
        let seconds = begin.elapsed().as_secs_f64();
        let verdict = if problem.is_some() { "FAILED" } else { "ok" };
        println!("{name} on {size} processes ... {verdict}, {seconds:.1} s");
        problem.iter().for_each(|problem| println!("{problem}"));
        failed += usize::from(problem.is_some());
    }
    assert_eq!(failed, 0, "scenarios failed");
}

/// Runs a scenario, which succeeds, or ends soon with one message.
fn run_scenario(name: &str, size: usize, expected: Option<&str>) -> Result<(), String> {
    let begin = Instant::now();
    let own = std::env::current_exe().expect("the path of this program");
    let output = Command::new("mpirun")
        .args(["-n", &size.to_string()])
        .arg(own)
        .arg(name)
        .envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")])
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .output()
        .expect("mpirun");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_as_expected = match expected {
        None => output.status.success(),
        Some(message) => !output.status.success() && text.matches(message).count() == 1,
    };
    let is_soon = begin.elapsed() < PATIENCE + SOON + START;
    match is_as_expected && is_soon {
        true => Ok(()),
        false => Err(format!("{}, after {:?}: {text}", output.status, begin.elapsed())),
    }
}

/// The part of one rank in a scenario.
fn run_rank(name: &str) {
    let hangs = name.starts_with("hang") || name == "no sender";
    let patience = if hangs { PATIENCE } else { LONG_PATIENCE };
    let options = Options { patience, complain: |text| eprintln!("{text}") };
    let group = MpiGroup::start(options).expect("MPI");
    let done = catch_unwind(AssertUnwindSafe(|| scenario(name, &group)));
    let (code, message) = match done {
        Ok(Ok(())) => (0, None),
        Ok(Err(message)) => (1, Some(format!("error: {message}"))),
        Err(_) => (3, None),
    };
    std::process::exit(i32::from(group.end(code, message.as_deref())));
}

fn scenario(name: &str, group: &MpiGroup) -> Result<(), String> {
    let is_one = group.rank() == 1;
    let fails = |is_failing: bool, reason: &str| {
        if is_failing { Err(reason.to_owned()) } else { Ok(()) }
    };
    let said = |error: BackendError| error.to_string();
    let gather = || gather_lists(group, &[group.rank() as u32]).map_err(said);
    match name {
        "messages" => messages(group).map_err(said)?,
        "failure" => {
            fails(is_one, "cannot read the mesh")?;
            gather()?;
        }
        "failure of the first" => {
            gather()?;
            fails(group.rank() == 0, "the disk is full")?;
            gather()?;
        }
        "failure of all" => fails(true, "there is no such case")?,
        "failure after the last message" => {
            gather()?;
            fails(is_one, "a late failure")?;
        }
        // Neither the first process nor another one looks at its messages.
        "failure while others compute" if is_one => group.abort("no memory"),
        "failure while others compute" => std::thread::sleep(Duration::from_secs(60)),
        "panic" => {
            assert!(!is_one, "an assertion");
            gather()?;
        }
        "hang" => {
            gather()?;
            match group.rank() {
                2 => std::thread::sleep(Duration::from_secs(60)),
                // Rank 0 waits for rank 1, which waits for rank 2.
                1 => group.exchange(&[], &mut [(2, &mut [0; 4])]).map_err(said)?,
                _ => group.exchange(&[], &mut [(1, &mut [0; 4])]).map_err(said)?,
            }
        }
        "hang of the first" if group.rank() == 0 => std::thread::sleep(Duration::from_secs(60)),
        "hang of the first" => drop(gather()?),
        "no sender" => {
            group.exchange(&[], &mut [(1 - group.rank(), &mut [0; 4])]).map_err(said)?;
        }
        "short message" | "long message" => {
            let bytes = vec![0; if name == "short message" { 3 } else { 5 }];
            match group.rank() {
                0 => group.exchange(&[], &mut [(1, &mut [0; 4])]).map_err(said)?,
                _ => group.exchange(&[(0, &bytes)], &mut []).map_err(said)?,
            }
            gather()?;
        }
        "wrong gather" => {
            let own = vec![0u8; 4 + group.rank()];
            group.gather_all(&own, &mut [0; 8], &[0, 4, 8]).map_err(said)?;
        }
        other => return Err(format!("there is no scenario `{other}`")),
    }
    Ok(())
}

/// Byte `i` of the message of a round from one rank to another.
fn byte(round: usize, from: usize, to: usize, i: usize) -> u8 {
    (round * 31 + from * 7 + to * 13 + i * 3) as u8
}

/// Exchanges and gathers of many lengths, none and some megabytes among them, with their contents.
fn messages(group: &MpiGroup) -> Result<(), BackendError> {
    let (own, size) = (group.rank(), group.size());
    for round in 0..300 {
        let length = |from: usize, to: usize| match round {
            299 => 3_000_000,
            // No rank has a byte.
            _ if round % 20 == 7 => 0,
            _ => {
                (round * 37 + from * 101 + to * 11) % 9000
                    * usize::from(!(round + from).is_multiple_of(5))
            }
        };
        let message = |from: usize, to: usize| -> Vec<u8> {
            (0..length(from, to)).map(|i| byte(round, from, to, i)).collect()
        };
        // Not every rank is a neighbour in every round.
        let is_neighbour = |other: usize| other != own && !(other + own + round).is_multiple_of(3);
        let others: Vec<usize> = (0..size).filter(|other| is_neighbour(*other)).collect();
        let sent: Vec<Vec<u8>> = others.iter().map(|other| message(own, *other)).collect();
        let mut arrived: Vec<Vec<u8>> =
            others.iter().map(|other| vec![0; length(*other, own)]).collect();
        let send: Vec<(usize, &[u8])> =
            others.iter().copied().zip(sent.iter().map(Vec::as_slice)).collect();
        let mut receive: Vec<(usize, &mut [u8])> =
            others.iter().copied().zip(arrived.iter_mut().map(Vec::as_mut_slice)).collect();
        group.exchange(&send, &mut receive)?;
        for (other, bytes) in others.iter().zip(&arrived) {
            assert!(*bytes == message(*other, own), "round {round}, from {other}");
        }
        let starts: Vec<usize> = (0..=size)
            .map(|rank| (0..rank).map(|before| length(before, before)).sum::<usize>())
            .collect();
        let mut all = vec![0; starts[size]];
        group.gather_all(&message(own, own), &mut all, &starts)?;
        let want: Vec<u8> = (0..size).flat_map(|rank| message(rank, rank)).collect();
        assert!(all == want, "round {round}");
        let list: Vec<f64> = (0..own * 3).map(|i| (own * 100 + i) as f64).collect();
        let (lists, starts) = gather_lists(group, &list)?;
        for rank in 0..size {
            let expected: Vec<f64> = (0..rank * 3).map(|i| (rank * 100 + i) as f64).collect();
            assert_eq!(lists[starts[rank]..starts[rank + 1]], expected);
        }
    }
    Ok(())
}
