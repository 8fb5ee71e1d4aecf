//! What fails, in which phase, and what stays usable.

use super::*;

#[test]
fn a_data_connection_that_is_refused_fails_in_its_own_phase() {
    let (server, _) = server(Way {
        deaf_port: true,
        ..Way::default()
    });
    let result = run(&job(&server, operation(FtpAction::Download), 6));
    assert_eq!(failures(&result, "data-connect", "conn_refused"), 6);
    assert_eq!(server.connections(), 2);
}

#[test]
fn a_data_connection_that_breaks_fails_the_transfer_and_keeps_the_conversation() {
    for action in [FtpAction::Download, FtpAction::Upload] {
        let (server, _) = server(Way {
            resets: true,
            ..Way::default()
        });
        let result = run(&job(&server, operation(action), 6));
        assert_eq!(result.counts.errors, 6, "{action:?}: {:?}", result.errors);
        assert_eq!(server.connections(), 2);
    }
}

#[test]
fn fewer_bytes_than_announced_are_no_success() {
    let (server, _) = server(Way {
        announces: Some(FILE_BYTES as u64 + 1),
        ..Way::default()
    });
    let result = run(&job(&server, operation(FtpAction::Download), 4));
    assert_eq!(failed_as(&result, "short_read"), 4);
}

#[test]
fn refusals_are_distinguished_by_phase_and_kind() {
    let (refusing, _) = server(Way {
        answer: Some(|line| line.starts_with("RETR").then_some("550 no such file\r\n")),
        ..Way::default()
    });
    let result = run(&job(&refusing, operation(FtpAction::Download), 4));
    assert_eq!(failures(&result, "150", "ftp_5xx"), 4);
    assert_eq!(result.refusals, [("550".to_owned(), 4)].into());
    let (full, _) = server(Way {
        answer: Some(|line| line.starts_with("EPSV").then_some("421 too many\r\n")),
        ..Way::default()
    });
    let result = run(&job(&full, operation(FtpAction::Download), 4));
    assert_eq!(failures(&result, "epsv", "ftp_4xx"), 4);
    assert_eq!(result.refusals, [("421".to_owned(), 4)].into());
}

#[test]
fn a_refusal_that_was_got_over_is_counted_for_nothing() {
    // EPSV is refused and PASV tried; the file is too short for another reason.
    let (server, _) = server(Way {
        answer: Some(|line| line.starts_with("EPSV").then_some("500 what?\r\n")),
        announces: Some(FILE_BYTES as u64 + 1),
        ..Way::default()
    });
    let result = run(&job(&server, operation(FtpAction::Download), 4));
    assert_eq!(failed_as(&result, "short_read"), 4);
    assert!(result.refusals.is_empty(), "{:?}", result.refusals);
}

#[test]
fn a_login_that_is_refused_or_never_answered_is_distinguished() {
    let logins = |answer: fn(&str) -> Option<&'static str>| {
        let (server, _) = server(Way {
            answer: Some(answer),
            ..Way::default()
        });
        let job = LoadJob {
            timeout_ns: 200 * MS,
            ..job(&server, operation(FtpAction::Login), 3)
        };
        match try_run(&job) {
            Ok(result) => format!("{:?}", result.errors),
            Err(error @ LoadError::NoConnection { .. }) => error.to_string(),
            Err(error) => panic!("{error}"),
        }
    };
    let refused = logins(|line| line.starts_with("PASS").then_some("530 wrong\r\n"));
    assert!(refused.contains("auth_fail"), "{refused}");
    let silent = logins(|line| line.starts_with("PASS").then_some(""));
    assert!(silent.contains("recv_timeout"), "{silent}");
    let closed = logins(|line| line.is_empty().then_some("421 too many\r\n"));
    assert!(closed.contains("ftp_4xx"), "{closed}");
}
