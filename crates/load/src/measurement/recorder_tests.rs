use super::*;

fn recorder(open_mode: bool) -> Recorder {
    let mut recorder = Recorder::new(&Shape {
        phases: 2,
        kinds: 2,
        open_mode,
        interval_ns: 1_000,
        logged: false,
    });
    recorder.begin(Window {
        start_ns: 1_000,
        end_ns: 2_000,
    });
    recorder
}

fn operation(intended_ns: u64, sent_ns: u64) -> Operation {
    Operation {
        intended_ns,
        sent_ns,
        phase_start_ns: sent_ns,
        part: Window {
            start_ns: 1_000,
            end_ns: 2_000,
        }
        .part(intended_ns),
    }
}

#[test]
fn the_first_of_all_workers_operations_is_the_first_also_if_it_warms_up() {
    let (mut early, mut late) = (recorder(true), recorder(true));
    late.sent(&operation(1_100, 1_150), 1_120);
    early.sent(&operation(500, 510), 500);
    early.sent(&operation(600, 610), 600);
    late.add(&early);
    assert_eq!(late.first_sent_ns, Some(510));
    assert_eq!(recorder(true).first_sent_ns, None);
}

#[test]
fn three_latencies_tell_apart_server_generator_and_both() {
    let mut recorder = recorder(true);
    let late = operation(1_100, 1_150);
    recorder.sent(&late, 1_120);
    recorder.ok(&late, 0, 1_350);
    assert_eq!(recorder.lateness.max_ns(), Some(50));
    assert_eq!(recorder.lag.max_ns(), Some(30));
    assert_eq!(recorder.service.max_ns(), Some(200));
    assert_eq!(recorder.responses().max_ns(), Some(250));
}

#[test]
fn connections_that_fail_without_an_operation_are_counted_before_and_in_the_window() {
    let (mut one, mut other) = (recorder(false), recorder(false));
    one.connection_failed(500, 1, ErrorKind::Ftp4xx);
    one.connection_failed(1_500, 1, ErrorKind::ConnReset);
    one.connection_failed(2_500, 1, ErrorKind::ConnReset);
    other.connection_failed(600, 1, ErrorKind::Ftp4xx);
    one.add(&other);
    let of = |table: &FaultTable| table.entries().collect::<Vec<_>>();
    assert_eq!(of(&one.ramp_errors), [(1, ErrorKind::Ftp4xx, 2)]);
    assert_eq!(of(&one.connection_errors), [(1, ErrorKind::ConnReset, 1)]);
}

#[test]
fn failures_never_enter_the_distributions_of_success() {
    let mut recorder = recorder(true);
    recorder.failed(&operation(1_100, 1_150), 1, 1_200, 1, ErrorKind::ConnReset);
    assert_eq!(recorder.service.count() + recorder.response.count(), 0);
    assert_eq!(recorder.failed.max_ns(), Some(100));
    assert_eq!(recorder.counts.errors, 1);
    assert_eq!(recorder.errors.total(), 1);
    assert_eq!((recorder.kinds[0].errors, recorder.kinds[1].errors), (0, 1));
}

#[test]
fn an_operation_counts_where_it_was_due_and_throughput_where_it_was_done() {
    let mut recorder = recorder(false);
    recorder.ok(&operation(900, 900), 0, 1_100);
    recorder.ok(&operation(1_900, 1_900), 0, 2_100);
    assert_eq!((recorder.counts.warmup, recorder.counts.ok), (1, 1));
    assert_eq!(recorder.counts.ok_in_window, 1);
    assert_eq!(recorder.service.max_ns(), Some(200));
}

#[test]
fn set_up_before_the_window_stays_apart_and_the_warmup_leaves_no_phases() {
    let mut recorder = recorder(false);
    recorder.phase(Part::Before, false, 0, 5);
    recorder.phase(Part::Before, true, 1, 5);
    recorder.phase(Part::Window, true, 1, 7);
    assert_eq!(recorder.ramp[0].count(), 1);
    assert_eq!(recorder.phases[0].count(), 0);
    assert_eq!(recorder.phases[1].max_ns(), Some(7));
}
