//! Greeting, bad lines, and the short answers.

use serde_json::json;
use steelyard_net::clock::monotonic_ns;

use crate::controller::Controller;

#[test]
fn hello_names_version_process_and_boot() {
    let mut agent = Controller::silent();
    let hello = agent.ok(json!({ "verb": "hello", "protocol": 1 }));
    assert_eq!(hello["kind"], "hello");
    assert_eq!(hello["protocol"], 1);
    assert_eq!(hello["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(hello["pid"], agent.pid());
    assert!(hello["boot_id"].is_string());
}

#[test]
fn another_protocol_version_is_refused_with_both_numbers() {
    let mut agent = Controller::silent();
    let failure = agent.error(json!({ "verb": "hello", "protocol": 999 }));
    assert_eq!(failure["kind"], "protocol_mismatch");
    let message = failure["message"].as_str().unwrap();
    assert!(
        message.contains("version 999") && message.contains("version 1"),
        "{message}"
    );
    assert!(failure["hint"].is_string());
}

#[test]
fn nothing_is_done_before_hello() {
    let mut agent = Controller::silent();
    let failure = agent.error(json!({ "verb": "clock" }));
    assert_eq!(failure["kind"], "bad_request");
    agent.ok(json!({ "verb": "hello", "protocol": 1 }));
    agent.ok(json!({ "verb": "clock" }));
}

#[test]
fn bad_lines_are_answered_and_the_conversation_goes_on() {
    let mut agent = Controller::new();
    for line in ["", "hello?", "[1,2]", "{\"id\":\"x\"}", "\u{0}\u{1}"] {
        agent.send_line(line);
        let failure = &agent.reply(0)["error"];
        assert_eq!(failure["kind"], "bad_request", "{line:?}");
    }
    let failure = agent.error(json!({ "verb": "dance" }));
    assert!(failure["message"].as_str().unwrap().contains("dance"));
    let failure = agent.error(json!({ "verb": "load", "job": { "target": 7 } }));
    assert_eq!(failure["kind"], "bad_request");
    agent.ok(json!({ "verb": "clock" }));
}

#[test]
fn a_line_without_end_is_refused_and_the_next_is_served() {
    let mut agent = Controller::new();
    agent.send_line(&"x".repeat(3 << 20));
    assert_eq!(agent.reply(0)["error"]["kind"], "bad_request");
    agent.ok(json!({ "verb": "clock" }));
}

#[test]
fn facts_tell_the_kernel_and_the_engine() {
    let facts = Controller::new().ok(json!({ "verb": "facts" }));
    assert!(facts["values"]["kernel.release"].is_string());
    assert_eq!(facts["values"]["engine.version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn folders_are_made_found_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    let mut agent = Controller::new();
    agent.ok(json!({ "verb": "make_directory", "path": path }));
    assert!(path.is_dir());
    let facts = agent.ok(json!({ "verb": "path", "path": path }));
    // In a changed root no mount may hold the folder, as far as the kernel lists them.
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let whole = mounts
        .lines()
        .any(|line| line.split(' ').nth(4) == Some("/"));
    assert!(facts["filesystem"].is_string() || !whole);
    assert!(facts["free_bytes"].is_u64());
    agent.ok(json!({ "verb": "remove_tree", "path": path }));
    assert!(!path.exists());
    agent.ok(json!({ "verb": "remove_tree", "path": path }));
    let failure = agent.error(json!({ "verb": "remove_tree", "path": "/" }));
    assert_eq!(failure["kind"], "bad_request");
}

#[test]
fn a_path_below_a_file_is_a_failure_with_the_path() {
    let mut agent = Controller::new();
    let failure = agent.error(json!({ "verb": "make_directory", "path": "/proc/version/x" }));
    assert!(
        failure["message"]
            .as_str()
            .unwrap()
            .contains("/proc/version/x")
    );
}

#[test]
fn bye_ends_the_agent_well() {
    let mut agent = Controller::new();
    agent.ok(json!({ "verb": "bye" }));
    assert!(agent.wait().success());
}

#[test]
fn the_clock_is_stamped_when_the_request_came_and_when_the_reply_went() {
    let mut agent = Controller::new();
    let before_ns = monotonic_ns();
    let clock = agent.ok(json!({ "verb": "clock" }));
    let after_ns = monotonic_ns();
    let received_ns = clock["received_monotonic_ns"].as_u64().unwrap();
    let replied_ns = clock["monotonic_ns"].as_u64().unwrap();
    assert!(before_ns <= received_ns && received_ns <= replied_ns && replied_ns <= after_ns);
}
