//! The interface of the section of an equation, as written. All other sections know an equation by its [`Descriptor`] alone.

use super::error::Problem;
use super::linear_solver::LinearSolverFile;
use super::names::Names;
use super::problems::Problems;
use super::region_names::RegionNames;
use super::value::Reader;
use super::{CaseFile, EQUATIONS, Equation};
use crate::descriptor::Descriptor;
use std::ops::Range;

/// The section of an equation as written.
pub(crate) trait EquationSection {
    /// The names of the equation.
    fn descriptor(&self) -> &'static Descriptor;
    /// The place of the section.
    fn place(&self) -> Range<usize>;
    /// Whether the case solves for a temperature.
    fn has_temperature(&self) -> bool;
    /// The names that the sections of its case may use.
    fn names(&self) -> Names {
        Names::new(self.descriptor(), self.has_temperature())
    }
    /// Checks the section, with those parts of other sections that only this equation has: its fields of `[initial]`,
    /// `[boundary]`, the time scheme, `[steady]`, its linear solvers, and what its monitors require.
    fn check(&self, case: Sections<'_>, problems: &mut Problems) -> Option<Equation>;
    /// Its linear solvers: the path of each section that the case has.
    fn linear_solvers(&self) -> Vec<(&'static str, &LinearSolverFile)> {
        vec![]
    }
    /// Settings with a consequence of which a run warns.
    fn warnings(&self, _case: &CaseFile) -> Vec<Problem> {
        vec![]
    }
    /// The regions it names.
    fn regions(&self) -> RegionNames {
        RegionNames::default()
    }
}

/// The sections of a case beside that of the equation, and how their values are read.
#[derive(Clone, Copy)]
pub(crate) struct Sections<'c> {
    pub(crate) file: &'c CaseFile,
    pub(crate) names: Names,
    pub(crate) reader: Reader<'c>,
}

impl CaseFile {
    /// The equation of the case: exactly one.
    pub(crate) fn equation(&self) -> Result<&dyn EquationSection, Problem> {
        let sections = self.equations();
        let given = sections.iter().map(|section| (section.descriptor().section, section.place()));
        let given: Vec<_> = given.collect();
        if let [(first, _), (second, span), ..] = given.as_slice() {
            let message = format!("a case has one equation, this one has [{first}] and [{second}]");
            return Err(Problem::at(span.clone(), message));
        }
        let known = EQUATIONS.map(|equation| format!("[{}]", equation.section));
        sections.first().copied().ok_or_else(|| {
            let problem = Problem::at(0..0, "the case has no equation: a section is missing");
            let (last, rest) = known.split_last().unwrap_or_else(|| unreachable!("equations"));
            problem.note(format!("add {} or {last}", rest.join(", ")))
        })
    }
}
