//! What crosses a process boundary: jobs, results, samples, facts and agent messages.
//!
//! Everything here is plain data with units in its names. Python reads the same documents
//! through the JSON schemas that [`schema::all`] generates into `schemas/`.

pub mod agent;
pub mod facts;
pub mod file;
pub mod find;
pub mod job;
pub mod kernel;
pub mod listening;
pub mod probe;
pub mod process;
pub mod result;
pub mod sample;
pub mod schema;

/// Version of the agent's messages; both ends must name the same one.
pub const AGENT_PROTOCOL: u32 = 1;

/// Name and version of the result document of `load --json`.
pub const RESULT_SCHEMA: &str = "steelyard.load.result/2";

/// Name and version of the result document of `load --find --json`.
pub const FIND_SCHEMA: &str = "steelyard.load.find/1";
