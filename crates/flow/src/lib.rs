//! Both ends of a bulk flow: the loops that move its bytes, and what the ends say to each other.
//!
//! A flow is a connection (TCP) or a pair of connected sockets (UDP). Each of its directions is a
//! lane at both ends. Generator and sink run the same [`drive`] over their lanes and exchange a
//! [`LaneReport`] for each at the end; the words they exchange are in [`handshake`].

mod arrivals;
mod datagram;
mod drive;
pub mod exchange;
pub mod handshake;
mod lane;
mod ledger;
mod pace;
mod report;
mod run;
mod step;
mod tcp;
mod udp;

pub use drive::{Border, drive};
pub use lane::{Lane, lanes, prepare};
pub use ledger::Row;
pub use report::{Datagrams, LaneReport, TcpFacts};
pub use run::{Run, Spec, Transport};
pub use step::Ending;
