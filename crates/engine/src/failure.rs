//! From what the system said to a failure that says what to do.

use std::io;
use std::path::Path;

use rustix::io::Errno;
use steelyard_load::LoadError;
use steelyard_net::barrier::OffBarrier;
use steelyard_sampler::SamplerError;
use steelyard_sink::SinkError;
use steelyard_wire::agent::{Failure, FailureKind};

/// A failure with a hint.
pub(crate) fn failure(
    kind: FailureKind,
    message: impl Into<String>,
    hint: impl Into<Option<&'static str>>,
) -> Failure {
    Failure {
        kind,
        message: message.into(),
        hint: hint.into().map(str::to_owned),
    }
}

/// A request that makes no sense.
pub(crate) fn bad_request(message: impl Into<String>, hint: &'static str) -> Failure {
    failure(FailureKind::BadRequest, message, hint)
}

/// A common time to start that has passed, or cannot be meant.
pub(crate) fn off_barrier(off: OffBarrier) -> Failure {
    let kind = match off {
        OffBarrier::Past(_) => FailureKind::LateStart,
        OffBarrier::Far(_) => FailureKind::BadRequest,
    };
    failure(kind, off.to_string(), off.hint())
}

/// What the system said while doing `action`.
pub(crate) fn refused(action: &str, error: &io::Error) -> Failure {
    let kind = kind_of(error);
    failure(kind, format!("cannot {action}: {error}"), hint_for(kind))
}

/// As [`refused`], for a path.
pub(crate) fn refused_path(action: &str, path: &Path, error: &io::Error) -> Failure {
    refused(&format!("{action} {}", path.display()), error)
}

/// The kind of a system error.
pub(crate) fn kind_of(error: &io::Error) -> FailureKind {
    match Errno::from_io_error(error) {
        Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => FailureKind::PermissionDenied,
        Some(Errno::ADDRINUSE | Errno::BUSY) => FailureKind::AddressInUse,
        Some(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => FailureKind::DiskFull,
        Some(Errno::NOENT | Errno::NODEV | Errno::NXIO | Errno::SRCH) => FailureKind::NotFound,
        Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN | Errno::NOBUFS) => {
            FailureKind::ResourceLimit
        }
        Some(Errno::CONNREFUSED | Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::TIMEDOUT) => {
            FailureKind::Unreachable
        }
        Some(Errno::INVAL | Errno::NAMETOOLONG | Errno::NOTDIR) => FailureKind::BadRequest,
        None if error.kind() == io::ErrorKind::InvalidInput => FailureKind::BadRequest,
        _ => FailureKind::System,
    }
}

/// What usually helps.
pub(crate) fn hint_for(kind: FailureKind) -> Option<&'static str> {
    Some(match kind {
        FailureKind::PermissionDenied => "run as a user who may, or change the owner of the path",
        FailureKind::AddressInUse => "stop what uses it, or choose another port or path",
        FailureKind::DiskFull => "free some space, or choose another disk",
        FailureKind::NotFound => "check its spelling, and that it is installed on this machine",
        FailureKind::NotReady => "allow more time, or look at what the program wrote",
        FailureKind::ProcessDied => "look at what the program wrote last",
        FailureKind::Unreachable => "is the server running and listening there?",
        FailureKind::ResourceLimit => "raise the limits (ulimit -n, ulimit -u, memory)",
        FailureKind::ProtocolMismatch => "install the same version on both machines",
        FailureKind::LateStart => "choose a time to start that is further ahead",
        FailureKind::BadRequest | FailureKind::Cancelled | FailureKind::System => return None,
    })
}

/// A failed load run.
pub(crate) fn from_load(error: &LoadError) -> Failure {
    Failure {
        kind: error.kind(),
        message: error.to_string(),
        hint: error.hint().map(str::to_owned),
    }
}

/// A sink that could not start or go on.
pub(crate) fn from_sink(error: &SinkError) -> Failure {
    let kind = match error {
        SinkError::AddressInUse(_) => FailureKind::AddressInUse,
        SinkError::PermissionDenied { .. } => FailureKind::PermissionDenied,
        SinkError::NotFound(_) => FailureKind::NotFound,
        SinkError::AddressNotAvailable(_)
        | SinkError::UnknownVerb { .. }
        | SinkError::NotSpoken(_)
        | SinkError::Tls { .. }
        | SinkError::BadOption { .. } => FailureKind::BadRequest,
        SinkError::ResourceLimit { .. } => FailureKind::ResourceLimit,
        SinkError::System { errno, .. } => kind_of(&io::Error::from(*errno)),
    };
    failure(kind, error.to_string(), error.hint())
}

/// Sampling that could not start.
pub(crate) fn from_sampler(error: &SamplerError) -> Failure {
    let kind = match error {
        SamplerError::Interval(_) => FailureKind::BadRequest,
        SamplerError::Thread(_) => FailureKind::ResourceLimit,
        SamplerError::Died => FailureKind::System,
    };
    failure(kind, error.to_string(), hint_for(kind))
}

/// What programs usually write before they end, when the cause is one we have a word for.
pub(crate) fn kind_in_words(text: &str) -> Option<FailureKind> {
    const WORDS: [(&str, FailureKind); 6] = [
        ("address already in use", FailureKind::AddressInUse),
        ("permission denied", FailureKind::PermissionDenied),
        ("operation not permitted", FailureKind::PermissionDenied),
        ("no space left", FailureKind::DiskFull),
        ("quota exceeded", FailureKind::DiskFull),
        ("too many open files", FailureKind::ResourceLimit),
    ];
    let text = text.to_lowercase();
    WORDS
        .iter()
        .find(|(words, _)| text.contains(words))
        .map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_error_gets_the_word_of_who_can_act() {
        let kind = |errno: Errno| kind_of(&io::Error::from(errno));
        assert_eq!(kind(Errno::NOSPC), FailureKind::DiskFull);
        assert_eq!(kind(Errno::ACCESS), FailureKind::PermissionDenied);
        assert_eq!(kind(Errno::ADDRINUSE), FailureKind::AddressInUse);
        assert_eq!(kind(Errno::MFILE), FailureKind::ResourceLimit);
        assert_eq!(kind(Errno::IO), FailureKind::System);
    }

    #[test]
    fn last_words_of_a_server_tell_why_it_ended() {
        let words = "nginx: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)";
        assert_eq!(kind_in_words(words), Some(FailureKind::AddressInUse));
        assert_eq!(kind_in_words("segmentation fault"), None);
    }
}
