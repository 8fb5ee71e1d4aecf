//! Mail: submission, mailboxes, and delivery from one to the other.

mod delivery;
mod host;
mod imap;
mod pop3;
mod smtp;
mod smtp_groups;
mod smtp_tls;
