//! Whether a launcher started several processes.

/// This process among those that `mpirun` or another launcher started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The number of this process, from 0.
    pub number: usize,
    /// Number of processes, at least 2.
    pub count: usize,
}

/// Count and number of the processes in the environment: of Open MPI, and of launchers with the process management interface, as
/// MPICH, Intel MPI and Slurm.
const VARIABLES: [[&str; 2]; 2] =
    [["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"], ["PMI_SIZE", "PMI_RANK"]];

impl Launch {
    /// The processes that the environment tells of; none where this process is alone.
    pub fn of_environment() -> Option<Launch> {
        Self::of(|name| std::env::var(name).ok())
    }

    fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Launch> {
        let number = |name: &str| variable(name)?.trim().parse::<usize>().ok();
        VARIABLES.iter().find_map(|[count, own]| {
            let count = number(count).filter(|count| *count > 1)?;
            Some(Launch { number: number(own).unwrap_or(0), count })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_processes_are_seen_in_the_environment_of_their_launcher() {
        let of = |pairs: &[(&str, &str)]| {
            Launch::of(|name| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
            })
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "1"), ("OMPI_COMM_WORLD_RANK", "0")]), None);
        assert_eq!(of(&[("PMI_SIZE", "many")]), None);
        let want = Some(Launch { number: 2, count: 3 });
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "3"), ("OMPI_COMM_WORLD_RANK", "2")]), want);
        assert_eq!(of(&[("PMI_RANK", "2"), ("PMI_SIZE", "3")]), want);
    }
}
