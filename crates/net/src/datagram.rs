//! Many datagrams in one call, cut and joined by the kernel where it can.

use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::io::{Errno, Result};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, connect, socket_with, sockopt};

use crate::bulk::{last_errno, set_option};

const UDP_SEGMENT: libc::c_int = 103;
const UDP_GRO: libc::c_int = 104;

/// Longest payload of one datagram, and of one message that the kernel cuts or has joined.
pub const LONGEST: usize = 65_507;

/// Datagrams that the kernel cuts from one message at most.
pub const MOST_SEGMENTS: usize = 64;

/// Messages received in one call.
const MESSAGES: usize = 16;
const ROOM: usize = 65_536;

/// A UDP socket, non-blocking; `shared` lets others have the same port (`SO_REUSEPORT`).
pub fn open(local: SocketAddr, shared: bool) -> Result<OwnedFd> {
    let family = match local {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
    let fd = socket_with(family, SocketType::DGRAM, flags, None)?;
    if shared {
        sockopt::set_socket_reuseport(&fd, true)?;
    }
    bind(&fd, &local)?;
    Ok(fd)
}

/// A UDP socket that speaks with `peer` alone, from `local` or any address.
pub fn open_to(peer: SocketAddr, local: Option<std::net::IpAddr>) -> Result<OwnedFd> {
    let any = match peer {
        SocketAddr::V4(_) => std::net::Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => std::net::Ipv6Addr::UNSPECIFIED.into(),
    };
    let fd = open(SocketAddr::new(local.unwrap_or(any), 0), false)?;
    connect(&fd, &peer)?;
    Ok(fd)
}

/// Has messages cut into datagrams of `bytes` by the kernel, or the network card; 0 ends it.
pub fn cut_into(socket: impl AsFd, bytes: u16) -> Result<()> {
    set_option(socket, libc::SOL_UDP, UDP_SEGMENT, i32::from(bytes))
}

/// Lets the kernel join datagrams of one size into messages.
pub fn allow_joining(socket: impl AsFd) -> Result<()> {
    set_option(socket, libc::SOL_UDP, UDP_GRO, 1_i32)
}

/// Sends messages of `message_bytes` from `buffer`, the last of which may be shorter.
///
/// Returns how many were taken, 0 when there is no room.
pub fn send_many(socket: impl AsFd, buffer: &[u8], message_bytes: usize) -> Result<usize> {
    const MOST: usize = 64;
    // SAFETY: all zero is a valid `mmsghdr` and a valid `iovec`: no name, no buffers, no control.
    let (mut heads, mut pieces): ([libc::mmsghdr; MOST], [libc::iovec; MOST]) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    let mut count = 0;
    for (message, (head, piece)) in buffer
        .chunks(message_bytes.max(1))
        .zip(heads.iter_mut().zip(pieces.iter_mut()))
    {
        piece.iov_base = message.as_ptr().cast_mut().cast();
        piece.iov_len = message.len();
        head.msg_hdr.msg_iov = piece;
        head.msg_hdr.msg_iovlen = 1;
        count += 1;
    }
    // SAFETY: the first `count` heads each point to one piece, which points into `buffer`; the
    // kernel only reads what pieces point to. No piece is moved before the call.
    let sent = unsafe {
        libc::sendmmsg(
            socket.as_fd().as_raw_fd(),
            heads.as_mut_ptr(),
            count,
            (libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) as _,
        )
    };
    match usize::try_from(sent) {
        Ok(sent) => Ok(sent),
        Err(_) => match last_errno() {
            Errno::AGAIN | Errno::INTR | Errno::NOBUFS => Ok(0),
            errno => Err(errno),
        },
    }
}

/// Room for the messages of one call.
#[derive(Debug)]
pub struct Inbox {
    buffer: Vec<u8>,
    lengths: [(usize, usize); MESSAGES],
    full: usize,
}

impl Default for Inbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Inbox {
    /// Empty.
    pub fn new() -> Self {
        Self {
            buffer: vec![0; MESSAGES * ROOM],
            lengths: [(0, 0); MESSAGES],
            full: 0,
        }
    }

    /// Receives what waits; returns the number of messages, 0 when there is none.
    pub fn receive(&mut self, socket: impl AsFd) -> Result<usize> {
        /// A control message with one integer, and some room.
        const CONTROL: usize = 8;
        let mut controls = [[0_u64; CONTROL]; MESSAGES];
        // SAFETY: all zero is a valid `mmsghdr` and a valid `iovec`.
        let (mut heads, mut pieces): ([libc::mmsghdr; MESSAGES], [libc::iovec; MESSAGES]) =
            unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        for (index, room) in self.buffer.chunks_exact_mut(ROOM).enumerate() {
            pieces[index].iov_base = room.as_mut_ptr().cast();
            pieces[index].iov_len = room.len();
            let head = &mut heads[index].msg_hdr;
            head.msg_iov = &raw mut pieces[index];
            head.msg_iovlen = 1;
            head.msg_control = controls[index].as_mut_ptr().cast();
            head.msg_controllen = size_of_val(&controls[index]) as _;
        }
        self.full = 0;
        // SAFETY: every head points to one piece of writable memory of its length and to control
        // memory of its length, aligned for `cmsghdr`; nothing is moved before the call.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_fd().as_raw_fd(),
                heads.as_mut_ptr(),
                MESSAGES as libc::c_uint,
                libc::MSG_DONTWAIT as _,
                std::ptr::null_mut(),
            )
        };
        let Ok(received) = usize::try_from(received) else {
            return match last_errno() {
                Errno::AGAIN | Errno::INTR => Ok(0),
                errno => Err(errno),
            };
        };
        for (head, lengths) in heads.iter().zip(&mut self.lengths).take(received) {
            let length = head.msg_len as usize;
            *lengths = (length, segment_bytes(&head.msg_hdr).unwrap_or(length));
        }
        self.full = received;
        Ok(received)
    }

    /// The datagrams of the last call, in the order of their arrival.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.buffer
            .chunks_exact(ROOM)
            .zip(self.lengths)
            .take(self.full)
            .flat_map(|(room, (length, segment))| room[..length].chunks(segment.max(1)))
    }
}

/// The size of the datagrams that a message was joined from.
fn segment_bytes(message: &libc::msghdr) -> Option<usize> {
    // SAFETY: the header was filled by the kernel; its control memory lives in the caller.
    let mut head = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !head.is_null() {
        // SAFETY: a non-null result of the two macros is a control message inside the memory.
        let (level, kind) = unsafe { ((*head).cmsg_level, (*head).cmsg_type) };
        if level == libc::SOL_UDP && kind == UDP_GRO {
            // SAFETY: the data of this message is one integer, read without regard to alignment.
            let bytes = unsafe { libc::CMSG_DATA(head).cast::<i32>().read_unaligned() };
            return usize::try_from(bytes).ok().filter(|bytes| *bytes > 0);
        }
        // SAFETY: as above.
        head = unsafe { libc::CMSG_NXTHDR(message, head) };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::socket::local_address;

    fn pair() -> (OwnedFd, OwnedFd) {
        let right = open("127.0.0.1:0".parse().unwrap(), false).unwrap();
        let left = open_to(local_address(&right).unwrap(), None).unwrap();
        (left, right)
    }

    fn received(right: &OwnedFd, wanted: usize) -> Vec<Vec<u8>> {
        let mut inbox = Inbox::new();
        let mut all = Vec::new();
        while all.len() < wanted {
            inbox.receive(right).unwrap();
            all.extend(inbox.datagrams().map(<[u8]>::to_vec));
        }
        all
    }

    fn three() -> Vec<u8> {
        [[1; 100].as_slice(), &[2; 100], &[3; 40]].concat()
    }

    #[test]
    fn messages_sent_in_one_call_arrive_one_by_one() {
        let (left, right) = pair();
        assert_eq!(send_many(&left, &three(), 100), Ok(3));
        let all = received(&right, 3);
        assert_eq!(all, [vec![1; 100], vec![2; 100], vec![3; 40]]);
    }

    #[test]
    fn a_message_that_the_kernel_cuts_arrives_in_pieces_joined_or_not() {
        for joining in [false, true] {
            let (left, right) = pair();
            if cut_into(&left, 100).is_err() || joining && allow_joining(&right).is_err() {
                return; // older than Linux 4.18 or 5.0
            }
            assert_eq!(send_many(&left, &three(), 65_000), Ok(1));
            let all = received(&right, 3);
            assert_eq!(all, [vec![1; 100], vec![2; 100], vec![3; 40]]);
        }
    }

    #[test]
    fn an_empty_socket_gives_nothing() {
        let (_left, right) = pair();
        assert_eq!(Inbox::new().receive(&right), Ok(0));
    }
}
