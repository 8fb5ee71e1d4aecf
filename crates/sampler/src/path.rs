//! What a path is, and where it lies.

use std::fs::{FileType, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use steelyard_wire::facts::{PathFacts, PathKind};

use crate::kernel_files::place::{locate, name};

/// Facts of a path for the controller.
pub fn path_facts(root: &Path, path: &Path) -> io::Result<PathFacts> {
    let place = locate(root, path)?;
    let space = rustix::fs::statvfs(&place.existing)?;
    let own = own_data(path)?;
    Ok(PathFacts {
        device: place.device.ok().and_then(|number| name(root, number)),
        filesystem: place.mount.as_ref().map(|mount| mount.filesystem.clone()),
        options: place.mount.map(|mount| mount.options),
        free_bytes: Some(space.f_bavail * space.f_frsize),
        exists: own.is_some(),
        path_kind: own.as_ref().map(|data| kind(data.file_type())),
        size_bytes: own.as_ref().map(Metadata::len),
        mode: own.map(|data| data.mode() & 0o7777),
    })
}

/// Of the path itself, links not followed; `None` if it is not there.
fn own_data(path: &Path) -> io::Result<Option<Metadata>> {
    match std::fs::symlink_metadata(path) {
        Ok(data) => Ok(Some(data)),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(None),
            _ => Err(error),
        },
    }
}

fn kind(file_type: FileType) -> PathKind {
    if file_type.is_file() {
        PathKind::File
    } else if file_type.is_dir() {
        PathKind::Folder
    } else if file_type.is_symlink() {
        PathKind::Link
    } else if file_type.is_block_device() || file_type.is_char_device() {
        PathKind::Device
    } else {
        PathKind::Other
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn facts(path: &Path) -> PathFacts {
        path_facts(Path::new("/"), path).unwrap()
    }

    #[test]
    fn a_path_that_is_not_there_has_the_facts_of_its_parent_and_none_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let facts = facts(&folder.path().join("a/b/c"));
        assert!(facts.filesystem.is_some() && facts.free_bytes.is_some());
        assert!(!facts.exists);
        assert_eq!(
            (facts.path_kind, facts.size_bytes, facts.mode),
            (None, None, None)
        );
    }

    #[test]
    fn a_file_has_kind_size_and_mode() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "twelve bytes").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
        let facts = facts(&file);
        assert!(facts.exists);
        assert_eq!(facts.path_kind, Some(PathKind::File));
        assert_eq!((facts.size_bytes, facts.mode), (Some(12), Some(0o640)));
    }

    #[test]
    fn folders_devices_links_and_sockets_are_distinguished() {
        let folder = tempfile::tempdir().unwrap();
        let (link, socket) = (folder.path().join("link"), folder.path().join("socket"));
        symlink("/dev/null", &link).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let kind = |path: &Path| facts(path).path_kind;
        assert_eq!(kind(folder.path()), Some(PathKind::Folder));
        assert_eq!(kind(Path::new("/dev/null")), Some(PathKind::Device));
        assert_eq!(kind(&link), Some(PathKind::Link));
        assert_eq!(kind(&socket), Some(PathKind::Other));
        assert_eq!(kind(Path::new("/proc/version")), Some(PathKind::File));
    }
}
