//! What replies mean, as another client understands them.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use proptest::prelude::*;
use suppaftp::{FtpError, FtpStream, Mode, Status};

use super::passive::{extended_port, passive_address};
use super::reply::ReplyReader;

/// What the other client makes of `reply` to a command that `ask` sends.
fn oracle<T>(reply: &str, ask: impl FnOnce(FtpStream) -> T) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let reply = reply.to_owned();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"220 hi\r\n").unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        lines.read_line(&mut line).unwrap();
        // The end of the stream ends what the reply does not.
        let _ = stream.write_all(reply.as_bytes());
    });
    let answer = ask(FtpStream::connect(address).unwrap());
    server.join().unwrap();
    answer
}

fn code_by_oracle(reply: &str) -> Option<u16> {
    oracle(reply, |mut stream| {
        match stream.custom_command("NOOP", &[Status::CommandOk]) {
            Ok(response) | Err(FtpError::UnexpectedResponse(response)) => {
                Some(response.status.code() as u16)
            }
            Err(_) => None,
        }
    })
}

fn address_by_oracle(reply: &str, mode: Mode) -> Option<SocketAddr> {
    oracle(reply, |stream| {
        let parsed = Arc::new(Mutex::new(None));
        let slot = Arc::clone(&parsed);
        let mut stream = stream.passive_stream_builder(move |address| {
            *slot.lock().unwrap() = Some(address);
            Err(FtpError::BadResponse)
        });
        stream.set_mode(mode);
        let _ = stream.list(None);
        let address = *parsed.lock().unwrap();
        address.filter(|address| address.port() > 0)
    })
}

fn code(reply: &str) -> Option<u16> {
    let taken = ReplyReader::default().take(reply.as_bytes());
    taken.ok().flatten().map(|(code, _)| code)
}

fn text(reply: &str) -> Vec<u8> {
    let mut reader = ReplyReader::default();
    assert!(reader.take(reply.as_bytes()).unwrap().is_some());
    reader.text().to_vec()
}

/// Codes that the other client knows.
fn known() -> impl Strategy<Value = u16> {
    prop::sample::select(vec![
        150, 200, 220, 226, 230, 331, 425, 426, 450, 500, 530, 550,
    ])
}

/// A line inside a reply: anything, and often something that looks like a code.
fn line() -> impl Strategy<Value = String> {
    // The other client takes a code that it does not know for the end of any reply; RFC 959 wants
    // the code that the reply began with.
    let not_an_end = |line: &String| {
        let (code, after) = (line.get(..3), line.as_bytes().get(3));
        !(code.is_some_and(|code| code.bytes().all(|byte| byte.is_ascii_digit()))
            && after.is_none_or(|byte| *byte == b' '))
    };
    prop_oneof![
        "[ -~]{0,20}".prop_filter("an unknown code", not_an_end),
        "[ ]?[0-9]{1,4}[ a-z-]{0,5}".prop_filter("an unknown code", not_an_end),
        (known(), "[ -][a-z]{0,5}").prop_map(|(code, rest)| format!("{code}{rest}")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn replies_of_several_lines_have_the_code_of_another_client(
        first in known(),
        lines in prop::collection::vec(line(), 0..5),
        last in known(),
    ) {
        let between = lines.iter().fold(String::new(), |all, line| all + line + "\r\n");
        let reply = format!("{first}-hello\r\n{between}{last} end\r\n");
        let parsed = code_by_oracle(&reply);
        // The other client takes any three digits for a code, and says 0 of those it does not know.
        prop_assume!(parsed != Some(0));
        prop_assert_eq!(code(&reply), parsed, "{}", reply);
    }

    #[test]
    fn addresses_of_227_are_those_that_another_client_connects_to(
        before in "[ a-zA-Z.=]{0,10}",
        numbers in prop::collection::vec(0_u16..270, 5..8),
        after in "[ a-z.]{0,4}",
    ) {
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let reply = format!("227 {before}({}){after}\r\n", numbers.join(","));
        let address = passive_address(&text(&reply));
        // Of seven numbers in parentheses six are an address to us; who writes so is lost anyway.
        prop_assume!(numbers.len() != 7);
        prop_assert_eq!(address, address_by_oracle(&reply, Mode::Passive), "{}", reply);
    }

    #[test]
    fn ports_of_229_are_those_that_another_client_connects_to(
        before in "[ a-zA-Z(.]{0,10}",
        port in 0_u32..70_000,
        after in "[ a-z.)]{0,4}",
    ) {
        let reply = format!("229 {before}(|||{port}|){after}\r\n");
        let port = extended_port(&text(&reply));
        let by_oracle = address_by_oracle(&reply, Mode::ExtendedPassive);
        prop_assert_eq!(port, by_oracle.map(|address| address.port()), "{}", reply);
    }

    #[test]
    fn no_bytes_make_a_reader_panic_and_splits_do_not_matter(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), b'0'..=b'9', Just(b'\n'), Just(b' ')], 0..60),
        at in 0_usize..60,
    ) {
        let at = at.min(bytes.len());
        let whole = ReplyReader::default().take(&bytes);
        let mut reader = ReplyReader::default();
        let split = match reader.take(&bytes[..at]) {
            Ok(None) => reader.take(&bytes[at..]).map(|reply| reply.map(|(code, n)| (code, n + at))),
            early => early,
        };
        prop_assert_eq!(whole, split);
        let _ = (extended_port(&bytes), passive_address(&bytes));
    }
}
