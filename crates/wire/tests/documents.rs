//! The documents in `tests/wire/` are read here and by Python: neither side can drift alone.
#![allow(
    clippy::unwrap_used,
    reason = "a document that cannot be read is what these tests find"
)]

use serde::de::DeserializeOwned;
use steelyard_wire::agent::{Reply, Request};
use steelyard_wire::result::LoadResult;

fn round_trip<T: DeserializeOwned + serde::Serialize>(document: &str) {
    let original: serde_json::Value = serde_json::from_str(document).unwrap();
    let read: T = serde_json::from_value(original.clone()).unwrap();
    let written = serde_json::to_value(&read).unwrap();
    assert_contains(&written, &original);
}

/// Everything of `part` stands in `whole`, which may have defaults filled in.
fn assert_contains(whole: &serde_json::Value, part: &serde_json::Value) {
    match (whole, part) {
        (serde_json::Value::Object(whole), serde_json::Value::Object(part)) => {
            for (key, value) in part {
                assert_contains(&whole[key], value);
            }
        }
        _ => assert_eq!(whole, part),
    }
}

#[test]
fn a_stored_load_result_is_read_without_loss() {
    round_trip::<LoadResult>(include_str!("../../../tests/wire/load-result.json"));
}

#[test]
fn every_request_that_python_sends_is_read_without_loss() {
    for line in include_str!("../../../tests/wire/agent-requests.jsonl").lines() {
        round_trip::<Request>(line);
    }
}

#[test]
fn every_reply_that_python_reads_is_written_so() {
    for line in include_str!("../../../tests/wire/agent-replies.jsonl").lines() {
        round_trip::<Reply>(line);
    }
}
