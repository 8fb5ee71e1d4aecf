//! The agent as a controller sees it: the real binary, over pipes.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod controller;
mod conversation;
mod listening;
mod load;
mod processes;
mod runs;
mod sampling;
mod trees;
