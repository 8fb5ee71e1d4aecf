//! The listening socket: a port, or a path that is removed at the end.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, lstat, unlink};
use rustix::io::{Errno, Result};
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};
use steelyard_net::socket::{listen_on, local_address};

use crate::options::Listen;

/// A bound socket and what must be removed when it is closed for good.
#[derive(Debug)]
pub(crate) struct Listener {
    pub fd: OwnedFd,
    /// As bound: with the port the system chose.
    pub address: Listen,
    pub path: Option<SocketFile>,
}

/// Removes the file when dropped.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody may have removed it already: then nothing is left to do.
        let _ = unlink(&self.0);
    }
}

/// Listens; the backlog is what the kernel makes of it.
pub(crate) fn open(at: &Listen, backlog: u32) -> Result<Listener> {
    let backlog = i32::try_from(backlog).unwrap_or(i32::MAX);
    match at {
        Listen::Tcp(address) => {
            let fd = listen_on(*address, backlog, false)?;
            let address = local_address(&fd)?.into();
            Ok(Listener {
                fd,
                address,
                path: None,
            })
        }
        Listen::Unix(path) => {
            let fd = bind_path(path)?;
            let file = SocketFile(path.clone());
            listen(&fd, backlog)?;
            Ok(Listener {
                fd,
                address: at.clone(),
                path: Some(file),
            })
        }
    }
}

fn bind_path(path: &Path) -> Result<OwnedFd> {
    let fd = unix_socket()?;
    let address = SocketAddrUnix::new(path)?;
    match bind(&fd, &address) {
        Err(Errno::ADDRINUSE) if is_left_over(path, &address)? => {
            unlink(path)?;
            bind(&fd, &address)?;
        }
        outcome => outcome?,
    }
    Ok(fd)
}

/// A socket file that no one listens on: what a killed process leaves.
fn is_left_over(path: &Path, address: &SocketAddrUnix) -> Result<bool> {
    if FileType::from_raw_mode(lstat(path)?.st_mode) != FileType::Socket {
        return Ok(false);
    }
    Ok(connect(unix_socket()?, address) == Err(Errno::CONNREFUSED))
}

fn unix_socket() -> Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_left_over_socket_is_replaced_and_a_used_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sink");
        let at = Listen::Unix(path.clone());
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let listener = open(&at, 8).unwrap();
        UnixStream::connect(&path).unwrap();
        assert_eq!(open(&at, 8).unwrap_err(), Errno::ADDRINUSE);
        drop(listener);
        assert!(!path.exists());
    }

    #[test]
    fn a_file_that_is_no_socket_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes");
        std::fs::write(&path, "mine").unwrap();
        let refused = open(&Listen::Unix(path.clone()), 8).unwrap_err();
        assert_eq!(refused, Errno::ADDRINUSE);
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
    }
}
