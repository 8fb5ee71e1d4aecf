//! What a machine does and is: counters from `/proc` and `/sys` over time, and its facts.
//!
//! Each reader takes a root folder in the place of `/`, so that tests can build a machine.
//! A counter or fact that the kernel does not offer is `None` with a reason, never 0.

mod battery;
mod cgroup;
mod disk;
mod facts;
mod family;
mod machine;
mod network;
mod parse;
mod path;
mod place;
mod placement;
mod process;
mod reader;
mod sampler;
mod sensor;
mod source;
mod table;
mod tasks;
mod threads;

pub use facts::collect as facts;
pub use path::path_facts;
pub use placement::thread_places;
pub use process::start_ticks;
pub use sampler::{INTERVAL_MS, Sampler, SamplerError};
