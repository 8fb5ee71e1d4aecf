//! A client that says bytes and expects bytes; bounded in time.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// Far beyond what any reply here takes: only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Peer<S = TcpStream>(pub S);

impl Peer {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(stream)
    }

    /// Connected to an SMTP sink, banner read.
    pub fn greeted(address: SocketAddr) -> Self {
        let mut peer = Self::connect(address);
        assert!(peer.reply().starts_with("220 "));
        peer
    }

    /// Greeted, EHLO said.
    pub fn introduced(address: SocketAddr) -> Self {
        let mut peer = Self::greeted(address);
        assert!(peer.ask("EHLO test.example").starts_with("250-"));
        peer
    }

    pub fn done_sending(&mut self) {
        self.0.shutdown(Shutdown::Write).unwrap();
    }

    /// True when nothing has come for a moment; only ever used to show that nothing comes.
    pub fn is_silent(&mut self) -> bool {
        self.0
            .set_read_timeout(Some(Duration::from_millis(50)))
            .unwrap();
        let silent = matches!(
            self.0.read(&mut [0]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
        );
        self.0.set_read_timeout(Some(PATIENCE)).unwrap();
        silent
    }
}

impl<S: Read + Write> Peer<S> {
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    /// Sends a line and returns the whole reply to it.
    pub fn ask(&mut self, line: &str) -> String {
        self.send(format!("{line}\r\n"));
        self.reply()
    }

    /// Asks and requires how the reply starts.
    #[track_caller]
    pub fn expect(&mut self, line: &str, start: &str) {
        let reply = self.ask(line);
        assert!(
            reply.starts_with(start),
            "{line:?} got {reply:?}, not {start}"
        );
    }

    /// One line with its end.
    pub fn line(&mut self) -> String {
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            line.extend(self.exactly(1));
        }
        String::from_utf8(line).unwrap()
    }

    /// One SMTP reply: lines with a hyphen after the code go on.
    pub fn reply(&mut self) -> String {
        let mut reply = String::new();
        loop {
            let line = self.line();
            reply.push_str(&line);
            if line.as_bytes()[3] != b'-' {
                return reply;
            }
        }
    }

    pub fn exactly(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Everything until the sink closes.
    pub fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// One HTTP reply with a Content-Length (or none, when it has no body): head and body.
    pub fn http_reply(&mut self, has_body: bool) -> (String, Vec<u8>) {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            head.push_str(&self.line());
        }
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "))
            .map_or(0, |length| length.parse().unwrap());
        let body = self.exactly(if has_body { length } else { 0 });
        (head, body)
    }

    /// What ends the connection: `None` for an orderly end.
    pub fn end(&mut self) -> Option<ErrorKind> {
        match self.0.read(&mut [0]) {
            Ok(0) => None,
            Ok(_) => panic!("the sink goes on talking"),
            Err(error) => Some(error.kind()),
        }
    }
}
