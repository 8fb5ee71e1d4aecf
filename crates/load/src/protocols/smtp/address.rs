//! Addresses to choose from.

use steelyard_wire::job::SmtpOperation;

use crate::payload::write_decimal;

/// A list, or numbers that make addresses.
#[derive(Debug, Clone)]
pub enum Addresses {
    Numbered { count: u32, domain: Vec<u8> },
    Listed(Vec<Vec<u8>>),
}

impl Addresses {
    pub fn senders(operation: &SmtpOperation) -> Self {
        if operation.senders.is_empty() {
            return Self::Listed(vec![operation.sender.clone().into_bytes()]);
        }
        Self::listed(&operation.senders)
    }

    pub fn recipients(operation: &SmtpOperation) -> Self {
        if operation.recipient_list.is_empty() {
            return Self::Numbered {
                count: operation.recipients,
                domain: format!("@{}", operation.recipient_domain).into_bytes(),
            };
        }
        Self::listed(&operation.recipient_list)
    }

    fn listed(list: &[String]) -> Self {
        Self::Listed(list.iter().map(|text| text.clone().into_bytes()).collect())
    }

    pub fn count(&self) -> usize {
        match self {
            Self::Numbered { count, .. } => *count as usize,
            Self::Listed(list) => list.len(),
        }
    }

    /// Appends the address at `index`; behind the last comes the first again.
    pub fn write(&self, index: usize, out: &mut Vec<u8>) {
        match self {
            Self::Numbered { count, domain } => {
                out.extend_from_slice(b"user");
                write_decimal((index as u64) % u64::from(*count) + 1, out);
                out.extend_from_slice(domain);
            }
            Self::Listed(list) => out.extend_from_slice(&list[index % list.len()]),
        }
    }
}
