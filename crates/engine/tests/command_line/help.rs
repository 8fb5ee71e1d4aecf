//! Help texts as golden files; `ACCEPT=1 cargo test` writes them anew.

use std::path::Path;

use crate::{engine, stderr, stdout};

#[test]
fn help_of_every_mode_is_as_last_read_by_a_person() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for mode in [
        "",
        "load",
        "sink",
        "kernel",
        "kernel linpack",
        "kernel ram",
        "kernel reference",
        "sample",
        "facts",
        "agent",
        "schema",
    ] {
        let arguments: Vec<&str> = mode.split_whitespace().chain(["--help"]).collect();
        let help = stdout(&engine(&arguments));
        let name = if mode.is_empty() {
            "engine".to_owned()
        } else {
            mode.replace(' ', "-")
        };
        let golden = folder.join(format!("help-{name}.txt"));
        if std::env::var_os("ACCEPT").is_some() {
            std::fs::write(&golden, &help).unwrap();
        }
        assert_eq!(
            help,
            std::fs::read_to_string(&golden).unwrap(),
            "help of {name}"
        );
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = stdout(&engine(&["--version"]));
    assert_eq!(
        version,
        format!("steelyard-engine {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_is_wrong() {
    let wrong: [(&[&str], &str); 7] = [
        (&["load"], "<URL>"),
        (&["load", "localhost"], "localhost"),
        (&["load", "http://127.0.0.1:1/", "-d", "soon"], "soon"),
        (&["load", "http://127.0.0.1:1/", "--size", "4k"], "--size"),
        (&["sink", "http", "--fault", "GET"], "GET"),
        (&["sink", "smtp", "--store", "maildir"], "--folder"),
        (&["sample", "--interval", "1ms"], "100 ms"),
    ];
    for (arguments, part) in wrong {
        let output = engine(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stderr(&output).contains(part),
            "{arguments:?}: {}",
            stderr(&output)
        );
    }
}
