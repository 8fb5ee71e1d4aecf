//! One operation on its way, and to which part of the run it belongs.

/// The part of a run that an operation or a connection counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Set-up and warm-up: kept apart.
    Before,
    /// The measuring window.
    Window,
    /// After the window: counts for nothing.
    After,
}

/// The measuring window on the monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First instant inside.
    pub start_ns: u64,
    /// First instant after it; `u64::MAX` while unknown.
    pub end_ns: u64,
}

impl Window {
    /// The part that `at_ns` falls into.
    pub fn part(self, at_ns: u64) -> Part {
        if at_ns < self.start_ns {
            Part::Before
        } else if at_ns < self.end_ns {
            Part::Window
        } else {
            Part::After
        }
    }
}

/// An operation that was sent and is not yet answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// When it was due.
    pub intended_ns: u64,
    /// Just before its first byte (one-connection operations: its connect) was handed to the kernel.
    pub sent_ns: u64,
    /// When its current phase began.
    pub phase_start_ns: u64,
    /// Decided by `intended_ns`.
    pub part: Part,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_holds_its_start_and_not_its_end() {
        let window = Window {
            start_ns: 10,
            end_ns: 20,
        };
        assert_eq!(window.part(9), Part::Before);
        assert_eq!(window.part(10), Part::Window);
        assert_eq!(window.part(19), Part::Window);
        assert_eq!(window.part(20), Part::After);
    }
}
