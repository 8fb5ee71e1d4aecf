//! The loop of one thread over its lanes.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rustix::io::Result;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::poller::{Event, Interest, Poller};
use steelyard_net::usage::set_timer_slack_ns;

use crate::lane::Lane;
use crate::report::LaneReport;
use crate::run::Run;
use crate::step::{NEVER, Step};

/// Between two looks at whether the run has been ended.
const TICK_NS: u64 = 10_000_000;

/// Told to the caller as the thread passes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    /// The first instant of the window.
    WindowStart,
    /// The first instant after it, or the end of all lanes if that comes earlier.
    WindowEnd,
}

/// Where a thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    Window,
    After,
}

struct Drive<'a> {
    lanes: Vec<Lane>,
    run: &'a Run,
    poller: Poller,
    events: Vec<Event>,
    stage: Stage,
    next_tick_ns: u64,
    interval_end_ns: u64,
    border: &'a mut dyn FnMut(Border),
}

/// Moves the bytes of `lanes` until all are over, and reports them in their order.
///
/// Fails if the system refuses an epoll instance; whatever befalls a lane is in its report.
pub fn drive(
    lanes: Vec<Lane>,
    run: &Run,
    border: &mut dyn FnMut(Border),
) -> Result<Vec<LaneReport>> {
    // Paced lanes would be 50 µs late otherwise; a kernel that refuses shows in the rate.
    let _ = set_timer_slack_ns(1);
    let poller = Poller::new()?;
    for (index, lane) in lanes.iter().enumerate() {
        poller.add(&lane.socket, index as u64, lane.interest())?;
    }
    let mut drive = Drive {
        events: Vec::with_capacity(lanes.len().clamp(1, 256)),
        lanes,
        run,
        poller,
        stage: Stage::Before,
        next_tick_ns: 0,
        interval_end_ns: NEVER,
        border,
    };
    drive.wait_for_start();
    while drive.round() {}
    drive.finish();
    Ok(drive.lanes.into_iter().map(Lane::report).collect())
}

impl Drive<'_> {
    fn wait_for_start(&mut self) {
        loop {
            let now_ns = monotonic_ns();
            if now_ns >= self.run.start_ns || self.run.is_abandoned() {
                return;
            }
            let left_ns = (self.run.start_ns - now_ns).min(TICK_NS);
            std::thread::sleep(Duration::from_nanos(left_ns));
        }
    }

    /// Everything that can be done now, then a wait; `false` when all is over.
    fn round(&mut self) -> bool {
        let now_ns = monotonic_ns();
        if now_ns >= self.next_tick_ns {
            self.tick(now_ns);
        }
        if self.run.is_abandoned() {
            return false;
        }
        let (mut again, mut due_ns, mut open) = (false, self.next_tick_ns, 0);
        for lane in &mut self.lanes {
            if lane.ending.is_some() {
                continue;
            }
            if !lane.ready && lane.due_ns > now_ns {
                open += 1;
                due_ns = due_ns.min(lane.due_ns);
                continue;
            }
            open += 1;
            match lane.step(self.run) {
                Step::Again => again = true,
                Step::Wait(at_ns) => {
                    lane.ready = false;
                    lane.due_ns = at_ns;
                    due_ns = due_ns.min(at_ns);
                }
                Step::Over(ending) => lane.ending = Some(ending),
            }
        }
        // A single lane that can go on needs no events.
        if open > 0 && !(again && open == 1) {
            self.wait(if again { 0 } else { due_ns });
        }
        open > 0
    }

    fn wait(&mut self, until_ns: u64) {
        let left_ns = match until_ns {
            0 => 0,
            until_ns => until_ns.saturating_sub(monotonic_ns()),
        };
        // A refused wait would be a defect of this loop; the run then ends by its deadlines.
        let _ = self
            .poller
            .wait(&mut self.events, Some(Duration::from_nanos(left_ns)));
        for event in &self.events {
            let lane = &mut self.lanes[event.data.u64() as usize];
            lane.ready = true;
            let flags = event.flags;
            lane.hung_up |= flags.intersects(Interest::RDHUP | Interest::HUP | Interest::ERR);
        }
    }

    /// Borders, intervals, and what can end a run.
    fn tick(&mut self, now_ns: u64) {
        let run = self.run;
        let end_ns = run.window_end_ns();
        if self.stage == Stage::Before && now_ns >= run.window_start_ns {
            self.stage = Stage::Window;
            self.interval_end_ns = run.window_start_ns + run.interval_ns;
            self.lanes.iter_mut().for_each(Lane::begin_window);
            (self.border)(Border::WindowStart);
        }
        while self.stage == Stage::Window && now_ns >= self.interval_end_ns.min(end_ns) {
            let inside_ns = self.interval_end_ns.min(end_ns).saturating_sub(1);
            for lane in &mut self.lanes {
                lane.end_interval(run, inside_ns.max(run.window_start_ns));
            }
            if now_ns >= end_ns && self.interval_end_ns >= end_ns {
                self.end_window();
            }
            self.interval_end_ns += run.interval_ns;
        }
        if self.stage == Stage::After {
            // Everyone has to look at the clock now.
            self.lanes.iter_mut().for_each(|lane| lane.ready = true);
        }
        self.tell_progress();
        self.next_tick_ns = [run.window_start_ns, self.interval_end_ns, end_ns]
            .into_iter()
            .filter(|border| *border > now_ns)
            .fold(now_ns + TICK_NS, u64::min);
    }

    fn end_window(&mut self) {
        self.stage = Stage::After;
        self.lanes.iter_mut().for_each(Lane::end_window);
        (self.border)(Border::WindowEnd);
    }

    fn tell_progress(&mut self) {
        let mut moved = 0;
        for lane in &mut self.lanes {
            moved += lane.total_bytes() - lane.told_bytes;
            lane.told_bytes = lane.total_bytes();
        }
        self.run.moved_bytes.fetch_add(moved, Relaxed);
    }

    fn finish(&mut self) {
        // Lanes may have seen the end of the window before a tick did.
        self.tick(monotonic_ns());
        if self.stage == Stage::Window {
            self.end_window();
        }
    }
}
