//! The one load job that runs at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use steelyard_wire::agent::{Answer, Failure};
use steelyard_wire::job::LoadJob;
use steelyard_wire::result::LoadResult;

use super::conversation::Done;
use crate::failure::{bad_request, from_load};

/// Cancels the running load job; holds nothing when none runs. Clones are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct RunningLoad {
    cancel: Arc<Mutex<Option<Arc<AtomicBool>>>>,
}

/// The right to run a load job, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    load: RunningLoad,
    cancel: Arc<AtomicBool>,
}

impl RunningLoad {
    pub(super) fn begin(&self) -> Result<Turn, Failure> {
        let mut running = self.lock();
        if running.is_some() {
            let hint = "wait for its answer, or cancel it";
            return Err(bad_request("a load job is running already", hint));
        }
        let cancel = Arc::new(AtomicBool::new(false));
        *running = Some(Arc::clone(&cancel));
        let load = self.clone();
        Ok(Turn { load, cancel })
    }

    pub(super) fn cancel(&self) {
        if let Some(cancel) = self.lock().as_ref() {
            cancel.store(true, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<AtomicBool>>> {
        self.cancel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    pub(super) fn run(self, job: &LoadJob) -> Done {
        let result = steelyard_load::run(job, &self.cancel, None);
        // Before the answer is sent: the next job may come at once.
        drop(self);
        let result = result.map_err(|error| from_load(&error))?;
        Ok(Answer::Load(Box::new(result)))
    }
}

pub(super) fn merge_loads(results: &[LoadResult]) -> Done {
    let merged = steelyard_load::merge(results).map_err(|error| from_load(&error))?;
    Ok(Answer::Load(Box::new(merged)))
}

impl Drop for Turn {
    fn drop(&mut self) {
        *self.load.lock() = None;
    }
}
