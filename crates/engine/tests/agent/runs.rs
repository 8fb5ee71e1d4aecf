//! Programs that are run to their end.

use serde_json::{Value, json};
use steelyard_net::clock::monotonic_ns;

use crate::controller::{Controller, children_of, wait_for, wait_until_gone};

fn run(argv: &[&str]) -> Value {
    json!({ "verb": "run", "argv": argv, "timeout_ms": 20_000 })
}

fn shell(script: &str) -> Value {
    run(&["sh", "-c", script])
}

#[test]
fn a_program_gives_its_output_its_exit_code_and_its_cost() {
    let before_ns = monotonic_ns();
    let ran = Controller::new().ok(shell("echo out; echo err >&2; exit 3"));
    assert_eq!(ran["kind"], "ran");
    assert_eq!(
        (&ran["exit_code"], &ran["signal"]),
        (&json!(3), &Value::Null)
    );
    assert_eq!(
        (&ran["stdout"], &ran["stderr"]),
        (&json!("out\n"), &json!("err\n"))
    );
    for flag in [
        "stdout_truncated",
        "stderr_truncated",
        "timed_out",
        "cancelled",
    ] {
        assert_eq!(ran[flag], false, "{flag}");
    }
    let (started, ended) = (
        ran["started_monotonic_ns"].as_u64().unwrap(),
        ran["ended_monotonic_ns"].as_u64().unwrap(),
    );
    assert!(before_ns <= started && started < ended && ended <= monotonic_ns());
    assert!(ran["user_ns"].is_u64() && ran["system_ns"].is_u64());
    assert!(ran["max_rss_bytes"].as_u64().unwrap() > 0);
}

#[test]
fn a_program_reads_what_it_is_given_and_nothing_otherwise() {
    let mut agent = Controller::new();
    assert_eq!(agent.ok(run(&["cat"]))["stdout"], "");
    let text = "a line of many\n".repeat(20_000);
    let mut request = run(&["cat"]);
    request["stdin"] = json!(text);
    request["keep_bytes"] = json!(text.len());
    let ran = agent.ok(request);
    assert_eq!(ran["stdout"].as_str().unwrap().len(), text.len());
    assert_eq!(ran["stdout_truncated"], false);
    let mut request = run(&["true"]);
    request["stdin"] = json!(text);
    assert_eq!(agent.ok(request)["exit_code"], 0, "it need not read");
}

#[test]
fn nothing_of_a_program_is_there_when_its_answer_comes() {
    let mut agent = Controller::new();
    for round in 0..300 {
        agent.ok(run(&["true"]));
        assert_eq!(children_of(agent.pid()), [0; 0], "in round {round}");
    }
}

#[test]
fn environment_folder_and_engine_reach_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut agent = Controller::new();
    let mut request = shell("echo $COLOUR $(pwd -P)");
    request["environment"] = json!({ "COLOUR": "red" });
    request["directory"] = json!(folder.path());
    let path = folder.path().canonicalize().unwrap();
    let said = agent.ok(request)["stdout"].clone();
    assert_eq!(said, format!("red {}\n", path.display()));
    let said = agent.ok(run(&["@engine", "--version"]))["stdout"].clone();
    assert!(said.as_str().unwrap().contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_program_that_is_not_there_is_not_found() {
    let failure = Controller::new().error(run(&["/nowhere/program"]));
    assert_eq!(failure["kind"], "not_found");
    assert!(
        failure["message"]
            .as_str()
            .unwrap()
            .contains("/nowhere/program")
    );
}

#[test]
fn of_long_output_the_end_is_kept_and_the_loss_is_reported() {
    let mut request = shell("i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i+1)); done");
    request["keep_bytes"] = json!(10);
    let ran = Controller::new().ok(request);
    assert_eq!(ran["stdout"], "line 1999\n");
    assert_eq!(ran["stdout_truncated"], true);
    assert_eq!(ran["stderr_truncated"], false);
}

#[test]
fn a_program_that_takes_too_long_is_killed_with_what_it_started() {
    let mut agent = Controller::new();
    let mut request = shell("sleep 1000 & echo $!; wait");
    request["timeout_ms"] = json!(300);
    let ran = agent.ok(request);
    assert_eq!(
        (&ran["timed_out"], &ran["cancelled"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        (&ran["signal"], &ran["exit_code"]),
        (&json!(9), &Value::Null)
    );
    wait_until_gone(ran["stdout"].as_str().unwrap().trim().parse().unwrap());
}

#[test]
fn several_run_at_once_and_all_can_be_cancelled() {
    let mut agent = Controller::new();
    let folder = tempfile::tempdir().unwrap();
    let running: Vec<u64> = (0..5)
        .map(|number| {
            let file = folder.path().join(number.to_string());
            agent.send(shell(&format!("touch {}; exec sleep 1000", file.display())))
        })
        .collect();
    wait_for("five programs at once", || {
        (std::fs::read_dir(folder.path()).unwrap().count() == 5).then_some(())
    });
    let mut waiting = shell("echo never");
    waiting["start_at_monotonic_ns"] = json!(monotonic_ns() + 600_000_000_000);
    let waiting = agent.send(waiting);
    agent.ok(json!({ "verb": "cancel_runs" }));
    for id in running {
        let ran = agent.reply(id)["ok"].clone();
        assert_eq!(
            (&ran["cancelled"], &ran["signal"]),
            (&json!(true), &json!(9))
        );
        assert_eq!(ran["timed_out"], false);
    }
    assert_eq!(children_of(agent.pid()), [0; 0]);
    assert_eq!(agent.reply(waiting)["error"]["kind"], "cancelled");
    assert_eq!(agent.ok(shell("echo again"))["stdout"], "again\n");
}

#[test]
fn a_program_starts_at_its_time_and_never_long_after_it() {
    let mut agent = Controller::new();
    let at_ns = monotonic_ns() + 500_000_000;
    let mut request = run(&["true"]);
    request["start_at_monotonic_ns"] = json!(at_ns);
    let ran = agent.ok(request.clone());
    assert!(ran["started_monotonic_ns"].as_u64().unwrap() >= at_ns);
    request["start_at_monotonic_ns"] = json!(at_ns - 5_000_000_000);
    let failure = agent.error(request);
    assert_eq!(failure["kind"], "late_start");
    assert!(failure["message"].as_str().unwrap().contains("ms ago"));
}

#[test]
fn the_end_of_the_controller_kills_what_runs() {
    let mut agent = Controller::new();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    agent.send(shell(&format!(
        "echo $$ > {}; exec sleep 1000",
        file.display()
    )));
    let pid: u32 = wait_for("its start", || {
        std::fs::read_to_string(&file).ok()?.trim().parse().ok()
    });
    agent.hang_up();
    assert!(agent.wait().success());
    wait_until_gone(pid);
}

#[test]
fn small_files_are_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("setting");
    let mut agent = Controller::new();
    let mut write = json!({ "verb": "write_file", "path": path, "content": "on\n" });
    assert_eq!(agent.error(write.clone())["kind"], "not_found");
    write["create"] = json!(true);
    agent.ok(write);
    let file = agent.ok(json!({ "verb": "read_file", "path": path }));
    assert_eq!(
        file,
        json!({ "kind": "file", "content": "on\n", "exact": true, "size_bytes": 3 })
    );
    let facts = agent.ok(json!({ "verb": "path", "path": path }));
    assert_eq!(
        (&facts["exists"], &facts["size_bytes"]),
        (&json!(true), &json!(3))
    );
}
