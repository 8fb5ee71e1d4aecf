//! Speaks with the sink while the endpoints run, and hands on what the conductor wants.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use steelyard_flow::handshake::Line;
use steelyard_flow::{EndpointReport, Run};
use steelyard_net::clock::monotonic_ns;

use super::dial::{Call, refused};
use super::shared::StreamRun;
use crate::worker::control::Control;

/// Between two checks whether to stop.
const LOOK: Duration = Duration::from_millis(5);

/// How long the sink may take to report what it has counted, beside the time to drain.
const PATIENCE_NS: u64 = 2_000_000_000;

/// Begins, follows and ends the run at the far end, if that is a sink; returns when it has
/// everything, or is gone.
pub fn follow(shared: &StreamRun<'_>, call: Option<Call>, run: &Run, control: &Control) {
    let Some(mut call) = call else {
        while shared.moving.load(Relaxed) > 0 {
            if control.stopped() {
                run.end_at(monotonic_ns());
            }
            thread::sleep(LOOK);
        }
        return;
    };
    if !begin(shared, &mut call, run) {
        run.abandon();
        return;
    }
    // A timeout that cannot be set would only make the end late.
    let _ = call.lines().stream().set_read_timeout(Some(LOOK));
    let (mut ended, mut deadline_ns) = (false, u64::MAX);
    while monotonic_ns() < deadline_ns {
        if control.stopped() && !ended {
            ended = true;
            end(&call, run);
        }
        if deadline_ns == u64::MAX && shared.moving.load(Relaxed) == 0 {
            deadline_ns = run
                .window_end_ns()
                .min(monotonic_ns())
                .saturating_add(run.drain_ns + PATIENCE_NS);
        }
        match call.lines().next_line() {
            Ok(None) => {}
            Ok(Some(line)) => {
                if take(shared, &line) {
                    return;
                }
            }
            Err(_) => {
                // The sink is gone, and with it the other end of every flow.
                run.abandon();
                return;
            }
        }
    }
}

fn begin(shared: &StreamRun<'_>, call: &mut Call, run: &Run) -> bool {
    if !call.say(&run.line(call.ahead_ns)) {
        return false;
    }
    match call.lines().next_line() {
        Ok(Some(line)) if line.word() == "ok" => true,
        Ok(Some(line)) => {
            shared.add(|all| all.refusal = Some(refused(&line)));
            false
        }
        Ok(None) | Err(_) => false,
    }
}

/// Ends the window now, here and there.
fn end(call: &Call, run: &Run) {
    let now_ns = monotonic_ns();
    run.end_at(now_ns);
    let there_ns = now_ns.saturating_add_signed(call.ahead_ns);
    // A sink that is gone shows at the next reading.
    let _ = call.say(Line::new("end").put("at_ns", there_ns));
}

/// Takes a line of the sink; `true` when that was the last of it.
fn take(shared: &StreamRun<'_>, line: &Line) -> bool {
    match line.word() {
        "endpoint" => {
            if let Some(report) = EndpointReport::read(line) {
                shared.add(|all| all.peer.push(report));
            }
            false
        }
        "over" => {
            shared.add(|all| all.peer_cpu_ns = line.number("cpu_ns"));
            true
        }
        _ => false,
    }
}
