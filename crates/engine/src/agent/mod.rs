//! `agent`: everything the engine can do, over stdin and stdout, one JSON document a line.
//!
//! The main thread reads requests and starts processes, each below a holder (`reaper/`) that ends the
//! whole tree with the agent. What takes long runs in a thread of its own. An idle agent sleeps in one `poll` without a deadline.

mod child;
mod children;
mod contents;
mod conversation;
mod dispatcher;
mod files;
mod launch;
mod lines;
mod listening;
mod loads;
mod output;
mod runs;
mod sockets;
mod tail;
mod watch;

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use steelyard_net::clock::monotonic_ns;

use crate::console::Outcome;
use crate::failure::refused;
use dispatcher::{Dispatcher, Flow};
use lines::Lines;

const READ_BYTES: usize = 16 * 1024;

pub(crate) fn run() -> Outcome {
    launch::take_orphans().map_err(|error| refused("take in orphans", &error))?;
    let ended = watch_signals().map_err(|error| refused("watch for signals", &error))?;
    let mut dispatcher = Dispatcher::new();
    let served = serve(&mut dispatcher, &ended);
    dispatcher.close();
    served.map_err(|error| refused("read requests", &error))?;
    Ok(ExitCode::SUCCESS)
}

/// Readable once the agent is asked to end. SIGINT is the controller's business alone: it is
/// caught and forgotten, not ignored, because processes inherit what is ignored.
fn watch_signals() -> io::Result<UnixStream> {
    let (reading, writing) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(SIGTERM, writing.try_clone()?)?;
    signal_hook::low_level::pipe::register(SIGHUP, writing)?;
    signal_hook::flag::register(SIGINT, Arc::new(AtomicBool::new(false)))?;
    Ok(reading)
}

fn serve(dispatcher: &mut Dispatcher, ended: &UnixStream) -> io::Result<()> {
    // The descriptor, never std's buffer: what sits in a buffer is invisible to poll.
    let stdin = io::stdin();
    let stdin = stdin.as_fd();
    let mut lines = Lines::new();
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let mut watched = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::new(ended, PollFlags::IN),
        ];
        match poll(&mut watched, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if !watched[1].revents().is_empty() {
            return Ok(());
        }
        if watched[0].revents().is_empty() {
            continue;
        }
        match rustix::io::read(stdin, &mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => lines.add(&buffer[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        let received_ns = monotonic_ns();
        while let Some(line) = lines.next_line() {
            if dispatcher.take(&line, received_ns) == Flow::End {
                return Ok(());
            }
        }
    }
}
