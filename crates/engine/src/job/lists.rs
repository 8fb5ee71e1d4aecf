//! Lists that options name: the lines of a file, the files of a folder.

use std::fs;
use std::path::{Path, PathBuf};

use steelyard_wire::agent::Failure;

use crate::failure::{bad_request, refused_path};

/// The lines of `file`, without blanks around them; empty ones and those that begin with `#` are
/// skipped. Without a file there are none.
pub(super) fn lines(file: Option<&String>) -> Result<Vec<String>, Failure> {
    let Some(file) = file else {
        return Ok(Vec::new());
    };
    let text =
        fs::read_to_string(file).map_err(|error| refused_path("read", Path::new(file), &error))?;
    let lines: Vec<String> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    if lines.is_empty() {
        return Err(bad_request(
            format!("{file} holds no line"),
            "write one entry on each line",
        ));
    }
    Ok(lines)
}

/// The files of `folder` by name, hidden ones and folders left out. Without a folder there are
/// none.
pub(super) fn files(folder: Option<&String>) -> Result<Vec<String>, Failure> {
    let Some(folder) = folder else {
        return Ok(Vec::new());
    };
    let refused = |error| refused_path("read", Path::new(folder), &error);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        if path.is_file() && !is_hidden(&path) {
            paths.push(path);
        }
    }
    paths.sort();
    let paths: Vec<String> = paths
        .into_iter()
        .map(PathBuf::into_os_string)
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    if paths.is_empty() {
        return Err(bad_request(
            format!("{folder} holds no file"),
            "name a folder with at least one file",
        ));
    }
    Ok(paths)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_without_notes_and_blanks() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list");
        fs::write(&file, "# note\n a@b \n\nc@d\r\n").unwrap();
        let file = file.to_string_lossy().into_owned();
        assert_eq!(lines(Some(&file)).unwrap(), ["a@b", "c@d"]);
        assert!(lines(None).unwrap().is_empty());
        fs::write(&file, "# note\n").unwrap();
        assert!(lines(Some(&file)).is_err());
    }

    #[test]
    fn files_come_by_name_without_folders_and_hidden_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_string_lossy().into_owned();
        assert!(files(Some(&path)).is_err());
        for name in ["b", "a", ".hidden"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        fs::create_dir(folder.path().join("c")).unwrap();
        let expected = [format!("{path}/a"), format!("{path}/b")];
        assert_eq!(files(Some(&path)).unwrap(), expected);
        assert!(files(Some(&format!("{path}/nowhere"))).is_err());
    }
}
