//! The page of the result must name every word that a result can hold.

use std::collections::BTreeSet;

use steelyard_load::ErrorKind;
use steelyard_wire::job::LoadJob;
use steelyard_wire::result::{LoadResult, WarningKind};

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
fn every_kind_of_warning_is_on_the_page() {
    let kinds = schemars::schema_for!(WarningKind).to_value();
    let kinds = kinds["oneOf"].as_array().unwrap();
    assert!(kinds.len() > 10);
    for kind in kinds {
        assert_named(kind["properties"]["kind"]["const"].as_str().unwrap());
    }
}

#[test]
fn every_field_is_on_the_page() {
    let all = fields(&schemars::schema_for!(LoadResult));
    // Those of the job have a page of their own.
    let of_the_job = fields(&schemars::schema_for!(LoadJob));
    let own: Vec<&String> = all.difference(&of_the_job).collect();
    assert!(own.len() > 50);
    for name in own {
        assert_named(name);
    }
}

/// Names of all properties of a document.
fn fields(schema: &schemars::Schema) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect_fields(schema.as_value(), &mut names);
    names
}

fn collect_fields(schema: &serde_json::Value, names: &mut BTreeSet<String>) {
    let members = |key: &str| schema.get(key).and_then(serde_json::Value::as_object);
    for (name, part) in members("properties").into_iter().flatten() {
        names.insert(name.clone());
        collect_fields(part, names);
    }
    for (_, part) in members("$defs").into_iter().flatten() {
        collect_fields(part, names);
    }
    let variants = schema.get("oneOf").and_then(serde_json::Value::as_array);
    for part in variants.into_iter().flatten() {
        collect_fields(part, names);
    }
}
