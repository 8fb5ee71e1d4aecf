//! A host that takes mail by SMTP and shows it by IMAP and POP3: one mailbox, known delays.

use std::io::{BufRead, BufReader, Lines, Write};
use std::net::TcpStream;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use steelyard_wire::job::{Login, Mechanism};

use crate::server::{Seen, Server};

/// A message, and when it may be seen.
#[derive(Debug, Clone)]
struct Message {
    text: String,
    from: Instant,
}

/// What all connections share.
#[derive(Debug, Default)]
pub struct Mailbox {
    messages: Mutex<Vec<Message>>,
}

pub type Shared = Arc<Mailbox>;

impl Mailbox {
    /// With `count` messages of no one.
    pub fn holding(count: usize) -> Shared {
        let mailbox = Self::default();
        for number in 0..count {
            mailbox.store(
                format!("Subject: {number}\r\n\r\n.body {number}\r\n"),
                Duration::ZERO,
            );
        }
        Arc::new(mailbox)
    }

    fn store(&self, text: String, after: Duration) {
        let from = Instant::now() + after;
        self.messages.lock().unwrap().push(Message { text, from });
    }

    /// Damages the last byte but two of every message.
    pub fn damage(&self) {
        for message in self.messages.lock().unwrap().iter_mut() {
            let at = message.text.len() - 3;
            message.text.replace_range(at..=at, "~");
        }
    }

    /// Messages that can be seen.
    pub fn visible(&self) -> Vec<String> {
        let now = Instant::now();
        let messages = self.messages.lock().unwrap();
        let visible = messages.iter().filter(|message| message.from <= now);
        visible.map(|message| message.text.clone()).collect()
    }

    fn remove(&self, index: usize) {
        self.messages.lock().unwrap().remove(index);
    }
}

/// Who logs in.
pub fn login() -> Login {
    Login {
        user: "ann".to_owned(),
        password: "secret".to_owned(),
        users: 1,
        mechanism: Mechanism::Login,
    }
}

struct Talk<'a> {
    stream: TcpStream,
    lines: Lines<BufReader<TcpStream>>,
    seen: &'a Seen,
}

impl<'a> Talk<'a> {
    fn new(stream: TcpStream, seen: &'a Seen) -> Self {
        let lines = BufReader::new(stream.try_clone().unwrap()).lines();
        Self {
            stream,
            lines,
            seen,
        }
    }

    fn say(&mut self, text: &str) {
        let _ = self.stream.write_all(text.as_bytes());
    }

    fn hear(&mut self) -> Option<String> {
        self.lines.next().and_then(Result::ok)
    }
}

/// POP3 over `mailbox`; `answer` may give another reply to a line.
pub fn pop3(mailbox: &Shared, answer: fn(&str) -> Option<&'static str>) -> Server {
    let mailbox = Arc::clone(mailbox);
    Server::start(move |stream, seen| {
        let mut talk = Talk::new(stream, seen);
        let messages = mailbox.visible();
        let mut deleted = Vec::new();
        talk.say("+OK hi\r\n");
        while let Some(line) = talk.hear() {
            let argument: usize = line[4..].trim().parse().unwrap_or(0);
            let usual = match &line[..4] {
                "CAPA" => "+OK\r\nPIPELINING\r\nUIDL\r\n.\r\n".to_owned(),
                "STAT" => format!("+OK {} 1\r\n", messages.len()),
                "UIDL" | "LIST" => {
                    let lines = (1..=messages.len()).map(|number| format!("{number} {number}\r\n"));
                    format!("+OK\r\n{}.\r\n", lines.collect::<String>())
                }
                "RETR" => {
                    let text = messages[argument - 1].replace("\n.", "\n..");
                    format!("+OK\r\n{text}.\r\n")
                }
                "DELE" => {
                    deleted.push(argument - 1);
                    "+OK\r\n".to_owned()
                }
                _ => "+OK\r\n".to_owned(),
            };
            if line == "QUIT" {
                // Seen from outside before the answer is.
                deleted.sort_unstable();
                deleted
                    .iter()
                    .rev()
                    .for_each(|index| mailbox.remove(*index));
                talk.seen.operations.fetch_add(1, SeqCst);
            }
            let reply = answer(&line).map_or(usual, str::to_owned);
            talk.say(&reply);
            if line == "QUIT" {
                return;
            }
        }
    })
}

/// SMTP into `mailbox`, where a message is visible `after` its reply.
pub fn smtp(mailbox: &Shared, after: Duration) -> Server {
    unreliable_smtp(mailbox, after, |_, _| true)
}

/// The same, but `fate` may change message number `n` (from 1), or say that it is not kept.
pub fn unreliable_smtp(
    mailbox: &Shared,
    after: Duration,
    fate: fn(usize, &mut String) -> bool,
) -> Server {
    let mailbox = Arc::clone(mailbox);
    Server::start(move |stream, seen| {
        let mut talk = Talk::new(stream, seen);
        talk.say("220 hi\r\n");
        while let Some(line) = talk.hear() {
            match line.split(' ').next().unwrap_or_default() {
                "DATA" => {
                    talk.say("354 go\r\n");
                    let mut text = String::new();
                    while let Some(line) = talk.hear().filter(|line| line != ".") {
                        let line = line.strip_prefix('.').unwrap_or(&line);
                        text.extend([line, "\r\n"]);
                    }
                    let number = talk.seen.operations.fetch_add(1, SeqCst) as usize + 1;
                    if fate(number, &mut text) {
                        mailbox.store(text, after);
                    }
                    talk.say("250 stored\r\n");
                }
                "QUIT" => return talk.say("221 bye\r\n"),
                _ => talk.say("250 ok\r\n"),
            }
        }
    })
}

/// IMAP over `mailbox`; `answer` may give another reply to the words behind the tag.
pub fn imap(mailbox: &Shared, answer: fn(&str) -> Option<&'static str>) -> Server {
    let mailbox = Arc::clone(mailbox);
    Server::start(move |stream, seen| {
        let mut talk = Talk::new(stream, seen);
        talk.say("* OK [CAPABILITY IMAP4rev1 IDLE LITERAL+] hi\r\n");
        while let Some(line) = talk.hear() {
            let (tag, words) = line.split_once(' ').unwrap();
            talk.seen.operations.fetch_add(1, SeqCst);
            let reply = imap_reply(words, &mailbox, &mut talk);
            let status = answer(words).unwrap_or("OK done");
            talk.say(&format!("{reply}{tag} {status}\r\n"));
            if words == "LOGOUT" {
                return;
            }
        }
    })
}

fn imap_reply(words: &str, mailbox: &Mailbox, talk: &mut Talk<'_>) -> String {
    let messages = mailbox.visible();
    let number = || {
        words
            .split(' ')
            .nth(1)
            .and_then(|n| n.parse::<usize>().ok())
    };
    match words.split(' ').next().unwrap_or_default() {
        "LOGIN" => "* CAPABILITY IMAP4rev1 IDLE LITERAL+\r\n".to_owned(),
        "SELECT" | "NOOP" => format!("* {} EXISTS\r\n", messages.len()),
        "FETCH" => {
            let number = number().unwrap();
            let text = &messages[number - 1];
            let section = if words.contains("HEADER.FIELDS") {
                let lines = text.split_inclusive('\n');
                let field: String = lines
                    .filter(|line| line.starts_with("X-Steelyard"))
                    .collect();
                ("BODY[HEADER.FIELDS (X-STEELYARD-PAYLOAD)]", field + "\r\n")
            } else {
                ("BODY[]", text.clone())
            };
            let (name, text) = section;
            format!("* {number} FETCH ({name} {{{}}}\r\n{text})\r\n", text.len())
        }
        "APPEND" => {
            let length = words.rsplit_once('{').unwrap().1;
            let length: usize = length.trim_end_matches("+}").parse().unwrap();
            let mut text = String::new();
            while text.len() < length {
                text.extend([talk.hear().unwrap().as_str(), "\r\n"]);
            }
            talk.hear();
            mailbox.store(text, Duration::ZERO);
            format!("* {} EXISTS\r\n", messages.len() + 1)
        }
        "STORE" => {
            // The only flag that is ever set is the one that asks for removal.
            mailbox.remove(number().unwrap() - 1);
            format!("* {} EXPUNGE\r\n", number().unwrap())
        }
        "IDLE" => {
            idle(mailbox, messages.len(), talk);
            String::new()
        }
        "LOGOUT" => "* BYE\r\n".to_owned(),
        _ => String::new(),
    }
}

fn idle(mailbox: &Mailbox, mut known: usize, talk: &mut Talk<'_>) {
    talk.say("+ idling\r\n");
    talk.stream
        .set_read_timeout(Some(Duration::from_millis(1)))
        .unwrap();
    // Longer than any test lasts.
    for _ in 0..100_000 {
        let now = mailbox.visible().len();
        if now != known {
            talk.say(&format!("* {now} EXISTS\r\n"));
            known = now;
        }
        match talk.lines.next() {
            Some(Err(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                thread::sleep(Duration::from_millis(1));
            }
            _ => break,
        }
    }
    talk.stream.set_read_timeout(None).unwrap();
}
