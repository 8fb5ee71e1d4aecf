//! What all threads of a stream share, and what both ends report.

use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, OnceLock, PoisonError};

use steelyard_flow::{LaneReport, Run, Spec};

use crate::error::LoadError;
use crate::plan::Plan;

/// What all threads of a run share.
pub struct StreamRun<'a> {
    pub plan: &'a Plan,
    pub spec: &'a Spec,
    pub tag: u32,
    pub run: OnceLock<Run>,
    /// Threads whose lanes are not over.
    pub moving: AtomicU32,
    told: Mutex<Told>,
}

/// What both ends have told in the end.
#[derive(Debug, Default)]
pub struct Told {
    /// Lanes of this end.
    pub own: Vec<LaneReport>,
    /// Lanes of the sink.
    pub peer: Vec<LaneReport>,
    /// CPU time of the sink in the window.
    pub peer_cpu_ns: Option<u64>,
    /// Why the sink did not begin.
    pub refusal: Option<LoadError>,
}

impl<'a> StreamRun<'a> {
    /// No one has begun yet.
    pub fn new(plan: &'a Plan, spec: &'a Spec, tag: u32) -> Self {
        Self {
            plan,
            spec,
            tag,
            run: OnceLock::new(),
            moving: AtomicU32::new(plan.job.threads),
            told: Mutex::default(),
        }
    }

    /// What was reported, when all threads are over; an error if the sink refused to begin.
    pub fn into_told(self) -> std::result::Result<Told, LoadError> {
        let told = self.told.into_inner();
        let mut told = told.unwrap_or_else(PoisonError::into_inner);
        told.refusal.take().map_or(Ok(told), Err)
    }

    /// Adds what was reported.
    pub fn tell(&self, add: impl FnOnce(&mut Told)) {
        add(&mut self.told.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
