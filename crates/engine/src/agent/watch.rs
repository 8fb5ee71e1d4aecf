//! Listens to one process: to its two streams and to its holder, in one thread.

use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::{ChildStderr, ChildStdout};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;

use super::output::Chunk;
use crate::reaper::messages::{Ended, Word};

const CHUNK_BYTES: usize = 4 * 1024;
/// More than a pipe holds, so that the last output of a process is read before its end is reported,
/// even if others write without end.
const MOST_LAST_CHUNKS: u32 = 1024;
const AT_ONCE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 0,
};

/// One event of a process.
#[derive(Debug)]
pub(super) enum Event<'a> {
    Output(Chunk<'a>),
    /// The process has ended, and all it wrote was reported before.
    Ended {
        how: Ended,
        /// It left nothing behind; its holder is about to end.
        alone: bool,
    },
}

/// The three ends.
#[derive(Debug)]
pub(super) struct Watch {
    control: BufReader<UnixStream>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    chunk: Vec<u8>,
}

/// Which of the ends can be read, or has ended.
#[derive(Debug, Default)]
struct Ready {
    control: bool,
    stdout: bool,
    stderr: bool,
}

impl Watch {
    pub(super) fn new(
        control: BufReader<UnixStream>,
        stdout: Option<ChildStdout>,
        stderr: Option<ChildStderr>,
    ) -> Self {
        Self {
            control,
            stdout,
            stderr,
            chunk: vec![0; CHUNK_BYTES],
        }
    }

    /// Until the holder has closed its socket: then nothing of the tree is left.
    pub(super) fn run(&mut self, mut take: impl FnMut(Event<'_>)) {
        loop {
            let ready = match self.wait(None) {
                Ok(ready) => ready,
                Err(Errno::INTR) => continue,
                Err(_) => return,
            };
            self.read_streams(&ready, &mut take);
            if !ready.control {
                continue;
            }
            let word = self.next_word();
            self.read_last_words(&mut take);
            match word {
                Some(Word::Ended { how, alone }) => take(Event::Ended { how, alone }),
                Some(_) => {}
                None => break,
            }
        }
        // Whoever was given these pipes by other ways than birth is none of ours.
        if self.stdout.take().is_some() {
            take(Event::Output(Chunk::StdoutEnd));
        }
    }

    fn next_word(&mut self) -> Option<Word> {
        let mut line = Vec::new();
        match self.control.read_until(b'\n', &mut line) {
            Ok(count) if count > 0 => serde_json::from_slice(&line).ok(),
            _ => None,
        }
    }

    fn read_last_words(&mut self, take: &mut impl FnMut(Event<'_>)) {
        for _ in 0..MOST_LAST_CHUNKS {
            let Ok(ready) = self.wait(Some(&AT_ONCE)) else {
                return;
            };
            if !(ready.stdout || ready.stderr) {
                return;
            }
            self.read_streams(&ready, take);
        }
    }

    fn wait(&self, most: Option<&Timespec>) -> Result<Ready, Errno> {
        let ends: [Option<BorrowedFd<'_>>; 3] = [
            Some(self.control.get_ref().as_fd()),
            self.stdout.as_ref().map(AsFd::as_fd),
            self.stderr.as_ref().map(AsFd::as_fd),
        ];
        let mut watched: Vec<PollFd<'_>> = ends
            .iter()
            .flatten()
            .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN))
            .collect();
        // A word may have come along with the one before it: it is not in the socket any more.
        let here = !self.control.buffer().is_empty();
        poll(&mut watched, if here { Some(&AT_ONCE) } else { most })?;
        let mut ready = watched.iter().map(|fd| !fd.revents().is_empty());
        let mut next = |there: bool| there && ready.next().unwrap_or(false);
        Ok(Ready {
            control: next(true) || here,
            stdout: next(ends[1].is_some()),
            stderr: next(ends[2].is_some()),
        })
    }

    fn read_streams(&mut self, ready: &Ready, take: &mut impl FnMut(Event<'_>)) {
        if ready.stdout {
            let open = read_chunk(&mut self.stdout, &mut self.chunk, |bytes| {
                take(Event::Output(Chunk::Stdout(bytes)));
            });
            if !open {
                take(Event::Output(Chunk::StdoutEnd));
            }
        }
        if ready.stderr {
            read_chunk(&mut self.stderr, &mut self.chunk, |bytes| {
                take(Event::Output(Chunk::Stderr(bytes)));
            });
        }
    }
}

/// `false` at the end of the pipe, which is then closed.
fn read_chunk(pipe: &mut Option<impl Read>, chunk: &mut [u8], take: impl FnOnce(&[u8])) -> bool {
    let open = match pipe.as_mut().map(|pipe| pipe.read(chunk)) {
        Some(Ok(count)) if count > 0 => {
            take(&chunk[..count]);
            true
        }
        Some(Err(error)) => error.kind() == std::io::ErrorKind::Interrupted,
        _ => false,
    };
    if !open {
        *pipe = None;
    }
    open
}
