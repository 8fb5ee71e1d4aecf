//! The operations that a connection carries: one, or several at once.

use crate::measurement::operation::Operation;

/// Operations under way on one connection, each in a slot of its own.
#[derive(Debug)]
pub struct Slots {
    first: Option<Operation>,
    /// Slots 1 and up; empty, and without memory of its own, where one is enough.
    more: Box<[Option<Operation>]>,
    busy: u32,
}

impl Slots {
    /// `count` free slots, at least one.
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

    /// The operation in `slot`, to be changed.
    pub fn get_mut(&mut self, slot: usize) -> Option<&mut Operation> {
        self.entry(slot)?.as_mut()
    }

    /// Puts an operation into a free slot.
    pub fn put(&mut self, slot: usize, operation: Operation) {
        if let Some(entry) = self.entry(slot) {
            let before = entry.replace(operation);
            debug_assert!(before.is_none(), "slot {slot} is taken");
            self.busy += 1;
        }
    }

    /// Frees `slot`.
    pub fn take(&mut self, slot: usize) -> Option<Operation> {
        let operation = self.entry(slot)?.take()?;
        self.busy -= 1;
        Some(operation)
    }

    /// Frees the first slot that is taken.
    pub fn take_any(&mut self) -> Option<(usize, Operation)> {
        if self.busy == 0 {
            return None;
        }
        (0..=self.more.len()).find_map(|slot| Some((slot, self.take(slot)?)))
    }

    /// A slot that is free.
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

    fn entry(&mut self, slot: usize) -> Option<&mut Option<Operation>> {
        match slot {
            0 => Some(&mut self.first),
            slot => self.more.get_mut(slot - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::operation::Part;

    fn operation(intended_ns: u64) -> Operation {
        Operation {
            intended_ns,
            sent_ns: intended_ns,
            phase_start_ns: intended_ns,
            part: Part::Window,
        }
    }

    #[test]
    fn slots_are_taken_and_freed_one_by_one() {
        let mut slots = Slots::new(3);
        for number in 0..3 {
            let slot = slots.free().unwrap();
            slots.put(slot, operation(number));
        }
        assert_eq!((slots.free(), slots.busy()), (None, 3));
        assert_eq!(slots.take(1).unwrap().intended_ns, 1);
        assert_eq!((slots.free(), slots.take(1)), (Some(1), None));
        assert_eq!(slots.iter().count(), 2);
        let left: Vec<usize> = std::iter::from_fn(|| slots.take_any())
            .map(|(slot, _)| slot)
            .collect();
        assert_eq!((left, slots.is_empty()), (vec![0, 2], true));
    }

    #[test]
    fn one_slot_needs_no_memory_of_its_own() {
        assert!(Slots::new(1).more.is_empty());
    }
}
