//! The store on a filesystem that refuses: whatever step fails, nothing is left and nothing lost.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use rustix::io::{Errno, Result};
use tempfile::{TempDir, tempdir};

use crate::options::{Protocol, SinkOptions, Store, Sync};
use crate::server::{Shared, serve_smtp};
use crate::stop::StopHandle;
use crate::store::files::{Disk, Files};
use crate::store::maildir::{Maildir, Names};
use crate::store::{Message, StoreError};

/// Does `left` steps well, refuses the next with `errno`, then works again. Removing always works.
#[derive(Debug)]
struct Refusing {
    disk: Disk,
    left: AtomicI64,
    errno: Errno,
    folder_steps: Mutex<Vec<String>>,
}

impl Refusing {
    fn new(folder: &TempDir, left: i64, errno: Errno) -> Arc<Self> {
        Arc::new(Self {
            disk: Disk {
                root: fs::File::open(folder.path()).unwrap().into(),
            },
            left: AtomicI64::new(left),
            errno,
            folder_steps: Mutex::default(),
        })
    }

    fn step(&self) -> Result<()> {
        match self.left.fetch_sub(1, Ordering::SeqCst) {
            0 => Err(self.errno),
            _ => Ok(()),
        }
    }

    fn has_refused(&self) -> bool {
        self.left.load(Ordering::SeqCst) < 0
    }
}

impl Files for Refusing {
    fn create(&self, path: &str) -> Result<OwnedFd> {
        self.step().and_then(|()| self.disk.create(path))
    }

    fn write(&self, file: &OwnedFd, bytes: &[u8]) -> Result<()> {
        // A full disk takes a part before it refuses.
        self.disk.write(file, &bytes[..bytes.len() / 2])?;
        self.step()?;
        self.disk.write(file, &bytes[bytes.len() / 2..])
    }

    fn read(&self, file: &OwnedFd, into: &mut [u8], offset: u64) -> Result<usize> {
        self.step()
            .and_then(|()| self.disk.read(file, into, offset))
    }

    fn sync(&self, _file: &OwnedFd) -> Result<()> {
        // Not really synced: what matters here is that it was asked for.
        self.step()
    }

    fn sync_folder(&self, path: &str) -> Result<()> {
        self.folder_steps
            .lock()
            .unwrap()
            .push(format!("sync {path}"));
        self.step()
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.step().and_then(|()| self.disk.rename(from, to))
    }

    fn remove(&self, path: &str) -> Result<()> {
        self.disk.remove(path)
    }

    fn make_folder(&self, path: &str) -> Result<()> {
        self.folder_steps
            .lock()
            .unwrap()
            .push(format!("make {path}"));
        self.step().and_then(|()| self.disk.make_folder(path))
    }
}

fn maildir(files: Arc<Refusing>, sync: Sync) -> Maildir {
    let names = Arc::new(Names::new("mx/1:2"));
    Maildir { files, sync, names }
}

fn message(recipients: &[&str], body: &[u8]) -> Message {
    Message {
        recipients: recipients.iter().map(|name| (*name).to_owned()).collect(),
        body: body.to_vec(),
        spill: None,
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

/// Delivers to three, in two parts if `spilled`; the files must be all there or not at all.
fn deliver(folder: &TempDir, files: &Arc<Refusing>, sync: Sync, spilled: bool) -> bool {
    let maildir = maildir(Arc::clone(files), sync);
    let mut message = message(&["a", "b", "c"], b"first ");
    let mut done = Ok(crate::store::Stored::default());
    if spilled {
        done = maildir.append(&mut message);
        message.body.extend_from_slice(b"second");
    }
    done = done.and_then(|_| maildir.deliver(&mut message));
    drop(message);
    let text: &[u8] = if spilled { b"first second" } else { b"first " };
    for user in ["a", "b", "c"] {
        let new = folder.path().join(user).join("new");
        let stored = names(&new);
        assert_eq!(stored.len(), usize::from(done.is_ok()), "{user}: {done:?}");
        for name in stored {
            assert_eq!(fs::read(new.join(&name)).unwrap(), text);
            assert!(name.ends_with(".mx\\0571\\0722"), "{name}");
        }
        assert_eq!(names(&folder.path().join(user).join("tmp")), [""; 0]);
    }
    done.is_ok()
}

#[test]
fn whichever_step_fails_nothing_is_visible_and_nothing_is_left() {
    for sync in [Sync::None, Sync::EachMessage] {
        for spilled in [false, true] {
            let mut steps = 0;
            loop {
                let folder = tempdir().unwrap();
                let files = Refusing::new(&folder, steps, Errno::NOSPC);
                let stored = deliver(&folder, &files, sync, spilled);
                assert_eq!(stored, !files.has_refused(), "step {steps}");
                if stored {
                    break;
                }
                steps += 1;
            }
            assert!(steps >= 20, "only {steps} steps were tried");
        }
    }
}

#[test]
fn each_message_is_synced_as_file_and_as_name_and_none_is_not() {
    for (sync, steps) in [(Sync::None, 3), (Sync::EachMessage, 5)] {
        let folder = tempdir().unwrap();
        let files = Refusing::new(&folder, i64::MAX, Errno::IO);
        let maildir = maildir(Arc::clone(&files), sync);
        maildir.deliver(&mut message(&["a"], b"x")).unwrap();
        let before = files.left.load(Ordering::SeqCst);
        maildir.deliver(&mut message(&["a"], b"x")).unwrap();
        // Create, write, rename; with fsync of the file and of the folder.
        assert_eq!(before - files.left.load(Ordering::SeqCst), steps);
    }
}

#[test]
fn the_folder_that_others_look_for_is_made_when_the_rest_is_there_and_safe() {
    let folder = tempdir().unwrap();
    let files = Refusing::new(&folder, i64::MAX, Errno::IO);
    maildir(Arc::clone(&files), Sync::EachMessage)
        .deliver(&mut message(&["a"], b"x"))
        .unwrap();
    let steps = files.folder_steps.lock().unwrap().clone();
    let expected = [
        "make a",
        "make a/cur",
        "make a/new",
        "sync a",
        "sync .",
        "make a/tmp",
        "sync a/new",
    ];
    assert_eq!(steps, expected);
}

#[test]
fn errors_are_distinguished_by_what_can_be_done() {
    for (errno, error) in [
        (Errno::NOSPC, StoreError::NoSpace),
        (Errno::DQUOT, StoreError::Quota),
        (Errno::ACCESS, StoreError::Permission),
        (Errno::ROFS, StoreError::Permission),
        (Errno::MFILE, StoreError::Resource),
        (Errno::IO, StoreError::Io),
    ] {
        assert_eq!(StoreError::from(errno), error);
    }
}

/// Sends two messages to a sink whose disk refuses the first; returns the replies to them.
fn replies_of(folder: &TempDir, steps: i64, errno: Errno, body: &str) -> Vec<String> {
    let listen = std::net::SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let mut options = SinkOptions::new(Protocol::Smtp, listen);
    options.smtp.store = Store::Maildir {
        folder: folder.path().to_owned(),
        sync: Sync::EachMessage,
        threads: 2,
    };
    let files = Refusing::new(folder, steps, errno);
    let stop = StopHandle::new().unwrap();
    let (sender, bound) = mpsc::channel();
    let handle = stop.clone();
    let sink = std::thread::spawn(move || {
        let shared = Shared::open(&options).unwrap();
        serve_smtp(
            &shared,
            &options,
            &handle,
            |at| sender.send(at).unwrap(),
            Some(files),
        )
    });
    let mut stream = TcpStream::connect(bound.recv().unwrap().tcp().unwrap()).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    let one = format!("MAIL FROM:<>\r\nRCPT TO:<u@x>\r\nDATA\r\n{body}\r\n.\r\n");
    write!(stream, "HELO a\r\n{one}{one}QUIT\r\n").unwrap();
    let lines: Vec<String> = BufReader::new(stream)
        .lines()
        .map(|line| line.unwrap())
        .collect();
    stop.stop();
    let counters = sink.join().unwrap().unwrap();
    assert_eq!((counters.received, counters.ok, counters.failed), (2, 1, 1));
    assert_eq!(counters.stored_files, 1);
    assert_eq!(counters.errors.values().sum::<u64>(), 1, "{counters:?}");
    vec![lines[5].clone(), lines[9].clone()]
}

#[test]
fn a_full_disk_is_answered_with_452_and_the_next_message_is_tried_again() {
    for body in [
        "short".to_owned(),
        "more than fits in memory\r\n".repeat(8000),
    ] {
        for steps in [0, 9] {
            let folder = tempdir().unwrap();
            let replies = replies_of(&folder, steps, Errno::NOSPC, &body);
            assert!(replies[0].starts_with("452 4.3.1 "), "{replies:?}");
            assert!(replies[1].starts_with("250 "), "{replies:?}");
            assert_eq!(names(&folder.path().join("u/new")).len(), 1);
            assert_eq!(names(&folder.path().join("u/tmp")), [""; 0]);
        }
    }
}

#[test]
fn any_other_refusal_is_answered_with_451() {
    let folder = tempdir().unwrap();
    let replies = replies_of(&folder, 9, Errno::IO, "x");
    assert!(replies[0].starts_with("451 4.3.0 "), "{replies:?}");
}
