//! `load` and `sink` without an agent.

use std::process::{Command, Stdio};

use serde_json::Value;
use steelyard_wire::result::LoadResult;

use crate::sink::Sink;
use crate::{engine, stderr, stdout};

#[test]
fn load_prints_one_result_document() {
    let sink = Sink::start(&["http"]);
    let url = format!("http://{}/", sink.address);
    let output = engine(&["load", &url, "-c", "2", "-d", "300ms", "--json"]);
    let result: LoadResult = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(result.counts.ok > 0, "{}", stderr(&output));
    assert!(sink.stop()["received"].as_u64().unwrap() >= result.counts.ok);
}

#[test]
fn load_says_in_words_whether_to_trust_it_and_says_so_last() {
    let sink = Sink::start(&["smtp"]);
    let url = format!("smtp://{}", sink.address);
    let text = stdout(&engine(&["load", &url, "-c", "2", "-n", "50", "-d", "20s"]));
    for part in [
        "target",
        "throughput",
        "response",
        "lateness",
        "p99.9",
        "phase",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let verdict = text
        .find("\nVALID")
        .or(text.find("\nSUSPECT"))
        .or(text.find("\nINVALID"));
    assert!(verdict.unwrap() > text.find("generator").unwrap(), "{text}");
}

#[test]
fn load_on_a_port_no_one_listens_on_exits_with_3_and_a_hint() {
    let sink = Sink::start(&["http"]);
    let url = format!("http://{}/", sink.address);
    sink.stop();
    let output = engine(&["load", &url, "-d", "200ms"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("hint:"), "{}", stderr(&output));
    assert!(stdout(&output).is_empty());
    let output = engine(&["load", &url, "-d", "200ms", "--json"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap();
    for field in ["kind", "message", "hint"] {
        assert!(answer["failed"][field].is_string(), "{answer}");
    }
}

#[test]
fn an_interrupted_load_prints_what_it_has_and_exits_with_130() {
    let sink = Sink::start(&["http"]);
    let load = Command::new(env!("CARGO_BIN_EXE_steelyard-engine"))
        .args([
            "load",
            &format!("http://{}/", sink.address),
            "-c",
            "1",
            "-d",
            "10m",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Once the sink has a connection the window is near; the run must cope with either moment.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let pid = load.id().to_string();
    Command::new("sh")
        .args(["-c", &format!("kill -s INT {pid}")])
        .status()
        .unwrap();
    let output = load.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let text = stdout(&output);
    assert!(text.is_empty() || text.contains("CANCELLED"), "{text}");
}

#[test]
fn a_sink_on_a_port_in_use_tells_people_and_programs() {
    let sink = Sink::start(&["http"]);
    let output = engine(&["sink", "http", "--listen", &sink.address]);
    assert_eq!(output.status.code(), Some(3));
    let line: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(line["error"]["kind"], "address_in_use");
    assert!(stderr(&output).contains(&sink.address));
}
