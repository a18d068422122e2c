//! Messages of a suite.
