//! The few things the store asks of a filesystem, so that tests can make each of them fail.

use std::fmt::Debug;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Mode, OFlags, fsync, mkdirat, openat, renameat, unlinkat};
use rustix::io::{Errno, Result};

/// Files below one folder; paths are relative to it.
pub(crate) trait Files: Debug + Send + Sync {
    /// A new file that was not there before.
    fn create(&self, path: &str) -> Result<OwnedFd>;
    /// All bytes, at the end.
    fn write(&self, file: &OwnedFd, bytes: &[u8]) -> Result<()>;
    /// Bytes from this offset on; 0 at the end.
    fn read(&self, file: &OwnedFd, into: &mut [u8], offset: u64) -> Result<usize>;
    /// The file's bytes and length survive a power cut.
    fn sync(&self, file: &OwnedFd) -> Result<()>;
    /// The folder's names survive a power cut.
    fn sync_folder(&self, path: &str) -> Result<()>;
    /// Moves a file to where it was not before, in one step.
    fn rename(&self, from: &str, to: &str) -> Result<()>;
    /// Removes a file.
    fn remove(&self, path: &str) -> Result<()>;
    /// A folder, which may be there already.
    fn make_folder(&self, path: &str) -> Result<()>;
}

/// The real ones.
#[derive(Debug)]
pub(crate) struct Disk {
    pub root: OwnedFd,
}

impl Files for Disk {
    fn create(&self, path: &str) -> Result<OwnedFd> {
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        openat(&self.root, path, flags, Mode::RUSR | Mode::WUSR)
    }

    fn write(&self, file: &OwnedFd, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            match rustix::io::write(file, bytes) {
                Ok(0) => return Err(Errno::NOSPC),
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    fn read(&self, file: &OwnedFd, into: &mut [u8], offset: u64) -> Result<usize> {
        loop {
            match rustix::io::pread(file, &mut *into, offset) {
                Err(Errno::INTR) => {}
                done => return done,
            }
        }
    }

    fn sync(&self, file: &OwnedFd) -> Result<()> {
        fsync(file)
    }

    fn sync_folder(&self, path: &str) -> Result<()> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        fsync(openat(&self.root, path, flags, Mode::empty())?)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        renameat(&self.root, from, &self.root, to)
    }

    fn remove(&self, path: &str) -> Result<()> {
        unlinkat(&self.root, path, AtFlags::empty())
    }

    fn make_folder(&self, path: &str) -> Result<()> {
        match mkdirat(&self.root, path, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(errno) => Err(errno),
        }
    }
}
