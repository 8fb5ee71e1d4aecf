//! Load through the agent, against the engine's own sinks.

use serde_json::{Value, json};
use steelyard_net::clock::monotonic_ns;

use crate::controller::{Controller, wait_for};

fn job(target: &str, operation: &Value, duration_ms: u64) -> Value {
    json!({
        "target": target,
        "mode": { "kind": "closed", "users": 2 },
        "operation": operation,
        "duration_ns": duration_ms * 1_000_000,
        "drain_ns": 5_000_000_000_u64,
    })
}

fn http() -> Value {
    json!({ "protocol": "http" })
}

fn count(result: &Value, name: &str) -> u64 {
    result["counts"][name].as_u64().unwrap()
}

/// Every intended operation has exactly one fate, and the sink saw each that was sent.
fn assert_conserved(result: &Value) {
    let fates = count(result, "ok") + count(result, "errors") + count(result, "inflight_at_stop");
    assert_eq!(count(result, "sent"), fates, "{}", result["counts"]);
    let sent = count(result, "unsent") + count(result, "sent");
    assert_eq!(count(result, "intended"), sent, "{}", result["counts"]);
}

#[test]
fn load_on_a_sink_is_answered_and_conserved_and_the_sink_agrees() {
    for (protocol, operation) in [("http", http()), ("smtp", json!({ "protocol": "smtp" }))] {
        let mut agent = Controller::new();
        let (_, address) = agent.start_sink("sink", &[protocol, "--listen", "127.0.0.1"]);
        let target = format!("{protocol}://{address}");
        let job = job(&target, &operation, 300);
        let result = agent.ok(json!({ "verb": "load", "job": job }));
        assert!(count(&result, "ok") > 0, "{}", result["counts"]);
        assert_conserved(&result);
        let stop = json!({ "verb": "stop", "name": "sink", "grace_ms": 20_000 });
        let state = agent.ok(stop);
        let counters: Value = serde_json::from_str(state["stdout_tail"].as_str().unwrap()).unwrap();
        let received = counters["received"].as_u64().unwrap();
        assert!(received >= count(&result, "ok"), "{counters}");
    }
}

#[test]
fn a_cancelled_load_answers_early_and_a_second_one_is_refused_meanwhile() {
    let mut agent = Controller::new();
    let (_, address) = agent.start_sink("sink", &["http", "--listen", "127.0.0.1"]);
    let long = job(&format!("http://{address}/"), &http(), 600_000);
    let id = agent.send(json!({ "verb": "load", "job": long }));
    let refused = wait_for("the load to run", || {
        let failure = agent.error(json!({ "verb": "load", "job": long }));
        (failure["kind"] == "bad_request").then_some(failure)
    });
    assert!(refused["message"].as_str().unwrap().contains("running"));
    agent.ok(json!({ "verb": "cancel_load" }));
    let reply = agent.reply(id);
    if reply["error"].is_null() {
        assert_conserved(&reply["ok"]);
    } else {
        assert_eq!(reply["error"]["kind"], "cancelled");
    }
    agent.ok(json!({ "verb": "cancel_load" }));
}

#[test]
fn a_target_that_is_not_there_is_unreachable() {
    let mut agent = Controller::new();
    let (_, address) = agent.start_sink("sink", &["http", "--listen", "127.0.0.1"]);
    agent.ok(json!({ "verb": "stop", "name": "sink", "grace_ms": 20_000 }));
    let job = job(&format!("http://{address}/"), &http(), 200);
    let failure = agent.error(json!({ "verb": "load", "job": job }));
    assert_eq!(failure["kind"], "unreachable");
    assert!(failure["hint"].is_string());
}

#[test]
fn the_end_of_the_controller_ends_a_running_load() {
    let mut agent = Controller::new();
    let (_, address) = agent.start_sink("sink", &["http", "--listen", "127.0.0.1"]);
    let long = job(&format!("http://{address}/"), &http(), 600_000);
    agent.send(json!({ "verb": "load", "job": long }));
    agent.ok(json!({ "verb": "clock" }));
    agent.hang_up();
    assert!(agent.wait().success());
}

#[test]
fn a_load_begins_its_warmup_at_its_time_and_never_long_after_it() {
    let mut agent = Controller::new();
    let (_, address) = agent.start_sink("sink", &["http", "--listen", "127.0.0.1"]);
    let mut job = job(&format!("http://{address}/"), &http(), 100);
    let at_ns = monotonic_ns() + 500_000_000;
    let warmup_ns = 20_000_000;
    job["warmup_ns"] = json!(warmup_ns);
    job["start_at_monotonic_ns"] = json!(at_ns);
    let result = agent.ok(json!({ "verb": "load", "job": job }));
    let window_ns = result["load"]["window_start_monotonic_ns"]
        .as_u64()
        .unwrap();
    assert_eq!(window_ns, at_ns + warmup_ns);
    assert_conserved(&result);
    job["start_at_monotonic_ns"] = json!(at_ns - 5_000_000_000);
    let failure = agent.error(json!({ "verb": "load", "job": job }));
    assert_eq!(failure["kind"], "late_start");
    assert!(
        failure["message"].as_str().unwrap().contains("ms ago"),
        "{failure}"
    );
}

#[test]
fn the_results_of_two_generators_become_the_result_of_their_load() {
    let mut agent = Controller::new();
    let (_, address) = agent.start_sink("sink", &["http", "--listen", "127.0.0.1"]);
    let mut share = |number: u32| {
        let mut job = job(&format!("http://{address}/"), &http(), 200);
        job["mode"] = json!({ "kind": "closed", "users": 3 });
        job["generator"] = json!({ "number": number, "of": 2 });
        agent.ok(json!({ "verb": "load", "job": job }))
    };
    let parts = [share(1), share(2)];
    let users = parts
        .iter()
        .map(|part| part["load"]["connections_asked"].as_u64());
    assert_eq!(users.collect::<Vec<_>>(), [Some(2), Some(1)]);
    let all = agent.ok(json!({ "verb": "merge_loads", "results": parts }));
    assert_conserved(&all);
    assert_eq!(
        count(&all, "ok"),
        count(&parts[0], "ok") + count(&parts[1], "ok")
    );
    let response = &all["latency_ns"]["response"];
    assert_eq!(response["count"].as_u64(), Some(count(&all, "ok")));
    let failure = agent.error(json!({ "verb": "merge_loads", "results": [parts[0]] }));
    assert_eq!(failure["kind"], "bad_request");
}
