//! The same work on several threads at once, timed from the first start to the last end.

use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::Instant;

use crate::KernelError;

const WAIT: u8 = 0;
const GO: u8 = 1;
const GO_HOME: u8 = 2;

/// Runs `work` on each arena, all at once, one of them on the calling thread; seconds.
pub(super) fn together<A: Send>(
    arenas: &mut [A],
    work: impl Fn(&mut A) + Sync,
) -> Result<f64, KernelError> {
    let Some((own, others)) = arenas.split_first_mut() else {
        return Ok(0.0);
    };
    let gate = AtomicU8::new(WAIT);
    let times = thread::scope(|scope| {
        let mut running = Vec::new();
        for arena in others {
            let (gate, work) = (&gate, &work);
            let builder = thread::Builder::new().name("ram".to_owned());
            match builder.spawn_scoped(scope, move || wait(gate).then(|| timed(arena, work))) {
                Ok(handle) => running.push(handle),
                Err(error) => {
                    gate.store(GO_HOME, Ordering::Release);
                    return Err(KernelError::NoThread(error.to_string()));
                }
            }
        }
        gate.store(GO, Ordering::Release);
        let mut times = vec![timed(own, &work)];
        for handle in running {
            match handle.join() {
                Ok(time) => times.extend(time),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(times)
    })?;
    Ok(seconds(&times))
}

/// Whether to go.
fn wait(gate: &AtomicU8) -> bool {
    loop {
        match gate.load(Ordering::Acquire) {
            WAIT => thread::yield_now(),
            signal => return signal == GO,
        }
    }
}

fn timed<A>(arena: &mut A, work: &impl Fn(&mut A)) -> (Instant, Instant) {
    let started = Instant::now();
    work(arena);
    (started, Instant::now())
}

fn seconds(times: &[(Instant, Instant)]) -> f64 {
    let first = times.iter().map(|(start, _)| *start).min();
    let last = times.iter().map(|(_, end)| *end).max();
    let between = first.zip(last).map(|(first, last)| last - first);
    between.map_or(0.0, |duration| duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arena_is_worked_on_once() {
        let mut arenas = [0, 10, 20];
        let seconds = together(&mut arenas, |arena| *arena += 1).unwrap();
        assert_eq!(arenas, [1, 11, 21]);
        assert!(seconds >= 0.0);
    }
}
