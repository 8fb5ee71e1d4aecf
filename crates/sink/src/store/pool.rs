//! Threads that wait for the disk, so that event loops never do.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use crate::error::SinkError;
use crate::store::inbox::{Inbox, LoopEvent};
use crate::store::maildir::Maildir;
use crate::store::{Message, Outcome, StoreError, StoreJob};

/// One message for the store; the answer goes to `reply_to` with the same token.
#[derive(Debug)]
pub(crate) struct Job {
    pub work: StoreJob,
    pub message: Box<Message>,
    pub token: u64,
    pub reply_to: Arc<Inbox>,
}

/// Threads that each work on one message at a time.
///
/// The queue needs no bound of its own: a connection has at most one message in it.
#[derive(Debug)]
pub(crate) struct Pool {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Debug, Default)]
struct State {
    jobs: VecDeque<Job>,
    closing: bool,
}

impl Pool {
    pub fn start(threads: u32, maildir: &Maildir) -> Result<Self, SinkError> {
        let pool = Self {
            queue: Arc::default(),
            threads: Mutex::default(),
        };
        for index in 0..threads {
            let (queue, maildir) = (Arc::clone(&pool.queue), maildir.clone());
            let thread = Builder::new()
                .name(format!("store-{index}"))
                .spawn(move || queue.work(&maildir));
            let Ok(thread) = thread else {
                pool.close();
                return Err(SinkError::ResourceLimit {
                    resource: "threads",
                });
            };
            unpoisoned(&pool.threads).push(thread);
        }
        Ok(pool)
    }

    pub fn submit(&self, job: Job) {
        let mut state = unpoisoned(&self.queue.state);
        if state.closing {
            drop(state);
            answer(job, Err(StoreError::Cancelled));
            return;
        }
        state.jobs.push_back(job);
        drop(state);
        self.queue.ready.notify_one();
    }

    /// Takes no more jobs and gives back those no thread has begun.
    pub fn cancel_waiting(&self) {
        let mut state = unpoisoned(&self.queue.state);
        state.closing = true;
        let waiting = std::mem::take(&mut state.jobs);
        drop(state);
        self.queue.ready.notify_all();
        for job in waiting {
            answer(job, Err(StoreError::Cancelled));
        }
    }

    /// Ends the threads when each has finished what it began.
    pub fn close(&self) {
        self.cancel_waiting();
        for thread in std::mem::take(&mut *unpoisoned(&self.threads)) {
            // A panic of a store thread has ended the process already (panic = abort) or a test.
            let _ = thread.join();
        }
    }
}

impl Queue {
    fn work(&self, maildir: &Maildir) {
        while let Some(mut job) = self.next() {
            let outcome = match job.work {
                StoreJob::Append => maildir.append(&mut job.message),
                StoreJob::Deliver => maildir.deliver(&mut job.message),
            };
            answer(job, outcome.map_err(StoreError::from));
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = unpoisoned(&self.state);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closing {
                return None;
            }
            state = self
                .ready
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn answer(job: Job, outcome: Outcome) {
    job.reply_to
        .send(LoopEvent::Stored(job.token, job.message, outcome));
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A poisoned lock still protects whole values: nothing can fail between the statements above.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
