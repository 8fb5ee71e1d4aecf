//! Processes that an agent starts: ready, stopped, died, refused, and never left over.

use serde_json::{Value, json};

use crate::controller::{Controller, is_alive, pid_of, signal, start, wait_for, wait_until_gone};

const SLEEPER: [&str; 3] = ["sh", "-c", "echo ready; exec sleep 1000"];

fn status(agent: &mut Controller, name: &str) -> Value {
    agent.ok(json!({ "verb": "status", "name": name }))
}

fn stop(agent: &mut Controller, name: &str, grace_ms: u64) -> Value {
    agent.ok(json!({ "verb": "stop", "name": name, "grace_ms": grace_ms }))
}

#[test]
fn a_sink_starts_runs_and_stops_with_its_cost_and_counters() {
    let mut agent = Controller::new();
    let (pid, _) = agent.start_sink("sink", &["http", "--listen", "127.0.0.1"]);
    let state = status(&mut agent, "sink");
    assert_eq!(state["running"], true);
    assert!(state["user_ns"].is_null());
    let state = stop(&mut agent, "sink", 20_000);
    assert_eq!(state["running"], false);
    assert_eq!(state["exit_code"], 0);
    assert!(state["max_rss_bytes"].as_u64().unwrap() > 0);
    assert!(state["user_ns"].is_u64() && state["system_ns"].is_u64());
    let counters = state["stdout_tail"].as_str().unwrap();
    let counters: Value = serde_json::from_str(counters).unwrap();
    assert_eq!(counters["received"], 0);
    assert!(!is_alive(pid));
    assert_eq!(status(&mut agent, "sink")["running"], false);
}

#[test]
fn a_killed_sink_is_seen_as_died_by_that_signal() {
    let mut agent = Controller::new();
    let (pid, _) = agent.start_sink("sink", &["smtp", "--listen", "127.0.0.1"]);
    signal(pid, "KILL");
    let state = wait_for("its end", || {
        let state = status(&mut agent, "sink");
        (state["running"] == false).then_some(state)
    });
    assert_eq!(state["signal"], 9);
    assert_eq!(state["exit_code"], Value::Null);
    assert_eq!(stop(&mut agent, "sink", 1000)["signal"], 9);
}

#[test]
fn a_process_that_ignores_sigterm_is_killed_with_its_group() {
    let mut agent = Controller::new();
    let script = "trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1; done";
    let started = agent.ok(start("stubborn", &["sh", "-c", script]));
    let grandchild: u32 = started["ready_line"].as_str().unwrap().parse().unwrap();
    assert_eq!(stop(&mut agent, "stubborn", 50)["signal"], 9);
    wait_until_gone(pid_of(&started));
    wait_until_gone(grandchild);
}

#[test]
fn the_end_of_the_controller_leaves_no_process() {
    let mut agent = Controller::new();
    let (sink, _) = agent.start_sink("sink", &["http", "--listen", "127.0.0.1"]);
    let script = "trap '' TERM; sleep 1000 & echo $!; while :; do sleep 1; done";
    let started = agent.ok(start("stubborn", &["sh", "-c", script]));
    let grandchild: u32 = started["ready_line"].as_str().unwrap().parse().unwrap();
    agent.hang_up();
    assert!(agent.wait().success());
    for pid in [sink, pid_of(&started), grandchild] {
        wait_until_gone(pid);
    }
}

#[test]
fn sigterm_ends_the_agent_and_its_processes_and_sigint_does_not() {
    let mut agent = Controller::new();
    let started = agent.ok(start("sleeper", &SLEEPER));
    signal(agent.pid(), "INT");
    agent.ok(json!({ "verb": "clock" }));
    assert!(is_alive(pid_of(&started)));
    signal(agent.pid(), "TERM");
    assert!(agent.wait().success());
    wait_until_gone(pid_of(&started));
}

#[test]
fn a_killed_agent_takes_its_processes_along() {
    let mut agent = Controller::new();
    let started = agent.ok(start("sleeper", &SLEEPER));
    signal(agent.pid(), "KILL");
    agent.wait();
    wait_until_gone(pid_of(&started));
}

#[test]
fn a_process_starts_with_clean_signals_and_a_session_of_its_own() {
    let mut agent = Controller::new();
    let script = "sed -n 's/^Sig\\(Blk\\|Ign\\):.//p' /proc/self/status | tr '\\n' ' '; echo";
    let started = agent.ok(start("clean", &["sh", "-c", script]));
    for set in started["ready_line"].as_str().unwrap().split(' ') {
        let set = u64::from_str_radix(set, 16).unwrap();
        // Above 31 are the real-time signals, which the test runner may have inherited itself.
        assert_eq!(set & 0x7fff_ffff, 0, "{set:x}");
    }
    let started = agent.ok(start("sleeper", &SLEEPER));
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", started["pid"])).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    let pid = started["pid"].to_string();
    assert_eq!(
        [fields[2], fields[3]],
        [pid.as_str(), pid.as_str()],
        "group and session"
    );
}

#[test]
fn what_runs_below_a_background_job_receives_the_signals_that_its_shell_ignores() {
    let mut agent = Controller::below(&["sh", "-c", "trap '' HUP INT QUIT USR1; exec \"$@\"", "-"]);
    let script = "sed -n 's/^SigIgn:.//p' /proc/self/status";
    let started = agent.ok(start("clean", &["sh", "-c", script]));
    let set = u64::from_str_radix(started["ready_line"].as_str().unwrap(), 16).unwrap();
    assert_eq!(set & 0x7fff_ffff, 0, "{set:x}");
}

#[test]
fn a_name_in_use_is_refused_and_free_again_after_the_end() {
    let mut agent = Controller::new();
    agent.ok(start("sleeper", &SLEEPER));
    assert_eq!(
        agent.error(start("sleeper", &SLEEPER))["kind"],
        "bad_request"
    );
    stop(&mut agent, "sleeper", 5000);
    agent.ok(start("sleeper", &SLEEPER));
}

#[test]
fn a_port_in_use_is_a_failure_of_that_kind() {
    let mut agent = Controller::new();
    let (_, address) = agent.start_sink("first", &["http", "--listen", "127.0.0.1"]);
    let argv = ["@engine", "sink", "http", "--listen", &address];
    let failure = agent.error(start("second", &argv));
    assert_eq!(failure["kind"], "address_in_use");
    assert!(failure["message"].as_str().unwrap().contains(&address));
    assert_eq!(status(&mut agent, "second")["running"], false);
}

#[test]
fn a_program_that_cannot_start_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "#!/bin/sh\n").unwrap();
    let mut agent = Controller::new();
    let kind =
        |agent: &mut Controller, argv: &[&str]| agent.error(start("x", argv))["kind"].clone();
    assert_eq!(kind(&mut agent, &["/nowhere/program"]), "not_found");
    assert_eq!(
        kind(&mut agent, &[plain.to_str().unwrap()]),
        "permission_denied"
    );
    assert_eq!(kind(&mut agent, &[]), "bad_request");
    let mut request = start("x", &SLEEPER);
    request["directory"] = json!("/nowhere");
    assert_eq!(agent.error(request)["kind"], "not_found");
}

#[test]
fn a_program_that_ends_before_it_is_ready_leaves_its_last_words() {
    let mut agent = Controller::new();
    let script = "echo 'cannot read /etc/conf' >&2; exit 3";
    let failure = agent.error(start("x", &["sh", "-c", script]));
    assert_eq!(failure["kind"], "process_died");
    let message = failure["message"].as_str().unwrap();
    assert!(
        message.contains("exit code 3") && message.contains("/etc/conf"),
        "{message}"
    );
    let script = "echo 'bind: Address already in use' >&2; exit 1";
    let failure = agent.error(start("y", &["sh", "-c", script]));
    assert_eq!(failure["kind"], "address_in_use");
}

#[test]
fn a_program_that_is_never_ready_is_ended() {
    let mut agent = Controller::new();
    let mut request = start("x", &["sh", "-c", "exec sleep 1000"]);
    request["ready_timeout_ms"] = json!(100);
    assert_eq!(agent.error(request)["kind"], "not_ready");
    assert_eq!(status(&mut agent, "x")["running"], false);
}

#[test]
fn environment_and_folder_reach_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut agent = Controller::new();
    let mut request = start("x", &["sh", "-c", "echo $COLOUR $(pwd -P)"]);
    request["environment"] = json!({ "COLOUR": "red" });
    request["directory"] = json!(folder.path());
    let line = agent.ok(request)["ready_line"].clone();
    let path = folder.path().canonicalize().unwrap();
    assert_eq!(line, format!("red {}", path.display()));
}

#[test]
fn output_without_end_is_kept_to_its_tail_and_never_blocks() {
    let mut agent = Controller::new();
    let script = "echo ready; i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done";
    agent.ok(start("talker", &["sh", "-c", script]));
    let state = wait_for("its end", || {
        let state = status(&mut agent, "talker");
        (state["running"] == false).then_some(state)
    });
    let tail = state["stdout_tail"].as_str().unwrap();
    assert!(tail.len() <= 16 * 1024);
    assert!(
        tail.ends_with("line 19999\n"),
        "{}",
        &tail[tail.len().saturating_sub(40)..]
    );
}

#[test]
fn an_unknown_name_is_a_bad_request() {
    let mut agent = Controller::new();
    let failure = agent.error(json!({ "verb": "stop", "name": "absent", "grace_ms": 1 }));
    assert_eq!(failure["kind"], "bad_request");
}

#[test]
fn a_stale_process_is_killed_only_if_it_is_still_the_same() {
    let mut first = Controller::new();
    let started = first.ok(start("sleeper", &SLEEPER));
    let (pid, ticks) = (pid_of(&started), started["start_ticks"].as_u64().unwrap());
    let mut second = Controller::new();
    second.ok(json!({ "verb": "kill_stale", "pid": pid, "start_ticks": ticks + 1 }));
    assert!(is_alive(pid));
    second.ok(json!({ "verb": "kill_stale", "pid": pid, "start_ticks": ticks }));
    wait_until_gone(pid);
    second.ok(json!({ "verb": "kill_stale", "pid": pid, "start_ticks": ticks }));
}

#[test]
fn numbers_and_words_without_measure_do_no_harm() {
    let mut agent = Controller::new();
    let mut request = start("x", &SLEEPER);
    request["ready_timeout_ms"] = json!(u64::MAX);
    agent.ok(request);
    stop(&mut agent, "x", u64::MAX);
    let failure = agent.error(start("y", &["sh", "-c", "\u{0}"]));
    assert_eq!(failure["kind"], "bad_request");
    let stale = json!({ "verb": "kill_stale", "pid": u32::MAX, "start_ticks": 0 });
    assert_eq!(agent.error(stale)["kind"], "bad_request");
}
