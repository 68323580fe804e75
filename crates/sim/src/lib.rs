//! Virtual time: an event loop that joins hosts and paths.
