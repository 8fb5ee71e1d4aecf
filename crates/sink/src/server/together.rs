//! Several protocols of mail on the same maildrops, in one process.

use std::sync::mpsc;

use crate::counters::SinkCounters;
use crate::error::SinkError;
use crate::options::{Listen, Protocol, SinkOptions};
use crate::protocols::Protocol as Speaks;
use crate::protocols::imap::Imap;
use crate::protocols::pop3::Pop3;
use crate::protocols::smtp::Smtp;
use crate::server::{Shared, serve_with};
use crate::stop::StopHandle;

/// Serves several listeners of mail until `stop` is pulled; counters for each, in their order.
///
/// Mailboxes, users and certificate are those of the first. Each listener has event loops of its
/// own. A delay or fault goes to the listeners whose protocol has its verb. `ready` is called with all
/// addresses when all are served; when one cannot be, none is.
pub fn serve_together(
    listeners: &[SinkOptions],
    stop: &StopHandle,
    ready: impl FnOnce(Vec<(Protocol, Listen)>),
) -> Result<Vec<(Protocol, SinkCounters)>, SinkError> {
    let Some(first) = listeners.first() else {
        return Ok(Vec::new());
    };
    let shared = Shared::open(first)?;
    let listeners = listeners
        .iter()
        .map(|listener| own_shape(listener, listeners))
        .collect::<Result<Vec<_>, _>>()?;
    let (sender, bound) = mpsc::channel();
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (index, listener) in listeners.iter().enumerate() {
            let (sender, shared) = (sender.clone(), &shared);
            let serve = move || {
                serve_with(shared, listener, stop, |at| {
                    // No one listens any more when another listener has failed.
                    let _ = sender.send((index, listener.protocol, at));
                })
                .inspect_err(|_| stop.stop())
            };
            threads.push((listener.protocol, scope.spawn(serve)));
        }
        drop(sender);
        let mut all: Vec<_> = bound.iter().take(listeners.len()).collect();
        all.sort_unstable_by_key(|(index, ..)| *index);
        if all.len() == listeners.len() {
            ready(
                all.into_iter()
                    .map(|(_, protocol, at)| (protocol, at))
                    .collect(),
            );
        }
        threads
            .into_iter()
            .map(|(protocol, thread)| match thread.join() {
                Ok(counters) => counters.map(|counters| (protocol, counters)),
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect()
    })
}

/// The options with the delays and faults of its protocol only; one that fits none is refused.
fn own_shape(listener: &SinkOptions, all: &[SinkOptions]) -> Result<SinkOptions, SinkError> {
    let known = |verb: &str| all.iter().any(|other| has(other.protocol, verb));
    let delays = listener.delays.iter().map(|delay| &delay.verb);
    let mut verbs = delays.chain(listener.faults.iter().map(|fault| &fault.verb));
    if let Some(verb) = verbs.find(|verb| !known(verb)) {
        return Err(SinkError::UnknownVerb {
            verb: verb.clone(),
            known: all
                .iter()
                .map(|other| {
                    format!(
                        "{}: {}",
                        other.protocol.name(),
                        verbs_of(other.protocol).join(" ")
                    )
                })
                .collect::<Vec<_>>()
                .join("; "),
        });
    }
    let mut own = listener.clone();
    own.delays.retain(|delay| has(own.protocol, &delay.verb));
    own.faults.retain(|fault| has(own.protocol, &fault.verb));
    Ok(own)
}

fn has(protocol: Protocol, verb: &str) -> bool {
    let wanted = if verb == "." { "EOM" } else { verb };
    wanted == "*" || verbs_of(protocol).contains(&wanted)
}

fn verbs_of(protocol: Protocol) -> &'static [&'static str] {
    match protocol {
        Protocol::Smtp | Protocol::Lmtp => Smtp::VERBS,
        Protocol::Pop3 => Pop3::VERBS,
        Protocol::Imap => Imap::VERBS,
        _ => &[],
    }
}
