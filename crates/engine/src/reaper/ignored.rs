//! Signals that whoever started us ignores, as shells do for what runs in the background.
//!
//! What is ignored stays ignored in a program that is started; what is caught does not. So a holder
//! catches them, for a service that is asked to end by such a signal must hear it.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{FORBIDDEN, SIGPIPE};

/// Standard signals; those beyond belong to the C library.
const LAST: i32 = 31;

/// Catches all of them, and does nothing about it. What the standard library ignores itself
/// (SIGPIPE) it gives back itself.
pub(super) fn catch() -> io::Result<()> {
    let status = fs::read_to_string("/proc/self/status")?;
    for signal in ignored(&status) {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    Ok(())
}

/// Their numbers, as `/proc/PID/status` tells them.
fn ignored(status: &str) -> Vec<i32> {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let set = line.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    (1..=LAST)
        .filter(|number| set.unwrap_or(0) >> (number - 1) & 1 == 1)
        .filter(|number| *number != SIGPIPE && !FORBIDDEN.contains(number))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signals_of_a_background_job_are_found_and_no_others() {
        let status = "Name:\tx\nSigIgn:\t0000000180001007\nSigCgt:\t0000000000000000\n";
        assert_eq!(ignored(status), [1, 2, 3]);
        assert_eq!(ignored("SigIgn:\t0000000000000000\n"), [0; 0]);
        assert_eq!(ignored("nothing of the kind"), [0; 0]);
    }
}
