//! Where each request goes: at once, or into a thread of its own.

use std::path::Path;
use std::time::Duration;

use steelyard_net::clock::{monotonic_ns, realtime_ns};
use steelyard_sampler::Sampler;
use steelyard_wire::AGENT_PROTOCOL;
use steelyard_wire::agent::{Answer, Failure, FailureKind, Request, Verb};
use steelyard_wire::job::LoadJob;
use steelyard_wire::listening::ListeningJob;
use steelyard_wire::process::RunJob;
use steelyard_wire::sample::SampleJob;

use super::child::Child;
use super::children::{Children, kill_stale, status, stop, wait_until_ready};
use super::contents::{read_file, write_file};
use super::conversation::{Done, Replies, decode};
use super::files::{drop_caches, make_directory, remove_tree, sync_filesystem};
use super::launch::{Order, launch};
use super::lines::Line;
use super::listening::wait_for_listener;
use super::loads::{RunningLoad, merge_loads};
use super::output::Output;
use super::runs::Runs;
use crate::facts;
use crate::failure::{bad_request, failure, from_sampler, hint_for, refused};

/// Whether the conversation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// It does.
    GoOn,
    /// It ends here.
    End,
}

/// The state of one conversation.
pub(super) struct Dispatcher {
    replies: Replies,
    greeted: bool,
    children: Children,
    runs: Runs,
    sampler: Option<Sampler>,
    load: RunningLoad,
    /// When the line that is being served was read.
    received_ns: u64,
}

impl Dispatcher {
    pub(super) fn new() -> Self {
        Self {
            replies: Replies::default(),
            greeted: false,
            children: Children::default(),
            runs: Runs::default(),
            sampler: None,
            load: RunningLoad::default(),
            received_ns: 0,
        }
    }

    /// Serves one line, read at `received_ns`.
    pub(super) fn take(&mut self, line: &Line, received_ns: u64) -> Flow {
        self.received_ns = received_ns;
        match decode(line) {
            Ok(Request { id, verb }) => self.serve(id, verb),
            Err((id, failure)) => {
                self.replies.send(id, Err(failure));
                Flow::GoOn
            }
        }
    }

    /// Ends everything that was started.
    pub(super) fn close(&mut self) {
        self.load.cancel();
        self.runs.end_all();
        self.sampler = None;
        self.children.end_all();
    }

    fn serve(&mut self, id: u64, verb: Verb) -> Flow {
        match verb {
            Verb::Hello { protocol } => self.greet(id, protocol),
            _ if !self.greeted => {
                let message = "the conversation has not begun";
                self.refuse(id, bad_request(message, "say hello first"));
            }
            Verb::Bye => {
                self.close();
                self.replies.send(id, Ok(Answer::Done));
                return Flow::End;
            }
            verb => self.work(id, verb),
        }
        Flow::GoOn
    }

    fn work(&mut self, id: u64, verb: Verb) {
        match verb {
            Verb::Clock => self.replies.send(id, Ok(clock(self.received_ns))),
            Verb::Facts => self.apart(id, || Ok(Answer::Facts(facts::collect()))),
            Verb::Path { path } => self.apart(id, move || path_facts(&path)),
            Verb::MakeDirectory { path } => self.apart(id, move || make_directory(&path)),
            Verb::RemoveTree { path } => self.apart(id, move || remove_tree(&path)),
            Verb::SyncFilesystem { path } => self.apart(id, move || sync_filesystem(&path)),
            Verb::DropCaches => self.apart(id, drop_caches),
            Verb::KillStale { pid, start_ticks } => {
                self.apart(id, move || kill_stale(pid, start_ticks));
            }
            Verb::Start {
                ref name,
                ready_timeout_ms,
                ..
            } => self.start_and_wait(id, &verb, name, ready_timeout_ms),
            Verb::Status { name } => {
                self.with_child(id, &name, |child| Ok(status(child)));
            }
            Verb::Stop {
                name,
                grace_ms,
                with,
            } => {
                let command = with.map(|argv| (self.runs.enter(), RunJob::new(argv, grace_ms)));
                let grace = Duration::from_millis(grace_ms);
                self.with_child(id, &name, move |child| stop(child, grace, command));
            }
            Verb::ThreadPlaces { pid } => self.apart(id, move || thread_places(pid)),
            Verb::Run(job) => {
                let handle = self.runs.enter();
                self.apart(id, move || handle.run(&job));
            }
            Verb::CancelRuns => {
                self.runs.cancel();
                self.replies.send(id, Ok(Answer::Done));
            }
            Verb::ReadFile { path, most_bytes } => {
                self.apart(id, move || read_file(&path, most_bytes));
            }
            Verb::WriteFile(job) => self.apart(id, move || write_file(&job)),
            Verb::Load { job } => self.start_load(id, job),
            Verb::CancelLoad => {
                self.load.cancel();
                self.replies.send(id, Ok(Answer::Done));
            }
            Verb::MergeLoads { results } => self.apart(id, move || merge_loads(&results)),
            Verb::SampleStart { job } => {
                let started = self.start_sampling(&job);
                self.replies.send(id, started);
            }
            Verb::SampleStop => self.stop_sampling(id),
            Verb::Listening(job) => self.wait_for_listener(id, job),
            Verb::Hello { .. } | Verb::Bye => {}
        }
    }

    fn start_and_wait(&mut self, id: u64, verb: &Verb, name: &str, ready_timeout_ms: Option<u64>) {
        match self.start(verb, name) {
            Ok(child) => {
                let most = ready_timeout_ms.map(Duration::from_millis);
                self.apart(id, move || wait_until_ready(&child, most));
            }
            Err(failure) => self.refuse(id, failure),
        }
    }

    fn greet(&mut self, id: u64, protocol: u32) {
        if protocol != AGENT_PROTOCOL {
            let message = format!(
                "the controller speaks version {protocol} of the agent's messages, this engine \
                 ({}) version {AGENT_PROTOCOL}",
                facts::VERSION
            );
            let kind = FailureKind::ProtocolMismatch;
            self.refuse(id, failure(kind, message, hint_for(kind)));
            return;
        }
        self.greeted = true;
        let boot_id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
        let hello = Answer::Hello {
            protocol: AGENT_PROTOCOL,
            version: facts::VERSION.to_owned(),
            pid: std::process::id(),
            boot_id: boot_id.ok().map(|id| id.trim().to_owned()),
        };
        self.replies.send(id, Ok(hello));
    }

    fn refuse(&self, id: u64, failure: Failure) {
        self.replies.send(id, Err(failure));
    }

    /// Does `work` in a thread of its own and answers when it is done.
    fn apart(&self, id: u64, work: impl FnOnce() -> Done + Send + 'static) {
        let replies = self.replies.clone();
        let spawned = std::thread::Builder::new()
            .name("request".to_owned())
            .spawn(move || replies.send(id, work()));
        if let Err(error) = spawned {
            self.refuse(id, refused("start a thread", &error));
        }
    }

    fn with_child(&self, id: u64, name: &str, work: impl FnOnce(&Child) -> Done + Send + 'static) {
        match self.children.get(name) {
            Ok(child) => self.apart(id, move || work(&child)),
            Err(failure) => self.refuse(id, failure),
        }
    }

    fn wait_for_listener(&self, id: u64, job: ListeningJob) {
        let child = job.unless_ended.as_deref();
        match child.map(|name| self.children.get(name)).transpose() {
            Ok(child) => self.apart(id, move || wait_for_listener(&job, child.as_ref())),
            Err(failure) => self.refuse(id, failure),
        }
    }

    fn start(&mut self, verb: &Verb, name: &str) -> Result<Child, Failure> {
        let Verb::Start {
            argv,
            environment,
            directory,
            ..
        } = verb
        else {
            return Err(bad_request("not a start", "see docs/reference/agent.md"));
        };
        self.children.check_free(name)?;
        let launched = launch(&Order {
            argv,
            environment,
            directory: directory.as_deref(),
            has_input: false,
            start_at_ns: None,
        })?;
        let child = Child::watch(launched, Output::new());
        let child = child.map_err(|error| refused("watch a process", &error))?;
        self.children.add(name.to_owned(), child.clone());
        Ok(child)
    }

    fn start_load(&self, id: u64, job: LoadJob) {
        match self.load.begin() {
            Ok(turn) => self.apart(id, move || turn.run(&job)),
            Err(failure) => self.refuse(id, failure),
        }
    }

    fn start_sampling(&mut self, job: &SampleJob) -> Done {
        if self.sampler.is_some() {
            return Err(bad_request("sampling is under way already", "end it first"));
        }
        let sampler = Sampler::start(job).map_err(|error| from_sampler(&error))?;
        self.sampler = Some(sampler);
        Ok(Answer::Done)
    }

    fn stop_sampling(&mut self, id: u64) {
        let Some(sampler) = self.sampler.take() else {
            self.refuse(
                id,
                bad_request("nothing is being sampled", "start it first"),
            );
            return;
        };
        self.apart(id, move || {
            let rows = sampler.stop().map_err(|error| from_sampler(&error))?;
            Ok(Answer::Samples(rows))
        });
    }
}

fn clock(received_monotonic_ns: u64) -> Answer {
    Answer::Clock {
        received_monotonic_ns,
        monotonic_ns: monotonic_ns(),
        realtime_ns: realtime_ns(),
    }
}

fn path_facts(path: &str) -> Done {
    let facts = steelyard_sampler::path_facts(Path::new("/"), Path::new(path));
    facts
        .map(Answer::Path)
        .map_err(|error| refused(&format!("look at {path}"), &error))
}

fn thread_places(pid: u32) -> Done {
    let threads = steelyard_sampler::thread_places(Path::new("/"), pid);
    threads
        .map(|threads| Answer::ThreadPlaces { threads })
        .map_err(|error| refused(&format!("look at the threads of {pid}"), &error))
}
