//! Pages of small suites.
