//! Sampling through the agent.

use serde_json::json;

use crate::controller::Controller;

#[test]
fn sampling_follows_the_agent_itself_and_gives_its_rows() {
    let folder = tempfile::tempdir().unwrap();
    let mut agent = Controller::new();
    let processes = json!({ "agent": agent.pid() });
    let disks = json!({ "store": folder.path() });
    let job = json!({ "interval_ms": 100, "processes": processes, "disks": disks });
    agent.ok(json!({ "verb": "sample_start", "job": job }));
    let again = agent.error(json!({ "verb": "sample_start", "job": job }));
    assert_eq!(again["kind"], "bad_request");
    let samples = agent.ok(json!({ "verb": "sample_stop" }));
    let rows = samples["monotonic_ns"].as_array().unwrap().len();
    assert!(rows >= 2);
    let cells = samples["columns"]["process.agent.cpu_ns"]
        .as_array()
        .unwrap();
    assert_eq!(cells.len(), rows);
    assert!(cells.iter().all(serde_json::Value::is_u64));
    let known = samples["columns"].get("disk.store.writes").is_some();
    assert!(known || samples["missing"].get("disk.store").is_some());
    let nothing = agent.error(json!({ "verb": "sample_stop" }));
    assert_eq!(nothing["kind"], "bad_request");
}

#[test]
fn an_interval_out_of_bounds_is_a_bad_request() {
    let job = json!({ "interval_ms": 1 });
    let failure = Controller::new().error(json!({ "verb": "sample_start", "job": job }));
    assert_eq!(failure["kind"], "bad_request");
    assert!(failure["message"].as_str().unwrap().contains("100 ms"));
}

#[test]
fn threads_and_a_control_group_are_sampled_and_what_is_neither_is_missing() {
    let mut agent = Controller::new();
    let places = agent.ok(json!({ "verb": "thread_places", "pid": agent.pid() }));
    let own = places["threads"].as_array().unwrap();
    assert!(own.iter().any(|thread| thread["id"] == agent.pid()));
    let threads = json!({
        "own": { "process": agent.pid(), "ids": [agent.pid()] },
        "gone": { "process": agent.pid(), "ids": [u32::MAX] },
    });
    let cgroups = json!({ "none": "/proc/self" });
    let job = json!({ "interval_ms": 100, "threads": threads, "cgroups": cgroups });
    agent.ok(json!({ "verb": "sample_start", "job": job }));
    let samples = agent.ok(json!({ "verb": "sample_stop" }));
    assert_eq!(samples["columns"]["threads.own.threads"][0], 1);
    assert!(samples["columns"]["threads.own.cpu_ns"][0].is_u64());
    assert!(samples["missing"]["threads.gone"].is_string());
    assert!(samples["missing"]["cgroup.none"].is_string());
}

#[test]
fn the_threads_of_a_process_that_is_not_there_are_not_found() {
    let failure = Controller::new().error(json!({ "verb": "thread_places", "pid": u32::MAX }));
    assert_eq!(failure["kind"], "not_found");
}
