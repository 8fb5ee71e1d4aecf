//! Why a sink could not start or go on, and what to do about it.

use std::path::PathBuf;

use rustix::io::Errno;

use crate::options::Listen;

/// Why a sink could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum SinkError {
    /// Another program listens there.
    #[error("{0} is in use")]
    AddressInUse(Listen),
    /// The address is not one of this machine.
    #[error("{0} is no address of this machine")]
    AddressNotAvailable(Listen),
    /// Rights are missing.
    #[error("no permission to {action}")]
    PermissionDenied {
        /// What was tried.
        action: String,
    },
    /// The store's folder is not there.
    #[error("{0} is not a folder")]
    NotFound(PathBuf),
    /// A fault or a delay names a verb the protocol does not have.
    #[error("{verb:?} is no verb of this sink; it has {known}, and * for all but CONNECT")]
    UnknownVerb {
        /// As asked for.
        verb: String,
        /// Verbs of the protocol.
        known: String,
    },
    /// The protocol has a name here but no server.
    #[error("{0} is not supported yet")]
    NotSpoken(&'static str),
    /// A file of TLS cannot be read, written or used.
    #[error("{}: {problem}", path.display())]
    Tls {
        /// As given, or `tls` where no file is at fault.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// An option is out of its range.
    #[error("{option}: {problem}")]
    BadOption {
        /// Its name.
        option: &'static str,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// Out of file descriptors, memory or threads.
    #[error("out of {resource}")]
    ResourceLimit {
        /// What ran out.
        resource: &'static str,
    },
    /// Anything else the system refused.
    #[error("the system refused to {action}: {errno}")]
    System {
        /// What was tried.
        action: String,
        /// Its answer.
        errno: Errno,
    },
}

impl SinkError {
    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::AddressInUse(_) => {
                Some("stop the program that listens there, or choose another port (0: any)")
            }
            Self::AddressNotAvailable(_) => {
                Some("choose an address that `ip address` lists, or 0.0.0.0")
            }
            Self::PermissionDenied { .. } => {
                Some("run as a user who may, or choose another port or folder")
            }
            Self::NotFound(_) => Some("create it before the sink starts"),
            Self::ResourceLimit { .. } => {
                Some("raise the limit (ulimit -n, ulimit -u, memory), or ask for less")
            }
            Self::NotSpoken(_) => Some("use another protocol, or a newer version"),
            Self::Tls { .. } => Some("give PEM files: a certificate and the private key to it"),
            Self::UnknownVerb { .. } | Self::BadOption { .. } | Self::System { .. } => None,
        }
    }

    /// The variant for what the system said while doing `action`.
    pub(crate) fn from_errno(action: impl Into<String>, errno: Errno) -> Self {
        let action = action.into();
        match errno {
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Self::PermissionDenied { action },
            Errno::MFILE | Errno::NFILE => Self::ResourceLimit {
                resource: "file descriptors",
            },
            Errno::NOMEM | Errno::NOBUFS => Self::ResourceLimit { resource: "memory" },
            errno => Self::System { action, errno },
        }
    }

    /// The variant for a refused listener.
    pub(crate) fn from_listen(address: &Listen, errno: Errno) -> Self {
        match errno {
            Errno::ADDRINUSE => Self::AddressInUse(address.clone()),
            Errno::ADDRNOTAVAIL => Self::AddressNotAvailable(address.clone()),
            errno => Self::from_errno(format!("listen on {address}"), errno),
        }
    }
}
