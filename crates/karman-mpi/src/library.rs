//! The calls of MPI that ranks need, with their results checked. No other file has `unsafe` code for them.
//!
//! A message is owned here from its begin to its end: MPI may read or write its bytes in between. The bytes of a message that has not
//! ended when it is dropped are never freed.
#![allow(unsafe_code)] // calls of a C library

use mpi::environment::Universe;
use mpi::{Threading, ffi};
use std::ffi::{c_char, c_int};
use std::mem::MaybeUninit;

/// The library of this process.
pub(crate) struct Library {
    /// Ends MPI when it is dropped.
    universe: Option<Universe>,
}

/// A number of processes with messages of their own.
#[derive(Clone, Copy)]
pub(crate) struct Communicator(ffi::MPI_Comm);

// SAFETY: a handle is a number or a pointer that MPI alone follows, and calls of MPI exclude each other.
unsafe impl Send for Communicator {}
// SAFETY: as above.
unsafe impl Sync for Communicator {}

/// A message or a gather on its way.
pub(crate) struct Pending {
    /// None after its end.
    request: Option<ffi::MPI_Request>,
    /// The bytes that MPI reads, and those that it writes.
    sent: Vec<u8>,
    received: Vec<u8>,
    /// Lengths and places of the ranks in a gather.
    lists: [Vec<c_int>; 2],
    /// Number of bytes that arrived, of a message received.
    arrived: Option<usize>,
    is_received: bool,
}

// SAFETY: a request is a handle, see `Communicator`; its bytes are on the heap.
unsafe impl Send for Pending {}

impl Drop for Pending {
    fn drop(&mut self) {
        if self.request.is_some() {
            std::mem::forget(std::mem::take(&mut self.sent));
            std::mem::forget(std::mem::take(&mut self.received));
            self.lists.iter_mut().for_each(|list| std::mem::forget(std::mem::take(list)));
        }
    }
}

/// A message that waits to be received.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub(crate) from: usize,
    pub(crate) length: usize,
}

/// The text of an error of MPI.
fn checked(code: c_int) -> Result<(), String> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    let mut text = [0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length: c_int = 0;
    // SAFETY: MPI writes at most MPI_MAX_ERROR_STRING bytes.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &mut length) };
    Err(String::from_utf8_lossy(&text[..length.max(0) as usize]).into_owned())
}

fn count(bytes: usize) -> c_int {
    bytes as c_int
}

/// Most bytes of a message.
pub(crate) const MOST_BYTES: usize = c_int::MAX as usize;

impl Library {
    /// Starts MPI with calls from any thread, one at a time.
    ///
    /// # Errors
    /// The reason, where MPI has been started before or wants all calls from one thread.
    pub(crate) fn start() -> Result<Library, String> {
        let started = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, level) = started.ok_or("MPI has been started before")?;
        if level < Threading::Serialized {
            return Err(format!(
                "this MPI has the thread level {level:?}; ranks call it from several threads and need `Serialized`"
            ));
        }
        Ok(Library { universe: Some(universe) })
    }

    /// Ends MPI in this process; all processes call it.
    pub(crate) fn finalize(&mut self) {
        self.universe = None;
    }
}

impl Communicator {
    /// All processes.
    pub(crate) fn world() -> Communicator {
        // SAFETY: a constant of the library.
        Communicator(unsafe { ffi::RSMPI_COMM_WORLD })
    }

    /// The same processes with messages of their own; errors are returned. All processes call it.
    pub(crate) fn duplicate(self) -> Result<Communicator, String> {
        let mut new = MaybeUninit::uninit();
        // SAFETY: MPI sets the handle where it succeeds.
        unsafe {
            checked(ffi::MPI_Comm_dup(self.0, new.as_mut_ptr()))?;
            let new = Communicator(new.assume_init());
            checked(ffi::MPI_Comm_set_errhandler(new.0, ffi::RSMPI_ERRORS_RETURN))?;
            Ok(new)
        }
    }

    /// The processes of this machine. All processes call it.
    pub(crate) fn of_machine(self) -> Result<Communicator, String> {
        let mut new = MaybeUninit::uninit();
        // SAFETY: as above.
        unsafe {
            let shared = ffi::RSMPI_COMM_TYPE_SHARED;
            let none = ffi::RSMPI_INFO_NULL;
            checked(ffi::MPI_Comm_split_type(self.0, shared, 0, none, new.as_mut_ptr()))?;
            Ok(Communicator(new.assume_init()))
        }
    }

    /// The number of this process, and the number of processes.
    pub(crate) fn place(self) -> Result<(usize, usize), String> {
        let (mut rank, mut size): (c_int, c_int) = (0, 0);
        // SAFETY: MPI writes the two numbers.
        unsafe {
            checked(ffi::MPI_Comm_rank(self.0, &mut rank))?;
            checked(ffi::MPI_Comm_size(self.0, &mut size))?;
        }
        Ok((rank as usize, size as usize))
    }

    /// Begins to send a message.
    pub(crate) fn send(self, bytes: &[u8], to: usize, tag: c_int) -> Result<Pending, String> {
        let sent = bytes.to_vec();
        let mut request = MaybeUninit::uninit();
        // SAFETY: `sent` lives until the request ends, see `Pending`.
        let request = unsafe {
            let (address, kind) = (sent.as_ptr().cast(), ffi::RSMPI_UINT8_T);
            let length = count(sent.len());
            let begun = ffi::MPI_Isend(
                address,
                length,
                kind,
                to as c_int,
                tag,
                self.0,
                request.as_mut_ptr(),
            );
            checked(begun)?;
            request.assume_init()
        };
        Ok(Pending::new(request, sent, vec![], [vec![], vec![]]))
    }

    /// Begins to receive a message of at most `length` bytes.
    pub(crate) fn receive(self, length: usize, from: usize, tag: c_int) -> Result<Pending, String> {
        let mut received = vec![0; length];
        let mut request = MaybeUninit::uninit();
        // SAFETY: `received` lives until the request ends, see `Pending`.
        let request = unsafe {
            let (address, kind) = (received.as_mut_ptr().cast(), ffi::RSMPI_UINT8_T);
            let (length, from) = (count(length), from as c_int);
            let begun =
                ffi::MPI_Irecv(address, length, kind, from, tag, self.0, request.as_mut_ptr());
            checked(begun)?;
            request.assume_init()
        };
        let mut pending = Pending::new(request, vec![], received, [vec![], vec![]]);
        pending.is_received = true;
        Ok(pending)
    }

    /// Begins to gather the bytes of all processes, of these lengths, one after the other. All processes call it.
    pub(crate) fn gather(self, own: &[u8], lengths: &[usize]) -> Result<Pending, String> {
        let counts: Vec<c_int> = lengths.iter().map(|length| count(*length)).collect();
        let mut places: Vec<c_int> = vec![0];
        for length in lengths {
            places.push(places[places.len() - 1] + count(*length));
        }
        let (mut sent, mut received) = (own.to_vec(), vec![0; lengths.iter().sum()]);
        // The address of an empty list without memory is 1, which Open MPI defines as `MPI_IN_PLACE`.
        sent.reserve(1);
        received.reserve(1);
        let mut request = MaybeUninit::uninit();
        // SAFETY: all bytes and lists live until the request ends, see `Pending`.
        let request = unsafe {
            let kind = ffi::RSMPI_UINT8_T;
            let begun = ffi::MPI_Iallgatherv(
                sent.as_ptr().cast(),
                count(sent.len()),
                kind,
                received.as_mut_ptr().cast(),
                counts.as_ptr(),
                places.as_ptr(),
                kind,
                self.0,
                request.as_mut_ptr(),
            );
            checked(begun)?;
            request.assume_init()
        };
        Ok(Pending::new(request, sent, received, [counts, places]))
    }

    /// A message of any process that has arrived and is not yet received.
    pub(crate) fn waiting(self, tag: c_int) -> Result<Option<Waiting>, String> {
        let (mut is_there, mut status): (c_int, _) = (0, MaybeUninit::<ffi::MPI_Status>::uninit());
        // SAFETY: MPI sets the status where it sets `is_there`.
        unsafe {
            let any = ffi::RSMPI_ANY_SOURCE;
            checked(ffi::MPI_Iprobe(any, tag, self.0, &mut is_there, status.as_mut_ptr()))?;
            if is_there == 0 {
                return Ok(None);
            }
            let status = status.assume_init();
            let from = status.MPI_SOURCE as usize;
            Ok(Some(Waiting { from, length: length_of(&status)? }))
        }
    }

    /// Ends all processes with this exit code. It may return before this one has ended.
    pub(crate) fn abort(self, code: u8) {
        // SAFETY: it may be called at any time between the start and the end of MPI.
        unsafe { ffi::MPI_Abort(self.0, c_int::from(code)) };
    }
}

fn length_of(status: &ffi::MPI_Status) -> Result<usize, String> {
    let mut length: c_int = 0;
    // SAFETY: MPI reads the status and writes the number.
    checked(unsafe { ffi::MPI_Get_count(status, ffi::RSMPI_UINT8_T, &mut length) })?;
    Ok(length.max(0) as usize)
}

impl Pending {
    fn new(
        request: ffi::MPI_Request,
        sent: Vec<u8>,
        received: Vec<u8>,
        lists: [Vec<c_int>; 2],
    ) -> Pending {
        Pending { request: Some(request), sent, received, lists, arrived: None, is_received: false }
    }

    /// Whether it has ended.
    pub(crate) fn test(&mut self) -> Result<bool, String> {
        let Some(request) = &mut self.request else { return Ok(true) };
        let (mut has_ended, mut status): (c_int, _) = (0, MaybeUninit::<ffi::MPI_Status>::uninit());
        // SAFETY: the request has not ended; MPI sets the status where it sets `has_ended`.
        unsafe {
            checked(ffi::MPI_Test(request, &mut has_ended, status.as_mut_ptr()))?;
            if has_ended == 0 {
                return Ok(false);
            }
            self.request = None;
            if self.is_received {
                self.arrived = Some(length_of(&status.assume_init())?);
            }
        }
        Ok(true)
    }

    /// The bytes received. Fewer than expected where the message was shorter.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.received[..self.arrived.unwrap_or(self.received.len())]
    }
}
