//! Small files, read and written whole: settings, pseudo-files of the kernel, configurations.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use steelyard_wire::agent::{Answer, Failure, FailureKind};
use steelyard_wire::file::{FileContent, FileJob};

use super::conversation::Done;
use super::files::absolute;
use crate::failure::{bad_request, failure, hint_for, refused_path};

const MOST_BYTES: u64 = 1 << 20;
/// Opening must never wait: a pipe without a writer, `/proc/kmsg`.
const AT_ONCE: i32 = libc::O_NONBLOCK | libc::O_CLOEXEC;

/// Reads a file, at most `most_bytes`.
pub(super) fn read_file(path: &str, most_bytes: Option<u64>) -> Done {
    let path = absolute(path)?;
    let read = read_whole(&path, most_bytes.unwrap_or(MOST_BYTES));
    let (bytes, whole, size_bytes) = read.map_err(|error| refused_path("read", &path, &error))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(Answer::File(FileContent {
        exact: whole && matches!(text, std::borrow::Cow::Borrowed(_)),
        content: text.into_owned(),
        size_bytes,
    }))
}

/// The size cannot be trusted: it is 0 below `/proc`. Reads until the kernel says end.
fn read_whole(path: &Path, most: u64) -> io::Result<(Vec<u8>, bool, u64)> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(AT_ONCE)
        .open(path)?;
    let data = file.metadata()?;
    refuse_other_kinds(&data)?;
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    let whole = bytes.len() as u64 <= most;
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok((bytes, whole, data.len()))
}

fn refuse_other_kinds(data: &Metadata) -> io::Result<()> {
    if data.is_file() {
        return Ok(());
    }
    let what = if data.is_dir() { "a folder" } else { "no file" };
    Err(io::Error::new(
        ErrorKind::InvalidInput,
        format!("it is {what}"),
    ))
}

/// Writes a file whole.
pub(super) fn write_file(job: &FileJob) -> Done {
    let path = absolute(&job.path)?;
    let path = existing(&path, job)?;
    let written = match fs::metadata(&path) {
        Ok(data) => refuse_other_kinds(&data).and_then(|()| replace(&path, job)),
        Err(error) if error.kind() == ErrorKind::NotFound && job.create => create(&path, job),
        Err(error) => Err(error),
    };
    match written {
        Ok(()) => Ok(Answer::Done),
        Err(error) if error.kind() == ErrorKind::WriteZero => Err(failure(
            FailureKind::System,
            format!("cannot write {}: {error}", path.display()),
            hint_for(FailureKind::System),
        )),
        Err(error) => Err(refused_path("write", &path, &error)),
    }
}

/// The file itself, links followed: one that is replaced must stay where it is.
fn existing(path: &Path, job: &FileJob) -> Result<PathBuf, Failure> {
    match path.canonicalize() {
        Ok(path) => Ok(path),
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(refused_path("write", path, &error))
        }
        Err(_) if path.is_symlink() => Err(bad_request(
            format!("{} is a link that leads nowhere", path.display()),
            "name the file itself",
        )),
        Err(error) if !job.create => Err(refused_path("write", path, &error)),
        Err(_) => Ok(path.to_owned()),
    }
}

fn replace(path: &Path, job: &FileJob) -> io::Result<()> {
    if is_pseudo(path)? {
        return write_at_once(path, job);
    }
    if job.durable {
        return write_beside(path, job, Some(&fs::metadata(path)?));
    }
    let file = OpenOptions::new().write(true).truncate(true).open(path)?;
    fill(&file, job)
}

fn create(path: &Path, job: &FileJob) -> io::Result<()> {
    if job.durable {
        return write_beside(path, job, None);
    }
    let file = OpenOptions::new().write(true).create_new(true).open(path)?;
    fill(&file, job)
}

fn fill(mut file: &File, job: &FileJob) -> io::Result<()> {
    set_mode(file, job)?;
    file.write_all(job.content.as_bytes())
}

fn set_mode(file: &File, job: &FileJob) -> io::Result<()> {
    match job.mode {
        Some(mode) => file.set_permissions(Permissions::from_mode(mode & 0o7777)),
        None => Ok(()),
    }
}

/// Files that stand for values of the kernel lie on filesystems without any space.
fn is_pseudo(path: &Path) -> io::Result<bool> {
    Ok(rustix::fs::statvfs(path)?.f_blocks == 0)
}

/// Each write(2) is a value of its own for the kernel: a second one would be another.
fn write_at_once(path: &Path, job: &FileJob) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .truncate(true)
        .custom_flags(AT_ONCE)
        .open(path)?;
    set_mode(&file, job)?;
    let (taken, all) = (file.write(job.content.as_bytes())?, job.content.len());
    if taken == all {
        return Ok(());
    }
    let message = format!("the kernel took {taken} of {all} bytes");
    Err(io::Error::new(ErrorKind::WriteZero, message))
}

/// Whole or not at all, even if the machine loses power: a new file takes the place of the old.
fn write_beside(path: &Path, job: &FileJob, old: Option<&Metadata>) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(ErrorKind::InvalidInput.into());
    };
    let beside = folder.join(name_beside(&name.to_string_lossy()));
    let written = write_synced(&beside, job, old).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.and_then(|()| File::open(folder)?.sync_all())
}

/// Of its own for every writing: two may be under way at once.
fn name_beside(name: &str) -> String {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed);
    format!(".{name}.{}-{number}.new", std::process::id())
}

fn write_synced(path: &Path, job: &FileJob, old: Option<&Metadata>) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create_new(true).open(path)?;
    if let Some(old) = old {
        fchown(&file, Some(old.uid()), Some(old.gid()))?;
        file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
    }
    fill(&file, job)?;
    file.sync_all()
}

#[cfg(test)]
#[path = "contents_tests.rs"]
mod tests;
