use std::os::unix::fs::symlink;

use super::*;

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn job(path: &Path, content: &str) -> FileJob {
    FileJob {
        path: text(path),
        content: content.to_owned(),
        mode: None,
        create: false,
        durable: false,
    }
}

fn read(path: &Path, most: Option<u64>) -> FileContent {
    match read_file(&text(path), most).unwrap() {
        Answer::File(content) => content,
        other => panic!("{other:?}"),
    }
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn what_was_written_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    for durable in [false, true] {
        let path = folder.path().join(format!("durable {durable}"));
        let new = FileJob {
            create: true,
            durable,
            mode: Some(0o600),
            ..job(&path, "one\n")
        };
        assert_eq!(write_file(&new), Ok(Answer::Done));
        assert_eq!(mode_of(&path), 0o600);
        let again = FileJob {
            durable,
            ..job(&path, "two")
        };
        assert_eq!(write_file(&again), Ok(Answer::Done));
        let found = read(&path, None);
        assert_eq!((found.content.as_str(), found.exact), ("two", true));
        assert_eq!(found.size_bytes, 3);
        assert_eq!(mode_of(&path), 0o600, "the mode stays");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_file_that_may_not_be_created_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    assert_eq!(
        write_file(&job(&path, "x")).unwrap_err().kind,
        FailureKind::NotFound
    );
    assert!(!path.exists());
}

#[test]
fn a_folder_that_is_not_there_is_not_made() {
    let folder = tempfile::tempdir().unwrap();
    for durable in [false, true] {
        let path = folder.path().join("a/file");
        let new = FileJob {
            create: true,
            durable,
            ..job(&path, "x")
        };
        let refused = write_file(&new).unwrap_err();
        assert_eq!(refused.kind, FailureKind::NotFound);
        assert!(refused.message.contains("a/file"), "{}", refused.message);
        assert!(!folder.path().join("a").exists());
    }
}

#[test]
fn a_link_stays_a_link_when_its_file_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "old").unwrap();
    symlink(&file, &link).unwrap();
    let new = FileJob {
        durable: true,
        ..job(&link, "new")
    };
    assert_eq!(write_file(&new), Ok(Answer::Done));
    assert!(link.is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "new");
}

#[test]
fn a_link_that_leads_nowhere_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink(folder.path().join("nothing"), &link).unwrap();
    let new = FileJob {
        create: true,
        ..job(&link, "new")
    };
    assert_eq!(write_file(&new).unwrap_err().kind, FailureKind::BadRequest);
    assert!(link.is_symlink());
}

#[test]
fn files_of_the_kernel_are_read_whole_though_their_size_is_none() {
    let found = read(Path::new("/proc/self/status"), None);
    assert!(found.content.contains("VmRSS") && found.exact);
    assert_eq!(found.size_bytes, 0);
}

#[test]
fn a_file_of_the_kernel_takes_a_value_and_refuses_a_wrong_one() {
    let path = Path::new("/proc/self/oom_score_adj");
    let before = fs::read_to_string(path).unwrap();
    assert_eq!(write_file(&job(path, &before)), Ok(Answer::Done));
    assert_eq!(read(path, None).content, before);
    let refused = write_file(&job(path, "a lot\n")).unwrap_err();
    assert_eq!(refused.kind, FailureKind::BadRequest);
    assert_eq!(read(path, None).content, before);
}

#[test]
fn what_is_cut_or_is_no_text_is_not_exact() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    fs::write(&path, "twelve bytes").unwrap();
    assert!(read(&path, Some(12)).exact);
    let cut = read(&path, Some(6));
    assert_eq!((cut.content.as_str(), cut.exact), ("twelve", false));
    assert_eq!(cut.size_bytes, 12);
    fs::write(&path, b"a\xffb").unwrap();
    let found = read(&path, None);
    assert_eq!((found.content.as_str(), found.exact), ("a\u{fffd}b", false));
}

#[test]
fn what_is_no_file_is_refused_and_never_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    for path in [folder.path(), &pipe, Path::new("/dev/null")] {
        let refused = read_file(&text(path), None).unwrap_err();
        assert_eq!(refused.kind, FailureKind::BadRequest, "{}", refused.message);
        let refused = write_file(&job(path, "x")).unwrap_err();
        assert_eq!(refused.kind, FailureKind::BadRequest, "{}", refused.message);
    }
    assert!(read_file("relative", None).is_err());
}

#[test]
fn a_failed_replacement_leaves_the_old_file_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x".repeat(255));
    fs::write(&path, "old").unwrap();
    let new = FileJob {
        durable: true,
        ..job(&path, "new")
    };
    assert!(
        write_file(&new).is_err(),
        "no name beside it is short enough"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
