//! Maildir delivery: written in `tmp/`, made safe, then visible in `new/` in one step.
//!
//! Source: D. J. Bernstein, "Using maildir format". One folder for each recipient.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::{Errno, Result};
use steelyard_net::clock::realtime_ns;

use crate::options::Sync;
use crate::store::files::Files;
use crate::store::{Message, Stored};

/// Copied at a time from the first recipient's file to those of the others.
const COPY_BYTES: usize = 64 * 1024;

/// The Maildirs below one folder.
#[derive(Debug, Clone)]
pub(crate) struct Maildir {
    pub files: Arc<dyn Files>,
    pub sync: Sync,
    pub names: Arc<Names>,
}

/// Where unique file names come from.
#[derive(Debug)]
pub(crate) struct Names {
    host: String,
    sequence: AtomicU64,
}

impl Names {
    /// `host` may hold anything; separators are written as Maildir wants them.
    pub fn new(host: &str) -> Self {
        Self {
            host: host.replace('/', "\\057").replace(':', "\\072"),
            sequence: AtomicU64::new(0),
        }
    }

    /// Seconds, microseconds, process, number within the process, host.
    fn next(&self) -> String {
        let now_us = realtime_ns() / 1_000;
        let (seconds, microseconds) = (now_us / 1_000_000, now_us % 1_000_000);
        // Relaxed: only uniqueness matters.
        let number = self.sequence.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        format!(
            "{seconds}.M{microseconds:06}P{process}Q{number}.{}",
            self.host
        )
    }
}

/// The part of a message that lies in its file already; removed unless it is delivered.
#[derive(Debug)]
pub(crate) struct Spill {
    file: OwnedFd,
    /// In `tmp/`; empty when it has moved on.
    path: String,
    bytes: u64,
    files: Arc<dyn Files>,
}

impl Drop for Spill {
    fn drop(&mut self) {
        if !self.path.is_empty() {
            // If refused, the file stays in tmp/, where Maildir readers look for nothing.
            let _ = self.files.remove(&self.path);
        }
    }
}

impl Maildir {
    /// Writes what is in memory to the first recipient's file.
    pub fn append(&self, message: &mut Message) -> Result<Stored> {
        let mut spill = match message.spill.take() {
            Some(spill) => spill,
            None => self.begin(&message.recipients[0], &self.names.next())?,
        };
        self.files.write(&spill.file, &message.body)?;
        spill.bytes += message.body.len() as u64;
        message.body.clear();
        message.spill = Some(spill);
        Ok(Stored::default())
    }

    /// Makes the whole message visible to each recipient, or to none.
    pub fn deliver(&self, message: &mut Message) -> Result<Stored> {
        let first = message.spill.take();
        let name = match &first {
            Some(spill) => file_name(&spill.path).to_owned(),
            None => self.names.next(),
        };
        let mut copies = self.write_copies(message, first, &name)?;
        let bytes = copies.iter().map(|copy| copy.bytes).sum();
        match self.publish(&message.recipients, &mut copies, &name) {
            Ok(()) => Ok(Stored {
                files: copies.len() as u64,
                bytes,
            }),
            Err(errno) => {
                self.withdraw(&message.recipients, &name);
                Err(errno)
            }
        }
    }

    fn write_copies(
        &self,
        message: &Message,
        mut first: Option<Spill>,
        name: &str,
    ) -> Result<Vec<Spill>> {
        let mut copies: Vec<Spill> = Vec::with_capacity(message.recipients.len());
        for recipient in &message.recipients {
            let mut copy = match first.take() {
                Some(spill) => spill,
                None => self.begin(recipient, name)?,
            };
            let spilled = |first: &&Spill| first.bytes > message.body.len() as u64;
            if let Some(source) = copies.first().filter(spilled) {
                self.copy(source, &mut copy)?;
            } else {
                self.files.write(&copy.file, &message.body)?;
                copy.bytes += message.body.len() as u64;
            }
            if self.sync == Sync::EachMessage {
                self.files.sync(&copy.file)?;
            }
            copies.push(copy);
        }
        Ok(copies)
    }

    fn copy(&self, source: &Spill, into: &mut Spill) -> Result<()> {
        let mut chunk = vec![0; COPY_BYTES];
        loop {
            let count = self.files.read(&source.file, &mut chunk, into.bytes)?;
            if count == 0 {
                return Ok(());
            }
            self.files.write(&into.file, &chunk[..count])?;
            into.bytes += count as u64;
        }
    }

    fn publish(&self, recipients: &[String], copies: &mut [Spill], name: &str) -> Result<()> {
        for (recipient, copy) in recipients.iter().zip(copies) {
            self.files
                .rename(&copy.path, &format!("{recipient}/new/{name}"))?;
            copy.path.clear();
        }
        if self.sync == Sync::EachMessage {
            for recipient in recipients {
                self.files.sync_folder(&format!("{recipient}/new"))?;
            }
        }
        Ok(())
    }

    /// Undoes what some recipients may already have: the sender will try again for all.
    fn withdraw(&self, recipients: &[String], name: &str) {
        for recipient in recipients {
            let _ = self.files.remove(&format!("{recipient}/new/{name}"));
        }
    }

    /// A new file in the recipient's `tmp/`; the folders are made when they are missing.
    fn begin(&self, recipient: &str, name: &str) -> Result<Spill> {
        let path = format!("{recipient}/tmp/{name}");
        let file = match self.files.create(&path) {
            Err(Errno::NOENT) => {
                self.make_folders(recipient)?;
                self.files.create(&path)
            }
            done => done,
        }?;
        Ok(Spill {
            file,
            path,
            bytes: 0,
            files: Arc::clone(&self.files),
        })
    }

    /// `tmp/` last: who finds it finds all the others, safe already. Others may be looking.
    fn make_folders(&self, recipient: &str) -> Result<()> {
        self.files.make_folder(recipient)?;
        for part in ["cur", "new"] {
            self.files.make_folder(&format!("{recipient}/{part}"))?;
        }
        if self.sync == Sync::EachMessage {
            self.files.sync_folder(recipient)?;
            self.files.sync_folder(".")?;
        }
        self.files.make_folder(&format!("{recipient}/tmp"))
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
