//! Ranks as threads: exchange, gather, abort and failures.

use super::*;
use crate::testing::devices;
use crate::{Backend, BackendKind, Halo, Partials, blas};
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
            let compact: Vec<f64> =
                all.chunks(stride).flat_map(|of| of[..halo.owned()].iter().copied()).collect();
            let mut extended = halo.zeros::<f64>(&backend, 3);
            halo.extend(&backend.upload(compact), &mut extended);
            assert_eq!(backend.read(&extended)?, all);
            let mut copy = halo.vector(&backend, &all[..halo.owned()]);
            halo.copy_ghosts(&backend.upload_slice(&all[..stride]), &mut copy);
            assert_eq!(backend.read(&copy)?, all[..stride]);
            assert!((0..stride).all(|i| halo.local(halo.global(i)) == Some(i)));
            Ok(())
        });
    }
}

#[test]
fn ghosts_on_a_device_get_the_values_of_their_owners() {
    for kind in devices().iter().map(Backend::kind) {
        for size in SIZES {
            let starts: Vec<usize> = (0..=size).map(|rank| 5 * rank + rank % 2).collect();
            ranks(size, |group| {
                let backend = Backend::of_rank_on(kind, 1, Arc::new(group.clone()))?;
                let halo = halo(group, &starts)?.on(&backend)?;
                let stride = halo.owned() + halo.ghosts();
                for round in 0..3 {
                    let value = |k: usize, i: usize| 1000 * round + 100 * k + halo.global(i);
                    let values = |lacks_ghosts: bool| -> Vec<usize> {
                        let of = |k| (0..stride).map(move |i| (k, i));
                        let is_lacking = |i| lacks_ghosts && i >= halo.owned();
                        let number = |(k, i)| if is_lacking(i) { 9 } else { value(k, i) };
                        (0..3).flat_map(of).map(number).collect()
                    };
                    let doubles = |of: &[usize]| of.iter().map(|v| *v as f64 - 0.5).collect();
                    let mut vector = backend.upload::<f64>(doubles(&values(true)));
                    halo.fill(&mut vector, 3);
                    assert_eq!(backend.read(&vector)?, doubles(&values(false)));
                    let compact: Vec<f64> = doubles(&values(false))
                        .chunks(stride)
                        .flat_map(|of: &[f64]| of[..halo.owned()].to_vec())
                        .collect();
                    let mut extended = halo.zeros::<f64>(&backend, 3);
                    halo.extend(&backend.upload(compact), &mut extended);
                    assert_eq!(backend.read(&extended)?, doubles(&values(false)));
                    let mut copy = backend.upload::<f64>(doubles(&values(true)[..stride]));
                    let from = backend.upload::<f64>(doubles(&values(false)[..stride]));
                    halo.copy_ghosts(&from, &mut copy);
                    assert_eq!(backend.read(&copy)?, doubles(&values(false)[..stride]));
                    let words = |of: &[usize]| of[..stride].iter().map(|v| *v as u32).collect();
                    let mut vector = backend.upload::<u32>(words(&values(true)));
                    halo.fill(&mut vector, 1);
                    assert_eq!(backend.read(&vector)?, words(&values(false)));
                }
                Ok(())
            });
        }
    }
}

#[test]
fn ranks_without_entries_take_part_in_exchanges_of_devices() {
    for kind in devices().iter().map(Backend::kind) {
        for starts in [vec![0, 0, 5], vec![0, 3, 3, 6]] {
            ranks(starts.len() - 1, |group| {
                let backend = Backend::of_rank_on(kind, 1, Arc::new(group.clone()))?;
                let own = starts[group.rank()]..starts[group.rank() + 1];
                let halo = match own.is_empty() {
                    true => Halo::new(Arc::new(group.clone()), &starts, vec![])?,
                    false => halo(group, &starts)?,
                };
                let halo = halo.on(&backend)?;
                let numbers: Vec<f64> =
                    (0..halo.owned() + halo.ghosts()).map(|i| halo.global(i) as f64).collect();
                let mut lacking = numbers.clone();
                lacking[halo.owned()..].fill(-1.0);
                let mut vector = backend.upload(lacking);
                halo.fill(&mut vector, 1);
                assert_eq!(backend.read(&vector)?, numbers);
                Ok(())
            });
        }
    }
}

/// A rank that waits on its device for another rank ends with that one.
#[test]
fn a_rank_that_fails_ends_ranks_whose_devices_wait_for_it() {
    for kind in devices().iter().map(Backend::kind) {
        let begin = Instant::now();
        let result = run_ranks(&ThreadGroup::new(2), |group| -> Result<Vec<f64>, BackendError> {
            let backend = Backend::of_rank_on(kind, 1, Arc::new(group.clone()))?;
            let halo = halo(group, &[0, 5, 10])?.on(&backend)?;
            if group.rank() == 1 {
                std::thread::sleep(Duration::from_millis(200));
                return Err(BackendError::Device("full".into()));
            }
            let mut vector = halo.zeros::<f64>(&backend, 1);
            halo.fill(&mut vector, 1);
            backend.read(&vector)
        });
        assert_eq!(
            result.unwrap_err().to_string(),
            BackendError::Device("full".into()).to_string()
        );
        assert!(begin.elapsed() < Duration::from_secs(5));
    }
}

/// Messages that are larger than the memory for them pass in several parts.
#[test]
fn large_lists_are_gathered_in_parts() {
    let kinds: Vec<BackendKind> = devices().iter().map(Backend::kind).collect();
    for kind in std::iter::once(BackendKind::Cpu).chain(kinds) {
        // Parts are those of CUDA alone.
        let unit = if kind == BackendKind::Cuda { 1000 } else { 1 };
        for starts in [vec![0, 3001, 7500], vec![0, 3001, 3001, 7500], vec![0, 0, 0]] {
            let starts: Vec<usize> = starts.iter().map(|start| start * unit).collect();
            let found = ranks(starts.len() - 1, |group| {
                let backend = Backend::of_rank_on(kind, 1, Arc::new(group.clone()))?;
                let own = starts[group.rank()]..starts[group.rank() + 1];
                let part = backend.upload::<f64>(own.map(|i| i as f64).collect());
                backend.read(&backend.parts_of_all_ranks(&part, &starts))
            });
            let want: Vec<f64> = (0..starts[starts.len() - 1]).map(|i| i as f64).collect();
            assert!(found.iter().all(|all| *all == want), "{kind:?} {starts:?}");
        }
    }
}

#[test]
fn sums_on_devices_have_equal_bits_on_any_number_of_ranks() {
    // One chunk of a rank is at most this number of entities.
    let chunks = 9;
    let n = chunks * crate::HOST_CHUNK - crate::HOST_CHUNK / 4;
    let x = crate::testing::values(n, 3);
    for whole in devices() {
        let on = |backend: &Backend, own: &[f64]| -> Result<_, BackendError> {
            let vector = backend.upload_slice(own);
            let sum = blas::sum(backend, own.len(), &vector)?;
            let range = blas::range(backend, own.len(), &vector)?;
            Ok((sum.to_bits(), range))
        };
        let want: (u64, Option<(f64, f64)>) = on(&whole, &x).unwrap();
        for size in SIZES {
            let found = ranks(size, |group| {
                let bound = |rank: usize| (rank * chunks / size * crate::HOST_CHUNK).min(n);
                let end = if group.rank() + 1 == size { n } else { bound(group.rank() + 1) };
                let backend = Backend::of_rank_on(whole.kind(), 1, Arc::new(group.clone()))?;
                on(&backend, &x[bound(group.rank())..end])
            });
            assert!(found.iter().all(|found| *found == want), "{size} ranks");
        }
    }
}

#[test]
fn sums_of_whole_chunks_have_equal_bits_on_any_number_of_ranks() {
    let chunks = 9;
    let n = chunks * crate::HOST_CHUNK - crate::HOST_CHUNK / 4;
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

#[test]
fn reductions_of_vectors_have_the_blocks_of_one_rank() {
    const CHUNK: usize = crate::HOST_CHUNK;
    // The last rank may have less than a chunk.
    for n in [4 * CHUNK, 6 * CHUNK + 1, 3 * CHUNK + 100, 7 * CHUNK - 5, 2 * CHUNK + 3] {
        for components in [1, 2, 3] {
            let x = crate::testing::values(components * n, 3);
            let y = crate::testing::values(components * n, 4);
            let on = |backend: &Backend, x: Vec<f64>, y: Vec<f64>| -> Result<_, BackendError> {
                let (count, mut x, y) = (x.len(), backend.upload(x), backend.upload(y));
                let dot = blas::dot(backend, count, &x, &y)?;
                let range = blas::range(backend, count, &x)?;
                // Kernels that also write: each entry once.
                let mut partials = Partials::new(backend, count, 1);
                let mut sum = backend.zeros(1);
                for _ in 0..2 {
                    crate::reduce::tests::add_one(backend, count, &mut x, &mut partials);
                    blas::finish_sum(backend, &partials, &mut sum);
                }
                Ok((dot.to_bits(), range, backend.read(&sum)?[0].to_bits(), backend.read(&x)?))
            };
            let one = on(&Backend::host(2).unwrap(), x.clone(), y.clone()).unwrap();
            let chunks = n.div_ceil(CHUNK);
            for size in [2, 3, 4, 7].into_iter().filter(|size| *size <= chunks) {
                let start = |rank: usize| (rank * chunks / size * CHUNK).min(n);
                let results = ranks(size, |group| {
                    let backend = Backend::of_rank(2, Arc::new(group.clone()))?;
                    let own = |v: &[f64]| -> Vec<f64> {
                        let of =
                            |k: usize| k * n + start(group.rank())..k * n + start(group.rank() + 1);
                        (0..components).flat_map(|k| v[of(k)].iter().copied()).collect()
                    };
                    let (x, y) = (own(&x), own(&y));
                    backend.clone().install(|| on(&backend.of_vectors(components), x, y))
                });
                for (rank, found) in results.iter().enumerate() {
                    assert_eq!(found.0, one.0, "{n} {components} {size}");
                    assert_eq!((found.1, found.2), (one.1, one.2), "{n} {components} {size}");
                    let own = start(rank + 1) - start(rank);
                    for k in 0..components {
                        let want = &one.3[k * n + start(rank)..][..own];
                        assert_eq!(&found.3[k * own..(k + 1) * own], want);
                    }
                }
            }
        }
    }
}

#[test]
fn reductions_over_segments_smaller_than_a_chunk_have_the_blocks_of_one_rank() {
    // Ranks with parts of one chunk, without entries, and with the ends of several chunks.
    let of_ranks: [&[usize]; 6] = [
        &[100, 7, 5000, 9000],
        &[0, 10, 0, crate::HOST_CHUNK, 1, 0],
        &[5000, 0, 0, 3000, 200],
        &[crate::HOST_CHUNK, crate::HOST_CHUNK, 0],
        &[10, 20, 30],
        &[3000, 3000, 100, 3000, 0],
    ];
    for lengths in of_ranks {
        let n: usize = lengths.iter().sum();
        for components in [2, 3] {
            let x = crate::testing::values(components * n, 5);
            let norm = |backend: &Backend, x: Vec<f64>| -> Result<f64, BackendError> {
                let (count, x) = (x.len(), backend.upload(x));
                blas::dot(backend, count, &x, &x)
            };
            let one = norm(&Backend::host(2).unwrap(), x.clone()).unwrap();
            let results = ranks(lengths.len(), |group| {
                let backend = Backend::of_rank(2, Arc::new(group.clone()))?;
                let start: usize = lengths[..group.rank()].iter().sum();
                let component = |k: usize| &x[k * n + start..][..lengths[group.rank()]];
                let own = (0..components).flat_map(component).copied().collect();
                backend.clone().install(|| norm(&backend.of_vectors(components), own))
            });
            for found in results {
                assert_eq!(found.to_bits(), one.to_bits(), "{lengths:?}, {components} components");
            }
        }
    }
}

#[test]
fn reductions_in_an_order_of_entries_have_the_blocks_of_one_rank() {
    // Consecutive entries of each rank, then single ones in turn; every third single entry is 0 and no part of the order.
    let of_ranks: [(&[usize], usize); 5] = [
        (&[5000, 4500, 9000], 5000),
        (&[100, 7, 5000], 1),
        (&[crate::HOST_CHUNK; 2], crate::HOST_CHUNK + 1),
        (&[3000, 0, 3000, 50, 9000, 1, 0], 300),
        (&[5000, 6000], 0),
    ];
    for (lengths, singles) in of_ranks {
        let (size, consecutive) = (lengths.len(), lengths.iter().sum::<usize>());
        let n = consecutive + singles;
        let mut x = crate::testing::values(n, 6);
        (consecutive..n).step_by(3).for_each(|i| x[i] = 0.0);
        let on = |backend: &Backend, x: Vec<f64>| -> Result<_, BackendError> {
            let (count, x) = (x.len(), backend.upload(x));
            Ok((blas::dot(backend, count, &x, &x)?.to_bits(), blas::range(backend, count, &x)?))
        };
        let one = on(&Backend::host(2).unwrap(), x.clone()).unwrap();
        let results = ranks(size, |group| {
            let group: Arc<dyn Group> = Arc::new(group.clone());
            let backend = Backend::of_rank(2, group.clone())?;
            let start: usize = lengths[..group.rank()].iter().sum();
            let own = start..start + lengths[group.rank()];
            let of_rank = (consecutive..n).filter(|i| i % size == group.rank());
            let entries: Vec<usize> = own.clone().chain(of_rank).collect();
            let numbered = (0u32..).zip(&entries).skip(own.len());
            let ordered = numbered.filter(|(_, i)| (*i - consecutive) % 3 != 0);
            let singles: Vec<(u32, u32)> = ordered.map(|(k, i)| (k, *i as u32)).collect();
            let order = crate::EntryOrder::new(&group, (entries.len(), own.len()), &singles, n)?;
            let values = entries.iter().map(|i| x[*i]).collect();
            backend.clone().install(|| on(&backend.in_order(Arc::new(order)), values))
        });
        for found in results {
            assert_eq!(found, one, "{lengths:?}, {singles} single entries");
        }
    }
}

#[test]
fn a_list_is_gathered_in_its_order() {
    for size in SIZES {
        let results = ranks(size, |group| {
            // Every rank has every `size`th entry, the last first.
            let places: Vec<u32> =
                (0..20u32).filter(|i| *i as usize % size == group.rank()).rev().collect();
            Ok(places)
        });
        let all = results;
        let want: Vec<f64> = (0..20).map(|i| f64::from(i) + 0.5).collect();
        let kinds = devices().iter().map(Backend::kind).collect::<Vec<_>>();
        for kind in kinds.into_iter().chain([BackendKind::Cpu]) {
            let found = ranks(size, |group| {
                let backend = Backend::of_rank_on(kind, 1, Arc::new(group.clone()))?;
                let places = &all[group.rank()];
                // The values are behind another one, in the order of the places.
                let own = (1..=places.len() as u32).collect();
                let values = places.iter().map(|place| f64::from(*place) + 0.5);
                let vector = backend.upload([-1.0].into_iter().chain(values).collect());
                let list = crate::RankedList::new(&backend, Arc::new(group.clone()), places, own)?;
                assert_eq!((list.len(), list.is_empty()), (20, false));
                let gathered = list.gather(&backend, &vector);
                backend.read(&gathered)
            });
            for found in found {
                assert_eq!(found, want, "{kind:?}, {size} ranks");
            }
        }
    }
}

#[test]
fn reductions_of_vectors_on_devices_have_equal_bits_on_any_number_of_ranks() {
    const CHUNK: usize = crate::HOST_CHUNK;
    for whole in devices() {
        for (n, components) in [(4 * CHUNK + 7, 3), (3 * CHUNK, 2), (40 * CHUNK + 1, 1)] {
            let x = crate::testing::values(components * n, 3);
            let on = |backend: &Backend, x: Vec<f64>| -> Result<_, BackendError> {
                let backend = backend.of_vectors(components);
                let (count, x) = (x.len(), backend.upload(x));
                let dot = blas::dot(&backend, count, &x, &x)?;
                // Fewer entries than the partials are for: those of one component.
                let mut partials = Partials::new(&backend, count, 2);
                let mut sum = backend.zeros(1);
                blas::range_partials(&backend, count, &x, &mut partials);
                blas::range_partials(&backend, count / components, &x, &mut partials);
                blas::finish_sum(&backend, &partials, &mut sum);
                Ok((
                    dot.to_bits(),
                    blas::range(&backend, count, &x)?,
                    backend.read(&sum)?[0].to_bits(),
                ))
            };
            let want: (u64, Option<(f64, f64)>, u64) = on(&whole, x.clone()).unwrap();
            let norm: f64 = x.iter().map(|v| v * v).sum();
            assert!((f64::from_bits(want.0) - norm).abs() < 1e-12 * norm);
            let chunks = n.div_ceil(CHUNK);
            for size in [2, 3] {
                let start = |rank: usize| (rank * chunks / size * CHUNK).min(n);
                let found = ranks(size, |group| {
                    let backend = Backend::of_rank_on(whole.kind(), 1, Arc::new(group.clone()))?;
                    let own = start(group.rank())..start(group.rank() + 1);
                    let of = |k: usize| x[k * n..(k + 1) * n][own.clone()].to_vec();
                    on(&backend, (0..components).flat_map(of).collect())
                });
                assert!(found.iter().all(|found| *found == want), "{n} {components} {size}");
            }
        }
    }
}
