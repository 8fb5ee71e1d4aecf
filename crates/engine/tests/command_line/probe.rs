//! `load --probe` against the sink.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use steelyard_wire::probe::{ProbeFigures, ProbeLine};
use steelyard_wire::result::LoadResult;

use crate::sink::Sink;
use crate::{engine, stderr, stdout};

/// Two probes of `url` with `options`: their figures and the result.
fn probed(url: &str, options: &[&str]) -> (Vec<ProbeFigures>, LoadResult) {
    let usual = ["load", url, "--probe", "-n", "2", "--json"];
    let often = ["-i", "20ms"];
    let interval = if options.contains(&"-i") {
        &[]
    } else {
        &often[..]
    };
    let output = engine(&[&usual, interval, options].concat());
    let mut probes = Vec::new();
    let mut results = Vec::new();
    for line in stdout(&output).lines() {
        assert!(results.is_empty(), "nothing comes after the result");
        match serde_json::from_str(line).unwrap() {
            ProbeLine::Probe(figures) => probes.push(figures),
            ProbeLine::Result(result) => results.push(*result),
        }
    }
    let result = results.pop();
    (
        probes,
        result.unwrap_or_else(|| panic!("{}", stderr(&output))),
    )
}

fn phases(probe: &ProbeFigures) -> Vec<&str> {
    let phases = probe.phases.iter();
    phases.map(|phase| phase.name.as_str()).collect()
}

/// The phases of the second of two probes of a sink; both went well.
fn phases_of(sink: &str, url: &str, options: &[&str]) -> Vec<String> {
    let sink = Sink::start(&sink.split(' ').collect::<Vec<_>>());
    let (mut probes, result) = probed(&url.replace("SINK", &sink.address), options);
    assert_eq!((probes.len(), result.counts.ok), (2, 2), "{probes:?}");
    // On a busy machine the second may be answered before the first.
    probes.sort_by_key(|probe| probe.sequence);
    for (probe, sequence) in probes.iter().zip(1..) {
        assert_eq!((probe.sequence, probe.outcome.as_str()), (sequence, "ok"));
        let behind = probe
            .phases
            .iter()
            .filter(|phase| url.contains("mtp") && phase.name == "quit");
        let behind_ns: u64 = behind.map(|phase| phase.took_ns).sum();
        let all_ns: u64 = probe.phases.iter().map(|phase| phase.took_ns).sum();
        assert_eq!(
            all_ns - behind_ns,
            probe.service_ns,
            "phases leave no gap: {probe:?}"
        );
    }
    phases(&probes[1]).into_iter().map(str::to_owned).collect()
}

#[test]
fn a_mail_probe_tells_every_phase_up_to_quit() {
    let whole = [
        "connect", "banner", "ehlo", "mail", "rcpt", "data", "eom", "quit",
    ];
    assert_eq!(phases_of("smtp", "smtp://SINK", &[]), whole);
    assert_eq!(phases_of("lmtp", "lmtp://SINK", &[]), whole);
}

#[test]
fn every_other_protocol_tells_its_phases_too() {
    // A mailbox is open once at a time, and the first probe may still be out: each has its own.
    let user = ["--user", "u{n}", "--users", "2", "--password", "p"];
    let request = ["connect", "ttfb", "body"];
    assert_eq!(phases_of("http", "http://SINK/", &[]), request);
    // A probe that is due while the last one is still out opens a second connection.
    let one_at_a_time = ["--http2", "-i", "2s"];
    assert_eq!(
        phases_of("http", "http://SINK/", &one_at_a_time),
        request[1..]
    );
    let session = ["connect", "banner", "auth", "stat", "list", "quit"];
    assert_eq!(phases_of("pop3", "pop3://SINK", &user), session);
    let session = ["connect", "banner", "auth", "select", "logout"];
    assert_eq!(phases_of("imap", "imap://SINK", &user), session);
    let login = ["connect", "banner", "user", "pass", "quit"];
    let only = ["--actions", "login=1"];
    assert_eq!(phases_of("ftp", "ftp://SINK/x", &only), login);
    assert_eq!(
        phases_of("stream", "rr+tcp://SINK", &[]),
        ["connect", "response"]
    );
}

#[test]
fn each_probe_has_a_connection_of_its_own_whatever_the_last_one_did() {
    let sink = Sink::start(&["smtp"]);
    let (probes, _) = probed(&format!("smtp://{}", sink.address), &[]);
    assert_eq!(sink.stop()["connections"], probes.len());
}

/// An address where no one listens, and no one will: it stays bound.
fn held_address() -> (std::os::fd::OwnedFd, String) {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &std::net::SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let address = std::net::SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
    (socket, address.to_string())
}

#[test]
fn a_port_without_a_listener_is_reported_probe_by_probe_and_exits_with_1() {
    let (_held, address) = held_address();
    let url = format!("tcp://{address}");
    let (probes, result) = probed(&url, &[]);
    assert_eq!((result.counts.sent, result.counts.errors), (2, 2));
    for probe in &probes {
        assert_eq!(probe.outcome, "conn_refused");
        assert_eq!(probe.failed_in.as_deref(), Some("connect"));
    }
    let output = engine(&["load", &url, "--probe", "-n", "1"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("seq=1 FAILED conn_refused in connect"));
}

#[test]
fn a_refusal_is_reported_with_the_phase_it_came_in_and_what_went_before() {
    let sink = Sink::start(&["smtp", "--fault", "RCPT:reject"]);
    let (probes, result) = probed(&format!("smtp://{}", sink.address), &[]);
    assert_eq!(result.counts.errors, 2);
    assert_eq!(probes[0].outcome, "smtp_5xx");
    assert_eq!(probes[0].failed_in.as_deref(), Some("rcpt"));
    assert_eq!(
        phases(&probes[0])[..4],
        ["connect", "banner", "ehlo", "mail"]
    );
}

#[test]
fn of_several_targets_each_line_names_its_own() {
    let (one, other) = (Sink::start(&["http"]), Sink::start(&["http"]));
    let url = format!("tcp://{}", one.address);
    let (probes, _) = probed(&url, &["--target", &other.address]);
    let kinds: Vec<_> = probes
        .iter()
        .filter_map(|probe| probe.kind.clone())
        .collect();
    assert_eq!(kinds, [one.address.clone(), other.address.clone()]);
}

#[test]
fn ctrl_c_ends_a_probe_with_its_figures_and_exit_code_0() {
    let sink = Sink::start(&["http"]);
    let url = format!("http://{}/", sink.address);
    let mut probe = Command::new(env!("CARGO_BIN_EXE_steelyard-engine"))
        .args(["load", &url, "--probe", "-i", "10ms"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(probe.stdout.take().unwrap()).lines();
    let printed: Vec<String> = lines.by_ref().map(Result::unwrap).take(4).collect();
    assert!(printed[3].starts_with("seq=3 ok in "), "{printed:?}");
    let pid = probe.id().to_string();
    let kill = format!("kill -s INT {pid}");
    let signalled = Command::new("sh").args(["-c", &kill]).status();
    assert!(signalled.unwrap().success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(probe.wait().unwrap().success());
    assert!(
        rest.iter().any(|line| line.contains(" sent = ")),
        "{rest:?}"
    );
}

#[test]
fn a_probe_whose_reader_has_gone_ends() {
    let sink = Sink::start(&["http"]);
    let url = format!("http://{}/", sink.address);
    let mut probe = Command::new(env!("CARGO_BIN_EXE_steelyard-engine"))
        .args(["load", &url, "--probe", "-i", "5ms"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(probe.stdout.take());
    // Without an end of its own the test would hang here.
    probe.wait().unwrap();
}

#[test]
fn what_cannot_be_a_probe_is_refused() {
    let wrong: [(&[&str], &str); 6] = [
        (&["stream+tcp://127.0.0.1:1", "--probe"], "one operation"),
        (
            &["http://127.0.0.1:1/", "--probe", "--pipeline", "2"],
            "one operation",
        ),
        (&["http://127.0.0.1:1/", "--probe", "-R", "2"], "--rate"),
        (
            &["http://127.0.0.1:1/", "--probe", "-i", "0s"],
            "--interval",
        ),
        (&["http://127.0.0.1:1/", "-i", "1s"], "--probe"),
        (
            &[
                "smtp://127.0.0.1:1",
                "--probe",
                "--messages-per-connection",
                "2",
            ],
            "--messages-per-connection",
        ),
    ];
    for (arguments, part) in wrong {
        let output = engine(&[&["load"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
}

const PAGE: &str = include_str!("../../../../docs/reference/load.md");

/// Words alone: no figures, no units, no blanks, no warnings about a busy machine.
fn shape(text: &str) -> Vec<String> {
    let is_figure = |word: &str| {
        let bare = word.trim_end_matches([',', ':']);
        bare.parse::<f64>().is_ok() || ["ns", "us", "ms", "s"].contains(&bare)
    };
    text.lines()
        .take_while(|line| !line.starts_with("read these figures"))
        .map(|line| {
            let words = line.split_whitespace().filter(|word| !is_figure(word));
            words.collect::<Vec<_>>().join(" ")
        })
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn the_example_of_the_page_prints_what_the_page_shows() {
    let example = PAGE.split("```console\n$ steelyard ").nth(1).unwrap();
    let (command, shown) = example.split_once('\n').unwrap();
    let shown = shown.split("```").next().unwrap();
    let sink = Sink::start(&["smtp"]);
    let here = |text: &str| text.replace("127.0.0.1:2525", &sink.address);
    let command = here(command);
    let output = engine(&command.split_whitespace().collect::<Vec<_>>());
    assert_eq!(shape(&stdout(&output)), shape(&here(shown)), "{command}");
}
