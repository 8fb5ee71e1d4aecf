//! Waiting until a server listens. Never by connecting: a connection is seen, counted and logged
//! by the server that is about to be measured.

use std::path::Path;
use std::time::{Duration, Instant};

use steelyard_wire::agent::{Answer, Failure, FailureKind};
use steelyard_wire::listening::ListeningJob;

use super::child::Child;
use super::children::how_it_ended;
use super::conversation::Done;
use super::sockets::{Found, Place, look};
use crate::failure::{bad_request, failure, hint_for, refused};

const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Answers `listening`; `child` is the process without which there is no hope.
pub(super) fn wait_for_listener(job: &ListeningJob, child: Option<&Child>) -> Done {
    let place = place(job)?;
    let began = Instant::now();
    let most = Duration::from_millis(job.timeout_ms);
    loop {
        // Asked first: a process that listens and then ends must not be taken for one that never did.
        let ended = child.is_some_and(|child| !child.is_running());
        let found = look(Path::new("/"), &place).map_err(|e| refused("see who listens", &e))?;
        let Found::No(near) = found else {
            return Ok(Answer::Done);
        };
        if let Some(child) = child.filter(|_| ended) {
            let message = format!(
                "it ended {} before it listened on {place}",
                how_it_ended(child)
            );
            let kind = FailureKind::ProcessDied;
            return Err(failure(kind, message, hint_for(kind)));
        }
        if began.elapsed() >= most {
            return Err(missing(&place, &near, most));
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

fn missing(place: &Place, near: &[String], most: Duration) -> Failure {
    let others = match near {
        [] => "nothing is there at all".to_owned(),
        near => format!("what is there: {}", near.join(", ")),
    };
    let message = format!("nothing listens on {place} after {most:?}; {others}");
    let hint = "allow more time, or look at the address in the server's configuration";
    failure(FailureKind::NotReady, message, hint)
}

fn place(job: &ListeningJob) -> Result<Place, Failure> {
    let transport = job.protocol;
    match (job.port, &job.unix_path, &job.address) {
        (Some(port), None, address) => Ok(Place::Port {
            address: address.as_deref().map(parse_address).transpose()?,
            port,
            transport,
        }),
        (None, Some(path), None) => Ok(Place::Unix {
            path: path.clone(),
            transport,
        }),
        _ => Err(bad_request(
            "it is not clear where to look",
            "give a port, with an address or without, or the path of a unix socket",
        )),
    }
}

fn parse_address(text: &str) -> Result<std::net::IpAddr, Failure> {
    text.parse().map_err(|_| {
        let message = format!("{text:?} is no address");
        bad_request(message, "write it in digits, as 127.0.0.1 or ::1")
    })
}

#[cfg(test)]
mod tests {
    use steelyard_wire::listening::Transport;

    use super::*;

    fn job(port: Option<u16>, unix_path: Option<&str>, address: Option<&str>) -> ListeningJob {
        ListeningJob {
            address: address.map(str::to_owned),
            port,
            unix_path: unix_path.map(str::to_owned),
            protocol: Transport::Tcp,
            timeout_ms: 0,
            unless_ended: None,
        }
    }

    #[test]
    fn a_port_or_a_path_is_needed_and_never_both() {
        assert!(place(&job(Some(25), None, None)).is_ok());
        assert!(place(&job(None, Some("/run/lmtp"), None)).is_ok());
        assert!(place(&job(None, None, None)).is_err());
        assert!(place(&job(Some(25), Some("/run/lmtp"), None)).is_err());
        assert!(place(&job(None, Some("/run/lmtp"), Some("::1"))).is_err());
    }

    #[test]
    fn a_name_is_no_address() {
        let refused = place(&job(Some(25), None, Some("localhost"))).unwrap_err();
        assert!(refused.message.contains("localhost"), "{}", refused.message);
    }
}
