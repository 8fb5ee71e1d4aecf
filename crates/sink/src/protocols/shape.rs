//! Delays and faults as the event loops ask for them: by the number of a verb, shared by all.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::SinkError;
use crate::options::SinkOptions;
use crate::options::fault::{Fault, FaultKind};

/// Delays and faults of one sink.
#[derive(Debug)]
pub(crate) struct Shape {
    /// False without any delay or fault: the usual case pays one branch.
    pub active: bool,
    delays_ns: Vec<u64>,
    faults: Vec<ArmedFault>,
    seed: u64,
}

/// A fault and the number of commands that fitted it so far, over all loops: which command is
/// struck depends on its number only, not on the number of threads.
#[derive(Debug)]
struct ArmedFault {
    fault: Fault,
    verbs: Vec<bool>,
    seen: AtomicU64,
}

impl Shape {
    /// Resolves the verbs of the options against those of the protocol.
    pub fn new(verbs: &[&str], greets: bool, options: &SinkOptions) -> Result<Self, SinkError> {
        let verbs = Verbs {
            names: verbs,
            greets,
        };
        let mut delays_ns = vec![0; verbs.names.len()];
        let (all, named): (Vec<_>, Vec<_>) =
            options.delays.iter().partition(|delay| delay.verb == "*");
        for delay in all.into_iter().chain(named) {
            let chosen = verbs.resolve(&delay.verb)?;
            verbs.refuse_silent_connect(&chosen, "delay")?;
            for (slot, _) in delays_ns.iter_mut().zip(chosen).filter(|(_, fits)| *fits) {
                *slot = delay.delay_ns;
            }
        }
        let faults = options
            .faults
            .iter()
            .map(|fault| verbs.arm(fault))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            active: !faults.is_empty() || delays_ns.iter().any(|delay| *delay > 0),
            delays_ns,
            faults,
            seed: options.seed,
        })
    }

    /// The pause before the verb's reply.
    pub fn delay_ns(&self, verb: usize) -> u64 {
        self.delays_ns[verb]
    }

    /// The first fault that strikes the next command of this verb.
    pub fn draw(&self, verb: usize) -> Option<FaultKind> {
        let mut struck = None;
        for (index, armed) in self.faults.iter().enumerate() {
            if armed.verbs[verb] {
                // Relaxed: only the number matters, nothing is published with it.
                let nth = armed.seen.fetch_add(1, Ordering::Relaxed);
                let strikes = armed.fault.strikes(self.seed, index as u64, nth);
                struck = struck.or(strikes.then_some(armed.fault.kind));
            }
        }
        struck
    }
}

/// The verbs of a protocol, of which the first is `CONNECT`.
struct Verbs<'a> {
    names: &'a [&'a str],
    /// Whether the server speaks first.
    greets: bool,
}

impl Verbs<'_> {
    fn arm(&self, fault: &Fault) -> Result<ArmedFault, SinkError> {
        let verbs = self.resolve(&fault.verb)?;
        if !matches!(
            fault.kind,
            FaultKind::Drop | FaultKind::Reset | FaultKind::Stall
        ) {
            self.refuse_silent_connect(&verbs, fault.kind.name())?;
        }
        Ok(ArmedFault {
            fault: fault.clone(),
            verbs,
            seen: AtomicU64::new(0),
        })
    }

    fn resolve(&self, verb: &str) -> Result<Vec<bool>, SinkError> {
        let wanted = if verb == "." { "EOM" } else { verb };
        let fits = |(index, name): (usize, &&str)| {
            if wanted == "*" {
                index > 0
            } else {
                *name == wanted
            }
        };
        let verbs: Vec<bool> = self.names.iter().enumerate().map(fits).collect();
        if verbs.contains(&true) {
            return Ok(verbs);
        }
        Err(SinkError::UnknownVerb {
            verb: verb.to_owned(),
            known: self.names.join(", "),
        })
    }

    fn refuse_silent_connect(&self, verbs: &[bool], what: &str) -> Result<(), SinkError> {
        if !verbs[0] || self.greets {
            return Ok(());
        }
        Err(SinkError::BadOption {
            option: "CONNECT",
            problem: format!(
                "this protocol sends nothing on a new connection, so {what} has no reply to change; \
                 use drop, reset or stall"
            ),
        })
    }
}
