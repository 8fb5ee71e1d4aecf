//! TLS on a connection: from its first byte, or when the protocol asks for it.

use rustix::io::Errno;

use crate::counters::tally::ErrorKind;
use crate::event_loop::connection::{Connection, Next, State};
use crate::event_loop::output::Context;
use crate::protocols::Protocol;

impl<S> Connection<S> {
    /// Has its place now: greets, or agrees on TLS first.
    pub fn begin<P: Protocol<Session = S>>(
        &mut self,
        token: u64,
        cx: &mut Context<P>,
    ) -> Option<Next> {
        self.token = token;
        if cx.secure.as_ref().is_some_and(|secure| secure.implicit) {
            return self.start_tls(cx);
        }
        self.greet(cx)
    }

    fn greet<P: Protocol<Session = S>>(&mut self, cx: &mut Context<P>) -> Option<Next> {
        self.greeted = true;
        let (protocol, mut turn) = cx.turn(self.token);
        let flow = protocol.greet(&mut self.session, &mut turn);
        self.follow(flow, cx)
    }

    /// The word that begins TLS is said: what came with it was not protected and counts for
    /// nothing, or an attacker could inject commands into the protected part (CVE-2011-0411).
    pub(super) fn forget_input<P>(&mut self, cx: &mut Context<P>) {
        if !self.spill.is_empty() {
            cx.tally.error(ErrorKind::TlsInjected);
        }
        self.spill = Vec::new();
        self.fresh = false;
    }

    pub(super) fn start_tls<P>(&mut self, cx: &mut Context<P>) -> Option<Next> {
        let config = cx.secure.as_ref().map(|secure| &secure.config);
        if config.is_none_or(|config| self.link.start_tls(config).is_err()) {
            cx.tally.error(ErrorKind::TlsHandshakeOther);
            return Some(Next::End);
        }
        self.state = State::Handshaking;
        None
    }

    pub(super) fn shake<P: Protocol<Session = S>>(&mut self, cx: &mut Context<P>) -> Option<Next> {
        match self.link.shake(&mut cx.tally) {
            Ok(()) => {
                self.state = State::Serving;
                // More may have come with the end of the handshake.
                self.readable = true;
                if self.greeted {
                    cx.protocol.secured(&mut self.session);
                    return None;
                }
                self.greet(cx)
            }
            Err(Errno::AGAIN) => Some(Next::Wait),
            Err(Errno::INTR) => Some(Next::Yield),
            Err(Errno::PROTO) => Some(Next::End),
            Err(_) => {
                cx.tally.error(ErrorKind::PeerReset);
                Some(Next::End)
            }
        }
    }
}
