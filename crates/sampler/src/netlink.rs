//! Questions to the kernel over netlink, answered as a list of messages.
//!
//! What a message holds is parsed where it is asked for; here are the frames around it. Numbers are
//! in the byte order of the machine.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::net::{
    AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send,
    socket_with, sockopt,
};

const HEADER: usize = 16;
const ALIGNMENT: usize = 4;
const ERROR: u16 = 2;
const DONE: u16 = 3;
/// `NLM_F_REQUEST | NLM_F_DUMP`
const LIST: u16 = 0x301;
/// Of a type, for content that is attributes again.
const NESTED: u16 = 0x8000;
/// The kernel fills up to so much at a time.
const BUFFER: usize = 32 << 10;
/// It answers at once; without a limit a defect would stop the sampler.
const PATIENCE: Duration = Duration::from_millis(200);

/// A socket for one kind of questions.
pub(crate) struct Netlink {
    socket: OwnedFd,
    buffer: Vec<u8>,
    sequence: u32,
}

impl Netlink {
    /// `None` asks about routing, links and queues.
    pub(crate) fn open(protocol: Option<Protocol>) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol)?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(PATIENCE))?;
        Ok(Self {
            socket,
            buffer: vec![0; BUFFER],
            sequence: 0,
        })
    }

    /// Asks for a list and gives the content of each message to `take`.
    pub(crate) fn list(
        &mut self,
        kind: u16,
        question: &[u8],
        mut take: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = framed(kind, self.sequence, question);
        send(&self.socket, &request, SendFlags::empty())?;
        loop {
            let (filled, _) = recv(&self.socket, &mut self.buffer[..], RecvFlags::empty())?;
            for message in messages(&self.buffer[..filled]) {
                if message.sequence != self.sequence {
                    continue; // of a question that was given up
                }
                match message.kind {
                    ERROR | DONE => return refusal(message.content).map_or(Ok(()), Err),
                    _ => take(message.content),
                }
            }
        }
    }
}

struct Message<'a> {
    kind: u16,
    sequence: u32,
    content: &'a [u8],
}

/// Message by message, up to what is cut off.
fn messages(bytes: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = u32_at(rest, 0)? as usize;
        let message = Message {
            kind: u16_at(rest, 4)?,
            sequence: u32_at(rest, 8)?,
            content: rest.get(HEADER..length)?,
        };
        rest = rest.get(aligned(length)..).unwrap_or_default();
        Some(message)
    })
}

/// Type and content of each attribute, up to one that is cut off.
pub(crate) fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(rest, 0)?);
        let attribute = (u16_at(rest, 2)? & !NESTED, rest.get(ALIGNMENT..length)?);
        rest = rest.get(aligned(length)..).unwrap_or_default();
        Some(attribute)
    })
}

pub(crate) fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    let four = bytes.get(place..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*four))
}

fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    let two = bytes.get(place..)?.first_chunk()?;
    Some(u16::from_ne_bytes(*two))
}

fn aligned(length: usize) -> usize {
    length.next_multiple_of(ALIGNMENT)
}

/// The error number that ends a list, negative; 0 of one that is complete.
fn refusal(content: &[u8]) -> Option<io::Error> {
    let number = u32_at(content, 0)?.cast_signed();
    (number < 0).then(|| io::Error::from_raw_os_error(-number))
}

fn framed(kind: u16, sequence: u32, question: &[u8]) -> Vec<u8> {
    let length = (HEADER + question.len()) as u32;
    let mut request = Vec::with_capacity(length as usize);
    request.extend(length.to_ne_bytes());
    request.extend(kind.to_ne_bytes());
    request.extend(LIST.to_ne_bytes());
    request.extend(sequence.to_ne_bytes());
    request.extend(0_u32.to_ne_bytes());
    request.extend(question);
    request
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// One attribute with its frame.
    pub(crate) fn attribute(kind: u16, content: &[u8]) -> Vec<u8> {
        let length = (ALIGNMENT + content.len()) as u16;
        let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        bytes.extend(content);
        bytes.resize(aligned(bytes.len()), 0);
        bytes
    }

    #[test]
    fn messages_are_read_in_turn_and_one_that_is_cut_off_ends_them() {
        let mut bytes = framed(36, 7, b"first---");
        bytes.extend(framed(36, 7, b"second--"));
        let found = |bytes: &[u8]| messages(bytes).count();
        assert_eq!(found(&bytes), 2);
        assert_eq!(found(&bytes[..bytes.len() - 1]), 1);
        assert_eq!(found(&[0; 64]), 0);
    }

    #[test]
    fn attributes_know_their_padding_and_hide_the_mark_of_nested_ones() {
        let mut bytes = attribute(1, b"tbf\0");
        bytes.extend(attribute(7 | NESTED, b"12345"));
        bytes.extend(attribute(3, b"x"));
        let found: Vec<_> = attributes(&bytes).collect();
        assert_eq!(found, [(1, &b"tbf\0"[..]), (7, b"12345"), (3, b"x")]);
        assert_eq!(attributes(&[3, 0, 1, 0]).count(), 0);
    }

    #[test]
    fn the_end_of_a_list_says_whether_it_was_refused() {
        assert!(refusal(&0_i32.to_ne_bytes()).is_none());
        let refused = refusal(&(-2_i32).to_ne_bytes()).unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::NotFound);
    }
}
