//! What all workers of a run have measured, in one place.

use steelyard_wire::result::Payload;

use crate::measurement::meter::Meter;
use crate::measurement::recorder::Recorder;
use crate::measurement::series::Series;
use crate::protocols::mailboxes::MailFigures;
use crate::tls::TlsTally;
use crate::worker::Report;

/// The sum of the workers' reports.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Counts and distributions; its own series is empty.
    pub all: Recorder,
    /// The series of each worker.
    pub series: Vec<Series>,
    /// What each worker spent.
    pub meters: Vec<Meter>,
    /// Connections at once.
    pub most_established: u32,
    /// When the last worker's part of the window was over.
    pub window_end_ns: u64,
    /// What was agreed on.
    pub tls: TlsTally,
    /// Payloads that were checked.
    pub payload: Option<Payload>,
    /// What was done to mailboxes.
    pub mail: Option<MailFigures>,
}

impl Figures {
    /// Adds up `reports`, of which there is at least one.
    pub fn of(reports: Vec<Report>) -> Self {
        let parts = reports.into_iter().map(Self::one);
        parts.reduce(Self::plus).unwrap_or_default()
    }

    fn one(report: Report) -> Self {
        let mut all = report.recorder;
        let series = std::mem::replace(&mut all.series, Series::new(1));
        Self {
            all,
            series: vec![series],
            meters: vec![report.meter],
            most_established: report.most_established,
            window_end_ns: report.window_end_ns,
            tls: report.tls,
            payload: report.payload,
            mail: report.mail,
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        self.all.add(&other.all);
        self.series.extend(other.series);
        self.meters.extend(other.meters);
        self.most_established += other.most_established;
        self.window_end_ns = self.window_end_ns.max(other.window_end_ns);
        self.tls.add(&other.tls);
        self.payload = match (self.payload, other.payload) {
            (Some(mine), Some(theirs)) => Some(sum(&mine, &theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        self.mail = match (self.mail, other.mail) {
            (Some(mine), Some(theirs)) => Some(mine.plus(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        self
    }

    /// The same as part `part` of a mix with `phases` phases, of which its own begin at `first`.
    #[must_use]
    pub fn placed(mut self, first: usize, phases: usize, part: u32) -> Self {
        self.all.place(first, phases, part);
        self
    }
}

/// Both together.
pub fn sum(mine: &Payload, theirs: &Payload) -> Payload {
    Payload {
        checked: mine.checked + theirs.checked,
        corrupted: mine.corrupted + theirs.corrupted,
        unmarked: mine.unmarked + theirs.unmarked,
        lost: mine.lost.zip(theirs.lost).map(|(a, b)| a + b),
        duplicated: mine.duplicated + theirs.duplicated,
    }
}
