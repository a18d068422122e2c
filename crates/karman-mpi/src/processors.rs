//! The share of a process in the processors of its machine.

use crate::library::Communicator;

/// Processors that a process may use, a bit for each: `[1024 / 8]`.
const BYTES: usize = 128;

/// The processors to which the launcher has bound this process; all bits where the system does not tell.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)] // a call of the C library
fn allowed() -> [u8; BYTES] {
    let mut set = [0u8; BYTES];
    // SAFETY: the system writes at most the bytes of `set`.
    let failed = unsafe { libc::sched_getaffinity(0, BYTES, set.as_mut_ptr().cast()) } != 0;
    if failed { [u8::MAX; BYTES] } else { set }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn allowed() -> [u8; BYTES] {
    [u8::MAX; BYTES]
}

/// Processors of this process: those that it may use, divided by the number of processes of the machine that may use one of
/// them. All processes call it.
///
/// # Errors
/// The reason, where MPI fails.
pub(crate) fn share(world: Communicator) -> Result<f64, String> {
    let machine = world.of_machine()?;
    let (_, size) = machine.place()?;
    let own = allowed();
    let mut gather = machine.gather(&own, &vec![BYTES; size])?;
    while !gather.test()? {
        std::hint::spin_loop();
    }
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    Ok(processors as f64 / sharers(&own, gather.bytes()) as f64)
}

/// The number of processes of `all` that may use a processor of `own`.
fn sharers(own: &[u8], all: &[u8]) -> usize {
    let shares = |other: &&[u8]| own.iter().zip(*other).any(|(a, b)| a & b != 0);
    all.chunks(own.len()).filter(shares).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_share_the_processors_that_they_have_in_common() {
        let all = [0b0000_0011, 0, 0b0000_0011, 0, 0b1111_0000, 1];
        assert_eq!(sharers(&all[..2], &all), 2);
        assert_eq!(sharers(&all[4..], &all), 1);
        assert_eq!(sharers(&[0, 0], &all), 1);
        let set = allowed();
        assert!(set.iter().any(|bits| *bits != 0));
    }
}
