//! Why a kernel did not run at all. A wrong answer is not among these: it is in the result.

use steelyard_wire::kernel::Isa;

/// A kernel that did not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// An option that makes no sense.
    #[error("{message}")]
    BadOption {
        /// What is wrong with it.
        message: String,
        /// What to write instead.
        hint: &'static str,
    },
    /// The machine has less memory than that.
    #[error("{needed_bytes} bytes are needed, {available_bytes} are available")]
    TooLarge {
        /// What all arrays take together.
        needed_bytes: u64,
        /// What the kernel says can be had without swapping.
        available_bytes: u64,
    },
    /// This processor lacks these instructions.
    #[error("this processor has no {0:?}")]
    NoSuchIsa(Isa),
    /// The system refused memory.
    #[error("the system refused {0} bytes of memory")]
    NoMemory(usize),
    /// The system refused a thread.
    #[error("the system refused a thread: {0}")]
    NoThread(String),
    /// The disk refused a write.
    #[error("the disk cannot be written to: {message}")]
    Disk {
        /// What the system said, and of which folder.
        message: String,
    },
}

impl KernelError {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::BadOption { hint, .. } => hint,
            Self::TooLarge { .. } | Self::NoMemory(_) => "ask for a smaller size, or free memory",
            Self::NoSuchIsa(_) => "leave out --isa: the best one is chosen",
            Self::NoThread(_) => "ask for fewer threads or raise the limits (ulimit -u)",
            Self::Disk { .. } => "name a folder on a disk that can be written to, or none",
        }
    }

    pub(crate) fn disk(message: String) -> Self {
        Self::Disk { message }
    }

    pub(crate) fn bad_option(message: impl Into<String>, hint: &'static str) -> Self {
        Self::BadOption {
            message: message.into(),
            hint,
        }
    }
}
