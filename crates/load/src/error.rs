//! Why a run could not happen at all. Whatever goes wrong once it runs is counted, not returned.

use rustix::io::Errno;
use steelyard_net::barrier::OffBarrier;
use steelyard_wire::agent::FailureKind;

/// A run that could not happen.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The job contradicts itself or asks for what is not there.
    #[error("{message}")]
    BadJob {
        /// What is wrong with it.
        message: String,
        /// What to write instead.
        hint: Option<String>,
    },
    /// The host of the target has no address.
    #[error("{host} does not resolve: {reason}")]
    Unresolved {
        /// As written in the target.
        host: String,
        /// As the resolver put it.
        reason: String,
    },
    /// Not one connection could be made.
    #[error("no connection to {address}: {message}")]
    NoConnection {
        /// As resolved.
        address: String,
        /// Decides what can be done about it.
        kind: FailureKind,
        /// For people.
        message: String,
        /// What to look at.
        hint: &'static str,
    },
    /// Something listens there, but it does not speak as a sink of streams does.
    #[error("{address} does not answer as a sink of streams")]
    NoSink {
        /// As resolved.
        address: String,
        /// What to do about it.
        hint: &'static str,
    },
    /// The common time to start had passed before every connection was ready.
    #[error("not ready to start with the others: {0}")]
    Late(OffBarrier),
    /// Ended on request before the window began.
    #[error("cancelled before the measuring window began")]
    Cancelled,
    /// The file for the operations cannot be written.
    #[error("cannot write {path}: {reason}")]
    Log {
        /// As asked for.
        path: String,
        /// As the system put it.
        reason: String,
    },
    /// The system refused what a worker needs (a thread, an epoll instance).
    #[error("cannot start a worker: {0}")]
    Worker(Errno),
}

impl From<OffBarrier> for LoadError {
    fn from(off: OffBarrier) -> Self {
        match off {
            OffBarrier::Past(_) => Self::Late(off),
            OffBarrier::Far(_) => Self::bad_job(off.to_string(), off.hint()),
        }
    }
}

impl LoadError {
    /// The kind that an agent puts into its reply.
    pub fn kind(&self) -> FailureKind {
        match self {
            Self::BadJob { .. } => FailureKind::BadRequest,
            Self::Unresolved { .. } | Self::NoSink { .. } => FailureKind::Unreachable,
            Self::NoConnection { kind, .. } => *kind,
            Self::Late(_) => FailureKind::LateStart,
            Self::Cancelled => FailureKind::Cancelled,
            Self::Log { .. } => FailureKind::System,
            Self::Worker(_) => FailureKind::ResourceLimit,
        }
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::BadJob { hint, .. } => hint.as_deref(),
            Self::Unresolved { .. } => Some("check the host name, or use an address"),
            Self::NoConnection { hint, .. } | Self::NoSink { hint, .. } => Some(hint),
            Self::Late(off) => Some(off.hint()),
            Self::Cancelled => None,
            Self::Log { .. } => Some("is there room, and may you write there?"),
            Self::Worker(_) => Some("ask for fewer threads or raise the limits"),
        }
    }

    pub(crate) fn bad_job(
        message: impl Into<String>,
        hint: impl Into<Option<&'static str>>,
    ) -> Self {
        Self::BadJob {
            message: message.into(),
            hint: hint.into().map(str::to_owned),
        }
    }
}
