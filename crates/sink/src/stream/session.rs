//! One run of a generator: its flows, its window, and what was counted.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::io::Errno;
use steelyard_flow::handshake::{Line, Lines};
use steelyard_flow::{Border, Endpoint, EndpointReport, Run, Spec, drive, endpoints, prepare};
use steelyard_net::clock::monotonic_ns;
use steelyard_net::usage::{CpuTime, thread_cpu};

use super::{Hall, locked, refuse};

/// Between two looks at whether the endpoints are over.
const LOOK: Duration = Duration::from_millis(10);

/// A generator that says nothing for so long before it begins is gone.
const PATIENCE: Duration = Duration::from_secs(60);

/// One run of a generator.
pub(super) struct Session {
    spec: Spec,
    flows: Mutex<BTreeMap<u32, OwnedFd>>,
    run: OnceLock<Arc<Run>>,
}

/// What one thread has counted, and its CPU time in the window.
type Counted = Result<(Vec<EndpointReport>, u64), Errno>;

impl Session {
    /// Takes a flow; says why not if it is none of this session, there already, or if the system
    /// refuses what was asked for it.
    pub(super) fn add(&self, flow: u32, socket: OwnedFd) -> Result<(), String> {
        let mut flows = locked(&self.flows);
        if flow >= self.spec.flows || flows.contains_key(&flow) {
            return Err(format!("flow {flow} is not wanted"));
        }
        prepare(&socket, &self.spec).map_err(|errno| format!("a setting of its flows: {errno}"))?;
        flows.insert(flow, socket);
        Ok(())
    }

    /// Ends it at once.
    pub(super) fn abandon(&self) {
        if let Some(run) = self.run.get() {
            run.abandon();
        }
    }

    /// The endpoints of all flows, dealt to `threads` threads.
    fn deal(&self, run: &Run, tag: u32, threads: u32) -> Result<Vec<Vec<Endpoint>>, String> {
        let flows = std::mem::take(&mut *locked(&self.flows));
        let asked = self.spec.flows;
        if flows.len() != asked as usize {
            return Err(format!("{} of {asked} flows are there", flows.len()));
        }
        // The sink sends what goes from it.
        let ways = (self.spec.from_sink, self.spec.to_sink);
        let mut all = Vec::new();
        for (flow, socket) in flows {
            let endpoints = endpoints(socket, flow, &self.spec, run, tag, ways)
                .map_err(|errno| format!("the sink's system refuses a setting: {errno}"))?;
            all.extend(endpoints);
        }
        let mut dealt: Vec<Vec<Endpoint>> = Vec::new();
        dealt.resize_with((threads as usize).clamp(1, all.len().max(1)), Vec::new);
        let places = dealt.len();
        for (index, endpoint) in all.into_iter().enumerate() {
            dealt[index % places].push(endpoint);
        }
        Ok(dealt)
    }
}

impl Hall {
    /// Serves the connection that a session belongs to, until it is over.
    pub(super) fn hold_session(&self, mut lines: Lines, spec: Spec) -> io::Result<()> {
        let number = new_number();
        let session = Arc::new(Session {
            spec,
            flows: Mutex::default(),
            run: OnceLock::new(),
        });
        locked(&self.sessions).insert(number, Arc::clone(&session));
        let answer = Line::new("ok").put("session", number).text();
        let outcome = (lines.stream().write_all(answer.as_bytes()))
            .and_then(|()| self.follow(&mut lines, &session, number as u32));
        session.abandon();
        locked(&self.sessions).remove(&number);
        outcome
    }

    fn follow(&self, lines: &mut Lines, session: &Session, tag: u32) -> io::Result<()> {
        lines.stream().set_read_timeout(Some(PATIENCE))?;
        loop {
            let line = lines.next_line()?.ok_or(io::ErrorKind::TimedOut)?;
            self.seen.commands.fetch_add(1, Relaxed);
            match line.word() {
                "clock" => {
                    let text = Line::new("clock").put("ns", monotonic_ns()).text();
                    lines.stream().write_all(text.as_bytes())?;
                }
                "begin" => return self.run_session(lines, session, tag, &line),
                word => return refuse(lines.stream(), &format!("{word} is not due")),
            }
        }
    }

    fn run_session(
        &self,
        lines: &mut Lines,
        session: &Session,
        tag: u32,
        line: &Line,
    ) -> io::Result<()> {
        let Some(run) = Run::of(line).map(Arc::new) else {
            return refuse(lines.stream(), "begin lacks a number");
        };
        let dealt = match session.deal(&run, tag, self.threads) {
            Ok(dealt) => dealt,
            Err(reason) => return refuse(lines.stream(), &reason),
        };
        // Announced before anything moves, so that a stop finds it.
        let run = session.run.get_or_init(|| run);
        if self.is_stopping() {
            run.abandon();
        }
        let threads: io::Result<Vec<_>> = dealt.into_iter().map(|own| start(own, run)).collect();
        let threads = threads.inspect_err(|_| run.abandon())?;
        lines.stream().write_all(b"ok\n")?;
        watch(lines, run, &threads);
        self.report(lines.stream(), threads)
    }

    /// What was counted, when all endpoints are over.
    fn report(&self, mut stream: &TcpStream, threads: Vec<JoinHandle<Counted>>) -> io::Result<()> {
        let mut text = String::new();
        let mut cpu_ns = 0;
        for thread in threads {
            // A thread that panics is a defect; its endpoints are then missing from the report.
            let Ok(Ok((reports, spent_ns))) = thread.join() else {
                continue;
            };
            cpu_ns += spent_ns;
            for report in reports {
                let moved = if report.sending {
                    &self.seen.bytes_out
                } else {
                    &self.seen.bytes_in
                };
                moved.fetch_add(report.total_bytes, Relaxed);
                text.push_str(&report.write());
            }
        }
        text.push_str(&Line::new("over").put("cpu_ns", cpu_ns).text());
        stream.write_all(text.as_bytes())
    }
}

fn start(endpoints: Vec<Endpoint>, run: &Arc<Run>) -> io::Result<JoinHandle<Counted>> {
    let run = Arc::clone(run);
    Builder::new()
        .name("sink-endpoints".to_owned())
        .spawn(move || {
            let mut at_start = CpuTime::default();
            let mut spent_ns = 0;
            let reports = drive(endpoints, &run, &mut |border| match border {
                Border::WindowStart => at_start = thread_cpu(),
                Border::WindowEnd => spent_ns = thread_cpu().since(at_start).total_ns(),
            })?;
            Ok((reports, spent_ns))
        })
}

/// Listens to the generator until the endpoints are over; one that leaves ends them.
fn watch(lines: &mut Lines, run: &Run, threads: &[JoinHandle<Counted>]) {
    // A timeout that cannot be set would only make the end of the run late.
    let _ = lines.stream().set_read_timeout(Some(LOOK));
    while !threads.iter().all(JoinHandle::is_finished) {
        match lines.next_line() {
            Ok(None) => {}
            Ok(Some(line)) => {
                if let ("end", Some(at_ns)) = (line.word(), line.number("at_ns")) {
                    run.end_at(at_ns);
                }
            }
            Err(_) => {
                run.abandon();
                return;
            }
        }
    }
}

/// Different for each run of any generator that may speak to the same port within minutes.
fn new_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = monotonic_ns() / 1_000 + NEXT.fetch_add(1, Relaxed);
    number & 0xffff_ffff
}
