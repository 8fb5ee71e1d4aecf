//! A sink in a thread, and what it says when it ends.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::thread::JoinHandle;

use steelyard_sink::{Protocol, SinkCounters, SinkError, SinkOptions, StopHandle, serve};

pub struct Running {
    pub address: SocketAddr,
    stop: StopHandle,
    thread: JoinHandle<Result<SinkCounters, SinkError>>,
}

/// Options for a free port on loopback.
pub fn options(protocol: Protocol) -> SinkOptions {
    SinkOptions::new(protocol, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
}

pub fn http() -> Running {
    start(options(Protocol::Http))
}

pub fn smtp() -> Running {
    start(options(Protocol::Smtp))
}

pub fn start(options: SinkOptions) -> Running {
    let stop = StopHandle::new().unwrap();
    let (sender, bound) = mpsc::channel();
    let handle = stop.clone();
    let thread =
        std::thread::spawn(move || serve(&options, &handle, |at| sender.send(at).unwrap()));
    let Ok(at) = bound.recv() else {
        panic!("{}", thread.join().unwrap().unwrap_err());
    };
    // A path has no address; its tests know the path.
    let address = at.tcp().unwrap_or(([0, 0, 0, 0], 0).into());
    Running {
        address,
        stop,
        thread,
    }
}

impl Running {
    pub fn pull(&self) {
        self.stop.stop();
    }

    /// Stops and returns the counters, which must obey the conservation law.
    pub fn finish(self) -> SinkCounters {
        self.stop.stop();
        let counters = self.thread.join().unwrap().unwrap();
        let answered = counters.ok + counters.failed + counters.unanswered;
        assert_eq!(counters.received, answered, "{counters:?}");
        counters
    }
}
