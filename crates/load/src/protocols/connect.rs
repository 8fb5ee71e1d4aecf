//! A TCP connection and nothing else: is somebody there, and how far away?

use steelyard_wire::job::ConnectOperation;

use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::plan::target::Target;
use crate::protocols::{After, CONNECT, Output, Protocol, Step, Turn};

/// One worker's probes; they take the targets in turn.
#[derive(Debug, Clone)]
pub struct Connect {
    targets: Vec<Target>,
    next: usize,
}

/// One connection.
#[derive(Debug)]
pub struct Session {
    target: usize,
}

impl Connect {
    /// Probes of `first` and of the further targets of `operation`.
    pub fn new(operation: &ConnectOperation, first: &Target) -> Result<Self, LoadError> {
        let further = operation.targets.iter().map(|target| {
            if target.contains(['/', '?', '#']) {
                return Err(LoadError::bad_job(
                    format!("{target:?} is no target of a connect probe"),
                    "write HOST:PORT",
                ));
            }
            Target::resolve(&format!("tcp://{target}"), None)
        });
        let targets: Result<Vec<Target>, LoadError> =
            std::iter::once(Ok(first.clone())).chain(further).collect();
        Ok(Self {
            targets: targets?,
            next: 0,
        })
    }

    /// The same for another worker, which begins with another target.
    pub fn for_worker(&self, worker: u32) -> Self {
        Self {
            next: worker as usize % self.targets.len(),
            ..self.clone()
        }
    }

    /// All targets, in turn.
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }
}

impl Protocol for Connect {
    type Session = Session;

    const PHASES: &'static [&'static str] = &["connect", "tls"];

    fn one_shot(&self) -> bool {
        true
    }

    fn kinds(&self) -> Vec<String> {
        if self.targets.len() == 1 {
            return Vec::new();
        }
        let name = |target: &Target| target.authority.clone();
        self.targets.iter().map(name).collect()
    }

    fn kind(&self, session: &Session, _slot: usize) -> usize {
        session.target
    }

    fn address(&self, session: &Session) -> usize {
        session.target
    }

    fn open(&mut self, _place: usize) -> Session {
        let target = self.next;
        self.next = (target + 1) % self.targets.len();
        Session { target }
    }

    fn connected(&mut self, _session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        Step::Done(Ok(()), After::Close)
    }

    fn start(&mut self, _session: &mut Session, _slot: usize, _out: &mut Output) {}

    fn received(&mut self, _session: &mut Session, _bytes: &[u8], _turn: &mut Turn<'_>) -> Step {
        Step::Broken(ErrorKind::BadProtocol)
    }

    fn ended(&mut self, _session: &mut Session, _turn: &mut Turn<'_>) -> Step {
        Step::Finished
    }

    fn phase(&self, _session: &Session) -> usize {
        CONNECT
    }

    fn shared(&self) -> &[u8] {
        &[]
    }

    fn farewell(&self) -> &'static [u8] {
        b""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(further: &[&str]) -> Result<Connect, LoadError> {
        let first = Target::resolve("tcp://127.0.0.1:1", None).unwrap();
        let targets = further.iter().map(ToString::to_string).collect();
        Connect::new(&ConnectOperation { targets }, &first)
    }

    #[test]
    fn targets_are_probed_in_turn_and_tell_their_kind() {
        let mut connect = probe(&["127.0.0.1:2", "[::1]:3"]).unwrap();
        assert_eq!(connect.kinds(), ["127.0.0.1:1", "127.0.0.1:2", "[::1]:3"]);
        let taken: Vec<usize> = (0..4)
            .map(|_| {
                let session = connect.open(0);
                assert_eq!(connect.kind(&session, 0), connect.address(&session));
                connect.address(&session)
            })
            .collect();
        assert_eq!(taken, [0, 1, 2, 0]);
        assert_eq!(connect.for_worker(4).open(0).target, 1);
    }

    #[test]
    fn a_connection_is_the_whole_operation() {
        let mut connect = probe(&[]).unwrap();
        assert!(connect.one_shot() && connect.kinds().is_empty());
        let mut session = connect.open(0);
        let mut out = Output::default();
        let step = connect.connected(&mut session, &mut Turn::new(0, &mut out));
        assert_eq!(step, Step::Done(Ok(()), After::Close));
        assert!(out.is_empty());
    }

    #[test]
    fn a_target_with_more_than_host_and_port_is_refused() {
        for target in ["127.0.0.1", "127.0.0.1:1/x", "http://h:1", ""] {
            assert!(probe(&[target]).unwrap_err().hint().is_some(), "{target}");
        }
    }
}
