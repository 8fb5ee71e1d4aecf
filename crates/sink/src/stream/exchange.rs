//! Requests of a size and their responses of another, on a connection of their own.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering::Relaxed;

use steelyard_flow::exchange::{HEAD_BYTES, Head};

use super::Hall;

/// Read and written at once.
const ROOM: usize = 64 * 1024;

impl Hall {
    /// Answers requests until the peer leaves.
    pub(super) fn exchange(&self, stream: &TcpStream) -> io::Result<()> {
        let mut input = io::BufReader::with_capacity(ROOM, stream);
        let mut output = vec![0; ROOM];
        loop {
            let mut head = [0; HEAD_BYTES];
            input.read_exact(&mut head)?;
            let request = Head::decode(&head).ok_or(ErrorKind::InvalidData)?;
            let rest = u64::from(request.request_bytes) - HEAD_BYTES as u64;
            if io::copy(&mut input.by_ref().take(rest), &mut io::sink())? < rest {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            answer(stream, &head, request.response_bytes as usize, &mut output)?;
            let seen = &self.seen;
            seen.exchanges.fetch_add(1, Relaxed);
            seen.bytes_in
                .fetch_add(u64::from(request.request_bytes), Relaxed);
            seen.bytes_out
                .fetch_add(u64::from(request.response_bytes), Relaxed);
        }
    }
}

/// `length` bytes that begin with `head`, as far as there is room.
fn answer(
    mut stream: &TcpStream,
    head: &[u8; HEAD_BYTES],
    length: usize,
    output: &mut [u8],
) -> io::Result<()> {
    let of_head = length.min(HEAD_BYTES);
    output[..of_head].copy_from_slice(&head[..of_head]);
    let mut left = length;
    while left > 0 {
        let count = left.min(output.len());
        stream.write_all(&output[..count])?;
        left -= count;
        output[..HEAD_BYTES].fill(0);
    }
    Ok(())
}
