//! The pages of the reference know every word of the documents.

use std::collections::BTreeSet;

use serde_json::Value;

const AGENT: &str = include_str!("../../../../docs/reference/agent.md");

/// Every fixed word of a schema: tags, kinds, field names of nothing else.
fn words(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("const", Value::String(word)) => {
                        found.insert(word.clone());
                    }
                    ("enum", Value::Array(values)) => {
                        found.extend(values.iter().filter_map(Value::as_str).map(str::to_owned));
                    }
                    _ => words(value, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| words(value, found)),
        _ => {}
    }
}

/// Words of load jobs and results, which have a page of their own.
fn words_of_load() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (name, schema) in steelyard_wire::schema::all() {
        if name.starts_with("load-") {
            words(schema.as_value(), &mut found);
        }
    }
    found
}

#[test]
fn every_verb_answer_and_failure_is_in_the_page() {
    let mut found = BTreeSet::new();
    for (name, schema) in steelyard_wire::schema::all() {
        if name.starts_with("agent-") {
            words(schema.as_value(), &mut found);
        }
    }
    assert!(
        found.contains("drop_caches") && found.contains("disk_full"),
        "{found:?}"
    );
    for word in found.difference(&words_of_load()) {
        assert!(
            AGENT.contains(&format!("`{word}`")),
            "{word} is not in agent.md"
        );
    }
}

const LOAD: &str = include_str!("../../../../docs/reference/load.md");

#[test]
fn every_job_on_the_page_is_one_that_the_engine_reads() {
    let blocks = LOAD.split("```json\n").skip(1);
    let jobs: Vec<&str> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert!(jobs.len() >= 2, "{jobs:?}");
    for job in jobs {
        let read: Result<steelyard_wire::job::LoadJob, _> = serde_json::from_str(job);
        assert!(read.is_ok(), "{read:?}\n{job}");
    }
}
