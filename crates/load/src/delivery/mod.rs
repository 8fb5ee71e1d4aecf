//! End-to-end delivery: a message submitted by SMTP, seen by IMAP or POP3.
//!
//! A user is a blocking thread with a mailbox of its own and one message under way; both ends of
//! the journey are read by the same thread and the same clock.

pub mod answer;
mod line;
mod user;
mod watch;

use steelyard_net::clock::realtime_ns;
use steelyard_wire::job::{
    DeliveryOperation, ImapCommand, ImapOperation, LoadJob, Login, Operation, Pop3Operation,
    SmtpOperation, StartTls,
};

use crate::conduct::job_workers::About;
use crate::conduct::job_workers::JobWorkers;
use crate::error::LoadError;
use crate::fault::ErrorKind;
use crate::plan::Plan;
use crate::plan::target::Target;
use crate::protocols::account::Places;
use crate::protocols::imap::Imap;
use crate::protocols::pop3::Pop3;
use crate::protocols::smtp::{Dialect, Smtp};
use crate::tls::{TlsPlan, TlsTally};
use line::{Patience, Route};
use user::User;
use watch::Watch;

/// Each is a thread.
const MOST_USERS: u32 = 256;

/// What an operation consists of.
pub const PHASES: &[&str] = &["connect", "tls", "submit", "delivered"];
const SUBMIT: usize = 2;
const DELIVERED: usize = 3;

/// What one user speaks with.
#[derive(Clone)]
struct Machines {
    smtp: Option<Smtp>,
    submission: Route,
    mailbox: Route,
    reader: MailReader,
}

/// How the mailbox is read.
#[derive(Clone)]
enum MailReader {
    Imap(Imap),
    Pop3(Pop3, u64),
}

impl Machines {
    /// Begins to watch the mailbox.
    fn watch(&self, patience: Patience<'_>, tally: &mut TlsTally) -> Result<Watch, ErrorKind> {
        match &self.reader {
            MailReader::Imap(imap) => Watch::idling(imap.clone(), &self.mailbox, patience, tally)
                .map_err(|(_, kind)| kind),
            MailReader::Pop3(pop3, poll_ns) => {
                let route = self.mailbox.clone();
                Ok(Watch::polling(pop3.clone(), route, *poll_ns))
            }
        }
    }
}

/// The users of `job`, whose operation is `operation`.
pub fn workers(job: &LoadJob, operation: &DeliveryOperation) -> Result<JobWorkers, LoadError> {
    let target = Target::resolve(&job.target, job.unix_socket.as_deref())?;
    if !matches!(target.scheme.as_str(), "smtp" | "smtps" | "lmtp") {
        return Err(LoadError::bad_job(
            format!("messages cannot be submitted to {}://", target.scheme),
            "the target of a delivery is smtp://, smtps:// or lmtp://",
        ));
    }
    let mailbox = Target::resolve(&operation.mailbox, None)?;
    let mut plan = Plan::new(job, target.address.clone())?;
    let users = plan.connections();
    if users > MOST_USERS {
        return Err(LoadError::bad_job(
            format!("{users} users are too many for deliveries"),
            "each is a thread: at most 256",
        ));
    }
    if operation.login.users < users {
        return Err(LoadError::bad_job(
            format!("{users} users share {} mailboxes", operation.login.users),
            "each needs a mailbox of its own: raise login.users",
        ));
    }
    plan.job.threads = users;
    let machines = (0..users)
        .map(|user| machines(job, operation, &target, &mailbox, user))
        .collect::<Result<Vec<_>, _>>()?;
    let about = About {
        phases: PHASES.iter().map(ToString::to_string).collect(),
        kinds: Vec::new(),
        // What is read after an operation to recognise the message is part of no distribution.
        one_shot: true,
        slots: 1,
    };
    Ok(JobWorkers::with(
        plan,
        target,
        about,
        move |plan, user, board, control| {
            let share = plan.share(user);
            let machines = machines[user as usize].clone();
            Ok(User::new(machines, plan, share, board, control).run())
        },
    ))
}

fn machines(
    job: &LoadJob,
    operation: &DeliveryOperation,
    target: &Target,
    mailbox: &Target,
    user: u32,
) -> Result<Machines, LoadError> {
    let submit = submission(&operation.submit, user)?;
    let dialect = Dialect::of(&target.scheme);
    let smtp = Smtp::new(&submit, dialect, realtime_ns(), job.seed)?.for_worker(user, job.seed);
    Ok(Machines {
        smtp: Some(smtp),
        submission: route(job, target, operation.submit.starttls)?,
        mailbox: route(job, mailbox, operation.starttls)?,
        reader: reader(job, operation, mailbox, user)?,
    })
}

/// The submission of user `user` (from 0): to its own address, from its own login.
fn submission(submit: &SmtpOperation, user: u32) -> Result<SmtpOperation, LoadError> {
    let number = user + 1;
    let recipient = match submit.recipient_list.as_slice() {
        [] => format!("user{number}@{}", submit.recipient_domain),
        list => list.get(user as usize).cloned().ok_or_else(|| {
            LoadError::bad_job(
                format!("user {number} has no address"),
                "list as many recipients as there are users, in their order",
            )
        })?,
    };
    Ok(SmtpOperation {
        recipient_list: vec![recipient],
        recipients_per_message: 1,
        login: submit.login.as_ref().map(|login| own(login, number)),
        ..submit.clone()
    })
}

/// The credentials of user `number` alone.
fn own(login: &Login, number: u32) -> Login {
    let fill = |text: &str| text.replace("{n}", &number.to_string());
    Login {
        user: fill(&login.user),
        password: fill(&login.password),
        users: 1,
        mechanism: login.mechanism,
    }
}

fn reader(
    job: &LoadJob,
    operation: &DeliveryOperation,
    mailbox: &Target,
    user: u32,
) -> Result<MailReader, LoadError> {
    let login = own(&operation.login, user + 1);
    let places = Places {
        worker: user,
        first: 0,
        all: 1,
    };
    match mailbox.scheme.as_str() {
        "imap" | "imaps" => {
            let idle = ImapOperation {
                starttls: operation.starttls,
                commands: [(ImapCommand::Idle, 1.0)].into(),
                idle_ns: 1,
                ..ImapOperation::new(login)
            };
            let imap = Imap::new(&idle, places, u64::MAX, 0, job.seed)?;
            Ok(MailReader::Imap(imap.idling_on()))
        }
        "pop3" | "pop3s" => {
            let empty = Pop3Operation {
                starttls: operation.starttls,
                delete_share: 1.0,
                verify: true,
                expect_all: true,
                ..Pop3Operation::new(login)
            };
            let pop3 = Pop3::new(&empty, places, job.seed)?.taking_damaged();
            Ok(MailReader::Pop3(pop3, operation.poll_ns.max(1)))
        }
        scheme => Err(LoadError::bad_job(
            format!("no mailbox is watched by {scheme}://"),
            "imap://, imaps://, pop3:// or pop3s://",
        )),
    }
}

fn route(job: &LoadJob, target: &Target, starttls: StartTls) -> Result<Route, LoadError> {
    let secured = target.secured || starttls == StartTls::Require;
    let tls = secured
        .then(|| TlsPlan::new(&job.tls, &target.host, target.secured, &[]))
        .transpose()?;
    Ok(Route {
        address: target.address.clone(),
        tls,
    })
}

/// Whether `operation` is a delivery, and which.
pub fn of(operation: &Operation) -> Option<&DeliveryOperation> {
    match operation {
        Operation::Delivery(operation) => Some(operation),
        _ => None,
    }
}
