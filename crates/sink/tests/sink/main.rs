//! The sink seen from outside: bytes over loopback, files on disk, counters at the end.

#![allow(
    clippy::unwrap_used,
    reason = "a failed step of a test is a failed test"
)]

mod echo;
mod extensions;
mod faults;
mod ftp;
mod ftps;
mod http;
mod http2;
mod http2_frames;
mod http_replies;
mod imap;
mod lmtp;
mod peer;
mod pop3;
mod running;
mod smtp;
mod start;
mod store;
mod tls;
mod together;
