//! Folders and the page cache.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::Duration;

use steelyard_wire::agent::{Answer, Failure, FailureKind};

use super::conversation::Done;
use crate::failure::{bad_request, failure, refused, refused_path};

/// Nothing below these belongs to a study; `/dev/shm` alone does.
const KEPT: [&str; 10] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr",
];
const SHARED_MEMORY: &str = "/dev/shm";
const LEAST_DEPTH: usize = 2;
const TRIES: u32 = 50;
const PATIENCE: Duration = Duration::from_millis(20);

/// Creates a folder and its parents.
pub(super) fn make_directory(path: &str) -> Done {
    let path = absolute(path)?;
    fs::create_dir_all(&path).map_err(|error| refused_path("create", &path, &error))?;
    Ok(Answer::Done)
}

/// Removes a folder and all below. Links inside are removed, never followed.
pub(super) fn remove_tree(path: &str) -> Done {
    let Some(path) = removable(&absolute(path)?)? else {
        return Ok(Answer::Done);
    };
    match remove_patiently(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(refused_path("remove", &path, &error))
        }
        _ => Ok(Answer::Done),
    }
}

/// A process that was just killed may still be creating files: its folder is then not empty for a
/// moment.
fn remove_patiently(path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        return fs::remove_file(path);
    }
    for _ in 0..TRIES {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => thread::sleep(PATIENCE),
            done => return done,
        }
    }
    fs::remove_dir_all(path)
}

/// Writes all that waits for the disk of `path`, so that it does not disturb what comes next.
pub(super) fn sync_filesystem(path: &str) -> Done {
    let path = absolute(path)?;
    fs::File::open(&path)
        .and_then(|file| Ok(rustix::fs::syncfs(&file)?))
        .map_err(|error| refused_path("sync the filesystem of", &path, &error))?;
    Ok(Answer::Done)
}

/// Writes dirty pages, then drops pages, directory entries and inodes.
pub(super) fn drop_caches() -> Done {
    rustix::fs::sync();
    match fs::write("/proc/sys/vm/drop_caches", "3\n") {
        Ok(()) => Ok(Answer::Done),
        Err(error) if is_denied(&error) => Err(failure(
            FailureKind::PermissionDenied,
            format!("cannot drop the page cache: {error}"),
            "only root may; run the agent as root, or leave caches out of the study",
        )),
        Err(error) => Err(refused("drop the page cache", &error)),
    }
}

fn is_denied(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    )
}

/// A path that means the same wherever the agent works.
pub(super) fn absolute(path: &str) -> Result<PathBuf, Failure> {
    let path = Path::new(path);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    if path.is_absolute() && !climbs {
        return Ok(path.to_owned());
    }
    Err(bad_request(
        format!("{} is no absolute path without ..", path.display()),
        "write it from / on",
    ))
}

/// The path with its parents resolved; `None` if it is not there.
fn removable(path: &Path) -> Result<Option<PathBuf>, Failure> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(kept(path));
    };
    let parent = match parent.canonicalize() {
        Ok(parent) => parent,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused_path("look at", parent, &error)),
    };
    let path = parent.join(name);
    if is_kept(&path) {
        return Err(kept(&path));
    }
    match fs::symlink_metadata(&path) {
        Ok(data) if data.is_symlink() => Err(bad_request(
            format!("{} is a symbolic link", path.display()),
            "name the folder itself",
        )),
        Ok(_) => Ok(Some(path)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(refused_path("look at", &path, &error)),
    }
}

fn is_kept(path: &Path) -> bool {
    let depth = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .count();
    let of_the_system = KEPT.iter().any(|kept| path.starts_with(kept));
    depth < LEAST_DEPTH || (of_the_system && !path.starts_with(SHARED_MEMORY))
}

fn kept(path: &Path) -> Failure {
    bad_request(
        format!(
            "{} is not removed: it is no folder of a study",
            path.display()
        ),
        "choose one at least two levels deep and outside of the system's own",
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn text(path: &Path) -> &str {
        path.to_str().unwrap()
    }

    #[test]
    fn a_tree_is_removed_and_what_its_links_point_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, other) = (folder.path().join("tree"), folder.path().join("other"));
        make_directory(text(&tree.join("a/b"))).unwrap();
        make_directory(text(&other)).unwrap();
        fs::write(other.join("precious"), "x").unwrap();
        symlink(&other, tree.join("a/link")).unwrap();
        assert_eq!(remove_tree(text(&tree)), Ok(Answer::Done));
        assert!(!tree.exists());
        assert!(other.join("precious").exists());
    }

    #[test]
    fn a_tree_that_is_not_there_is_no_failure() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(
            remove_tree(text(&folder.path().join("a/b"))),
            Ok(Answer::Done)
        );
    }

    #[test]
    fn a_link_is_refused_even_if_it_leads_to_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink(folder.path(), &link).unwrap();
        let refused = remove_tree(text(&link)).unwrap_err();
        assert_eq!(refused.kind, FailureKind::BadRequest);
        assert!(link.is_symlink());
    }

    #[test]
    fn folders_of_the_system_are_refused_under_any_name() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        symlink("/", &link).unwrap();
        let through_link = link.join("usr/nothing");
        for path in [
            "/",
            "/nothing",
            "/usr/nothing",
            "/etc/nothing",
            "relative",
            "/tmp/../etc/x",
        ] {
            assert!(remove_tree(path).is_err(), "{path}");
        }
        assert!(remove_tree(text(&through_link)).is_err());
        assert!(!is_kept(Path::new("/dev/shm/study")));
    }
}
