//! One transfer: two conversations at once, whose ends may come in any order.

use crate::fault::ErrorKind;
use crate::payload::PayloadCheck;
use crate::protocols::SideAddress;

use super::phases;

/// What is known of a transfer that is under way.
#[derive(Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is one of the ends that may come in any order"
)]
pub struct Transfer {
    /// Where its data connection goes.
    pub address: Option<SideAddress>,
    /// Bytes go out.
    pub upload: bool,
    /// TLS is still to be agreed on.
    pub unsecured: bool,
    /// The server has said that it begins.
    pub begun: bool,
    /// The server has said that it is complete.
    pub confirmed: bool,
    /// The last byte has come or gone.
    pub over: bool,
    /// What went wrong with the data connection.
    pub failure: Option<ErrorKind>,
    /// What the server says its length is.
    pub expected_bytes: Option<u64>,
    /// Bytes that have come; those that go are known.
    pub bytes: u64,
    /// The data connection may have been cut off.
    pub unclean: bool,
    /// When the command was sent.
    pub start_ns: u64,
    /// Of a download that is checked.
    pub check: Option<Box<PayloadCheck>>,
}

impl Transfer {
    /// What it waits for.
    pub fn phase(&self) -> usize {
        if !self.begun && !self.confirmed {
            phases::PRELIMINARY
        } else if self.unsecured {
            phases::DATA_TLS
        } else if self.over {
            phases::COMPLETE
        } else if self.upload || self.bytes > 0 {
            phases::LAST_BYTE
        } else {
            phases::FIRST_BYTE
        }
    }

    /// Whether both conversations have come to their end.
    pub fn settled(&self) -> bool {
        self.over && self.confirmed
    }

    /// Whether what has come can be all of it.
    pub fn whole(&self) -> Result<(), ErrorKind> {
        match self.expected_bytes {
            _ if self.upload => Ok(()),
            Some(expected) if self.bytes < expected => Err(ErrorKind::ShortRead),
            Some(expected) if self.bytes > expected => Err(ErrorKind::BodyMismatch),
            None if self.unclean => Err(ErrorKind::ShortRead),
            _ => Ok(()),
        }
    }

    /// Whether `moved_bytes` until `now_ns` are fewer than `least_bytes_per_s`.
    pub fn too_slow(&self, moved_bytes: u64, now_ns: u64, least_bytes_per_s: f64) -> bool {
        let took_ns = now_ns.saturating_sub(self.start_ns);
        (moved_bytes as f64) * 1e9 < least_bytes_per_s * took_ns as f64
    }
}
