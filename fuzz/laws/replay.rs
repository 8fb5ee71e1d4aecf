//! Every input that is kept in `fuzz/corpus/` goes through its target again: what a fuzzer has
//! found once stays found.

use std::fs;
use std::path::Path;

/// Runs `target` with every file of `corpus/NAME`.
pub fn replay(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(name);
    let files: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    for file in files {
        let input = fs::read(&file).unwrap();
        // The name of the file is what a failure must tell.
        let outcome = std::panic::catch_unwind(|| target(&input));
        assert!(outcome.is_ok(), "{name} fails with {}", file.display());
    }
}
