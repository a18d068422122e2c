//! A sequence of launches recorded once and replayed: a device graph where the runtime has them,
//! the calls themselves elsewhere.
#![allow(unsafe_code)]

use super::{Backend, BackendError};

/// The launches of one solver iteration (or time step) on the buffers of `S`.
///
/// `work` runs with the same state every time and must do nothing but call dispatch functions: on a
/// device it is captured once and never called again, so what it decides on the host is decided
/// for good.
pub struct Recording<S, W: FnMut(&Backend, &mut S)> {
    backend: Backend,
    work: W,
    graph: Option<cubecl::client::Graph>,
    state: std::marker::PhantomData<fn(&mut S)>,
}

impl<S, W: FnMut(&Backend, &mut S)> Recording<S, W> {
    /// Records `work` on the buffers of `state`. It runs once before the capture, to compile its
    /// kernels; `restore` then puts the state back to what it was.
    ///
    /// # Errors
    /// [`BackendError::Device`] where a launch failed or could not be captured.
    pub fn new(
        backend: &Backend,
        state: &mut S,
        mut work: W,
        mut restore: impl FnMut(&Backend, &mut S),
    ) -> Result<Self, BackendError> {
        let mut graph = None;
        if let Some(device) = backend.device().filter(|d| d.has_graphs()) {
            let failed = |e: &dyn std::fmt::Display| BackendError::Device(e.to_string());
            let client = device.client();
            client.graph_prepare().map_err(|e| failed(&e))?;
            work(backend, state);
            backend.synchronize()?;
            client.start_capture().map_err(|e| failed(&e))?;
            work(backend, state);
            graph = Some(client.stop_capture().map_err(|e| failed(&e))?);
            restore(backend, state);
        }
        Ok(Recording { backend: backend.clone(), work, graph, state: std::marker::PhantomData })
    }

    /// Runs the recorded launches once more. `state` is the one that was recorded.
    ///
    /// # Errors
    /// [`BackendError::Device`] where the replay was refused.
    pub fn replay(&mut self, state: &mut S) -> Result<(), BackendError> {
        match &self.graph {
            // SAFETY: `state` owns every buffer of the capture and is borrowed for the call; all
            // work goes through the one client and its stream.
            Some(graph) => unsafe { graph.replay() }
                .map_err(|e| BackendError::Device(format!("{e}"))),
            None => {
                (self.work)(&self.backend, state);
                Ok(())
            }
        }
    }
}
