//! What all threads of a stream share, and what both ends report.

use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, OnceLock, PoisonError};

use steelyard_flow::{EndpointReport, Run, Spec};

use crate::error::LoadError;
use crate::plan::Plan;

/// What all threads of a run share.
pub struct StreamRun<'a> {
    pub plan: &'a Plan,
    pub spec: &'a Spec,
    pub tag: u32,
    pub run: OnceLock<Run>,
    /// Threads whose endpoints are not over.
    pub moving: AtomicU32,
    reports: Mutex<Reports>,
}

/// What both ends reported at the end.
#[derive(Debug, Default)]
pub struct Reports {
    /// Endpoints of this end.
    pub own: Vec<EndpointReport>,
    /// Endpoints of the sink.
    pub peer: Vec<EndpointReport>,
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
            reports: Mutex::default(),
        }
    }

    /// What was reported, when all threads are over; an error if the sink refused to begin.
    pub fn into_reports(self) -> std::result::Result<Reports, LoadError> {
        let reports = self.reports.into_inner();
        let mut reports = reports.unwrap_or_else(PoisonError::into_inner);
        reports.refusal.take().map_or(Ok(reports), Err)
    }

    /// Adds what was reported.
    pub fn add(&self, add: impl FnOnce(&mut Reports)) {
        add(&mut self.reports.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
