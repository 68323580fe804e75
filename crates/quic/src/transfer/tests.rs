//! Whole transfers over loopback.
