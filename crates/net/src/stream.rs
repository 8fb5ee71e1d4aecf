//! Bytes over a non-blocking socket.

use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd};

use rustix::io::{Errno, Result};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, send, sendmsg};

/// What one call to [`receive`] brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// So many bytes, at least one.
    Bytes(usize),
    /// Nothing for now.
    Nothing,
    /// The peer has closed its side.
    End,
}

/// Reads what is there, at most the length of `buffer`.
pub fn receive(socket: impl AsFd, buffer: &mut [u8]) -> Result<Received> {
    match recv(socket, buffer, RecvFlags::empty()) {
        Ok((0, _)) => Ok(Received::End),
        Ok((count, _)) => Ok(Received::Bytes(count)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(Received::Nothing),
        Err(error) => Err(error),
    }
}

/// Throws away what is there, at most `most` bytes, without copying it. TCP only.
pub fn discard(socket: impl AsFd, most: usize) -> Result<Received> {
    // SAFETY: with `MSG_TRUNC` TCP writes nothing into the buffer (tcp(7)); whatever else might
    // try to would find a null pointer, which the kernel refuses with `EFAULT`.
    let count = unsafe {
        libc::recv(
            socket.as_fd().as_raw_fd(),
            std::ptr::null_mut(),
            most,
            libc::MSG_TRUNC,
        )
    };
    match usize::try_from(count) {
        Ok(0) => Ok(Received::End),
        Ok(count) => Ok(Received::Bytes(count)),
        Err(_) => match Errno::from_io_error(&std::io::Error::last_os_error()) {
            Some(Errno::AGAIN | Errno::INTR) => Ok(Received::Nothing),
            errno => Err(errno.unwrap_or(Errno::IO)),
        },
    }
}

/// Sends `head`, then `tail`, in one call; returns how many bytes of the two were taken.
pub fn send_both(socket: impl AsFd, head: &[u8], tail: &[u8]) -> Result<usize> {
    let sent = if head.is_empty() {
        send(socket, tail, SendFlags::NOSIGNAL)
    } else if tail.is_empty() {
        send(socket, head, SendFlags::NOSIGNAL)
    } else {
        sendmsg(
            socket,
            &[IoSlice::new(head), IoSlice::new(tail)],
            &mut SendAncillaryBuffer::default(),
            SendFlags::NOSIGNAL,
        )
    };
    match sent {
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn head_and_tail_arrive_in_order_and_then_the_end() {
        let (left, right) = UnixStream::pair().unwrap();
        right.set_nonblocking(true).unwrap();
        assert_eq!(send_both(&left, b"ab", b"cde").unwrap(), 5);
        let mut buffer = [0; 16];
        assert_eq!(receive(&right, &mut buffer), Ok(Received::Bytes(5)));
        assert_eq!(&buffer[..5], b"abcde");
        assert_eq!(receive(&right, &mut buffer), Ok(Received::Nothing));
        drop(left);
        assert_eq!(receive(&right, &mut buffer), Ok(Received::End));
    }

    #[test]
    fn discarded_bytes_are_counted_and_those_behind_them_are_still_there() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        client.write_all(b"abcdef").unwrap();
        drop(client);
        assert_eq!(discard(&server, 4), Ok(Received::Bytes(4)));
        let mut buffer = [0; 8];
        assert_eq!(receive(&server, &mut buffer), Ok(Received::Bytes(2)));
        assert_eq!(&buffer[..2], b"ef");
        assert_eq!(discard(&server, 1 << 20), Ok(Received::End));
    }

    #[test]
    fn a_full_socket_takes_nothing_and_is_no_error() {
        let (left, _right) = UnixStream::pair().unwrap();
        left.set_nonblocking(true).unwrap();
        let block = vec![0; 65536];
        while send_both(&left, &block, &[]).unwrap() > 0 {}
        assert_eq!(send_both(&left, b"x", b"y").unwrap(), 0);
    }
}
