//! Connections that wait until a program accepts them.

use std::io;
use std::path::Path;

use rustix::net::netlink::SOCK_DIAG;

use crate::kernel_files::parse::Row;
use crate::kernel_files::source::Missing;
use crate::netlink::{Netlink, u32_at};
use crate::readers::{Reader, owned};

const COLUMN: &str = "tcp.accept_queue";

/// `SOCK_DIAG_BY_FAMILY` and what it asks; see `sock_diag(7)`.
const BY_FAMILY: u16 = 20;
const QUESTION: usize = 56;
const FAMILIES: [u8; 2] = [2, 10];
const TCP: u8 = 6;
/// A bit for each state that is asked for; there are few listeners, and many connections.
const LISTENING: u32 = 1 << 10;
/// Of a listener, the connections that wait.
const WAITING: usize = 56;

struct Listeners {
    columns: Vec<String>,
    netlink: Netlink,
}

/// All listeners of the network namespace; the kernel is asked, so only of the true root.
pub(crate) fn open(root: &Path, missing: &mut Missing) -> Option<Box<dyn Reader>> {
    if root != Path::new("/") {
        return None;
    }
    let opened = Netlink::open(Some(SOCK_DIAG)).and_then(|mut netlink| {
        waiting(&mut netlink)?;
        Ok(netlink)
    });
    let found = opened.inspect_err(|error| {
        missing.insert(COLUMN.to_owned(), format!("netlink: {error}"));
    });
    found.ok().map(|netlink| {
        Box::new(Listeners {
            columns: owned(&[COLUMN]),
            netlink,
        }) as Box<dyn Reader>
    })
}

impl Reader for Listeners {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&mut self, row: &mut Row) {
        row[0] = waiting(&mut self.netlink).ok();
    }
}

/// Of both families; a kernel without IPv6 has no listener there.
fn waiting(netlink: &mut Netlink) -> io::Result<u64> {
    let mut found = 0;
    for family in FAMILIES {
        let asked = netlink.list(BY_FAMILY, &question(family), |content| {
            found += u64::from(u32_at(content, WAITING).unwrap_or(0));
        });
        if family == FAMILIES[0] {
            asked?;
        }
    }
    Ok(found)
}

/// `struct inet_diag_req_v2`
fn question(family: u8) -> [u8; QUESTION] {
    let mut question = [0; QUESTION];
    question[..2].copy_from_slice(&[family, TCP]);
    question[4..8].copy_from_slice(&LISTENING.to_ne_bytes());
    question
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn connections_are_counted_until_a_program_accepts_them() {
        let Some(mut reader) = open(Path::new("/"), &mut Missing::new()) else {
            return; // a kernel that does not list sockets
        };
        let mut row = [None; 1];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let waiting: Vec<_> = (0..3).map(|_| TcpStream::connect(address)).collect();
        reader.read(&mut row);
        assert!(row[0] >= Some(waiting.len() as u64), "{row:?}");
    }
}
