//! ex
