//! The threads of a run: endpoints, probes, and who speaks with the sink.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use rustix::io::Result;
use steelyard_flow::{Border, EndpointReport, Run, drive, endpoints};
use steelyard_net::clock::monotonic_ns;

use super::coordinator;
use super::dial::Call;
use super::probes::Probes;
use super::shared::StreamRun;
use crate::conduct::Work;
use crate::measurement::meter::Meter;
use crate::measurement::recorder::{Recorder, Shape};
use crate::protocols::Protocol;
use crate::protocols::request_response::RequestResponse;
use crate::tls::TlsTally;
use crate::worker::Report;
use crate::worker::control::Control;

/// Between two looks at whether the run begins.
const LOOK: Duration = Duration::from_millis(1);

impl StreamRun<'_> {
    /// The work of every thread; the first also follows the `call`.
    pub fn works<'p>(
        &'p self,
        flows: Vec<OwnedFd>,
        call: Option<Call>,
        probes: Option<&'p Probes>,
    ) -> Vec<Work<'p>> {
        let threads = self.plan.job.threads as usize;
        let mut dealt: Vec<Vec<(u32, OwnedFd)>> = Vec::new();
        dealt.resize_with(threads, Vec::new);
        for (flow, socket) in flows.into_iter().enumerate() {
            dealt[flow % threads].push((flow as u32, socket));
        }
        let mut call = call;
        let mut works: Vec<Work<'p>> = Vec::new();
        for (board, own) in dealt.into_iter().enumerate() {
            let call = call.take();
            works.push(Box::new(move |control| {
                self.work(board, own, call, control)
            }));
        }
        works.extend(probes.map(|probes| probes.work(threads)));
        works
    }

    fn work(
        &self,
        board: usize,
        flows: Vec<(u32, OwnedFd)>,
        call: Option<Call>,
        control: &Control,
    ) -> Result<Report> {
        let flows_here = flows.len() as u32;
        let shown = &control.boards[board];
        shown.connections.store(u64::from(flows_here), Relaxed);
        shown.ever_ready.fetch_add(u64::from(flows_here), Relaxed);
        shown.ready.store(true, Relaxed);
        let Some(run) = self.started(control) else {
            self.moving.fetch_sub(1, Relaxed);
            return Ok(self.report(Meter::default(), 0, 0));
        };
        let mut meter = Meter::default();
        let moved = thread::scope(|scope| {
            // Beside the endpoints, not among them: it sleeps all the time.
            if board == 0 {
                scope.spawn(move || coordinator::follow(self, call, run, control));
            }
            let moved = self.move_bytes(flows, run, &mut meter);
            self.moving.fetch_sub(1, Relaxed);
            moved
        });
        let end_ns = run.window_end_ns().min(monotonic_ns());
        let reports = moved?;
        let established = if reports.is_empty() { 0 } else { flows_here };
        self.add(|all| all.own.extend(reports));
        Ok(self.report(meter, established, end_ns))
    }

    fn move_bytes(
        &self,
        flows: Vec<(u32, OwnedFd)>,
        run: &Run,
        meter: &mut Meter,
    ) -> Result<Vec<EndpointReport>> {
        let ways = (self.spec.to_sink, self.spec.from_sink);
        let mut own = Vec::with_capacity(2 * flows.len());
        for (flow, socket) in flows {
            own.extend(endpoints(socket, flow, self.spec, run, self.tag, ways)?);
        }
        drive(own, run, &mut |border| match border {
            Border::WindowStart => meter.start(),
            Border::WindowEnd => meter.stop(),
        })
    }

    /// The run, as soon as it begins; `None` if it never does.
    fn started(&self, control: &Control) -> Option<&Run> {
        loop {
            if control.stopped() {
                return None;
            }
            if let Some(start_ns) = control.started() {
                let window = control.window();
                return Some(self.run.get_or_init(|| {
                    Run::new(
                        start_ns,
                        window.start_ns,
                        window.end_ns,
                        self.plan.interval_ns,
                        self.plan.job.drain_ns,
                    )
                }));
            }
            thread::sleep(LOOK);
        }
    }

    fn report(&self, meter: Meter, most_established: u32, window_end_ns: u64) -> Report {
        Report {
            // Flows have no operations; the probes' recorder is added to this one.
            recorder: Recorder::new(&Shape {
                phases: RequestResponse::PHASES.len(),
                kinds: 0,
                open_mode: true,
                interval_ns: self.plan.interval_ns,
                logged: self.plan.job.log_file.is_some(),
            }),
            meter,
            tls: TlsTally::default(),
            payload: None,
            mail: None,
            most_established,
            window_end_ns,
        }
    }
}
