//! Files of the FTP sink: made up by name, or kept in memory as they were uploaded.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::protocols::What;
use crate::protocols::http::content::number;

/// The folder whose files are made up: `/bytes/1234` has 1234 bytes.
const MADE_UP: &str = "/bytes/";

/// How a list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `LIST`: as `ls -l` does.
    Long,
    /// `NLST`: names.
    Names,
    /// `MLSD`: facts (RFC 3659, 7).
    Facts,
}

/// What was uploaded, for all event loops together.
#[derive(Debug)]
pub(crate) struct Files {
    keep_bytes: u64,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    files: BTreeMap<String, Arc<[u8]>>,
    /// Oldest first.
    order: VecDeque<String>,
    bytes: u64,
}

impl Files {
    pub fn new(keep_bytes: u64) -> Self {
        Self {
            keep_bytes,
            kept: Mutex::default(),
        }
    }

    /// Most bytes of an upload that are worth keeping.
    pub fn most_bytes(&self) -> usize {
        usize::try_from(self.keep_bytes).unwrap_or(usize::MAX)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // A panic elsewhere leaves at worst a file that is counted and not there.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The content of a file; `None` if there is none of this name.
    pub fn read(&self, path: &str) -> Option<What> {
        if let Some(bytes) = self.kept().files.get(path) {
            return Some(What::Send(Arc::clone(bytes)));
        }
        made_up(path).map(What::SendFiller)
    }

    pub fn size(&self, path: &str) -> Option<u64> {
        let kept = self.kept().files.get(path).map(|bytes| bytes.len() as u64);
        kept.or_else(|| made_up(path))
    }

    /// Keeps a file; older ones give way.
    pub fn keep(&self, path: String, bytes: Vec<u8>) {
        let mut kept = self.kept();
        kept.remove(&path);
        kept.bytes += bytes.len() as u64;
        kept.order.push_back(path.clone());
        kept.files.insert(path, bytes.into());
        while kept.bytes > self.keep_bytes {
            let Some(oldest) = kept.order.front().cloned() else {
                return;
            };
            kept.remove(&oldest);
        }
    }

    pub fn delete(&self, path: &str) -> bool {
        self.kept().remove(path)
    }

    /// The files that were uploaded to a folder.
    pub fn list(&self, folder: &str, form: Form) -> Vec<u8> {
        let start = if folder == "/" {
            "/".to_owned()
        } else {
            format!("{folder}/")
        };
        let kept = self.kept();
        let inside = kept.files.range(start.clone()..);
        let mut text = String::new();
        for (path, bytes) in inside.take_while(|(path, _)| path.starts_with(&start)) {
            let name = &path[start.len()..];
            if !name.contains('/') {
                line(&mut text, name, bytes.len(), form);
            }
        }
        text.into_bytes()
    }
}

impl Kept {
    fn remove(&mut self, path: &str) -> bool {
        let Some(bytes) = self.files.remove(path) else {
            return false;
        };
        self.bytes -= bytes.len() as u64;
        self.order.retain(|other| other != path);
        true
    }
}

fn line(text: &mut String, name: &str, bytes: usize, form: Form) {
    // Writing to a String cannot fail.
    let _ = match form {
        Form::Long => write!(
            text,
            "-rw-r--r--   1 ftp      ftp      {bytes:>12} Jan 01 00:00 {name}\r\n"
        ),
        Form::Names => write!(text, "{name}\r\n"),
        Form::Facts => write!(
            text,
            "type=file;size={bytes};modify=20260101000000; {name}\r\n"
        ),
    };
}

fn made_up(path: &str) -> Option<u64> {
    number(path.strip_prefix(MADE_UP)?.as_bytes())
}

/// A name as a path from the root, without `.` and `..`.
pub(crate) fn absolute(folder: &str, name: &str) -> String {
    let whole = if name.starts_with('/') {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in whole.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_paths_that_never_leave_the_root() {
        for (folder, name, path) in [
            ("/", "", "/"),
            ("/", "a", "/a"),
            ("/a", "b/./c", "/a/b/c"),
            ("/a/b", "..", "/a"),
            ("/a", "../../../x", "/x"),
            ("/a", "/x//y/", "/x/y"),
        ] {
            assert_eq!(absolute(folder, name), path, "{folder} {name}");
        }
    }

    #[test]
    fn older_files_give_way_to_newer_ones() {
        let files = Files::new(10);
        files.keep("/a".to_owned(), vec![1; 6]);
        files.keep("/b".to_owned(), vec![2; 4]);
        files.keep("/a".to_owned(), vec![3; 5]);
        assert_eq!((files.size("/a"), files.size("/b")), (Some(5), Some(4)));
        files.keep("/c".to_owned(), vec![4; 2]);
        assert_eq!((files.size("/a"), files.size("/b")), (Some(5), None));
        assert!(files.delete("/a") && !files.delete("/a"));
        assert_eq!(files.kept().bytes, 2);
    }

    #[test]
    fn a_list_has_the_files_of_its_folder_only() {
        let files = Files::new(100);
        for path in ["/in/a", "/in/b", "/in/x/c", "/inner", "/d"] {
            files.keep(path.to_owned(), vec![0; 3]);
        }
        assert_eq!(files.list("/in", Form::Names), b"a\r\nb\r\n");
        assert_eq!(files.list("/", Form::Names), b"d\r\ninner\r\n");
        assert!(files.list("/nowhere", Form::Long).is_empty());
        let facts = String::from_utf8(files.list("/in/x", Form::Facts)).unwrap();
        assert_eq!(facts, "type=file;size=3;modify=20260101000000; c\r\n");
    }

    #[test]
    fn a_made_up_file_has_the_size_of_its_name() {
        let files = Files::new(0);
        assert_eq!(files.size("/bytes/12345678901"), Some(12_345_678_901));
        assert_eq!(files.size("/bytes/x"), None);
    }
}
