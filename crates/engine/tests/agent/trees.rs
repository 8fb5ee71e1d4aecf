//! Whatever a started process starts in turn ends with the agent, daemons too.

use std::path::Path;

use serde_json::{Value, json};

use crate::controller::{
    Controller, children_of, is_alive, pid_of, signal, start, wait_for, wait_until_gone,
};

/// Leaves its session twice over, as daemons do, and writes its number to a file.
fn daemon(file: &Path) -> String {
    let inner = format!(
        "echo \\$\\$ > {0}.new; mv {0}.new {0}; exec sleep 1000",
        file.display()
    );
    format!("setsid sh -c '(setsid sh -c \"{inner}\" >/dev/null 2>&1 &)' >/dev/null 2>&1")
}

fn number_in(file: &Path) -> u32 {
    wait_for("the daemon", || {
        std::fs::read_to_string(file).ok()?.trim().parse().ok()
    })
}

/// An agent with a daemon whose parents have ended, and one more whose first parent runs.
struct Daemons {
    agent: Controller,
    pids: Vec<u32>,
    _folder: tempfile::TempDir,
}

fn daemons() -> Daemons {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let mut agent = Controller::new();
    let run =
        json!({ "verb": "run", "argv": ["sh", "-c", daemon(&file("run"))], "timeout_ms": 20_000 });
    assert_eq!(agent.ok(run)["exit_code"], 0);
    let script = daemon(&file("ended"));
    agent.ok(json!({ "verb": "start", "name": "ended", "argv": ["sh", "-c", script] }));
    let script = format!("{}; echo ready; exec sleep 1000", daemon(&file("running")));
    let started = agent.ok(start("running", &["sh", "-c", &script]));
    let mut pids: Vec<u32> = ["run", "ended", "running"]
        .map(|name| number_in(&file(name)))
        .into();
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    pids.push(pid_of(&started));
    Daemons {
        agent,
        pids,
        _folder: folder,
    }
}

fn status(agent: &mut Controller, name: &str) -> Value {
    agent.ok(json!({ "verb": "status", "name": name }))
}

#[test]
fn daemons_end_with_the_controller() {
    let mut daemons = daemons();
    daemons.agent.hang_up();
    assert!(daemons.agent.wait().success());
    daemons.pids.into_iter().for_each(wait_until_gone);
}

#[test]
fn daemons_end_with_an_agent_that_gets_sigterm() {
    let mut daemons = daemons();
    signal(daemons.agent.pid(), "TERM");
    assert!(daemons.agent.wait().success());
    daemons.pids.into_iter().for_each(wait_until_gone);
}

#[test]
fn daemons_end_with_an_agent_that_is_killed() {
    let mut daemons = daemons();
    let holders = children_of(daemons.agent.pid());
    assert_eq!(holders.len(), 3);
    signal(daemons.agent.pid(), "KILL");
    daemons.agent.wait();
    daemons
        .pids
        .into_iter()
        .chain(holders)
        .for_each(wait_until_gone);
}

#[test]
fn daemons_end_even_if_their_holders_are_killed() {
    let mut daemons = daemons();
    for holder in children_of(daemons.agent.pid()) {
        signal(holder, "KILL");
        wait_until_gone(holder);
    }
    daemons.pids.iter().copied().for_each(wait_until_gone);
    wait_for("the agent to hear of it", || {
        (status(&mut daemons.agent, "running")["tree_running"] == false).then_some(())
    });
    assert_eq!(children_of(daemons.agent.pid()), Vec::<u32>::new());
    daemons.agent.ok(json!({ "verb": "clock" }));
}

#[test]
fn a_daemon_is_stopped_although_the_process_that_was_started_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let mut agent = Controller::new();
    let argv = ["sh", "-c", &daemon(&folder.path().join("pid"))];
    let request = json!({ "verb": "start", "name": "service", "argv": argv });
    agent.ok(request.clone());
    let pid = number_in(&folder.path().join("pid"));
    let state = wait_for("the end of the first process", || {
        let state = status(&mut agent, "service");
        (state["running"] == false).then_some(state)
    });
    assert_eq!(
        (&state["tree_running"], &state["exit_code"]),
        (&json!(true), &json!(0))
    );
    assert_eq!(
        agent.error(request)["kind"],
        "bad_request",
        "the name is in use"
    );
    let stop = json!({ "verb": "stop", "name": "service", "grace_ms": 20_000 });
    let state = agent.ok(stop);
    assert_eq!(state["tree_running"], false);
    assert!(!is_alive(pid));
    assert!(state["stop_failed"].is_null());
}

#[test]
fn a_service_may_have_a_command_that_stops_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let mut agent = Controller::new();
    let argv = ["sh", "-c", &daemon(&file)];
    agent.ok(json!({ "verb": "start", "name": "service", "argv": argv }));
    let pid = number_in(&file);
    let with = ["sh", "-c", &format!("kill -s HUP {pid}")];
    let stop = json!({ "verb": "stop", "name": "service", "grace_ms": 20_000, "with": with });
    let state = agent.ok(stop);
    assert_eq!(
        (&state["stop_failed"], &state["tree_running"]),
        (&Value::Null, &json!(false))
    );
    assert!(!is_alive(pid));
}

#[test]
fn a_command_that_fails_to_stop_a_service_is_named_and_signals_do_it() {
    let mut agent = Controller::new();
    let started = agent.ok(start(
        "service",
        &["sh", "-c", "echo ready; exec sleep 1000"],
    ));
    let with = ["sh", "-c", "echo no such service >&2; exit 7"];
    let stop = json!({ "verb": "stop", "name": "service", "grace_ms": 20_000, "with": with });
    let state = agent.ok(stop);
    let why = state["stop_failed"].as_str().unwrap();
    assert!(
        why.contains("code 7") && why.contains("no such service"),
        "{why}"
    );
    assert_eq!(state["signal"], 15);
    wait_until_gone(pid_of(&started));
}

#[test]
fn what_a_program_that_takes_too_long_has_started_ends_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let mut agent = Controller::new();
    let script = format!("{}; exec sleep 1000", daemon(&file));
    let run = json!({ "verb": "run", "argv": ["sh", "-c", script], "timeout_ms": 1500 });
    let ran = agent.send(run);
    let pid = number_in(&file);
    assert_eq!(agent.reply(ran)["ok"]["timed_out"], true);
    assert!(!is_alive(pid));
}
