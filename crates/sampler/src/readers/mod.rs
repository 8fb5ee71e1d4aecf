//! What every reader of kernel counters is: column names, and one row at a time.

pub(crate) mod battery;
pub(crate) mod cgroup;
pub(crate) mod disk;
pub(crate) mod family;
pub(crate) mod listeners;
pub(crate) mod machine;
pub(crate) mod network;
pub(crate) mod process;
pub(crate) mod queues;
pub(crate) mod sensor;
pub(crate) mod tasks;
pub(crate) mod threads;
pub(crate) mod waits;

use std::path::Path;

use crate::kernel_files::parse::Row;
use crate::kernel_files::source::{Missing, Source};

/// Reads some columns.
pub(crate) trait Reader: Send {
    /// Names, in the order of the cells.
    fn columns(&self) -> &[String];

    /// Fills a row of `columns().len()` cells, all `None` before; leaves `None` what is not there.
    fn read(&mut self, row: &mut Row);
}

type Parse = Box<dyn FnMut(&[u8], &mut Row) + Send>;

/// A reader of one file with a pure parser.
pub(crate) struct FileReader {
    source: Option<Source>,
    columns: Vec<String>,
    parse: Parse,
}

impl FileReader {
    /// Opens `path`; if that fails, `key` is missing and every cell stays `None`.
    pub(crate) fn open(
        path: &Path,
        key: &str,
        columns: Vec<String>,
        parse: impl FnMut(&[u8], &mut Row) + Send + 'static,
        missing: &mut Missing,
    ) -> Box<dyn Reader> {
        Box::new(Self {
            source: Source::open_or_note(path, key, missing),
            columns,
            parse: Box::new(parse),
        })
    }
}

impl Reader for FileReader {
    fn columns(&self) -> &[String] {
        &self.columns
    }

    fn read(&mut self, row: &mut Row) {
        if let Some(Ok(bytes)) = self.source.as_mut().map(Source::read) {
            (self.parse)(bytes, row);
        }
    }
}

/// Column names with a common prefix.
pub(crate) fn prefixed(prefix: &str, names: &[&str]) -> Vec<String> {
    names
        .iter()
        .map(|name| format!("{prefix}.{name}"))
        .collect()
}

/// Column names as they stand.
pub(crate) fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
