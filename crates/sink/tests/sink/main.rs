//! The sink seen from outside: bytes over loopback, files on disk, counters at the end.

mod faults;
mod http;
mod peer;
mod running;
mod smtp;
mod start;
mod store;
