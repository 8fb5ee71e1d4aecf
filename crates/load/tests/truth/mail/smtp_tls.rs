use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use rustls::{ServerConnection, StreamOwned};
use steelyard_wire::job::{LoadJob, Operation, SmtpOperation, StartTls, TlsOptions};

use crate::secured::{Identity, identity};
use crate::server::{Server, closed, run};

/// Serves messages until QUIT; returns `true` when STARTTLS was asked for.
fn converse<S: Read + Write>(
    stream: &mut BufReader<S>,
    offers: &str,
    stored: &mut dyn FnMut(),
) -> bool {
    loop {
        let mut line = String::new();
        if !matches!(stream.read_line(&mut line), Ok(count) if count > 0) {
            return false;
        }
        let verb = line.trim_end().split([' ', ':']).next().unwrap();
        let reply = match verb {
            "EHLO" => offers,
            "DATA" => "354 go on\r\n",
            "STARTTLS" => "220 go on\r\n",
            "QUIT" => "221 bye\r\n",
            _ => "250 ok\r\n",
        };
        if stream.get_mut().write_all(reply.as_bytes()).is_err() {
            return false;
        }
        match verb {
            "STARTTLS" => return true,
            "QUIT" => return false,
            "DATA" => {
                while line != ".\r\n" {
                    line.clear();
                    stream.read_line(&mut line).unwrap();
                }
                stored();
                stream.get_mut().write_all(b"250 stored\r\n").unwrap();
            }
            _ => {}
        }
    }
}

/// Messages in TLS are counted as operations.
fn serve(identity: &Identity) -> Server {
    let config = Arc::clone(&identity.config);
    Server::start(move |mut stream, seen| {
        stream.write_all(b"220 mx.example\r\n").unwrap();
        let mut clear = BufReader::new(stream);
        if converse(&mut clear, "250-mx.example\r\n250 STARTTLS\r\n", &mut || {}) {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut secured = BufReader::new(StreamOwned::new(connection, clear.into_inner()));
            converse(&mut secured, "250 mx.example\r\n", &mut || {
                seen.operations.fetch_add(1, SeqCst);
            });
        }
    })
}

fn job(server: &Server, identity: &Identity, operation: SmtpOperation) -> LoadJob {
    LoadJob {
        operations: Some(40),
        tls: TlsOptions {
            ca_file: Some(identity.ca_file.to_string_lossy().into_owned()),
            ..TlsOptions::default()
        },
        ..closed(
            format!("smtp://localhost:{}", server.address.port()),
            Operation::Smtp(operation),
            2,
            20_000,
        )
    }
}

#[test]
fn after_starttls_messages_go_in_tls() {
    let identity = identity("starttls", &["localhost"]);
    let server = serve(&identity);
    let operation = SmtpOperation {
        starttls: StartTls::Require,
        messages_per_connection: 1,
        ..SmtpOperation::default()
    };
    let result = run(&job(&server, &identity, operation));
    assert_eq!((result.counts.ok, server.operations()), (40, 40));
    for phase in ["starttls", "tls", "eom"] {
        let name = format!("phase.{phase}");
        assert_eq!(result.latency_ns[&name].count, 40, "{phase}");
    }
    assert_eq!(result.latency_ns["phase.ehlo"].count, 80);
}

#[test]
fn a_share_of_the_connections_is_secured_and_both_kinds_have_figures() {
    let identity = identity("share", &["localhost"]);
    let server = serve(&identity);
    let operation = SmtpOperation {
        starttls: StartTls::Require,
        tls_share: 0.5,
        messages_per_connection: 1,
        ..SmtpOperation::default()
    };
    let result = run(&job(&server, &identity, operation));
    assert_eq!(result.counts.ok, 40);
    let secured = result.operations["tls"].ok;
    assert_eq!(secured, server.operations());
    assert!((5..=35).contains(&secured), "{secured}");
    assert_eq!(result.operations["clear"].ok, 40 - secured);
}
