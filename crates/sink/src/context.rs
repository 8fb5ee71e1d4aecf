//! What the connections of one event loop share.

use std::sync::Arc;

use crate::protocol::Turn;
use crate::shape::Shape;
use crate::tally::Tally;
use crate::tls::Secure;

/// What the connections of one event loop share.
pub(crate) struct Context<P> {
    pub protocol: P,
    pub tally: Tally,
    pub shape: Arc<Shape>,
    /// TLS, if it can be had.
    pub secure: Option<Secure>,
    /// Silence after which a connection ends.
    pub idle_ns: Option<u64>,
    pub buffer: Vec<u8>,
    pub out: Vec<u8>,
    pub fill: u64,
    /// Times that the protocol has asked for in this call.
    pub alarms: Vec<u64>,
}

impl<P> Context<P> {
    pub fn turn(&mut self, token: u64) -> (&mut P, Turn<'_>) {
        let turn = Turn {
            out: &mut self.out,
            fill: &mut self.fill,
            tally: &mut self.tally,
            shape: &self.shape,
            token,
            alarms: &mut self.alarms,
        };
        (&mut self.protocol, turn)
    }
}
