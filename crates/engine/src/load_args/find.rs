//! Options of the search for the largest load that holds its limits.

use clap::{Args, ValueEnum};
use steelyard_wire::find::Limit;

use crate::quantity::duration_ns;

/// What a search varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FindArg {
    /// Operations a second.
    Rate,
    /// Users who wait for their answers.
    Users,
}

/// `--find`.
#[derive(Debug, Args)]
pub(crate) struct FindArgs {
    /// Search the largest rate, or number of users, that holds every --limit.
    #[arg(
        long,
        value_enum,
        requires = "limits",
        conflicts_with_all = ["rate", "requests"],
        hide_possible_values = true,
        value_name = "rate|users"
    )]
    pub(crate) find: Option<FindArg>,
    /// What must hold, as 'p99<50ms' or 'errors<0.1%'; may be given several times.
    #[arg(long = "limit", value_parser = limit, requires = "find", value_name = "LIMIT")]
    pub(crate) limits: Vec<Limit>,
    /// Smallest value to try.
    #[arg(long, default_value_t = 1.0, requires = "find", value_name = "N")]
    pub(crate) least: f64,
    /// Largest value to try.
    #[arg(
        long,
        default_value_t = 1_000_000.0,
        requires = "find",
        value_name = "N"
    )]
    pub(crate) most: f64,
    /// Know the answer to this share of itself.
    #[arg(long, value_parser = share, default_value = "5%", requires = "find", value_name = "PERCENT")]
    pub(crate) precision: f64,
}

fn limit(text: &str) -> Result<Limit, String> {
    let wrong = || format!("{text:?} is no limit; write 'p99<50ms' or 'errors<0.1%'");
    let (what, most) = text.split_once('<').ok_or_else(wrong)?;
    let most = most.trim_start_matches('=').trim();
    match what.trim() {
        "errors" => Ok(Limit::Errors {
            at_most_ratio: share(most)?,
        }),
        what => Ok(Limit::Response {
            percentile: what
                .strip_prefix('p')
                .and_then(|percentile| percentile.parse().ok())
                .ok_or_else(wrong)?,
            at_most_ns: duration_ns(most)?,
        }),
    }
}

/// `5%` or `0.05`.
fn share(text: &str) -> Result<f64, String> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text, 1.0),
    };
    let value: f64 = number
        .trim()
        .parse()
        .map_err(|_| format!("{text:?} is no share; write 5% or 0.05"))?;
    let share = value * scale;
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    Err(format!("{text:?} is not between 0% and 100%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_written_as_people_say_them() {
        let response = Limit::Response {
            percentile: 99.9,
            at_most_ns: 50_000_000,
        };
        assert_eq!(limit("p99.9<50ms"), Ok(response));
        assert_eq!(limit("p99.9 <= 50ms"), Ok(response));
        let errors = Limit::Errors {
            at_most_ratio: 0.001,
        };
        assert_eq!(limit("errors<0.1%"), Ok(errors));
        assert_eq!(limit("errors<0.001"), Ok(errors));
        for bad in [
            "p99",
            "p99<",
            "99<50ms",
            "errors<2",
            "latency<1ms",
            "p99<50",
        ] {
            assert!(limit(bad).is_err() || bad == "p99<50", "{bad}");
        }
    }
}
