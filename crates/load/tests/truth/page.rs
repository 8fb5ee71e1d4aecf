//! The page of the result must name every word that a result can hold.

use steelyard_load::{Doubt, ErrorKind};
use steelyard_wire::result::LoadResult;

const PAGE: &str = include_str!("../../../../docs/reference/result.md");

fn assert_named(word: &str) {
    assert!(
        PAGE.contains(&format!("`{word}`")),
        "docs/reference/result.md does not name `{word}`"
    );
}

#[test]
fn every_kind_of_failure_is_on_the_page() {
    for kind in ErrorKind::ALL {
        assert_named(kind.word());
    }
}

#[test]
fn every_reason_for_doubt_is_on_the_page() {
    for doubt in Doubt::ALL {
        assert_named(doubt.word());
    }
}

#[test]
fn every_field_is_on_the_page() {
    let schema = serde_json::to_value(schemars::schema_for!(LoadResult)).unwrap();
    let mut names = Vec::new();
    collect_fields(&schema, &mut names);
    assert!(names.len() > 50);
    for name in &names {
        assert_named(name);
    }
}

/// Names of all properties of the result; those of the job have a page of their own.
fn collect_fields(schema: &serde_json::Value, names: &mut Vec<String>) {
    const OF_THE_JOB: &[&str] = &[
        "LoadJob",
        "Mode",
        "Operation",
        "HttpOperation",
        "SmtpOperation",
        "Arrival",
    ];
    let own = schema
        .get("properties")
        .and_then(|fields| fields.as_object());
    names.extend(own.into_iter().flat_map(|fields| fields.keys().cloned()));
    for (name, part) in schema
        .get("$defs")
        .and_then(|defs| defs.as_object())
        .into_iter()
        .flatten()
    {
        if !OF_THE_JOB.contains(&name.as_str()) {
            collect_fields(part, names);
        }
    }
}
