//! A kernel file that is kept open and read again from its start.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What could not be sampled, and why.
pub(crate) type Missing = BTreeMap<String, String>;

const FIRST_CAPACITY: usize = 4096;

/// An open file with a buffer that keeps its size between reads.
pub(crate) struct Source {
    file: File,
    buffer: Vec<u8>,
}

impl Source {
    /// Opens the file and reads it once: some files (pressure) open well and fail on reading.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let mut source = Self::with_capacity(File::open(path)?, FIRST_CAPACITY);
        source.read()?;
        Ok(source)
    }

    /// For a file whose content is known to be small; not read yet.
    pub(crate) fn with_capacity(file: File, capacity: usize) -> Self {
        Self {
            file,
            buffer: vec![0; capacity],
        }
    }

    /// As [`Self::open`]; a failure becomes the reason why `key` is missing.
    pub(crate) fn open_or_note(path: &Path, key: &str, missing: &mut Missing) -> Option<Self> {
        Self::open(path)
            .inspect_err(|error| note(missing, key, path, error))
            .ok()
    }

    /// The whole content now. Reads until the kernel says end: a short read alone does not.
    pub(crate) fn read(&mut self) -> io::Result<&[u8]> {
        let mut filled = 0;
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(filled * 2, 0);
            }
            match self
                .file
                .read_at(&mut self.buffer[filled..], filled as u64)?
            {
                0 => return Ok(&self.buffer[..filled]),
                count => filled += count,
            }
        }
    }
}

/// Writes down why `key` is missing.
pub(crate) fn note(missing: &mut Missing, key: &str, path: &Path, error: &io::Error) {
    missing.insert(key.to_owned(), format!("{}: {error}", path.display()));
}

/// A file below the root that stands for `/`.
pub(crate) fn below(root: &Path, absolute: &str) -> PathBuf {
    root.join(absolute.trim_start_matches('/'))
}

/// A small text file without its line end; `None` when it is not there or empty.
pub(crate) fn text(path: &Path) -> Option<String> {
    let content = std::fs::read(path).ok()?;
    let content = String::from_utf8_lossy(&content);
    let content = content.trim().trim_end_matches('\0');
    (!content.is_empty()).then(|| content.to_owned())
}

/// Names in a folder, sorted; empty when it is not there.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(path) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_sees_what_was_written_after_it_was_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stat");
        std::fs::write(&path, "one").unwrap();
        let mut source = Source::open(&path).unwrap();
        std::fs::write(&path, "second").unwrap();
        assert_eq!(source.read().unwrap(), b"second");
    }

    #[test]
    fn a_file_larger_than_the_buffer_is_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stat");
        let content = vec![b'x'; FIRST_CAPACITY * 3 + 1];
        std::fs::write(&path, &content).unwrap();
        assert_eq!(Source::open(&path).unwrap().read().unwrap(), content);
    }

    #[test]
    fn a_file_that_is_not_there_is_missing_with_its_path() {
        let mut missing = Missing::new();
        let path = Path::new("/nowhere/pressure/cpu");
        assert!(Source::open_or_note(path, "psi.cpu", &mut missing).is_none());
        assert!(missing["psi.cpu"].contains("/nowhere/pressure/cpu"));
    }
}
