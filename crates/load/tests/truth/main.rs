//! Runs against small servers of known behaviour: what they did must be what the result says.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod connect;
mod delivery;
mod faults;
mod ftp;
mod http;
mod http2;
mod imap;
mod mail_host;
mod open_loop;
mod page;
mod pop3;
mod roads;
mod secured;
mod server;
mod sink;
mod smtp;
mod smtp_groups;
mod smtp_tls;
mod stream;
mod web_sink;
