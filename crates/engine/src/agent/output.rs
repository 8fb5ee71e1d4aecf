//! What a process writes: its first line, and the end of the rest.

use super::tail::Tail;

const STDOUT_TAIL_BYTES: usize = 16 * 1024;
const STDERR_TAIL_BYTES: usize = 4 * 1024;
/// Longest first line kept; the rest of it counts as later output.
const FIRST_LINE_BYTES: usize = 64 * 1024;

/// What was written so far.
///
/// A first line is waited for by `start`, and is not in the tail.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) first_line: FirstLine,
    pub(super) stdout: Tail,
    pub(super) stderr: Tail,
}

/// The first line on stdout.
#[derive(Debug)]
pub(super) enum FirstLine {
    /// No one waits for it: it is output like the rest.
    Unwanted,
    /// Its beginning.
    Coming(Vec<u8>),
    /// All of it.
    Here(String),
}

/// Output of a process, as it is read.
#[derive(Debug)]
pub(super) enum Chunk<'a> {
    Stdout(&'a [u8]),
    StdoutEnd,
    Stderr(&'a [u8]),
}

impl Output {
    pub(super) fn new() -> Self {
        Self {
            first_line: FirstLine::Coming(Vec::new()),
            stdout: Tail::new(STDOUT_TAIL_BYTES),
            stderr: Tail::new(STDERR_TAIL_BYTES),
        }
    }

    /// Of a program that is run: all is one, `most` bytes of each stream are kept.
    pub(super) fn without_first_line(most: usize) -> Self {
        Self {
            first_line: FirstLine::Unwanted,
            stdout: Tail::new(most),
            stderr: Tail::new(most),
        }
    }

    pub(super) fn take(&mut self, chunk: &Chunk<'_>) {
        match chunk {
            Chunk::Stdout(bytes) => self.add_stdout(bytes),
            Chunk::StdoutEnd => self.end_first_line(),
            Chunk::Stderr(bytes) => self.stderr.add(bytes),
        }
    }

    fn add_stdout(&mut self, bytes: &[u8]) {
        let FirstLine::Coming(line) = &mut self.first_line else {
            self.stdout.add(bytes);
            return;
        };
        let end = bytes.iter().position(|byte| *byte == b'\n');
        line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
        if end.is_some() || line.len() >= FIRST_LINE_BYTES {
            let line = String::from_utf8_lossy(line).trim().to_owned();
            self.first_line = FirstLine::Here(line);
        }
        if let Some(end) = end {
            self.stdout.add(&bytes[end + 1..]);
        }
    }

    /// A last line without an end is a line, too.
    fn end_first_line(&mut self) {
        if let FirstLine::Coming(line) = &self.first_line
            && !line.is_empty()
        {
            self.first_line = FirstLine::Here(String::from_utf8_lossy(line).trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output_of(pieces: &[&str]) -> Output {
        let mut output = Output::new();
        for piece in pieces {
            output.take(&Chunk::Stdout(piece.as_bytes()));
        }
        output
    }

    #[test]
    fn the_first_line_may_come_in_pieces_and_the_rest_goes_to_the_tail() {
        let output = output_of(&["rea", "dy\nmo", "re\n"]);
        assert!(matches!(output.first_line, FirstLine::Here(line) if line == "ready"));
        assert_eq!(output.stdout.text(), "more\n");
    }

    #[test]
    fn a_last_line_without_an_end_is_a_line() {
        let mut output = output_of(&["ready"]);
        assert!(matches!(output.first_line, FirstLine::Coming(_)));
        output.take(&Chunk::StdoutEnd);
        assert!(matches!(output.first_line, FirstLine::Here(line) if line == "ready"));
    }

    #[test]
    fn silence_is_no_line() {
        let mut output = output_of(&[]);
        output.take(&Chunk::StdoutEnd);
        assert!(matches!(output.first_line, FirstLine::Coming(_)));
    }
}
