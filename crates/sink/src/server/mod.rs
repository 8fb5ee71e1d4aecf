//! Starting and ending a sink: listener, event loops, store threads.

pub(crate) mod listener;
pub(crate) mod together;

use std::sync::Arc;
use std::thread::{Builder, Scope, ScopedJoinHandle};

use rustix::fs::{Access, AtFlags, Mode, OFlags, accessat, open};
use rustix::io::Errno;

use crate::counters::SinkCounters;
use crate::counters::tally::{Tally, total};
use crate::error::SinkError;
use crate::event_loop::acceptor::{Acceptor, LoopRegistry};
use crate::event_loop::{Limits, Worker};
use crate::maildrop::Maildrops;
use crate::options::{self, Listen, SinkOptions, Store, TlsServerOptions};
use crate::protocols::Protocol;
use crate::protocols::echo::Discard;
use crate::protocols::echo::Echo;
use crate::protocols::echo::datagrams::Datagrams;
use crate::protocols::ftp::{self, Ftp};
use crate::protocols::http::Http;
use crate::protocols::imap::Imap;
use crate::protocols::pop3::Pop3;
use crate::protocols::shape::Shape;
use crate::protocols::smtp::{Smtp, Target};
use crate::stop::StopHandle;
use crate::store::files::{Disk, Files};
use crate::store::inbox::Inbox;
use crate::store::maildir::{Maildir, Names};
use crate::store::pool::Pool;
use crate::tls::Identity;

/// Serves until `stop` is pulled, then returns what was counted.
///
/// `ready` is called with the bound address once, when connections are being served. The caller's
/// thread only waits. After the stop every connection gets its farewell at once; only messages whose
/// write has begun are waited for.
pub fn serve(
    options: &SinkOptions,
    stop: &StopHandle,
    ready: impl FnOnce(Listen),
) -> Result<SinkCounters, SinkError> {
    serve_with(&Shared::open(options)?, options, stop, ready)
}

/// Serves connections by `serve` and datagrams on the port that it listens on.
fn with_datagrams<R: FnOnce(Listen)>(
    options: &SinkOptions,
    stop: &StopHandle,
    ready: R,
    serve: impl FnOnce(&mut dyn FnMut(Listen)) -> Result<SinkCounters, SinkError>,
) -> Result<SinkCounters, SinkError> {
    let answers = options.protocol == options::Protocol::Echo;
    let mut ready = Some(ready);
    std::thread::scope(|scope| {
        let mut datagrams = None;
        let mut refused = None;
        let mut counters = serve(&mut |at| {
            match at.tcp().map(|address| Datagrams::bind(address, answers)) {
                Some(Err(error)) => {
                    let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
                    refused = Some(SinkError::from_listen(&at, errno));
                    return stop.stop();
                }
                Some(Ok(socket)) => datagrams = Some(scope.spawn(move || socket.run(stop))),
                None => {}
            }
            if let Some(ready) = ready.take() {
                ready(at);
            }
        })?;
        if let Some(refused) = refused {
            return Err(refused);
        }
        if let Some(thread) = datagrams {
            counters.add_datagrams(&total(&[finished(thread)?]));
        }
        Ok(counters)
    })
}

/// What the listeners of one process have in common.
pub(crate) struct Shared {
    drops: Arc<Maildrops>,
    identity: Option<Identity>,
}

impl Shared {
    pub fn open(options: &SinkOptions) -> Result<Self, SinkError> {
        let identity = |tls: &TlsServerOptions| Identity::open(&tls.certificate);
        Ok(Self {
            drops: Arc::new(Maildrops::new(&options.mail)?),
            identity: options.tls.as_ref().map(identity).transpose()?,
        })
    }
}

/// One listener with what it shares with others.
pub(crate) fn serve_with(
    shared: &Shared,
    options: &SinkOptions,
    stop: &StopHandle,
    ready: impl FnOnce(Listen),
) -> Result<SinkCounters, SinkError> {
    match options.protocol {
        options::Protocol::Http => run(shared, options, stop, ready, None, |_| {
            Http::new(&options.http)
        }),
        options::Protocol::Smtp | options::Protocol::Lmtp => {
            let files = open_store(&options.smtp.store)?;
            serve_smtp(shared, options, stop, ready, files)
        }
        options::Protocol::Stream => crate::stream::serve(options, stop, ready),
        options::Protocol::Pop3 => run(shared, options, stop, ready, None, |_| {
            Ok(Pop3::new(options, Arc::clone(&shared.drops)))
        }),
        options::Protocol::Imap => run(shared, options, stop, ready, None, |inbox| {
            Ok(Imap::new(options, Arc::clone(&shared.drops), inbox))
        }),
        options::Protocol::Echo => with_datagrams(options, stop, ready, |ready| {
            run(shared, options, stop, ready, None, |_| Ok(Echo))
        }),
        options::Protocol::Discard => with_datagrams(options, stop, ready, |ready| {
            run(shared, options, stop, ready, None, |_| Ok(Discard))
        }),
        options::Protocol::Ftp => {
            let files = Arc::new(ftp::Files::new(options.ftp.keep_bytes));
            run(shared, options, stop, ready, None, |_| {
                Ftp::new(options, Arc::clone(&files))
            })
        }
    }
}

/// The SMTP sink on the given files, which tests replace by some that fail.
pub(crate) fn serve_smtp(
    shared: &Shared,
    options: &SinkOptions,
    stop: &StopHandle,
    ready: impl FnOnce(Listen),
    files: Option<Arc<dyn Files>>,
) -> Result<SinkCounters, SinkError> {
    let host = Smtp::hostname(&options.smtp);
    let pool = match (&options.smtp.store, files) {
        (Store::Maildir { sync, threads, .. }, Some(files)) => {
            let names = Arc::new(Names::new(&host));
            let maildir = Maildir {
                files,
                sync: *sync,
                names,
            };
            Some(Arc::new(Pool::start(
                at_least_one("store threads", *threads)?,
                &maildir,
            )?))
        }
        _ => None,
    };
    let target = match options.smtp.store {
        Store::Maildir { .. } => Target::Disk,
        Store::Memory => Target::Memory,
        Store::None => Target::Nowhere,
    };
    let served = run(shared, options, stop, ready, pool.as_ref(), |_| {
        Smtp::new(options, host.clone(), target, Arc::clone(&shared.drops))
    });
    if let Some(pool) = pool {
        pool.close();
    }
    served
}

fn run<P: Protocol + Send>(
    shared: &Shared,
    options: &SinkOptions,
    stop: &StopHandle,
    ready: impl FnOnce(Listen),
    pool: Option<&Arc<Pool>>,
    protocol: impl Fn(Arc<Inbox>) -> Result<P, SinkError>,
) -> Result<SinkCounters, SinkError>
where
    P::Session: Send,
{
    let threads = at_least_one("threads", options.threads)?;
    let limits = limits::<P>(shared, options)?;
    let loops = Arc::new(
        LoopRegistry::new(threads).map_err(|errno| system("create an event descriptor", errno))?,
    );
    let listener = listener::open(&options.listen, options.backlog)
        .map_err(|errno| SinkError::from_listen(&options.listen, errno))?;
    let address = listener.address;
    let mut acceptor = Some(Acceptor(listener.fd));
    let mut workers = Vec::new();
    for index in 0..threads as usize {
        let worker = Worker::new(
            index,
            protocol(loops.inbox(index))?,
            Arc::clone(&loops),
            pool.cloned(),
            acceptor.take(),
            limits.clone(),
            stop,
        );
        workers.push(worker.map_err(|errno| system("set up an event loop", errno))?);
    }
    let tallies = std::thread::scope(|scope| run_all(scope, workers, stop, || ready(address)))?;
    drop(listener.path);
    Ok(total(&tallies))
}

fn limits<P: Protocol>(shared: &Shared, options: &SinkOptions) -> Result<Limits, SinkError> {
    if options.idle_timeout_ns == Some(0) {
        return Err(SinkError::BadOption {
            option: "idle_timeout",
            problem: "must be above 0; leave it out for no limit".to_owned(),
        });
    }
    if !P::STARTS_TLS && options.tls.as_ref().is_some_and(|tls| !tls.implicit) {
        return Err(SinkError::BadOption {
            option: "tls",
            problem: "this protocol has no command that begins TLS: it must be implicit".to_owned(),
        });
    }
    let secure = match (&options.tls, &shared.identity) {
        (Some(tls), Some(identity)) => Some(identity.secure(tls, P::ALPN)?),
        _ => None,
    };
    Ok(Limits {
        shape: Arc::new(Shape::new(P::VERBS, P::GREETS, options)?),
        secure,
        idle_ns: options.idle_timeout_ns,
    })
}

/// Runs every loop in its own thread; the first that fails stops all.
fn run_all<'scope, P: Protocol + Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    workers: Vec<Worker<P>>,
    stop: &'scope StopHandle,
    ready: impl FnOnce(),
) -> Result<Vec<Tally>, SinkError>
where
    P::Session: Send,
{
    let mut threads = Vec::new();
    for (index, worker) in workers.into_iter().enumerate() {
        let work = move || worker.run().inspect_err(|_| stop.stop());
        let name = format!("sink-{index}");
        let Ok(thread) = Builder::new().name(name).spawn_scoped(scope, work) else {
            stop.stop();
            return Err(SinkError::ResourceLimit {
                resource: "threads",
            });
        };
        threads.push(thread);
    }
    ready();
    threads.into_iter().map(finished).collect()
}

fn finished(thread: ScopedJoinHandle<'_, rustix::io::Result<Tally>>) -> Result<Tally, SinkError> {
    match thread.join() {
        Ok(tally) => tally.map_err(|errno| system("wait for events", errno)),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn open_store(store: &Store) -> Result<Option<Arc<dyn Files>>, SinkError> {
    let Store::Maildir { folder, .. } = store else {
        return Ok(None);
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let refused = |errno| match errno {
        Errno::NOENT | Errno::NOTDIR => SinkError::NotFound(folder.clone()),
        errno => system(&format!("write in {}", folder.display()), errno),
    };
    let root = open(folder, flags, Mode::empty()).map_err(refused)?;
    let access = Access::WRITE_OK | Access::EXEC_OK;
    accessat(&root, ".", access, AtFlags::EACCESS).map_err(refused)?;
    Ok(Some(Arc::new(Disk { root })))
}

fn at_least_one(option: &'static str, value: u32) -> Result<u32, SinkError> {
    if value > 0 {
        return Ok(value);
    }
    Err(SinkError::BadOption {
        option,
        problem: "must be at least 1".to_owned(),
    })
}

fn system(action: &str, errno: Errno) -> SinkError {
    SinkError::from_errno(action, errno)
}
