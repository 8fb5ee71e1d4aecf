//! Whether the generator vouches for its figures, and what speaks against it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the generator vouches for the figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The worst of the warnings, `valid` without any.
    pub state: VerdictState,
    /// What speaks against the figures.
    pub warnings: Vec<Warning>,
}

/// Trust in a run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum VerdictState {
    /// No warning.
    Valid,
    /// To be read with the warnings.
    Suspect,
    /// Not to be used.
    Invalid,
}

/// One reason not to trust the figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// Suspect or invalid.
    pub state: VerdictState,
    /// The part of a mix that it concerns; `null`: the whole run.
    pub part: Option<String>,
    /// The generator of several that it concerns, from 1; none: all of them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<u32>,
    /// What happened, with its figures.
    #[serde(flatten)]
    pub kind: WarningKind,
}

/// Kinds of warnings: a closed list, explained in `docs/reference/result.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WarningKind {
    /// A worker used nearly a whole core: the generator may have been the bottleneck.
    GeneratorBound {
        /// Of the busiest worker, share of one core.
        busiest_worker_ratio: f64,
    },
    /// Operations left later than they were due and could.
    Late {
        /// 99th percentile of the generator's own lag.
        lag_p99_ns: u64,
        /// The largest lag that is not reported.
        allowed_ns: u64,
    },
    /// Fewer operations a second were sent than asked for.
    RateNotReached {
        /// Operations a second.
        asked_per_s: f64,
        /// Share of those due that were sent.
        sent_ratio: f64,
    },
    /// A stream sent fewer bytes a second than asked for.
    StreamRateNotReached {
        /// Bytes a second.
        asked_bytes_per_s: f64,
        /// Share of these that was sent.
        sent_ratio: f64,
    },
    /// Fewer connections were established than asked for.
    ConnectionsMissing {
        /// Asked for.
        asked: u32,
        /// Established at the same time.
        achieved: u32,
    },
    /// The hypervisor gave CPU time to others.
    Steal {
        /// Share of the machine's CPU time.
        steal_ratio: f64,
    },
    /// Workers were ready to run but had no CPU.
    RunDelay {
        /// Mean share of the window over the workers.
        run_delay_ratio: f64,
    },
    /// Operations were lost or invented by the generator: a defect.
    ConservationBroken {
        /// See the counts of the result.
        intended: u64,
        /// Likewise.
        unsent: u64,
        /// Likewise.
        sent: u64,
        /// Likewise.
        ok: u64,
        /// Sum over the kinds of failure.
        errors: u64,
        /// See the counts of the result.
        inflight_at_stop: u64,
    },
    /// Users, throughput and latency contradict each other.
    LittlesLaw {
        /// As many as there were.
        users: f64,
        /// Throughput times the time of a round.
        computed_users: f64,
    },
    /// Arrivals were dropped because too many waited.
    Overloaded {
        /// How many.
        unsent: u64,
    },
    /// Ended before its time, on request.
    Cancelled {},
    /// Too few answers for a median.
    TooFewSamples {
        /// Answers.
        ok: u64,
        /// Needed for a median.
        needed: u64,
    },
    /// A stream moved not one byte in the window.
    NoBytes {},
    /// Flows of a stream ended before their time.
    FlowsBroken {
        /// Directions of flows that did.
        broken: u64,
        /// All directions of flows.
        flows: u64,
    },
}

impl WarningKind {
    /// The value of `kind` in the document.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::GeneratorBound { .. } => "generator_bound",
            Self::Late { .. } => "late",
            Self::RateNotReached { .. } => "rate_not_reached",
            Self::StreamRateNotReached { .. } => "stream_rate_not_reached",
            Self::ConnectionsMissing { .. } => "connections_missing",
            Self::Steal { .. } => "steal",
            Self::RunDelay { .. } => "run_delay",
            Self::ConservationBroken { .. } => "conservation_broken",
            Self::LittlesLaw { .. } => "littles_law",
            Self::Overloaded { .. } => "overloaded",
            Self::Cancelled {} => "cancelled",
            Self::TooFewSamples { .. } => "too_few_samples",
            Self::NoBytes {} => "no_bytes",
            Self::FlowsBroken { .. } => "flows_broken",
        }
    }
}

/// For the terminal; programs read the figures.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(number) = self.generator {
            write!(f, "generator {number}: ")?;
        }
        if let Some(part) = &self.part {
            write!(f, "{part}: ")?;
        }
        self.kind.fmt(f)
    }
}

impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::RateNotReached {
                asked_per_s,
                sent_ratio,
            } => write!(
                f,
                "{} of {asked_per_s} operations/s were sent",
                Percent(sent_ratio)
            ),
            Self::StreamRateNotReached {
                asked_bytes_per_s,
                sent_ratio,
            } => write!(
                f,
                "{} of {asked_bytes_per_s} bytes/s were sent",
                Percent(sent_ratio)
            ),
            Self::ConnectionsMissing { asked, achieved } => {
                write!(f, "{achieved} of {asked} connections were established")
            }
            Self::Overloaded { unsent } => write!(
                f,
                "{unsent} arrivals were never sent; the true response times are longer"
            ),
            Self::Cancelled {} => {
                f.write_str("ended on request; the figures cover the time until then")
            }
            Self::TooFewSamples { ok: 0, .. } => f.write_str("no operation succeeded"),
            Self::TooFewSamples { ok, needed } => write!(
                f,
                "{ok} answers are too few for a median, which needs {needed}"
            ),
            Self::NoBytes {} => f.write_str("not one byte arrived in the window"),
            Self::FlowsBroken { broken, flows } => {
                write!(f, "{broken} of {flows} flows ended before their time")
            }
            _ => self.about_generator(f),
        }
    }
}

impl WarningKind {
    fn about_generator(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::GeneratorBound {
                busiest_worker_ratio,
            } => write!(
                f,
                "a worker used {} of its core: use more threads or a faster machine",
                Percent(busiest_worker_ratio)
            ),
            Self::Late {
                lag_p99_ns,
                allowed_ns,
            } => write!(
                f,
                "p99 of the generator's own lag is {:.0} us; at most {:.0} us are allowed (5 % of the median response, at least 50 us)",
                lag_p99_ns as f64 / 1e3,
                allowed_ns as f64 / 1e3
            ),
            Self::Steal { steal_ratio } => write!(
                f,
                "{} of the machine's CPU time was stolen",
                Percent(steal_ratio)
            ),
            Self::RunDelay { run_delay_ratio } => write!(
                f,
                "workers waited for a CPU for {} of the window",
                Percent(run_delay_ratio)
            ),
            Self::ConservationBroken {
                intended,
                unsent,
                sent,
                ok,
                errors,
                inflight_at_stop,
            } => write!(
                f,
                "intended {intended} is not unsent {unsent} + sent {sent}, or sent is not ok {ok} + errors {errors} + in flight {inflight_at_stop}"
            ),
            Self::LittlesLaw {
                users,
                computed_users,
            } => write!(
                f,
                "throughput x time of a round is {computed_users:.2}, but there are {users} users"
            ),
            _ => Ok(()),
        }
    }
}

struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} %", self.0 * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_written_as_its_kind_and_figures() {
        let warning = Warning {
            state: VerdictState::Suspect,
            part: None,
            generator: None,
            kind: WarningKind::ConnectionsMissing {
                asked: 64,
                achieved: 63,
            },
        };
        let document = serde_json::to_value(&warning).unwrap();
        let expected = serde_json::json!({
            "state": "suspect",
            "part": null,
            "kind": "connections_missing",
            "asked": 64,
            "achieved": 63,
        });
        assert_eq!(document, expected);
        assert_eq!(
            serde_json::from_value::<Warning>(document).unwrap(),
            warning
        );
    }

    #[test]
    fn the_name_of_a_kind_is_the_one_of_the_document() {
        let kind = WarningKind::Cancelled {};
        let document = serde_json::to_value(&kind).unwrap();
        assert_eq!(document["kind"], kind.name());
    }
}
