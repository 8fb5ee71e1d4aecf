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
    let told = samples["columns"].get("disk.store.writes").is_some();
    assert!(told || samples["missing"].get("disk.store").is_some());
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
