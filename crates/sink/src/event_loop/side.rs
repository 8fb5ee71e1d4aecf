//! Data connections in the event loop.

use std::os::fd::AsFd;

use steelyard_net::poller::READ_WRITE;

use crate::event_loop::Worker;
use crate::event_loop::data_connection::{Progress, Side};
use crate::protocols::Protocol;
use crate::protocols::{Event, Order};

/// Set in the tokens of data connections; the slab never has so many places.
pub(super) const SIDE: u64 = 1 << 31;

impl<P: Protocol> Worker<P> {
    pub(super) fn order(&mut self, owner: u64, order: Order) {
        match order {
            Order::Listen(address) => {
                self.close_side(owner);
                let listening = Side::listen(owner, address).ok();
                let port = listening.and_then(|(side, port)| self.watch(side).then_some(port));
                self.tell(owner, Event::Listening(port));
            }
            Order::Transfer(transfer) => {
                let token = self.side_of(owner);
                match token.and_then(|token| self.sides.get_mut(token)) {
                    Some(side) => {
                        side.begin(transfer);
                        self.pump_side(token.unwrap_or_default());
                    }
                    None => self.tell(owner, Event::Broken),
                }
            }
            Order::Close => self.close_side(owner),
        }
    }

    /// Gives the side a place; `false` if the system refused to watch it.
    fn watch(&mut self, side: Side) -> bool {
        let owner = side.owner;
        let token = self.sides.insert(side);
        let Some(side) = self.sides.get_mut(token) else {
            return false;
        };
        if self.poller.add(&*side, token | SIDE, READ_WRITE).is_err() {
            self.sides.remove(token);
            return false;
        }
        if let Some(connection) = self.connections.get_mut(owner) {
            connection.side = Some(token);
        }
        true
    }

    pub(super) fn pump_side(&mut self, token: u64) {
        let Some(side) = self.sides.get_mut(token) else {
            return;
        };
        let config = self.cx.secure.as_ref().map(|secure| &secure.config);
        match side.pump(config, &mut self.cx.buffer, &mut self.cx.tally) {
            Progress::Wait => {}
            Progress::Yield => self.yielded.push(token | SIDE),
            Progress::Accepted => {
                if self
                    .poller
                    .add(side.as_fd(), token | SIDE, READ_WRITE)
                    .is_ok()
                {
                    self.pump_side(token);
                } else {
                    self.end_side(token, Event::Broken);
                }
            }
            Progress::Ended(event) => self.end_side(token, event),
        }
    }

    fn end_side(&mut self, token: u64, event: Event) {
        if let Some(side) = self.sides.remove(token) {
            let owner = side.owner;
            drop(side);
            if let Some(connection) = self.connections.get_mut(owner) {
                connection.side = None;
            }
            self.tell(owner, event);
        }
    }

    fn tell(&mut self, owner: u64, event: Event) {
        if let Some(connection) = self.connections.get_mut(owner) {
            let next = connection.side_event(event, &mut self.cx);
            self.carry_out(owner, next);
        }
    }

    fn side_of(&mut self, owner: u64) -> Option<u64> {
        self.connections.get_mut(owner)?.side
    }

    pub(super) fn close_side(&mut self, owner: u64) {
        if let Some(connection) = self.connections.get_mut(owner)
            && let Some(token) = connection.side.take()
        {
            self.sides.remove(token);
        }
    }
}
