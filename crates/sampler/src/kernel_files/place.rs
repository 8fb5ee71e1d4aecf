//! Which block device a path lies on.
//!
//! A filesystem on one block device shows its number as `st_dev`. btrfs shows an anonymous number
//! and names a device as the mount's source; overlay names only the folders it is made of; tmpfs
//! and network filesystems have no device at all.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::kernel_files::parse::{fields, lines};
use crate::kernel_files::source::{below, text};

/// Major and minor number.
pub(crate) type DeviceNumber = (u32, u32);

/// Where a path lies. `device` is `Err` with the reason when there is no block device.
pub(crate) struct Place {
    pub(crate) device: Result<DeviceNumber, String>,
    pub(crate) mount: Option<Mount>,
    /// The path itself or its nearest parent that exists.
    pub(crate) existing: PathBuf,
}

/// One line of `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    point: PathBuf,
    pub(crate) filesystem: String,
    source: String,
    /// Options of the mount and of the filesystem, joined.
    pub(crate) options: String,
}

/// Finds the device of `path`, or of its nearest existing parent.
pub(crate) fn locate(root: &Path, path: &Path) -> std::io::Result<Place> {
    let existing = nearest_existing(path)?;
    let mountinfo = std::fs::read(below(root, "/proc/self/mountinfo")).unwrap_or_default();
    let mounts: Vec<Mount> = lines(&mountinfo).filter_map(mount).collect();
    let mount = mount_of(&mounts, &existing).cloned();
    let number = std::fs::metadata(&existing)?.dev();
    let device = match split(number) {
        (0, _) => device_behind(&mounts, mount.as_ref()),
        number => Ok(number),
    };
    Ok(Place {
        device,
        mount,
        existing,
    })
}

/// Name in `/proc/diskstats`.
pub(crate) fn name(root: &Path, (major, minor): DeviceNumber) -> Option<String> {
    let content = std::fs::read(below(root, "/proc/diskstats")).ok()?;
    lines(&content).find_map(|line| {
        let mut parts = fields(line).map(|field| std::str::from_utf8(field).unwrap_or_default());
        let number = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        let name = parts.next()?;
        (number == (major, minor)).then(|| name.to_owned())
    })
}

/// The disk a partition is part of; the device itself if it is none.
pub(crate) fn whole_disk(root: &Path, (major, minor): DeviceNumber) -> DeviceNumber {
    let folder = below(root, &format!("/sys/dev/block/{major}:{minor}"));
    if !folder.join("partition").exists() {
        return (major, minor);
    }
    let parent = folder
        .canonicalize()
        .ok()
        .and_then(|folder| text(&folder.parent()?.join("dev")))
        .and_then(|number| {
            let (major, minor) = number.split_once(':')?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        });
    parent.unwrap_or((major, minor))
}

fn nearest_existing(path: &Path) -> std::io::Result<PathBuf> {
    path.ancestors()
        .find_map(|path| path.canonicalize().ok())
        .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))
}

fn split(number: u64) -> DeviceNumber {
    (rustix::fs::major(number), rustix::fs::minor(number))
}

/// The device of a mount whose own number is anonymous.
fn device_behind(mounts: &[Mount], mount: Option<&Mount>) -> Result<DeviceNumber, String> {
    let mount = mount.ok_or("its mount is not listed in /proc/self/mountinfo")?;
    if let Some(number) = block_number(Path::new(&mount.source)) {
        return Ok(number);
    }
    let upper = mount
        .options
        .split(',')
        .find_map(|option| option.strip_prefix("upperdir="));
    if let Some(upper) = upper.and_then(|upper| Path::new(upper).canonicalize().ok()) {
        let number = std::fs::metadata(&upper).map(|data| split(data.dev()));
        return match number {
            Ok((0, _)) => mount_of(mounts, &upper)
                .and_then(|mount| block_number(Path::new(&mount.source)))
                .ok_or_else(|| "the overlay's upper folder has no block device".to_owned()),
            Ok(number) => Ok(number),
            Err(error) => Err(format!("{}: {error}", upper.display())),
        };
    }
    Err(format!(
        "filesystem {} (source {}) has no block device",
        mount.filesystem, mount.source
    ))
}

fn block_number(path: &Path) -> Option<DeviceNumber> {
    use std::os::unix::fs::FileTypeExt;
    let data = std::fs::metadata(path).ok()?;
    data.file_type()
        .is_block_device()
        .then(|| split(data.rdev()))
}

/// The mount with the longest point above `path`; of several, the last, which hides the others.
fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.as_os_str().len())
}

/// `27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard`
fn mount(line: &[u8]) -> Option<Mount> {
    let line = std::str::from_utf8(line).ok()?;
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(4);
    let (point, own_options) = (left.next()?, left.next()?);
    let mut right = right.split(' ');
    Some(Mount {
        point: PathBuf::from(unescape(point)),
        filesystem: right.next()?.to_owned(),
        source: unescape(right.next()?),
        options: format!("{own_options},{}", right.next().unwrap_or_default()),
    })
}

/// Undoes the kernel's octal escapes of blank, tab, line end and backslash.
fn unescape(field: &str) -> String {
    field
        .replace("\\040", " ")
        .replace("\\011", "\t")
        .replace("\\012", "\n")
        .replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &[u8] = b"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard\n\
        30 27 0:40 /@home /home rw shared:7 - btrfs /dev/sdb2 rw,space_cache\n\
        31 27 0:41 / /mnt/a\\040b rw - tmpfs none rw\n";

    fn mounts() -> Vec<Mount> {
        lines(LINES).filter_map(mount).collect()
    }

    #[test]
    fn the_longest_mount_point_above_a_path_wins() {
        let mounts = mounts();
        let of = |path: &str| mount_of(&mounts, Path::new(path)).unwrap().source.clone();
        assert_eq!(of("/home/me/mail"), "/dev/sdb2");
        assert_eq!(of("/homestead"), "/dev/vda");
        assert_eq!(of("/mnt/a b/c"), "none");
    }

    #[test]
    fn optional_fields_before_the_dash_do_not_shift_the_others() {
        let mounts = mounts();
        assert_eq!(mounts[1].filesystem, "btrfs");
        assert_eq!(mounts[1].options, "rw,rw,space_cache");
    }

    #[test]
    fn a_filesystem_in_memory_has_no_device_and_says_so() {
        let mounts = mounts();
        let reason = device_behind(&mounts, Some(&mounts[2])).unwrap_err();
        assert!(reason.contains("tmpfs"), "{reason}");
    }

    #[test]
    fn a_path_that_is_not_there_yet_lies_where_its_parent_lies() {
        let folder = tempfile::tempdir().unwrap();
        let later = folder.path().join("a/b/c");
        let place = locate(Path::new("/"), &later).unwrap();
        assert_eq!(place.existing, folder.path().canonicalize().unwrap());
    }

    #[test]
    fn a_partition_knows_its_disk() {
        let root = tempfile::tempdir().unwrap();
        let disk = root.path().join("sys/devices/pci/sda");
        std::fs::create_dir_all(disk.join("sda2")).unwrap();
        std::fs::write(disk.join("dev"), "8:0\n").unwrap();
        std::fs::write(disk.join("sda2/partition"), "2\n").unwrap();
        let links = root.path().join("sys/dev/block");
        std::fs::create_dir_all(&links).unwrap();
        std::os::unix::fs::symlink(disk.join("sda2"), links.join("8:2")).unwrap();
        std::os::unix::fs::symlink(&disk, links.join("8:0")).unwrap();
        assert_eq!(whole_disk(root.path(), (8, 2)), (8, 0));
        assert_eq!(whole_disk(root.path(), (8, 0)), (8, 0));
    }
}
