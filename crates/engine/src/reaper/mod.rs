//! `hold`: one process that an agent started, and all that comes of it.
//!
//! The kernel hands the orphans of a tree to the nearest ancestor that asks for them
//! (`PR_SET_CHILD_SUBREAPER`): the holder is that ancestor, so nothing leaves its tree, whatever
//! sessions it opens. It ends the tree on request, and when the agent is gone: then the
//! other end of its socket is closed, by the kernel if need be. It sleeps in one `poll` otherwise.

mod ignored;
pub(crate) mod messages;
mod program;
pub(crate) mod tree;

use std::io::{self, Read, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};
use rustix::time::Timespec;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use steelyard_net::clock::{monotonic_ns, timespec};

use crate::args::HoldArgs;
use crate::console::Outcome;
use crate::failure::refused;
use messages::{Ended, KILL, TERMINATE, Word};
use program::Program;

/// Between two passes over a tree that is being killed.
const BETWEEN_PASSES: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 2_000_000,
};

pub(crate) fn run(args: &HoldArgs) -> Outcome {
    let held = hold(args).map_err(|error| refused("hold a process", &error));
    held.map(|()| ExitCode::SUCCESS)
}

fn hold(args: &HoldArgs) -> io::Result<()> {
    let mut holder = Holder::new(args.control)?;
    if let Some(at_ns) = args.start_at
        && !holder.wait_until(at_ns)?
    {
        return Ok(());
    }
    match program::start(&args.argv) {
        Ok(program) => {
            holder.say(&Word::Started(program.started));
            holder.program = Some(program);
            holder.serve()
        }
        Err(error) => {
            let errno = error.raw_os_error();
            let message = error.to_string();
            holder.say(&Word::Refused { errno, message });
            Ok(())
        }
    }
}

struct Holder {
    control: UnixStream,
    /// Readable after the end of a child.
    ended: UnixStream,
    /// Readable after a signal that asks the holder to end.
    asked: UnixStream,
    program: Option<Program>,
    /// Everything is to end; the program has been asked to, or is killed with the rest.
    ending: bool,
    killing: bool,
}

impl Holder {
    fn new(control: RawFd) -> io::Result<Self> {
        let control = own(control)?;
        ignored::catch()?;
        set_child_subreaper(Some(getpid()))?;
        let (ended, writing) = UnixStream::pair()?;
        signal_hook::low_level::pipe::register(SIGCHLD, writing)?;
        let (asked, writing) = UnixStream::pair()?;
        for signal in [SIGTERM, SIGHUP, SIGINT] {
            signal_hook::low_level::pipe::register(signal, writing.try_clone()?)?;
        }
        Ok(Self {
            control,
            ended,
            asked,
            program: None,
            ending: false,
            killing: false,
        })
    }

    /// `false` if there is no need to start any more.
    fn wait_until(&mut self, at_ns: u64) -> io::Result<bool> {
        while !self.killing && !self.ending {
            let left_ns = at_ns.saturating_sub(monotonic_ns());
            if left_ns == 0 {
                return Ok(true);
            }
            self.listen(Some(&timespec(left_ns)))?;
        }
        Ok(false)
    }

    /// Until the last process of the tree is reaped.
    fn serve(&mut self) -> io::Result<()> {
        loop {
            if !self.reap() {
                return Ok(());
            }
            if self.killing {
                tree::kill_below(getpid());
            }
            self.listen(self.killing.then_some(&BETWEEN_PASSES))?;
        }
    }

    /// Sleeps until something happens.
    fn listen(&mut self, most: Option<&Timespec>) -> io::Result<()> {
        let mut watched = [
            PollFd::new(&self.control, PollFlags::IN),
            PollFd::new(&self.ended, PollFlags::IN),
            PollFd::new(&self.asked, PollFlags::IN),
        ];
        match poll(&mut watched, most) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let [control, ended, asked] = watched.map(|fd| !fd.revents().is_empty());
        let mut bytes = [0; 64];
        if ended {
            let _ = self.ended.read(&mut bytes)?;
        }
        self.killing |= asked;
        // After it is known that all is to be killed nothing else can be asked for.
        if control && !self.killing {
            let count = self.control.read(&mut bytes).unwrap_or(0);
            self.execute(&bytes[..count]);
        }
        Ok(())
    }

    /// Nothing at all means that the agent is gone.
    fn execute(&mut self, bytes: &[u8]) {
        self.killing |= bytes.is_empty() || bytes.contains(&KILL);
        if bytes.contains(&TERMINATE) && !self.killing {
            self.ending = true;
            match self.program.as_ref().filter(|program| program.running) {
                Some(program) => {
                    let _ = kill_process(program.pid, Signal::TERM);
                }
                None => tree::signal_below(getpid(), Signal::TERM),
            }
        }
    }

    /// Reaps all that have ended, and tells the end of the program; `false` when no one is left.
    fn reap(&mut self) -> bool {
        let mut end = None;
        let left = loop {
            match messages::wait_for_any() {
                Ok(Some((pid, how))) if self.is_program(pid) => end = Some(how),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break true,
                Err(_) => break false,
            }
        };
        if let Some(how) = end {
            self.tell_end(how, !left);
        }
        left
    }

    fn is_program(&self, pid: Pid) -> bool {
        let program = self.program.as_ref();
        program.is_some_and(|program| program.running && program.pid == pid)
    }

    fn tell_end(&mut self, how: Ended, alone: bool) {
        if let Some(program) = &mut self.program {
            program.running = false;
        }
        // What the program leaves when it was asked to end is not asked again.
        self.killing |= self.ending;
        self.say(&Word::Ended { how, alone });
    }

    /// An agent that is gone receives nothing; it is noticed by its silence.
    fn say(&mut self, word: &Word) {
        if let Ok(mut line) = serde_json::to_vec(word) {
            line.push(b'\n');
            let _ = self.control.write_all(&line);
        }
    }
}

/// Takes over the descriptor that the agent passed on; the program must not inherit it.
fn own(control: RawFd) -> io::Result<UnixStream> {
    if control <= libc::STDERR_FILENO {
        return Err(Errno::BADF.into());
    }
    // SAFETY: the agent passes on this descriptor for the holder alone, by its number; nothing
    // else in this process knows it, and it is taken over once, before anything is opened. A
    // number that is not open gives errors in the calls below, not a descriptor of another.
    let control = unsafe { OwnedFd::from_raw_fd(control) };
    fcntl_setfd(&control, FdFlags::CLOEXEC)?;
    Ok(control.into())
}
