//! A sink in this process.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use steelyard_sink::{Listen, SinkCounters, SinkOptions, StopHandle, serve};

/// Serves until it is dropped or asked for its counters.
pub struct Sink {
    pub address: SocketAddr,
    pub stop: StopHandle,
    thread: Option<JoinHandle<SinkCounters>>,
}

impl Sink {
    /// With what `options` makes of an address of the loopback interface.
    pub fn start(options: impl FnOnce(Listen) -> SinkOptions) -> Self {
        let stop = StopHandle::new().unwrap();
        let (bound, address) = mpsc::channel();
        let own = stop.clone();
        let options = options(Listen::Tcp("127.0.0.1:0".parse().unwrap()));
        let thread =
            thread::spawn(move || serve(&options, &own, |at| bound.send(at).unwrap()).unwrap());
        let Listen::Tcp(address) = address.recv().unwrap() else {
            unreachable!("a port was asked for")
        };
        Self {
            address,
            stop,
            thread: Some(thread),
        }
    }

    pub fn counters(mut self) -> SinkCounters {
        self.stop.stop();
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.stop.stop();
    }
}
