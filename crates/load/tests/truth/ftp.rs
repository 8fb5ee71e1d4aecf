//! FTP against a scripted server whose data connections, order of replies and refusals are known.

use std::io::{BufRead, BufReader, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::net::{self, AddressFamily, SocketType};
use steelyard_load::LoadError;
use steelyard_wire::job::{FtpAction, FtpOperation, LoadJob, Operation, Passive};
use steelyard_wire::result::LoadResult;

use crate::server::{MS, Seen, Server, closed, failures, reset, run, send, try_run};

mod failures;

/// Files that were uploaded: name and content.
type Files = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// What a server does its own way.
#[derive(Clone, Copy, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a way of its own")]
struct Way {
    /// Another reply to a command; `None` for the usual one.
    answer: Option<fn(&str) -> Option<&'static str>>,
    /// 226 is said before the first byte is sent.
    early_226: bool,
    /// Neither 150 nor 125 is said.
    without_150: bool,
    /// The data connection is reset in its midst.
    resets: bool,
    /// The port of the data connection is one where no one listens.
    deaf_port: bool,
    /// Said in 150.
    announces: Option<u64>,
    /// A byte of what is sent is another.
    corrupts: bool,
}

const FILE_BYTES: usize = 700_000;

/// A port that is taken and on which no one listens: one that is free could be anybody's next.
fn bound() -> (OwnedFd, u16) {
    let socket = net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    net::bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = SocketAddr::try_from(net::getsockname(&socket).unwrap()).unwrap();
    (socket, address.port())
}

fn server(way: Way) -> (Server, Files) {
    let files = Files::default();
    let stored = Arc::clone(&files);
    let server = Server::start(move |stream, seen| converse(stream, seen, way, &stored));
    (server, files)
}

fn converse(mut stream: TcpStream, seen: &Seen, way: Way, files: &Files) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let mut deaf = None;
    let mut listener = None;
    let mut say = |text: &str| send(&mut stream, text.as_bytes());
    let greeting = way.answer.and_then(|answer| answer(""));
    say(greeting.unwrap_or("220-hello\r\n220 go\r\n"));
    for line in lines.map_while(Result::ok) {
        if let Some(reply) = way.answer.and_then(|answer| answer(&line)) {
            say(reply);
            continue;
        }
        let (verb, name) = line.split_once(' ').unwrap_or((&line, ""));
        match verb {
            "USER" => say("331 password?\r\n"),
            "PASS" => say("230 welcome\r\n"),
            "SIZE" => say("500 what?\r\n"),
            "EPSV" | "PASV" => {
                let port = if way.deaf_port {
                    deaf.insert(bound()).1
                } else {
                    let data = listener.insert(TcpListener::bind("127.0.0.1:0").unwrap());
                    data.local_addr().unwrap().port()
                };
                say(&match verb {
                    "EPSV" => format!("229 here (|||{port}|)\r\n"),
                    // An address that must not be believed.
                    _ => format!("227 ok (192,0,2,1,{},{})\r\n", port / 256, port % 256),
                })
            }
            "RETR" | "LIST" | "STOR" => {
                let (mut data, _) = listener.take().unwrap().accept().unwrap();
                if !way.without_150 {
                    let bytes = way.announces.map(|bytes| format!(" ({bytes} bytes)"));
                    say(&format!("150 go{}\r\n", bytes.unwrap_or_default()));
                }
                if way.early_226 {
                    say("226 as good as done\r\n");
                    std::thread::sleep(Duration::from_millis(5));
                }
                transfer(&mut data, verb, name, way, files);
                seen.operations.fetch_add(1, SeqCst);
                // A small upload may have left whole before the reset: the server must say what it has.
                let cut = way.resets && verb == "STOR";
                way.early_226
                    || say(if cut {
                        "426 cut off\r\n"
                    } else {
                        "226 done\r\n"
                    })
            }
            "DELE" => {
                files.lock().unwrap().retain(|(stored, _)| stored != name);
                say("250 gone\r\n")
            }
            "QUIT" => {
                say("221 bye\r\n");
                return;
            }
            _ => say("200 ok\r\n"),
        };
    }
}

fn transfer(data: &mut TcpStream, verb: &str, name: &str, way: Way, files: &Files) {
    if verb == "STOR" {
        let mut content = Vec::new();
        if way.resets {
            reset(data);
            return;
        }
        data.read_to_end(&mut content).unwrap();
        files.lock().unwrap().push((name.to_owned(), content));
        return;
    }
    let mut content = match files
        .lock()
        .unwrap()
        .iter()
        .find(|(stored, _)| stored == name)
    {
        Some((_, content)) => content.clone(),
        None => vec![b'x'; FILE_BYTES],
    };
    if way.corrupts {
        *content.last_mut().unwrap() ^= 1;
    }
    for piece in content.chunks(content.len().div_ceil(3).max(1)) {
        if !send(data, piece) {
            return;
        }
        if way.resets {
            reset(data);
            return;
        }
    }
    let _ = data.shutdown(Shutdown::Write);
}

fn operation(action: FtpAction) -> FtpOperation {
    FtpOperation {
        actions: [(action, 1.0)].into(),
        folder: "in".to_owned(),
        upload_bytes: 600_000,
        ..FtpOperation::default()
    }
}

fn job(server: &Server, operation: FtpOperation, operations: u64) -> LoadJob {
    LoadJob {
        operations: Some(operations),
        ..closed(
            format!("ftp://{}/file", server.address),
            Operation::Ftp(operation),
            2,
            20_000,
        )
    }
}

fn all_in(result: &LoadResult, phase: &str) -> u64 {
    result.latency_ns[&format!("phase.{phase}")].count
}

/// In whatever phase: data and 226 come in either order.
fn failed_as(result: &LoadResult, kind: &str) -> u64 {
    let counts = result.errors.values().filter_map(|kinds| kinds.get(kind));
    counts.sum()
}

#[test]
fn downloads_arrive_whole_whether_or_not_anybody_looks_at_them() {
    for verify in [false, true] {
        let (server, _) = server(Way {
            announces: Some(FILE_BYTES as u64),
            ..Way::default()
        });
        let operation = FtpOperation {
            verify,
            ..operation(FtpAction::Download)
        };
        let result = run(&job(&server, operation, 20));
        assert_eq!((result.counts.ok, server.operations()), (20, 20));
        assert_eq!(server.connections(), 2);
        assert!(result.counts.bytes_in >= 20 * FILE_BYTES as u64);
        for phase in [
            "epsv",
            "data-connect",
            "150",
            "first-byte",
            "last-byte",
            "226",
        ] {
            assert_eq!(all_in(&result, phase), 20, "{phase}");
        }
        let unmarked = result.payload.map(|payload| payload.unmarked);
        assert_eq!(unmarked, verify.then_some(20));
    }
}

#[test]
fn a_server_that_says_226_first_or_150_never_is_parsed() {
    for (early_226, without_150) in [(true, false), (true, true), (false, true)] {
        let (server, _) = server(Way {
            early_226,
            without_150,
            ..Way::default()
        });
        let result = run(&job(&server, operation(FtpAction::Download), 10));
        assert_eq!((result.counts.ok, result.counts.errors), (10, 0));
        assert!(result.counts.bytes_in >= 10 * FILE_BYTES as u64);
    }
}

#[test]
fn uploads_arrive_whole_and_can_be_read_back_and_checked() {
    let (server, files) = server(Way::default());
    let upload = FtpOperation {
        verify: true,
        ..operation(FtpAction::Upload)
    };
    let result = run(&job(&server, upload, 6));
    assert_eq!(result.counts.ok, 6);
    let names: Vec<String> = {
        let files = files.lock().unwrap();
        assert!(files.iter().all(|(name, content)| {
            name.starts_with("in/steelyard-") && content.starts_with(b"steelyard-payload: v1 ")
        }));
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names.len(), 6);
    let download = FtpOperation {
        verify: true,
        download: names,
        ..operation(FtpAction::Download)
    };
    let result = run(&job(&server, download, 6));
    let payload = result.payload.unwrap();
    assert_eq!((payload.checked, payload.corrupted), (6, 0));
    assert_eq!(payload.duplicated, 0);
}

#[test]
fn a_single_wrong_bit_fails_the_download() {
    let (good, files) = server(Way::default());
    let upload = FtpOperation {
        verify: true,
        ..operation(FtpAction::Upload)
    };
    run(&job(&good, upload, 1));
    let stored = files.lock().unwrap().clone();
    let (bad, files) = server(Way {
        corrupts: true,
        ..Way::default()
    });
    files.lock().unwrap().clone_from(&stored);
    let download = FtpOperation {
        verify: true,
        download: vec![stored[0].0.clone()],
        ..operation(FtpAction::Download)
    };
    let result = run(&job(&bad, download, 3));
    assert_eq!(failed_as(&result, "checksum_mismatch"), 3);
    assert_eq!(result.payload.unwrap().corrupted, 3);
}

#[test]
fn uploads_have_the_length_asked_for_and_are_deleted_on_request() {
    let (server, files) = server(Way::default());
    run(&job(&server, operation(FtpAction::Upload), 4));
    assert!(
        files
            .lock()
            .unwrap()
            .iter()
            .all(|(_, c)| c.len() == 600_000)
    );
    files.lock().unwrap().clear();
    let deleted = FtpOperation {
        delete_uploads: true,
        ..operation(FtpAction::Upload)
    };
    let result = run(&job(&server, deleted, 4));
    assert_eq!((result.counts.ok, all_in(&result, "dele")), (4, 4));
    assert!(files.lock().unwrap().is_empty());
}

#[test]
fn pasv_is_the_way_out_and_its_address_is_not_believed() {
    let (server, _) = server(Way {
        answer: Some(|line| (line == "EPSV").then_some("502 no\r\n")),
        ..Way::default()
    });
    let result = run(&job(&server, operation(FtpAction::List), 10));
    assert_eq!(result.counts.ok, 10);
    assert_eq!((all_in(&result, "pasv"), all_in(&result, "epsv")), (10, 0));
}

#[test]
fn logins_are_connections_of_their_own() {
    let (server, _) = server(Way::default());
    let result = run(&job(&server, operation(FtpAction::Login), 12));
    assert_eq!((result.counts.ok, server.connections()), (12, 12));
    for phase in ["connect", "banner", "user", "pass", "quit"] {
        assert_eq!(all_in(&result, phase), 12, "{phase}");
    }
}

#[test]
fn several_actions_have_figures_of_their_own() {
    let (server, _) = server(Way::default());
    let mixed = FtpOperation {
        actions: [
            (FtpAction::Download, 1.0),
            (FtpAction::Upload, 1.0),
            (FtpAction::List, 1.0),
        ]
        .into(),
        passive: Passive::Pasv,
        upload_bytes: 1000,
        ..operation(FtpAction::List)
    };
    let result = run(&job(&server, mixed, 60));
    let ok: Vec<u64> = ["download", "upload", "list"]
        .iter()
        .map(|name| result.operations[*name].ok)
        .collect();
    assert_eq!(ok.iter().sum::<u64>(), 60);
    assert!(ok.iter().all(|count| *count > 0), "{ok:?}");
}

#[test]
fn users_are_held_to_their_rate_and_the_kernel_of_the_server_notices() {
    let rate = 1_500_000;
    for action in [FtpAction::Download, FtpAction::Upload] {
        let (server, _) = server(Way::default());
        let held = FtpOperation {
            user_bytes_per_s: rate,
            least_share: 0.02, // a busy machine is no failure of a transfer
            ..operation(action)
        };
        let result = run(&job(&server, held, 2));
        assert_eq!(result.counts.errors, 0, "{:?}", result.errors);
        // 600 000 bytes and more cannot pass sooner, however fast the machine is.
        let fastest = result.latency_ns["service"].min.unwrap();
        assert!(fastest >= 300 * MS, "{action:?} {fastest}");
    }
}

#[test]
fn a_server_slower_than_the_share_asked_for_fails_the_transfer() {
    let (server, _) = server(Way {
        early_226: true,
        ..Way::default()
    });
    let hurried = FtpOperation {
        // The server waits for 5 ms before it sends 700 kB.
        user_bytes_per_s: 1_000_000_000,
        least_share: 1.0,
        ..operation(FtpAction::Download)
    };
    let result = run(&job(&server, hurried, 4));
    assert_eq!(failed_as(&result, "too_slow"), 4);
}
