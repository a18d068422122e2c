//! Ranks as threads: exchange, gather, abort and failures.

use super::*;
use crate::{Backend, Halo, Partials, blas};
use std::sync::Arc;
use std::time::{Duration, Instant};

const SIZES: [usize; 5] = [1, 2, 3, 4, 7];

fn ranks<R: Send>(
    size: usize,
    work: impl Fn(&ThreadGroup) -> Result<R, BackendError> + Sync,
) -> Vec<R> {
    run_ranks(&ThreadGroup::new(size), work).unwrap()
}

#[test]
fn lists_of_all_ranks_are_gathered_in_their_order() {
    for size in SIZES {
        let results = ranks(size, |group| {
            let mut last = (vec![], vec![]);
            for round in 0..50u32 {
                let own = vec![round + 10 * group.rank() as u32; group.rank()];
                last = gather_lists(group, &own)?;
            }
            Ok(last)
        });
        let of_rank = |rank| vec![49 + 10 * rank as u32; rank];
        let all: Vec<u32> = (0..size).flat_map(of_rank).collect();
        for (found, starts) in results {
            assert_eq!(found, all);
            assert!((0..size).all(|rank| starts[rank + 1] - starts[rank] == rank));
        }
    }
}

#[test]
fn messages_arrive_in_their_order() {
    for size in SIZES {
        ranks(size, |group| {
            let (right, left) = ((group.rank() + 1) % size, (group.rank() + size - 1) % size);
            for round in 0..200u32 {
                let own = [round, group.rank() as u32];
                let mut found = [0u32; 2];
                group.exchange(
                    &[(right, bytes_of(&own))],
                    &mut [(left, bytes_of_mut(&mut found))],
                )?;
                assert_eq!(found, [round, left as u32]);
            }
            Ok(())
        });
    }
}

/// Entries of a vector by rank, the ghosts of a rank all entries at most 2 away from its own.
fn halo(group: &ThreadGroup, starts: &[usize]) -> Result<Halo, BackendError> {
    let own = starts[group.rank()]..starts[group.rank() + 1];
    let total = starts[starts.len() - 1];
    let around = own.start.saturating_sub(2)..(own.end + 2).min(total);
    let ghosts = around.filter(|i| !own.contains(i)).map(|i| i as u32).collect();
    Halo::new(Arc::new(group.clone()), starts, ghosts)
}

#[test]
fn ghosts_get_the_values_of_their_owners() {
    for size in SIZES {
        let starts: Vec<usize> = (0..=size).map(|rank| 5 * rank + rank % 2).collect();
        ranks(size, |group| {
            let halo = halo(group, &starts)?;
            let backend = Backend::of_rank(1, Arc::new(group.clone()))?;
            let mut vector = halo.zeros::<f64>(&backend, 3);
            let stride = halo.owned() + halo.ghosts();
            let ghost = backend.read(&vector)?[halo.owned()..stride].to_vec();
            assert!(ghost.iter().all(|value| value.is_nan() == cfg!(debug_assertions)));
            let value = |k: usize, i: usize| (100 * k + halo.global(i)) as f64;
            let all: Vec<f64> = (0..3)
                .flat_map(|k| (0..stride).map(move |i| (k, i)))
                .map(|(k, i)| value(k, i))
                .collect();
            let mut own = all.clone();
            for component in own.chunks_mut(stride) {
                component[halo.owned()..].fill(-1.0);
            }
            backend.write(&mut vector, &own);
            halo.fill(&mut vector, 3);
            assert_eq!(backend.read(&vector)?, all);
            assert!((0..stride).all(|i| halo.local(halo.global(i)) == Some(i)));
            Ok(())
        });
    }
}

#[test]
fn sums_of_whole_chunks_have_equal_bits_on_any_number_of_ranks() {
    let chunks = 9;
    let n = chunks * crate::HOST_CHUNK - 1000;
    let x = crate::testing::values(n, 3);
    let whole = Backend::host(2).unwrap();
    let want = blas::sum(&whole, n, &whole.upload_slice(&x)).unwrap();
    for size in SIZES {
        let sums = ranks(size, |group| {
            let bound = |rank: usize| (rank * chunks / size * crate::HOST_CHUNK).min(n);
            let end = if group.rank() + 1 == size { n } else { bound(group.rank() + 1) };
            let own = &x[bound(group.rank())..end];
            let backend = Backend::of_rank(1, Arc::new(group.clone()))?;
            let vector = backend.upload_slice(own);
            // Fewer entities than the partials are for.
            let mut partials = Partials::new(&backend, own.len(), 2);
            blas::range_partials(&backend, 1, &vector, &mut partials);
            let of_own = Partials::of_own(&backend, own.len(), 1);
            assert_eq!(of_own.block_count(), own.len().div_ceil(crate::HOST_CHUNK).max(1));
            blas::sum(&backend, own.len(), &vector)
        });
        assert!(sums.iter().all(|sum| sum.to_bits() == want.to_bits()), "{size} ranks");
    }
}

#[test]
fn a_rank_that_fails_or_panics_ends_all() {
    for panics in [false, true] {
        for size in [2, 4, 7] {
            let begin = Instant::now();
            let result: Result<Vec<()>, BackendError> =
                run_ranks(&ThreadGroup::new(size), |group| {
                    let mut sums = vec![];
                    for round in 0..100u32 {
                        if round == 20 && group.rank() == 1 {
                            assert!(!panics, "no memory for round {round}");
                            return Err(BackendError::Device("full".into()));
                        }
                        sums = gather_lists(group, &[round])?.0;
                    }
                    assert!(sums.is_empty(), "unreachable");
                    Ok(())
                });
            let text = result.unwrap_err().to_string();
            let want = match panics {
                true => "rank 1: it panicked: no memory for round 20",
                false => "the device failed: full",
            };
            assert_eq!(text, want);
            assert!(begin.elapsed() < Duration::from_secs(5));
        }
    }
}

#[test]
fn reads_return_the_failure_of_another_rank() {
    let groups = ThreadGroup::new(2);
    groups[1].abort("out of memory");
    let backend = Backend::of_rank(1, Arc::new(groups[0].clone())).unwrap();
    let error = blas::sum(&backend, 1, &backend.zeros::<f64>(1)).unwrap_err();
    assert_eq!(error.to_string(), "rank 1: out of memory");
    assert_eq!(backend.synchronize().unwrap_err(), error);
}

#[test]
fn a_rank_that_hangs_is_named_and_not_waited_for() {
    let groups = ThreadGroup::with_patience(4, Duration::from_millis(300));
    let states = groups.into_iter().map(|group| (group.clone(), group)).collect();
    let team: Team<ThreadGroup> = Team::new(states).unwrap();
    let rounds = team.run(|group| gather_lists(group, &[1u32])).unwrap();
    assert_eq!(rounds.len(), 4);
    let begin = Instant::now();
    let result: Result<Vec<()>, BackendError> = team.run(|group| {
        // Rank 0 waits for rank 1, which waits for rank 2.
        match group.rank() {
            2 => std::thread::sleep(Duration::from_secs(60)),
            1 => group.exchange(&[], &mut [(2, &mut [0; 4])])?,
            _ => group.exchange(&[], &mut [(1, &mut [0; 4])])?,
        }
        Ok(())
    });
    let text = result.unwrap_err().to_string();
    assert_eq!(text, "rank 2: it hangs: another rank has waited 0.3 s for it");
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn messages_of_another_length_are_refused() {
    let result: Result<Vec<()>, BackendError> = run_ranks(&ThreadGroup::new(2), |group| {
        let own = vec![0u8; 4 + group.rank()];
        group.gather_all(&own, &mut [0; 8], &[0, 4, 8])
    });
    let text = result.unwrap_err().to_string();
    assert_eq!(text, "rank 1: it sent 5 bytes where 4 are expected");
}

#[test]
fn a_team_keeps_the_states_of_its_ranks() {
    let groups = ThreadGroup::new(3);
    let states = groups
        .into_iter()
        .map(|group| {
            let rank = group.rank();
            (group, rank)
        })
        .collect();
    let team: Team<usize> = Team::new(states).unwrap();
    let add = |state: &mut usize| {
        *state += 10;
        Ok::<usize, BackendError>(*state)
    };
    team.run(add).unwrap();
    assert_eq!(team.run(add).unwrap(), [20, 21, 22]);
}
