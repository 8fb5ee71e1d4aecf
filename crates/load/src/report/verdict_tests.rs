use super::*;

fn good() -> Evidence {
    Evidence {
        counts: Counts {
            intended: 100_000,
            sent: 100_000,
            ok: 100_000,
            ok_in_window: 100_000,
            ..Counts::default()
        },
        errors_by_kind: 0,
        window_ns: 10_000_000_000,
        busiest_worker_ratio: 0.5,
        lag_p99_ns: Some(40_000),
        response_p50_ns: Some(100_000),
        rate_asked_per_s: Some(10_000.0),
        connections: Some((64, 64)),
        steal_ratio: Some(0.0),
        run_delay_ns: Some(0),
        workers: 1,
        little: Some(Little {
            users: 64.0,
            round_ns: 6_400_000.0,
            longest_round_ns: 6_400_000.0,
        }),
        cancelled: false,
    }
}

fn warnings(change: impl FnOnce(&mut Evidence)) -> (VerdictState, Vec<&'static str>) {
    let mut evidence = good();
    change(&mut evidence);
    let verdict = judge(&evidence);
    let kinds = verdict.warnings.iter().map(|warning| warning.kind.name());
    (verdict.state, kinds.collect())
}

#[test]
fn a_clean_run_is_valid() {
    assert_eq!(warnings(|_| {}), (VerdictState::Valid, vec![]));
}

#[test]
fn each_rule_warns_by_itself() {
    type Change = fn(&mut Evidence);
    let cases: [(&str, Change); 9] = [
        ("generator_bound", |e| e.busiest_worker_ratio = 0.86),
        ("late", |e| e.lag_p99_ns = Some(51_000)),
        ("connections_missing", |e| e.connections = Some((64, 63))),
        ("steal", |e| e.steal_ratio = Some(0.011)),
        ("run_delay", |e| e.run_delay_ns = Some(600_000_000)),
        ("cancelled", |e| e.cancelled = true),
        ("littles_law", |e| {
            e.little = Some(Little {
                users: 64.0,
                round_ns: 6_300_000.0,
                longest_round_ns: 6_300_000.0,
            });
        }),
        ("too_few_samples", |e| {
            e.counts = Counts {
                intended: 19,
                sent: 19,
                ok: 19,
                ..Counts::default()
            };
        }),
        ("overloaded", |e| {
            e.counts.intended += 1;
            e.counts.unsent += 1;
        }),
    ];
    for (word, change) in cases {
        assert_eq!(warnings(change), (VerdictState::Suspect, vec![word]));
    }
}

#[test]
fn a_long_round_at_the_border_of_the_window_breaks_no_law() {
    let with_longest = |longest_round_ns: f64| {
        warnings(|e| {
            let round_ns = 6_300_000.0;
            let longest_round_ns = longest_round_ns * e.window_ns as f64;
            e.little = Some(Little {
                users: 64.0,
                round_ns,
                longest_round_ns,
            });
        })
    };
    assert_eq!(with_longest(0.015).1, ["littles_law"]);
    assert_eq!(with_longest(0.016).1, [""; 0]);
}

#[test]
fn slow_answers_allow_more_lateness() {
    let (_, kinds) = warnings(|e| {
        e.lag_p99_ns = Some(400_000);
        e.response_p50_ns = Some(10_000_000);
    });
    assert!(kinds.is_empty());
}

#[test]
fn a_rate_that_was_not_reached_is_named() {
    let (_, kinds) = warnings(|e| {
        e.counts.intended += 2_000;
        e.counts.unsent += 2_000;
    });
    assert_eq!(kinds, ["rate_not_reached", "overloaded"]);
}

#[test]
fn an_operation_that_vanished_makes_the_run_invalid() {
    let (state, kinds) = warnings(|e| e.counts.ok -= 1);
    assert_eq!(
        (state, kinds),
        (VerdictState::Invalid, vec!["conservation_broken"])
    );
}

#[test]
fn a_run_without_any_success_is_invalid() {
    let (state, _) = warnings(|e| {
        e.counts = Counts {
            intended: 9,
            sent: 9,
            errors: 9,
            ..Counts::default()
        };
        e.errors_by_kind = 9;
    });
    assert_eq!(state, VerdictState::Invalid);
}
