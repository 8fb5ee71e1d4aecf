//! The operations that a connection carries: one, or several at once.

use crate::operation::Operation;

/// Operations under way on one connection, each in a lane of its own.
#[derive(Debug)]
pub struct Lanes {
    first: Option<Operation>,
    /// Lanes 1 and up; empty, and without memory of its own, where one is enough.
    more: Box<[Option<Operation>]>,
    busy: u32,
}

impl Lanes {
    /// `count` free lanes, at least one.
    pub fn new(count: usize) -> Self {
        Self {
            first: None,
            more: vec![None; count.saturating_sub(1)].into_boxed_slice(),
            busy: 0,
        }
    }

    /// How many operations are under way.
    pub fn busy(&self) -> u32 {
        self.busy
    }

    /// Whether none is under way.
    pub fn is_empty(&self) -> bool {
        self.busy == 0
    }

    /// The operation in `lane`, to be changed.
    pub fn get_mut(&mut self, lane: usize) -> Option<&mut Operation> {
        self.slot(lane)?.as_mut()
    }

    /// Puts an operation into a free lane.
    pub fn put(&mut self, lane: usize, operation: Operation) {
        if let Some(slot) = self.slot(lane) {
            let before = slot.replace(operation);
            debug_assert!(before.is_none(), "lane {lane} is taken");
            self.busy += 1;
        }
    }

    /// Frees `lane`.
    pub fn take(&mut self, lane: usize) -> Option<Operation> {
        let operation = self.slot(lane)?.take()?;
        self.busy -= 1;
        Some(operation)
    }

    /// Frees the first lane that is taken.
    pub fn take_any(&mut self) -> Option<(usize, Operation)> {
        if self.busy == 0 {
            return None;
        }
        (0..=self.more.len()).find_map(|lane| Some((lane, self.take(lane)?)))
    }

    /// A lane that is free.
    pub fn free(&self) -> Option<usize> {
        if self.first.is_none() {
            return Some(0);
        }
        let position = self.more.iter().position(Option::is_none)?;
        Some(position + 1)
    }

    /// All operations under way.
    pub fn iter(&self) -> impl Iterator<Item = &Operation> {
        self.first.iter().chain(self.more.iter().flatten())
    }

    fn slot(&mut self, lane: usize) -> Option<&mut Option<Operation>> {
        match lane {
            0 => Some(&mut self.first),
            lane => self.more.get_mut(lane - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Part;

    fn operation(intended_ns: u64) -> Operation {
        Operation {
            intended_ns,
            sent_ns: intended_ns,
            phase_start_ns: intended_ns,
            part: Part::Window,
        }
    }

    #[test]
    fn lanes_are_taken_and_freed_one_by_one() {
        let mut lanes = Lanes::new(3);
        for number in 0..3 {
            let lane = lanes.free().unwrap();
            lanes.put(lane, operation(number));
        }
        assert_eq!((lanes.free(), lanes.busy()), (None, 3));
        assert_eq!(lanes.take(1).unwrap().intended_ns, 1);
        assert_eq!((lanes.free(), lanes.take(1)), (Some(1), None));
        assert_eq!(lanes.iter().count(), 2);
        let left: Vec<usize> = std::iter::from_fn(|| lanes.take_any())
            .map(|(lane, _)| lane)
            .collect();
        assert_eq!((left, lanes.is_empty()), (vec![0, 2], true));
    }

    #[test]
    fn one_lane_needs_no_memory_of_its_own() {
        assert!(Lanes::new(1).more.is_empty());
    }
}
