//! What goes out over a side channel: a head, then one page over and over, never copied.

use steelyard_net::clock::monotonic_ns;
use steelyard_net::socket;
use steelyard_net::stream;

use super::Worker;
use super::drive::Input;
use crate::connection::side::{Sending, SideState};
use crate::fault::ErrorKind;
use crate::protocols::{Protocol, SideEvent};

/// Calls before others have their turn.
const CALLS_AT_ONCE: usize = 64;

/// The same where each call has bytes to encrypt.
const CALLS_AT_ONCE_SECURED: usize = 16;

/// Clear text that is encrypted at once.
const TLS_BYTES: usize = 64 * 1024;

/// How a try to send has ended.
enum Sent {
    /// The kernel takes no more for now, or others have their turn.
    Later,
    /// It has had its share.
    Rest,
    /// Everything is gone.
    All,
}

impl<P: Protocol> Worker<'_, P> {
    /// The machine lets a side channel send.
    pub(super) fn start_sending(&mut self, place: usize, now_ns: u64) {
        let (_, page_left) = self.protocol.side_output(&self.connections[place].session);
        let Some(side) = self.sides.open[place].as_deref_mut() else {
            // It has failed meanwhile, and the machine knows.
            return;
        };
        side.sending = Some(Sending {
            head_at: 0,
            page_at: 0,
            page_left,
        });
        if let Some(bucket) = &mut side.bucket {
            *bucket = bucket.renewed(now_ns);
        }
        let generation = side.generation;
        self.send_side(place, generation);
    }

    /// Sends what there is to send, as far as it goes.
    pub(super) fn send_side(&mut self, place: usize, generation: u32) {
        let Some(side) = self.sides.get_mut(place, generation) else {
            return;
        };
        let outcome = if side.secure {
            self.send_side_secured(place)
        } else {
            self.send_side_clear(place)
        };
        let now_ns = monotonic_ns();
        match outcome {
            Ok(None) => self.watch_side(place, generation, true, false),
            Ok(Some(Sent::Later)) => self.watch_side(place, generation, true, true),
            Ok(Some(Sent::Rest)) => self.rest_side(place, generation),
            Ok(Some(Sent::All)) => self.side_sent(place, now_ns),
            Err(kind) => self.fail_side(place, kind, now_ns),
        }
    }

    fn side_sent(&mut self, place: usize, now_ns: u64) {
        let Some(side) = self.sides.open[place].as_deref_mut() else {
            return;
        };
        if side.secure {
            // What the peer still says must be read, or closing would throw away what was sent.
            side.state = SideState::SentAll;
            side.sending = None;
            let ended = socket::end_sending(&side.socket);
            let generation = side.generation;
            if let Err(errno) = ended {
                return self.fail_side(place, ErrorKind::from(errno), now_ns);
            }
            self.watch_side(place, generation, true, false);
        } else {
            self.sides.close(place);
        }
        self.step(place, now_ns, &Input::Side(SideEvent::SentAll));
    }

    fn send_side_clear(&mut self, place: usize) -> Result<Option<Sent>, ErrorKind> {
        let Self {
            sides,
            protocol,
            connections,
            ..
        } = self;
        let Some(side) = sides.open[place].as_deref_mut() else {
            return Ok(None);
        };
        let Some(sending) = &mut side.sending else {
            return Ok(None);
        };
        let (head, _) = protocol.side_output(&connections[place].session);
        let page = protocol.shared();
        let mut gone = 0;
        let mut outcome = Sent::Later;
        for _ in 0..CALLS_AT_ONCE {
            if sending.is_over(head.len()) {
                outcome = Sent::All;
                break;
            }
            let most = match &mut side.bucket {
                None => usize::MAX,
                Some(bucket) => bucket.allowed(monotonic_ns()),
            };
            let head_left = &head[sending.head_at..];
            let next = sending.next_of(page, most.saturating_sub(head_left.len()));
            if most == 0 {
                outcome = Sent::Rest;
                break;
            }
            let count = stream::send_both(&side.socket, head_left, next)?;
            sending.advance(count, head.len(), page.len());
            if let Some(bucket) = &mut side.bucket {
                bucket.take(count);
            }
            gone += count;
            if count < head_left.len() + next.len() && !sending.is_over(head.len()) {
                break;
            }
        }
        self.count_out(gone);
        Ok(Some(outcome))
    }

    fn send_side_secured(&mut self, place: usize) -> Result<Option<Sent>, ErrorKind> {
        let mut gone = 0;
        let outcome = self.encrypt_and_send(place, &mut gone);
        self.count_out(gone);
        outcome
    }

    fn encrypt_and_send(
        &mut self,
        place: usize,
        gone: &mut usize,
    ) -> Result<Option<Sent>, ErrorKind> {
        let Self {
            sides,
            protocol,
            connections,
            ..
        } = self;
        let Some(side) = sides.open[place].as_deref_mut() else {
            return Ok(None);
        };
        let Some(tls) = &mut side.tls else {
            return Ok(None);
        };
        let (head, _) = protocol.side_output(&connections[place].session);
        let page = protocol.shared();
        for _ in 0..CALLS_AT_ONCE_SECURED {
            tls.encrypted_into(&mut side.encrypted);
            if !side.encrypted.is_empty() {
                let count = stream::send_both(&side.socket, &side.encrypted, &[])?;
                side.encrypted.drain(..count);
                *gone += count;
                if !side.encrypted.is_empty() {
                    return Ok(Some(Sent::Later));
                }
            }
            let Some(sending) = &mut side.sending else {
                return Ok(None);
            };
            if sending.is_over(head.len()) {
                if !tls.says_close() {
                    tls.say_close();
                    continue;
                }
                return Ok(Some(Sent::All));
            }
            let most = match &mut side.bucket {
                None => TLS_BYTES,
                Some(bucket) => bucket.allowed(monotonic_ns()).min(TLS_BYTES),
            };
            if most == 0 {
                return Ok(Some(Sent::Rest));
            }
            let head_left = &head[sending.head_at..];
            let next = sending.next_of(page, most.saturating_sub(head_left.len()));
            tls.write(head_left);
            tls.write(next);
            let count = head_left.len() + next.len();
            sending.advance(count, head.len(), page.len());
            if let Some(bucket) = &mut side.bucket {
                bucket.take(count);
            }
        }
        Ok(Some(Sent::Later))
    }

    /// Answers the peer's good-bye, so that it need not think of a truncation.
    pub(super) fn say_side_close(&mut self, place: usize, generation: u32) {
        let Some(side) = self.sides.get_mut(place, generation) else {
            return;
        };
        if let Some(tls) = &mut side.tls {
            tls.say_close();
            tls.encrypted_into(&mut side.encrypted);
            // A courtesy: who does not get it sees the end all the same.
            let _ = stream::send_both(&side.socket, &side.encrypted, &[]);
        }
    }
}
