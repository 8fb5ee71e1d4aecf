//! `join`: stdin and stdout joined to a unix socket, so that what serves on the socket (the serial
//! port of a guest, behind QEMU) is a pipe like any other: `ssh HOST steelyard-engine join unix:PATH`.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::args::JoinArgs;
use crate::console::Outcome;
use crate::failure::refused;

const CHUNK_BYTES: usize = 64 * 1024;

pub(crate) fn run(args: &JoinArgs) -> Outcome {
    let path = &args.socket;
    let socket = UnixStream::connect(path)
        .map_err(|error| refused(&format!("connect to {}", path.display()), &error))?;
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let joined = join(stdin.as_fd(), stdout.as_fd(), socket.as_fd());
    joined.map_err(|error| refused("carry bytes", &error))?;
    Ok(ExitCode::SUCCESS)
}

/// Carries bytes both ways until either end has closed.
fn join(from: BorrowedFd<'_>, to: BorrowedFd<'_>, socket: BorrowedFd<'_>) -> io::Result<()> {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let mut watched = [
            PollFd::from_borrowed_fd(from, PollFlags::IN),
            PollFd::from_borrowed_fd(socket, PollFlags::IN),
        ];
        match poll(&mut watched, None) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let (asked, answered) = (
            !watched[0].revents().is_empty(),
            !watched[1].revents().is_empty(),
        );
        if answered && !carry(socket, to, &mut buffer)? {
            return Ok(());
        }
        if asked && !carry(from, socket, &mut buffer)? {
            return Ok(());
        }
    }
}

/// Carries what is there now; false when the source has ended or no one takes it any more.
fn carry(from: BorrowedFd<'_>, to: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<bool> {
    let count = match rustix::io::read(from, &mut *buffer) {
        Ok(0) | Err(Errno::CONNRESET) => return Ok(false),
        Ok(count) => count,
        Err(Errno::INTR | Errno::AGAIN) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    let mut left = &buffer[..count];
    while !left.is_empty() {
        match rustix::io::write(to, left) {
            Ok(written) => left = &left[written..],
            Err(Errno::INTR) => {}
            Err(Errno::PIPE | Errno::CONNRESET) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::thread;

    use super::*;

    /// The controller's end and the server's end of a join that runs.
    fn joined() -> (
        UnixStream,
        UnixStream,
        UnixStream,
        thread::JoinHandle<io::Result<()>>,
    ) {
        let (asks, from) = UnixStream::pair().unwrap();
        let (to, reads) = UnixStream::pair().unwrap();
        let (socket, serves) = UnixStream::pair().unwrap();
        let running = thread::spawn(move || join(from.as_fd(), to.as_fd(), socket.as_fd()));
        (asks, reads, serves, running)
    }

    #[test]
    fn bytes_go_both_ways_unchanged() {
        let (mut asks, mut reads, mut serves, running) = joined();
        let question: Vec<u8> = (0..200_000_u32).map(|n| (n % 251) as u8).collect();
        let copy = question.clone();
        let asking = thread::spawn(move || {
            asks.write_all(&copy).unwrap();
            asks
        });
        let mut read = vec![0; question.len()];
        serves.read_exact(&mut read).unwrap();
        assert_eq!(read, question);
        serves.write_all(b"answer\n").unwrap();
        let mut answer = [0; 7];
        reads.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"answer\n");
        drop(asking.join().unwrap());
        running.join().unwrap().unwrap();
    }

    #[test]
    fn it_ends_when_the_controller_goes_and_the_server_sees_that() {
        let (asks, _reads, mut serves, running) = joined();
        drop(asks);
        running.join().unwrap().unwrap();
        assert_eq!(serves.read(&mut [0; 1]).unwrap(), 0);
    }

    #[test]
    fn it_ends_when_the_server_goes() {
        let (_asks, mut reads, serves, running) = joined();
        drop(serves);
        running.join().unwrap().unwrap();
        assert_eq!(reads.read(&mut [0; 1]).unwrap(), 0);
    }
}
