//! The connections of one worker, and how far opening them has come.

use std::ops::{Index, IndexMut};

use crate::connection::Connection;

/// Connections on their way at the same time while the run has not begun: more would only show
/// how long the server's backlog is.
const TRIES_AT_ONCE: usize = 64;

/// Connections by place. Place and generation together name one; each reopening is a new generation.
#[derive(Debug)]
pub(super) struct Connections<S> {
    all: Vec<Connection<S>>,
    /// Connections that were there when they were asked for: place, generation, since when.
    there: Vec<(u32, u32, u64)>,
    /// Memory for the next such list.
    spare: Vec<(u32, u32, u64)>,
    /// When the connection was there that the operation of each place began with; 0 for none.
    pub connected_ns: Vec<u64>,
    /// Established now.
    pub established: u32,
    /// Most at the same time in the window.
    pub most_established: u32,
    /// First place that was not tried yet, and tries on their way (only while connecting).
    next_untried: usize,
    trying: usize,
    /// Places whose first try has not ended.
    untried: usize,
}

impl<S> Connections<S> {
    pub fn new(all: Vec<Connection<S>>) -> Self {
        let places = all.len();
        Self {
            all,
            there: Vec::new(),
            spare: Vec::new(),
            connected_ns: vec![0; places],
            established: 0,
            most_established: 0,
            next_untried: 0,
            trying: 0,
            untried: places,
        }
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Connection<S>> {
        self.all.iter()
    }

    /// Whether `place` still has the connection of this generation.
    pub fn is_same(&self, place: usize, generation: u32) -> bool {
        let connection = &self.all[place];
        connection.generation == generation && connection.socket.is_some()
    }

    /// None is opened before an operation needs it.
    pub fn open_on_demand(&mut self) {
        self.untried = 0;
        self.next_untried = self.all.len();
    }

    /// The next place to be tried, unless too many are on their way.
    pub fn next_to_try(&mut self) -> Option<usize> {
        let place = self.next_untried;
        let may = self.trying < TRIES_AT_ONCE && place < self.all.len();
        may.then(|| {
            self.next_untried += 1;
            self.trying += 1;
            place
        })
    }

    /// The first try of `place` has ended.
    pub fn tried(&mut self, place: usize) {
        if !std::mem::replace(&mut self.all[place].tried, true) {
            self.untried -= 1;
            self.trying -= 1;
        }
    }

    /// Whether every place was tried.
    pub fn all_tried(&self) -> bool {
        self.untried == 0
    }

    /// `place` was connected at `at_ns`, when it was asked for.
    pub fn is_there(&mut self, place: usize, at_ns: u64) {
        let generation = self.all[place].generation;
        self.there.push((place as u32, generation, at_ns));
    }

    pub fn has_any_there(&self) -> bool {
        !self.there.is_empty()
    }

    /// Those that were there when they were asked for; to be given back.
    pub fn take_there(&mut self) -> Vec<(u32, u32, u64)> {
        std::mem::replace(&mut self.there, std::mem::take(&mut self.spare))
    }

    /// Gives the memory of [`Self::take_there`] back.
    pub fn give_back(&mut self, list: Vec<(u32, u32, u64)>) {
        self.spare = list;
    }

    /// One more is established.
    pub fn count_established(&mut self) {
        self.established += 1;
        self.most_established = self.most_established.max(self.established);
    }

    /// Closes the connection of `place`, if it has one.
    pub fn close(&mut self, place: usize) {
        self.established -= u32::from(self.all[place].close());
    }
}

impl<S> Index<usize> for Connections<S> {
    type Output = Connection<S>;

    fn index(&self, place: usize) -> &Connection<S> {
        &self.all[place]
    }
}

impl<S> IndexMut<usize> for Connections<S> {
    fn index_mut(&mut self, place: usize) -> &mut Connection<S> {
        &mut self.all[place]
    }
}
