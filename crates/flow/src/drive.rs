//! The loop of one thread over its endpoints.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use rustix::io::Result;
use steelyard_net::clock::monotonic_ns;
use steelyard_net::poller::{Event, Interest, Poller};
use steelyard_net::usage::set_timer_slack_ns;

use crate::endpoint::Endpoint;
use crate::report::EndpointReport;
use crate::run::Run;
use crate::step::{NEVER, Step};

/// Between two looks at whether the run has been ended.
const TICK_NS: u64 = 10_000_000;

/// Reported to the caller as the thread passes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    /// The first instant of the window.
    WindowStart,
    /// The first instant after it, or the end of all endpoints if that comes earlier.
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
    endpoints: Vec<Endpoint>,
    run: &'a Run,
    poller: Poller,
    events: Vec<Event>,
    stage: Stage,
    next_tick_ns: u64,
    interval_end_ns: u64,
    border: &'a mut dyn FnMut(Border),
}

/// Moves the bytes of `endpoints` until all are over, and reports them in their order.
///
/// Fails if the system refuses an epoll instance; whatever befalls an endpoint is in its report.
pub fn drive(
    endpoints: Vec<Endpoint>,
    run: &Run,
    border: &mut dyn FnMut(Border),
) -> Result<Vec<EndpointReport>> {
    // Paced endpoints would be 50 µs late otherwise; a kernel that refuses shows in the rate.
    let _ = set_timer_slack_ns(1);
    let poller = Poller::new()?;
    for (index, endpoint) in endpoints.iter().enumerate() {
        poller.add(&endpoint.socket, index as u64, endpoint.interest())?;
    }
    let mut drive = Drive {
        events: Vec::with_capacity(endpoints.len().clamp(1, 256)),
        endpoints,
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
    Ok(drive.endpoints.into_iter().map(Endpoint::report).collect())
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
        for endpoint in &mut self.endpoints {
            if endpoint.ending.is_some() {
                continue;
            }
            if !endpoint.ready && endpoint.due_ns > now_ns {
                open += 1;
                due_ns = due_ns.min(endpoint.due_ns);
                continue;
            }
            open += 1;
            match endpoint.step(self.run) {
                Step::Again => again = true,
                Step::Wait(at_ns) => {
                    endpoint.ready = false;
                    endpoint.due_ns = at_ns;
                    due_ns = due_ns.min(at_ns);
                }
                Step::Over(ending) => endpoint.ending = Some(ending),
            }
        }
        // A single endpoint that can go on needs no events.
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
            let endpoint = &mut self.endpoints[event.data.u64() as usize];
            endpoint.ready = true;
            let flags = event.flags;
            endpoint.hung_up |= flags.intersects(Interest::RDHUP | Interest::HUP | Interest::ERR);
        }
    }

    /// Borders, intervals, and what can end a run.
    fn tick(&mut self, now_ns: u64) {
        let run = self.run;
        let end_ns = run.window_end_ns();
        if self.stage == Stage::Before && now_ns >= run.window_start_ns {
            self.stage = Stage::Window;
            self.interval_end_ns = run.window_start_ns + run.interval_ns;
            self.endpoints.iter_mut().for_each(Endpoint::begin_window);
            (self.border)(Border::WindowStart);
        }
        while self.stage == Stage::Window && now_ns >= self.interval_end_ns.min(end_ns) {
            let inside_ns = self.interval_end_ns.min(end_ns).saturating_sub(1);
            for endpoint in &mut self.endpoints {
                endpoint.end_interval(run, inside_ns.max(run.window_start_ns));
            }
            if now_ns >= end_ns && self.interval_end_ns >= end_ns {
                self.end_window();
            }
            self.interval_end_ns += run.interval_ns;
        }
        if self.stage == Stage::After {
            // Everyone has to look at the clock now.
            self.endpoints
                .iter_mut()
                .for_each(|endpoint| endpoint.ready = true);
        }
        self.report_progress();
        self.next_tick_ns = [run.window_start_ns, self.interval_end_ns, end_ns]
            .into_iter()
            .filter(|border| *border > now_ns)
            .fold(now_ns + TICK_NS, u64::min);
    }

    fn end_window(&mut self) {
        self.stage = Stage::After;
        self.endpoints.iter_mut().for_each(Endpoint::end_window);
        (self.border)(Border::WindowEnd);
    }

    fn report_progress(&mut self) {
        let mut moved = 0;
        for endpoint in &mut self.endpoints {
            moved += endpoint.total_bytes() - endpoint.reported_bytes;
            endpoint.reported_bytes = endpoint.total_bytes();
        }
        self.run.moved_bytes.fetch_add(moved, Relaxed);
    }

    fn finish(&mut self) {
        // Endpoints may have seen the end of the window before a tick did.
        self.tick(monotonic_ns());
        if self.stage == Stage::Window {
            self.end_window();
        }
    }
}
