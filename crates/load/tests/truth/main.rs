//! Runs against small servers of known behaviour: what they did must be what the result says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod connect;
mod faults;
mod ftp;
mod http;
mod http2;
mod mail;
mod open_loop;
mod page;
mod roads;
mod secured;
mod server;
mod sink;
mod stream;
mod web_sink;
