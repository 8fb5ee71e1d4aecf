//! Connections by small numbers, so that an event finds its connection without a search.

/// Values in reused places. A token names a place and its use: one of an earlier use finds nothing.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Place<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Slab<T> {
    pub fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Keeps the value and returns its token.
    pub fn insert(&mut self, value: T) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place {
                generation: 0,
                value: None,
            });
            (self.places.len() - 1) as u32
        });
        let place = &mut self.places[index as usize];
        place.value = Some(value);
        u64::from(place.generation) << 32 | u64::from(index)
    }

    pub fn get_mut(&mut self, token: u64) -> Option<&mut T> {
        let place = self.places.get_mut((token & 0xFFFF_FFFF) as usize)?;
        if u64::from(place.generation) != token >> 32 {
            return None;
        }
        place.value.as_mut()
    }

    pub fn remove(&mut self, token: u64) -> Option<T> {
        let index = (token & 0xFFFF_FFFF) as usize;
        let place = self.places.get_mut(index)?;
        if u64::from(place.generation) != token >> 32 {
            return None;
        }
        let value = place.value.take()?;
        // One bit is left out so that no token reaches the numbers kept for the loop itself.
        place.generation = place.generation.wrapping_add(1) & 0x7FFF_FFFF;
        self.free.push(index as u32);
        Some(value)
    }

    /// Tokens of everything kept.
    pub fn tokens(&self) -> Vec<u64> {
        let kept = |(index, place): (usize, &Place<T>)| {
            place
                .value
                .as_ref()
                .map(|_| u64::from(place.generation) << 32 | index as u64)
        };
        self.places.iter().enumerate().filter_map(kept).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_an_earlier_use_finds_nothing() {
        let mut slab = Slab::new();
        let old = slab.insert("old");
        assert_eq!(slab.remove(old), Some("old"));
        let new = slab.insert("new");
        assert_eq!(slab.get_mut(old), None);
        assert_eq!(slab.remove(old), None);
        assert_eq!(slab.get_mut(new), Some(&mut "new"));
        assert_eq!(slab.tokens(), [new]);
    }
}
