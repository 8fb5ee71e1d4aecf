//! Both ends of a bulk flow: the loops that move its bytes, and what the ends say to each other.
//!
//! A flow is a connection (TCP) or a pair of connected sockets (UDP). Each of its directions has an
//! endpoint at both ends. Generator and sink run the same [`drive`] over their endpoints and exchange an
//! [`EndpointReport`] for each at the end; the words they exchange are in [`handshake`].

mod arrivals;
mod datagram;
mod drive;
mod endpoint;
pub mod exchange;
pub mod handshake;
mod ledger;
mod pace;
mod report;
mod run;
mod step;
mod tcp;
mod udp;

pub use drive::{Border, drive};
pub use endpoint::{Endpoint, endpoints, prepare};
pub use ledger::Row;
pub use report::{Datagrams, EndpointReport, TcpFacts};
pub use run::{Run, Spec, Transport};
pub use step::Ending;
