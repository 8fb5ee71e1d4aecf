//! A file of URLs: a line each, all on the host of the target.

use std::path::Path;

use steelyard_wire::agent::Failure;

use crate::failure::{bad_request, refused_path};

/// The paths of the URLs in `file`; each must have the scheme and the authority of `target`.
///
/// Empty lines and those that begin with `#` are skipped; a line may also be a path alone.
pub(super) fn paths(file: &str, target: &str) -> Result<Vec<String>, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| refused_path("read", Path::new(file), &error))?;
    let origin = origin(target);
    let lines = text.lines().map(str::trim).zip(1..);
    let paths: Vec<String> = lines
        .filter(|(line, _)| !line.is_empty() && !line.starts_with('#'))
        .map(|(line, number)| {
            path(line, origin).ok_or_else(|| {
                bad_request(
                    format!("{file}, line {number}: {line:?} is no URL on {origin}"),
                    "every URL of the list must have the scheme, host and port of the target",
                )
            })
        })
        .collect::<Result<_, _>>()?;
    if paths.is_empty() {
        return Err(bad_request(
            format!("{file} holds no URL"),
            "write one URL on each line",
        ));
    }
    Ok(paths)
}

/// `scheme://authority` of a URL.
fn origin(url: &str) -> &str {
    let after_scheme = url.find("://").map_or(0, |at| at + 3);
    let length = url[after_scheme..]
        .find(['/', '?', '#'])
        .unwrap_or(url.len() - after_scheme);
    &url[..after_scheme + length]
}

fn path(line: &str, origin: &str) -> Option<String> {
    if line.contains(char::is_whitespace) || line.contains(char::is_control) {
        return None;
    }
    let rest = if line.starts_with('/') {
        line
    } else {
        let head = line.get(..origin.len())?;
        if !head.eq_ignore_ascii_case(origin) {
            return None;
        }
        &line[origin.len()..]
    };
    let rest = rest.split('#').next().unwrap_or_default();
    match rest.chars().next() {
        None => Some("/".to_owned()),
        Some('/') => Some(rest.to_owned()),
        Some('?') => Some(format!("/{rest}")),
        // The authority goes on: another port, or another host.
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<String>, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("urls");
        std::fs::write(&file, text).unwrap();
        paths(file.to_str().unwrap(), "http://h:8/x")
    }

    #[test]
    fn urls_of_the_target_become_paths() {
        let text = "# note\nhttp://h:8/a\n\nHTTP://h:8\nhttp://h:8?q=1#top\n/b\n";
        assert_eq!(read(text).unwrap(), ["/a", "/", "/?q=1", "/b"]);
    }

    #[test]
    fn a_url_elsewhere_is_refused_with_its_line() {
        for line in [
            "http://h:80/",
            "http://h/",
            "https://h:8/",
            "ftp",
            "http://h:8/a b",
        ] {
            let refused = read(&format!("/\n{line}\n")).unwrap_err();
            assert!(refused.message.contains("line 2"), "{}", refused.message);
        }
    }

    #[test]
    fn a_list_without_a_url_is_refused() {
        assert!(read("# nothing\n\n").is_err());
    }
}
