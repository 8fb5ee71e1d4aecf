//! What bulk TCP needs beyond reading and writing: large writes, discarding, the kernel's view.

use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};

use rustix::io::{Errno, Result};

use crate::stream::Received;

/// Newer than the header files this crate may be built with.
const SO_MAX_PACING_RATE: libc::c_int = 47;
const SO_ZEROCOPY: libc::c_int = 60;
const MSG_ZEROCOPY: libc::c_int = 0x0400_0000;
const SO_EE_ORIGIN_ZEROCOPY: u8 = 5;
const SO_EE_CODE_ZEROCOPY_COPIED: u8 = 1;

/// Hands `block` to the kernel; returns how many bytes it took, 0 when it has no room.
///
/// With `zero_copy` the pages of `block` are sent later: they must not change and must stay
/// mapped, which is why they have to live for ever.
pub fn send_block(socket: impl AsFd, block: &'static [u8], zero_copy: bool) -> Result<usize> {
    let copying = if zero_copy { MSG_ZEROCOPY } else { 0 };
    // SAFETY: `block` is readable for its length, and for ever, as the kernel may read it later.
    let sent = unsafe {
        libc::send(
            socket.as_fd().as_raw_fd(),
            block.as_ptr().cast(),
            block.len(),
            libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | copying,
        )
    };
    match usize::try_from(sent) {
        Ok(count) => Ok(count),
        Err(_) => match last_errno() {
            // No buffers: too many zero-copy writes wait for their completion.
            Errno::AGAIN | Errno::INTR | Errno::NOBUFS => Ok(0),
            errno => Err(errno),
        },
    }
}

/// Throws away what has arrived on a TCP socket, at most `most` bytes, without copying it.
pub fn discard(socket: impl AsFd, most: usize) -> Result<Received> {
    // SAFETY: with MSG_TRUNC, TCP writes nothing to the buffer; a kernel that did would find the
    // null page and return EFAULT.
    let count = unsafe {
        libc::recv(
            socket.as_fd().as_raw_fd(),
            std::ptr::null_mut(),
            most,
            libc::MSG_TRUNC | libc::MSG_DONTWAIT,
        )
    };
    match usize::try_from(count) {
        Ok(0) => Ok(Received::End),
        Ok(count) => Ok(Received::Bytes(count)),
        Err(_) => match last_errno() {
            Errno::AGAIN | Errno::INTR => Ok(Received::Nothing),
            errno => Err(errno),
        },
    }
}

/// Allows zero-copy writes.
pub fn allow_zero_copy(socket: impl AsFd) -> Result<()> {
    set_option(socket, libc::SOL_SOCKET, SO_ZEROCOPY, 1_i32)
}

/// Lets the kernel space what is sent, at most so many bytes a second.
pub fn set_pacing(socket: impl AsFd, bytes_per_s: u64) -> Result<()> {
    set_option(socket, libc::SOL_SOCKET, SO_MAX_PACING_RATE, bytes_per_s)
}

/// Wakes a reader only when so many bytes wait, or the end.
pub fn set_low_water(socket: impl AsFd, bytes: u32) -> Result<()> {
    set_option(
        socket,
        libc::SOL_SOCKET,
        libc::SO_RCVLOWAT,
        bytes.cast_signed(),
    )
}

/// Asks for socket buffers of `bytes` in both directions; beyond the system's limit if the
/// process may.
pub fn set_buffers(socket: impl AsFd, bytes: u32) -> Result<()> {
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    for (forced, plain) in [
        (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF),
        (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF),
    ] {
        set_option(&socket, libc::SOL_SOCKET, forced, bytes)
            .or_else(|_| set_option(&socket, libc::SOL_SOCKET, plain, bytes))?;
    }
    Ok(())
}

/// Sets an option whose value is plain old data of the size the kernel expects.
pub(crate) fn set_option<T: Copy>(
    socket: impl AsFd,
    level: libc::c_int,
    name: libc::c_int,
    value: T,
) -> Result<()> {
    // SAFETY: `value` is readable for its size; the kernel checks the size against the option.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            (&raw const value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if outcome == 0 {
        return Ok(());
    }
    Err(last_errno())
}

/// Zero-copy writes that the kernel has finished with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Completions {
    /// All of them.
    pub writes: u64,
    /// Of these, copied all the same.
    pub copied: u64,
}

/// Reads the completions of zero-copy writes that wait on the error queue.
pub fn completions(socket: impl AsFd) -> Completions {
    let mut all = Completions::default();
    while let Some((first, last, copied)) = next_completion(socket.as_fd().as_raw_fd()) {
        let writes = u64::from(last.wrapping_sub(first)) + 1;
        all.writes += writes;
        all.copied += if copied { writes } else { 0 };
    }
    all
}

/// `(first, last, copied)` of the next range of finished writes.
fn next_completion(socket: libc::c_int) -> Option<(u32, u32, bool)> {
    let mut control = [0_u64; 16];
    // SAFETY: all zero is a valid `msghdr`: no name, no buffers, no control.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of_val(&control) as _;
    // SAFETY: the header points to writable control memory of the length it says, aligned for
    // `cmsghdr` as an array of u64.
    let received = unsafe {
        libc::recvmsg(
            socket,
            &raw mut message,
            libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT,
        )
    };
    if received < 0 {
        return None;
    }
    // SAFETY: the header was filled by the kernel and its control memory lives.
    let head = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    if head.is_null() {
        return None;
    }
    // SAFETY: the first control message lies within `control`; the data of an error message
    // begins with a `sock_extended_err`, read without regard to alignment.
    let error = unsafe {
        libc::CMSG_DATA(head)
            .cast::<libc::sock_extended_err>()
            .read_unaligned()
    };
    (error.ee_errno == 0 && error.ee_origin == SO_EE_ORIGIN_ZEROCOPY).then_some((
        error.ee_info,
        error.ee_data,
        error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED != 0,
    ))
}

/// How TCP sees a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TcpState {
    /// Smoothed round-trip time.
    pub rtt_ns: u64,
    /// Segments sent again since the connection began.
    pub retransmits: u64,
    /// Bytes that may be under way.
    pub congestion_window_bytes: u64,
}

/// `TCP_INFO` of a connection; `None` if it is none, or the kernel is older than that.
pub fn tcp_state(socket: impl AsFd) -> Option<TcpState> {
    // linux/tcp.h: eight single bytes, then u32 by u32; only what is read has a name here.
    const SEGMENT: usize = 16;
    const RTT_US: usize = 68;
    const WINDOW_SEGMENTS: usize = 80;
    const RETRANSMITS: usize = 100;
    let mut info = [0_u8; 104];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: `info` is writable for `length` bytes; the kernel writes no more and says how many.
    let outcome = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if outcome != 0 || (length as usize) < info.len() {
        return None;
    }
    let field = |at: usize| {
        u64::from(u32::from_ne_bytes([
            info[at],
            info[at + 1],
            info[at + 2],
            info[at + 3],
        ]))
    };
    Some(TcpState {
        rtt_ns: field(RTT_US) * 1_000,
        retransmits: field(RETRANSMITS),
        congestion_window_bytes: field(WINDOW_SEGMENTS) * field(SEGMENT),
    })
}

pub(crate) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    static BLOCK: [u8; 65536] = [7; 65536];

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let left = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (left, listener.accept().unwrap().0)
    }

    #[test]
    fn what_is_discarded_is_counted_to_the_end() {
        let (mut left, right) = pair();
        assert_eq!(discard(&right, 1 << 20), Ok(Received::Nothing));
        left.write_all(&[1; 5_000]).unwrap();
        drop(left);
        let mut count = 0;
        loop {
            match discard(&right, 1 << 20).unwrap() {
                Received::Bytes(bytes) => count += bytes,
                Received::Nothing => std::thread::yield_now(),
                Received::End => break,
            }
        }
        assert_eq!(count, 5_000);
    }

    #[test]
    fn a_full_socket_takes_nothing_and_a_closed_one_is_an_error() {
        let (left, right) = pair();
        while send_block(&left, &BLOCK, false).unwrap() > 0 {}
        drop(right);
        let gone = loop {
            match send_block(&left, &BLOCK, false) {
                Ok(_) => std::thread::yield_now(),
                Err(errno) => break errno,
            }
        };
        assert!([Errno::CONNRESET, Errno::PIPE].contains(&gone), "{gone}");
    }

    #[test]
    fn zero_copy_writes_are_reported_as_finished() {
        let (left, right) = pair();
        allow_zero_copy(&left).unwrap();
        let sent = send_block(&left, &BLOCK, true).unwrap();
        assert!(sent > 0);
        let mut read = 0;
        let mut finished = 0;
        while read < sent || finished < 1 {
            if let Received::Bytes(count) = discard(&right, 1 << 20).unwrap() {
                read += count;
            }
            finished += completions(&left).writes;
        }
        assert_eq!(finished, 1);
    }

    #[test]
    fn tcp_tells_the_round_trip_time_of_a_connection_and_of_nothing_else() {
        let (left, _right) = pair();
        assert!(tcp_state(&left).unwrap().congestion_window_bytes > 0);
        let other = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        assert_eq!(tcp_state(&other), None);
    }
}
