//! The part that asks the disk: a block written in place, and waited for until it is safe.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::Round;
use crate::KernelError;

const BLOCK_BYTES: usize = 64 << 10;

/// One block of a file without a name, so that nothing is left whatever happens.
pub(super) struct Blocks {
    file: File,
    block: Vec<u8>,
}

impl Blocks {
    pub(super) fn in_folder(folder: &Path) -> Result<Self, KernelError> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let opened = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR);
        Ok(Self {
            file: File::from(opened.map_err(|errno| refused(folder, errno))?),
            block: vec![0x5A; BLOCK_BYTES],
        })
    }

    fn written(&self) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.file, &self.block, 0)?;
        self.file.sync_data()
    }
}

impl Round for Blocks {
    fn once(&mut self) -> Result<u64, KernelError> {
        self.written()
            .map_err(|error| KernelError::disk(error.to_string()))?;
        Ok(1)
    }
}

fn refused(folder: &Path, errno: Errno) -> KernelError {
    let reason = match errno {
        Errno::OPNOTSUPP | Errno::ISDIR => "its filesystem has no files without a name".to_owned(),
        other => io::Error::from(other).to_string(),
    };
    KernelError::disk(format!("{}: {reason}", folder.display()))
}
