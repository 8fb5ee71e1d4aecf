//! JSON schemas of everything that crosses the boundary, for Python and for users' own tools.

use schemars::{Schema, schema_for};

/// Name and schema of every document; written to `schemas/NAME.schema.json`.
pub fn all() -> Vec<(&'static str, Schema)> {
    vec![
        ("load-job", schema_for!(crate::job::LoadJob)),
        ("load-result", schema_for!(crate::result::LoadResult)),
        ("load-probe-line", schema_for!(crate::probe::ProbeLine)),
        ("linpack-result", schema_for!(crate::kernel::LinpackResult)),
        (
            "reference-result",
            schema_for!(crate::kernel::ReferenceResult),
        ),
        ("ram-result", schema_for!(crate::kernel::RamResult)),
        ("load-find-job", schema_for!(crate::find::FindJob)),
        ("load-find-result", schema_for!(crate::find::FindResult)),
        ("sample-job", schema_for!(crate::sample::SampleJob)),
        ("samples", schema_for!(crate::sample::Samples)),
        ("facts", schema_for!(crate::facts::Facts)),
        ("agent-request", schema_for!(crate::agent::Request)),
        ("agent-reply", schema_for!(crate::agent::Reply)),
    ]
}
