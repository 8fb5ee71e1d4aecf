//! Requests as read, replies as written.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use steelyard_wire::agent::{Answer, Failure, FailureKind, Outcome, Reply, Request};

use super::lines::{Line, MOST_BYTES};
use crate::failure::{bad_request, failure};

/// What came of a request.
pub(super) type Done = Result<Answer, Failure>;

/// Writes replies, one whole line at a time, from any thread.
#[derive(Debug, Clone, Default)]
pub(super) struct Replies {
    turn: Arc<Mutex<()>>,
}

impl Replies {
    /// Answers request `id`. A controller that has gone is seen by the end of stdin, not here.
    pub(super) fn send(&self, id: u64, done: Done) {
        let line = encode(id, done);
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stdout = std::io::stdout().lock();
        let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
    }
}

fn encode(id: u64, done: Done) -> Vec<u8> {
    let outcome = match done {
        Ok(answer) => Outcome::Ok(Box::new(answer)),
        Err(failure) => Outcome::Error(failure),
    };
    let mut line = serde_json::to_vec(&Reply { id, outcome }).unwrap_or_else(|error| {
        let failed = failure(FailureKind::System, error.to_string(), None);
        let reply = serde_json::json!({ "id": id, "error": failed });
        reply.to_string().into_bytes()
    });
    line.push(b'\n');
    line
}

/// A request, or the id to answer with why there is none: 0 when even the id cannot be read.
pub(super) fn decode(line: &Line) -> Result<Request, (u64, Failure)> {
    let Line::Whole(bytes) = line else {
        let hint = "send one request a line";
        let message = format!("the line is longer than {MOST_BYTES} bytes");
        return Err((0, bad_request(message, hint)));
    };
    let value: Value = serde_json::from_slice(bytes).map_err(|error| {
        let message = format!("the line is no JSON document: {error}");
        (0, bad_request(message, "send one request a line"))
    })?;
    let id = value.get("id").and_then(Value::as_u64).unwrap_or(0);
    serde_json::from_value(value).map_err(|error| {
        let message = format!("the request makes no sense: {error}");
        (
            id,
            bad_request(message, "the verbs are in docs/reference/agent.md"),
        )
    })
}

#[cfg(test)]
mod tests {
    use steelyard_wire::agent::Verb;

    use super::*;

    fn read(text: &str) -> Result<Request, (u64, Failure)> {
        decode(&Line::Whole(text.as_bytes().to_vec()))
    }

    #[test]
    fn a_request_is_read_with_its_id() {
        let request = read(r#"{"id":7,"verb":"hello","protocol":1}"#).unwrap();
        assert_eq!(request.id, 7);
        assert_eq!(request.verb, Verb::Hello { protocol: 1 });
    }

    #[test]
    fn an_unknown_verb_is_answered_under_its_id() {
        let (id, failure) = read(r#"{"id":7,"verb":"dance"}"#).unwrap_err();
        assert_eq!(id, 7);
        assert_eq!(failure.kind, FailureKind::BadRequest);
        assert!(failure.message.contains("dance"), "{}", failure.message);
    }

    #[test]
    fn a_line_without_a_readable_id_is_answered_under_zero() {
        assert_eq!(read("hello?").unwrap_err().0, 0);
        assert_eq!(decode(&Line::TooLong).unwrap_err().0, 0);
    }
}
