//! What a machine does and is: counters from `/proc` and `/sys` over time, and its facts.
//!
//! Each reader takes a root folder in the place of `/`, so that tests can build a machine.
//! A counter or fact that the kernel does not offer is `None` with a reason, never 0.

mod facts;
mod kernel_files;
mod netlink;
mod path;
mod placement;
mod readers;
mod sampler;
mod table;

pub use facts::collect as facts;
pub use path::path_facts;
pub use placement::thread_places;
pub use readers::process::start_ticks;
pub use sampler::{INTERVAL_MS, Sampler, SamplerError};
