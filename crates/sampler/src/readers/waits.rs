//! What a thread waits for at one moment: a disk, another thread, or something else.

use std::fs::File;
use std::path::Path;

use crate::kernel_files::source::Source;

/// Of one process: reading more of them would take longer than a row may.
pub(crate) const MOST: usize = 256;

/// One thread. Without its channel a futex is not told from another sleep.
pub(crate) struct Waits {
    stat: Source,
    channel: Option<Source>,
}

/// How many threads wait, and for what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// In a sleep that nothing interrupts: for a disk, nearly always.
    pub(crate) blocked: u64,
    pub(crate) futex: u64,
    /// Asleep, and not told where.
    untold: u64,
    asleep: u64,
}

impl Waiting {
    /// `None` where the kernel keeps from us where threads sleep: it then says `0` of every one.
    pub(crate) fn told_futex(self) -> Option<u64> {
        (self.untold == 0 || self.untold < self.asleep).then_some(self.futex)
    }
}

impl Waits {
    pub(crate) fn open(thread: &Path) -> Option<Self> {
        let open = |name, bytes| {
            let file = File::open(thread.join(name)).ok()?;
            Some(Source::with_capacity(file, bytes))
        };
        Some(Self {
            stat: open("stat", 512)?,
            channel: open("wchan", 128),
        })
    }

    /// Adds this thread to the others.
    pub(crate) fn count(&mut self, waiting: &mut Waiting) {
        match self.stat.read().ok().and_then(state) {
            Some(b'D') => waiting.blocked += 1,
            Some(b'S') => {
                waiting.asleep += 1;
                match self.channel.as_mut().map(Source::read) {
                    Some(Ok(name)) if name.starts_with(b"futex_") => waiting.futex += 1,
                    None | Some(Ok(b"0")) => waiting.untold += 1,
                    Some(_) => {}
                }
            }
            _ => {}
        }
    }
}

/// The letter behind the name, which may itself hold blanks and brackets.
fn state(stat: &[u8]) -> Option<u8> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    stat.get(end + 2).copied()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn waiting(threads: &[(&str, &str)]) -> Waiting {
        let root = tempfile::tempdir().unwrap();
        let mut waiting = Waiting::default();
        for (state, channel) in threads {
            fs::write(root.path().join("stat"), format!("7 (a) b) {state} 1 1\n")).unwrap();
            fs::write(root.path().join("wchan"), channel).unwrap();
            Waits::open(root.path()).unwrap().count(&mut waiting);
        }
        waiting
    }

    #[test]
    fn threads_are_counted_by_what_they_wait_for() {
        let now = waiting(&[
            ("R", "0"),
            ("D", "folio_wait_bit_common"),
            ("S", "futex_do_wait"),
            ("S", "futex_wait_queue_me"),
            ("S", "ep_poll"),
        ]);
        assert_eq!((now.blocked, now.told_futex()), (1, Some(2)));
    }

    #[test]
    fn where_every_sleeper_is_kept_secret_futexes_are_not_known() {
        assert_eq!(
            waiting(&[("S", "0"), ("S", "0"), ("D", "0")]).told_futex(),
            None
        );
        let woken_meanwhile = waiting(&[("S", "0"), ("S", "futex_do_wait")]);
        assert_eq!(woken_meanwhile.told_futex(), Some(1));
        assert_eq!(waiting(&[("R", "0")]).told_futex(), Some(0));
    }
}
