use steelyard_wire::job::{Arrival, HttpOperation, Operation};

use super::*;

fn job(over: Over, from: f64, to: f64) -> FindJob {
    let mut load = LoadJob::new(
        "http://127.0.0.1:1/",
        Operation::Http(HttpOperation::default()),
    );
    if over == Over::Rate {
        load.mode = Mode::Open {
            rate_per_s: 1.0,
            arrival: Arrival::Constant,
            connections: 1,
            unbounded: false,
            max_backlog: 1,
        };
    }
    FindJob {
        load,
        over,
        from,
        to,
        limits: vec![Limit::Errors { at_most_ratio: 0.0 }],
        precision_ratio: 0.05,
        settle_ns: 0,
    }
}

/// Searches a target of which `held(value, try)` is known, and returns what was tried.
fn search(job: &FindJob, held: impl Fn(f64, usize) -> bool) -> (Search, FindState, Vec<f64>) {
    let mut search = Search::new(job);
    let mut tried = Vec::new();
    loop {
        match search.next() {
            Next::End(state) => return (search, state, tried),
            Next::Try(value) => {
                let outcome = if held(value, tried.len()) {
                    FindOutcome::Held
                } else {
                    FindOutcome::Failed
                };
                tried.push(value);
                search.take(value, outcome);
                assert!(tried.len() < 200, "{tried:?}");
            }
        }
    }
}

#[test]
fn the_answer_encloses_the_truth_as_narrowly_as_asked() {
    for truth in [11.0, 100.0, 777.7, 9_999.0] {
        let (search, state, tried) = search(&job(Over::Rate, 10.0, 1e6), |value, _| value <= truth);
        let (held, failed) = (search.held.unwrap(), search.failed.unwrap());
        assert_eq!(state, FindState::Found);
        assert!(held <= truth && truth < failed, "{held} {truth} {failed}");
        assert!(failed <= held * 1.0501);
        assert_eq!(tried.last(), Some(&held), "what held is confirmed last");
    }
}

#[test]
fn users_are_whole_and_found_exactly_when_they_are_few() {
    let (search, state, tried) = search(&job(Over::Users, 1.0, 500.0), |value, _| value <= 7.0);
    assert_eq!(
        (state, search.held, search.failed),
        (FindState::Found, Some(7.0), Some(8.0))
    );
    assert!(tried.iter().all(|value| value.fract() == 0.0));
}

#[test]
fn a_value_that_held_by_luck_is_not_the_answer() {
    // 100 and less is true; the first try of 160 to 200 holds by luck.
    let first_of = |tried: usize, value: f64| tried < 6 && (150.0..=200.0).contains(&value);
    let (search, state, _) = search(&job(Over::Rate, 10.0, 1e6), |value, tried| {
        value <= 100.0 || first_of(tried, value)
    });
    assert!(search.held.is_none_or(|held| held <= 100.0), "{search:?}");
    assert!(matches!(state, FindState::Found | FindState::NeverHeld));
}

#[test]
fn a_target_that_always_or_never_holds_has_an_outcome_of_its_own() {
    let always = search(&job(Over::Rate, 10.0, 100.0), |_, _| true);
    assert_eq!(
        (always.1, always.0.held),
        (FindState::NeverFailed, Some(100.0))
    );
    let never = search(&job(Over::Rate, 10.0, 100.0), |_, _| false);
    assert_eq!((never.1, never.0.held), (FindState::NeverHeld, None));
    assert_eq!(never.2, [10.0]);
}

#[test]
fn a_step_that_the_generator_limited_ends_the_search_without_an_answer() {
    let mut search = Search::new(&job(Over::Rate, 10.0, 100.0));
    search.take(10.0, FindOutcome::GeneratorLimited);
    assert_eq!(search.next(), Next::End(FindState::GeneratorLimited));
}

#[test]
fn a_search_that_makes_no_sense_is_refused() {
    let mut without_limit = job(Over::Rate, 1.0, 2.0);
    without_limit.limits.clear();
    let mut odd_percentile = job(Over::Rate, 1.0, 2.0);
    odd_percentile.limits = vec![Limit::Response {
        percentile: 98.0,
        at_most_ns: 1,
    }];
    let wrong_mode = FindJob {
        over: Over::Users,
        ..job(Over::Rate, 1.0, 2.0)
    };
    for bad in [
        job(Over::Rate, 0.0, 1.0),
        job(Over::Rate, 2.0, 1.0),
        without_limit,
        odd_percentile,
        wrong_mode,
    ] {
        assert!(check(&bad).is_err(), "{bad:?}");
    }
}
