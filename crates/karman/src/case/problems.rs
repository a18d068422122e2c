//! Problems of all sections of a case.

use super::error::Problem;

/// Problems of all sections, so that one run reports every error of the file.
pub(crate) struct Problems(pub(super) Vec<Problem>);

impl Problems {
    pub(crate) fn add(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    pub(crate) fn record<T>(&mut self, checked: Result<T, Problem>) -> Option<T> {
        checked.map_err(|problem| self.0.push(problem)).ok()
    }

    pub(crate) fn record_all<T>(&mut self, checked: Result<T, Vec<Problem>>) -> Option<T> {
        checked.map_err(|several| self.0.extend(several)).ok()
    }
}
